/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debugfile.h - the separate file of a module's debug information, where distributions install it:
 * by its build-id, or by .gnu_debuglink. It is never downloaded.
 */
#ifndef SONDE_UNWIND_DEBUGFILE_H
#define SONDE_UNWIND_DEBUGFILE_H

#include "unwind/module.h"

/* fd -1: there is none. */
struct debugfile {
	Elf *elf; /* its file is mapped, to be read only */
	int fd;
};

/* *d has none, and stays so where none is found. elf: the module's. */
void debugfile_find(struct debugfile *d, const struct module *m, Elf *elf);
void debugfile_close(struct debugfile *d);
/* Is there debug information in it? */
bool debugfile_has_info(Elf *elf);
/* Of its compressed sections, when they are not; elf may be NULL. */
int64_t debugfile_inflated_bytes(Elf *elf);

#endif
