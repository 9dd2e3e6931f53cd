/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk.h - some rows of one node, decoded: the raw shape between the reader and the frame.
 *
 * Column-wise: column c holds nrows stored values of one series; present[r] says whether there was
 * one. Ranges say the same without decoding. Memory belongs to the run and lives until its next
 * chunk.
 */
#ifndef SONDE_CORE_CHUNK_H
#define SONDE_CORE_CHUNK_H

#include <stdint.h>

/* What a chunk's footer holds of one series; enough for a summary without decoding. */
struct range {
	uint32_t series;
	uint32_t count;                /* values present */
	int64_t min, max, first, last; /* stored units; valid when count > 0 */
	int64_t first_ns, last_ns;     /* monotonic times of the first and last present value */
	double weighted_sum; /* sum of value x seconds until the next row (stored units x s) */
	double weight;       /* the seconds of that sum */
};

struct chunk_column {
	uint32_t series;
	const int64_t *value;
	const uint8_t *present; /* 1 or 0, one byte a row */
};

struct chunk {
	uint32_t node;
	uint32_t nrows;
	const int64_t *utc_ns, *mono_ns;
	uint32_t ncolumns;
	const struct chunk_column *column; /* sorted by series */
};

#endif
