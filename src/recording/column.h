/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column.h - the values of one series in a chunk, as they stand in a sealed block.
 *
 * The footer's entry holds the range and the first value; the body holds where values are present
 * (run lengths, left out when everywhere) and each value's difference to the one before (left out
 * when all are equal). It is made from changes alone: a value that stays costs nothing until the
 * next one comes.
 */
#ifndef SONDE_RECORDING_COLUMN_H
#define SONDE_RECORDING_COLUMN_H

#include "base/bytes.h"
#include "core/chunk.h"
#include "recording/streams.h"

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

__extension__ typedef __int128 wide;

/* A column that is being made. What every change touches comes first, in one cache line. */
struct column_draft {
	_Alignas(64) int64_t last;
	int64_t min, max;
	uint32_t since; /* row of the value said last */
	bool present, begun, varies, real;
	union {
		wide whole;  /* value x ns: exact, whatever the values are */
		double real; /* value x s */
	} sum;
	struct stream values;
	struct stream runs;
	uint32_t series, count;
	uint32_t first_row, end; /* end: when absent, the row behind the last that had a value */
	uint32_t run_row,
		run_gap; /* the run of values now: its first row, rows without before it */
	int64_t first, weight_ns;
};

void column_start(struct column_draft *d, uint32_t series, bool real);
/* From this row on it has this value; or one that is other by this zigzag than what it said last,
 * 0 when it said nothing; or none. Rows grow; mono: times of the rows so far. */
void column_value(struct column_draft *d, struct streams *m, const int64_t *mono, uint32_t row,
		  int64_t value);
void column_step(struct column_draft *d, struct streams *m, const int64_t *mono, uint32_t row,
		 uint64_t zigzag);
void column_absent(struct column_draft *d, uint32_t row);
/* All nrows rows are there: the footer's entry but for the size of the body. */
void column_finish(struct column_draft *d, struct streams *m, const int64_t *mono, uint32_t nrows,
		   struct column *c);
/* Write the body to where there is room, and note its size. Returns the place behind. */
uint8_t *column_write(const struct column_draft *d, struct column *c, uint8_t *out);

/* Footer entry; behind: series of the entry before, 0 for the first. */
void column_put(struct bytes *out, const struct column *c, uint32_t behind);
/* Read one; false when it is malformed. Fills range, flags, body, rows. */
bool column_get(struct scan *in, struct column *c, uint32_t behind, uint32_t nrows,
		const int64_t *mono);
/* Decode the body that column_get announced; value and present have nrows places. */
bool column_decode(const struct column *c, struct scan body, uint32_t nrows, int64_t *value,
		   uint8_t *present);

#endif
