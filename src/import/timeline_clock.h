/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_clock.h - when a timeline of another tool was, from what its file says, from the
 * recording that it goes into, or by a mark that both have.
 */
#ifndef SONDE_IMPORT_TIMELINE_CLOCK_H
#define SONDE_IMPORT_TIMELINE_CLOCK_H

#include "import/importer.h"

struct timeline_times {
	int64_t first_ns, last_ns; /* of what is in it, on a clock of its own */
	/* UTC of that clock's 0, as the file states it. */
	bool stated;
	int64_t zero_utc;
	const char *statement; /* what states it, and how exactly: "baseTimeNanoseconds (to 1 ns)"
				*/
	/* When place->align was, on that clock. */
	bool align_found;
	int64_t align_ns;
	int64_t changed_utc; /* when the file was last changed */
};

/* UTC of the clock's 0 to *zero_utc, and a note of how well it is known. 0, or -errno with a
 * sentence: it is not of that recording. */
int timeline_clock(const struct timeline_times *t, const struct import *x, int64_t *zero_utc,
		   struct err *e);

#endif
