/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup.h - names of places in code at once, remembered for those that come often. For the thread
 * that finds callers alone: it reads the same handles. names.h looks up without making anybody
 * wait.
 */
#ifndef SONDE_UNWIND_LOOKUP_H
#define SONDE_UNWIND_LOOKUP_H

#include "unwind/names.h"
#include "unwind/profile.h"
#include "unwind/symbols.h"

enum { LOOKUP_NAMED = 1 << 14 };

struct lookup {
	const struct modules *modules;
	struct symbols *symbols[MODULES_MAX];
	struct lookup_row {
		uint64_t address;
		uint32_t module;
		struct named *named;
	} row[LOOKUP_NAMED];
};

/* Of a place in a file or the vdso, until the next question; NULL: no memory. */
const struct named *lookup_name(struct lookup *l, const struct place *p);

#endif
