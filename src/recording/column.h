/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column.h - the values of one series in a chunk, as they stand in a sealed block.
 *
 * The footer's entry holds the range and the first value; the body holds where values are present
 * (run lengths, left out when everywhere) and each value's difference to the one before (left out
 * when all are equal). Made in two passes over the same rows: one measures, one writes.
 */
#ifndef SONDE_RECORDING_COLUMN_H
#define SONDE_RECORDING_COLUMN_H

#include "base/bytes.h"
#include "core/chunk.h"

/* Flags of a footer entry. */
enum {
	COLUMN_FULL = 1,     /* present in every row */
	COLUMN_CONSTANT = 2, /* all values are equal, to the bit */
	COLUMN_REAL = 4,     /* values are the bits of doubles: differences are exclusive ors */
	COLUMN_GROWING = 8,  /* the first value is the smallest, the last the largest */
	COLUMN_FLAGS = 15,
};

struct column {
	struct range range;
	int64_t weight_ns;
	uint32_t first_row, last_row, run_row; /* run_row: where this run of present values began */
	uint32_t body;                         /* bytes of run lengths and differences */
	uint32_t run_bytes;
	uint8_t flags;
	uint8_t *runs, *values; /* where the second pass writes; NULL: left out */
};

/* First pass: every present value in order of rows, then finish. mono: times of all rows. */
void column_start(struct column *c, uint32_t series, bool real);
void column_measure(struct column *c, uint32_t row, int64_t value, const int64_t *mono);
void column_finish(struct column *c, uint32_t nrows, const int64_t *mono);

/* Second pass: the same values again, into c->body bytes at where. */
void column_rewind(struct column *c, uint8_t *where);
void column_write(struct column *c, uint32_t row, int64_t value);
void column_written(struct column *c);

/* Footer entry; behind: series of the entry before, 0 for the first. */
void column_put(struct bytes *out, const struct column *c, uint32_t behind);
/* Read one; false when it is malformed. Fills range, flags, body, rows. */
bool column_get(struct scan *in, struct column *c, uint32_t behind, uint32_t nrows,
		const int64_t *mono);
/* Decode the body that column_get announced; value and present have nrows places. */
bool column_decode(const struct column *c, struct scan body, uint32_t nrows, int64_t *value,
		   uint8_t *present);

#endif
