/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.h - one module's symbols and debug information, as the thread of names.h uses them: with
 * handles of its own on the module's image, since libdw's are for one thread each.
 */
#ifndef SONDE_UNWIND_SYMBOLS_H
#define SONDE_UNWIND_SYMBOLS_H

#include "unwind/names.h"

struct symbols;

struct symbols *symbols_open(const struct module *m); /* NULL: no memory */
void symbols_close(struct symbols *s);
/* What the address is in: x->level and x->n. */
void symbols_name(struct symbols *s, uint64_t address, struct named *x);

#endif
