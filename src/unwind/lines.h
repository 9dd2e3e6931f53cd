/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h - source files and lines of addresses, out of debug information.
 *
 * libdw keeps the line tables that it has read as long as the handle, in 48 bytes a row. Here the
 * table of a unit is read when the first of its addresses is asked for, by a handle that is closed
 * soon after, and kept in a quarter of that or less. What is read is hostile.
 */
#ifndef SONDE_UNWIND_LINES_H
#define SONDE_UNWIND_LINES_H

#include <elfutils/libdw.h>
#include <stdint.h>

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
