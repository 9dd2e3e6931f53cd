/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scanner_counters.h - where a thread's counters begin in a profile of Scanner's.
 *
 * The writer counts the intervals, then writes them while others are added, and there is nothing
 * between them and the counters. So the place is that from which all of what follows fits.
 */
#ifndef SONDE_IMPORT_SCANNER_COUNTERS_H
#define SONDE_IMPORT_SCANNER_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCANNER_ROW = 17 };

/* What lies behind the counters. */
enum scanner_next {
	SCANNER_NEXT_THREAD,
	SCANNER_NEXT_LOADERS, /* their number, they, then the chains' */
	SCANNER_NEXT_CHAINS,
	SCANNER_NEXT_SAVERS,
	SCANNER_NEXT_END
};

/* more: rows in front of the counters. whole: the file ends where data does. known[]: is not 0 for
 * numbers that have a key. False: they begin nowhere. */
bool scanner_counters_find(const uint8_t *data, size_t n, bool whole, enum scanner_next next,
			   const size_t known[256], uint32_t *more);

#endif
