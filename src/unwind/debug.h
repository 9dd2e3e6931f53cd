/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug.h - what debug information says of an address: its function, inlined calls, and line.
 */
#ifndef SONDE_UNWIND_DEBUG_H
#define SONDE_UNWIND_DEBUG_H

#include "unwind/module.h"

#include <elfutils/libdw.h>
#include <stdint.h>

/*
 * The function at an address and the inlined calls within it, out of debug information.
 *
 * libdw's dwarf_getscopes() goes through a whole unit for each address; here the functions of a
 * unit are listed when the first of its addresses is asked for, and only that function is gone
 * through. A list has offsets alone, and outlives the handle. What is read is hostile.
 */

struct scope {
	uint64_t low, high;
	Dwarf_Off die;
};

struct scopes_unit {
	Dwarf_Off die;
	uint32_t first, n; /* in function, by low */
};

/* Of one file. {0} is empty. */
struct scopes {
	struct scope *function;
	struct scopes_unit *unit;
	uint32_t n, cap, nunits, units_cap;
};

/* The innermost first, the last one the function itself; 0: none is known, or there is no memory.
 * The outermost are left out where there is no room. */
unsigned scopes_at(struct scopes *s, Dwarf *dwarf, Dwarf_Die *unit, uint64_t address,
		   Dwarf_Die *out, unsigned room);
void scopes_free(struct scopes *s);

/*
 * The debug information of a module: the separate file that has it, where distributions
 * install it, by its build-id or by .gnu_debuglink, never downloaded; and source files and lines of
 * addresses.
 *
 * libdw keeps the line tables that it has read as long as the handle, in 48 bytes a row. Here the
 * table of a unit is read when the first of its addresses is asked for, by a handle that is closed
 * soon after, and kept in a quarter of that or less. What is read is hostile.
 */

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

enum { LINES_UNITS_MAX = 4096 };

struct lines_unit;

/* Of one file. {0} is empty. */
struct lines {
	struct lines_unit *unit;
	uint32_t n, cap;
	int64_t bytes; /* of memory, about */
	Dwarf *dwarf;  /* of the last units, or NULL */
	size_t rows;   /* that it has in memory */
};

/* The file of an address in this unit, and its line; NULL, 0: not known. Both are good until
 * lines_free. */
const char *lines_at(struct lines *l, Elf *elf, Dwarf_Off unit, uint64_t address, uint32_t *line);
/* A file of the unit by its number; NULL: it has none of it. */
const char *lines_file(struct lines *l, Elf *elf, Dwarf_Off unit, uint32_t number);
/* What the last units were read by, before the file is closed. */
void lines_close(struct lines *l);
void lines_free(struct lines *l);

#endif
