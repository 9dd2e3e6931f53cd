/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scopes.h - the function at an address and the inlined calls within it, out of debug information.
 *
 * libdw's dwarf_getscopes() goes through a whole unit for each address; here the functions of a
 * unit are listed when the first of its addresses is asked for, and only that function is gone
 * through. A list has offsets alone, and outlives the handle. What is read is hostile.
 */
#ifndef SONDE_UNWIND_SCOPES_H
#define SONDE_UNWIND_SCOPES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

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
 * Whether a unit was compiled without optimization. GCC says so: it keeps its options. Rust and
 * clang do not, but without optimization they keep each variable at one place in its function's
 * frame, and with it hardly any: there a variable wanders, by a list of locations, or is gone. Of
 * other compilers nothing is known, which is no sign.
 */
enum { OPTIMIZED_UNITS = 64 };

/* The units that were checked last; {0} is empty. */
struct optimized {
	struct {
		Dwarf_Off unit; /* 0: none, since a unit's DIE is behind its header */
		bool is_not;
	} row[OPTIMIZED_UNITS];
};

bool unit_is_unoptimized(struct optimized *x, Dwarf_Die *unit);

#endif
