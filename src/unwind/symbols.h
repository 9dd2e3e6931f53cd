/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.h - one module's symbols and debug information, for one thread: who opens them names a
 * handle of the module that is its own, since libelf's and libdw's are for one thread each.
 *
 * A file of debug information beside the module is often compressed, as all of Debian's are: libdw
 * inflates the whole of it to find one line (libc's takes 0.15 s and 12 MB). Such a file is not
 * opened until it is asked for, and closed soon after; symbols have their names without it.
 */
#ifndef SONDE_UNWIND_SYMBOLS_H
#define SONDE_UNWIND_SYMBOLS_H

#include "unwind/names.h"

struct symbols;

/* elf: a handle of the module that no other thread uses. NULL: no memory. */
struct symbols *symbols_open(const struct module *m, Elf *elf);
void symbols_close(struct symbols *s);
/* Is there a file that has lines? */
bool symbols_have_lines(const struct symbols *s);
/* CPU time that lines and inlined calls would cost, about; 0: what there is, is there. */
int64_t symbols_lines_cost_ns(const struct symbols *s);
void symbols_open_lines(struct symbols *s);
/* Those that cost much, which cost twice as much from then on. False: none are open. */
bool symbols_close_lines(struct symbols *s);
/* Memory that lines take; they are read again when they are needed. */
enum { SYMBOLS_LINES_MAX = 8 << 20 }; /* of all files together */
int64_t symbols_lines_bytes(const struct symbols *s);
void symbols_forget_lines(struct symbols *s);
/* Pages of the files are not this process's until they are read again. */
void symbols_let_go(const struct symbols *s);
/* What the address is in: x->level and x->n. */
void symbols_name(struct symbols *s, uint64_t address, struct named *x);

/* A symbol as people write it; free it. NULL: no memory. */
char *name_demangle(const char *symbol);

#endif
