/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.h - one module's symbols and debug information, for one thread: who opens them names a
 * handle of the module that is its own, since libelf's and libdw's are for one thread each.
 */
#ifndef SONDE_UNWIND_SYMBOLS_H
#define SONDE_UNWIND_SYMBOLS_H

#include "unwind/names.h"

struct symbols;

/* elf: a handle of the module that no other thread uses. NULL: no memory. */
struct symbols *symbols_open(const struct module *m, Elf *elf);
void symbols_close(struct symbols *s);
/* What the address is in: x->level and x->n. */
void symbols_name(struct symbols *s, uint64_t address, struct named *x);

#endif
