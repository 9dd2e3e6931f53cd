/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column.h - the values of one series in a chunk, as they stand in a sealed block.
 *
 * The footer's entry holds the range and the first value; the body holds where values are present
 * (run lengths, left out when everywhere) and each value's difference to the one before (left out
 * when all are equal). draft.h makes it.
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
	uint32_t first_row, last_row;
	uint32_t body; /* bytes of run lengths and differences */
	uint8_t flags;
	const uint8_t *at; /* of the body, where a reader has it */
};

/* Footer entry; behind: series of the entry before, 0 for the first. */
void column_put(struct bytes *out, const struct column *c, uint32_t behind);
/* Read one; false when it is malformed. Fills range, flags, body, rows. */
bool column_get(struct scan *in, struct column *c, uint32_t behind, uint32_t nrows,
		const int64_t *mono);
/* Decode the body that column_get announced; value and present have nrows places. What stands in
 * the COLUMN_BEHIND bytes behind the body does not matter, but they may be read. */
enum { COLUMN_BEHIND = 8 };
bool column_decode(const struct column *c, struct scan body, uint32_t nrows, int64_t *value,
		   uint8_t *present);

#endif
