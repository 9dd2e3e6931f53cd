/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draft.h - a column that is being made out of the rows of a tail.
 *
 * It is told of changes alone: a value that stays costs nothing until the next one comes. Its
 * differences are coded as the tail's steps are, so that these are copied and not coded again
 * (but those of doubles). What every change touches lies in one cache line.
 */
#ifndef SONDE_RECORDING_DRAFT_H
#define SONDE_RECORDING_DRAFT_H

#include "recording/column.h"
#include "recording/streams.h"

__extension__ typedef __int128 wide;

struct draft {
	_Alignas(64) int64_t last;
	int64_t min, max;
	uint32_t since; /* row of the value said last */
	bool present, begun, varies, real;
	struct stream values;
	union {
		wide whole;  /* value x ns: exact, whatever the values are */
		double real; /* value x s */
	} sum;
	struct stream runs;
	uint32_t series, count;
	uint32_t first_row, end; /* end: when absent, the row behind the last that had a value */
	uint32_t run_row;        /* the run of values now: its first row */
	uint32_t run_gap;        /* rows without a value before it */
	int64_t first, weight_ns;
	bool full; /* when finished: a value in every row */
};
_Static_assert(sizeof(struct draft) == 128, "there are thousands of them");

/* Where drafts grow: rows come in order, and the times of those so far are known. */
struct drafting {
	struct streams streams;
	int64_t *mono;
	uint32_t row; /* the one that is being read */
};

void draft_start(struct draft *d, uint32_t series, bool real);
/* From this row on it has this value. */
void draft_value(struct draft *d, struct drafting *g, int64_t value);
void draft_absent(struct draft *d, uint32_t row);
/* All nrows rows are there: the footer's entry; without a value its count is 0. */
void draft_finish(struct draft *d, struct drafting *g, uint32_t nrows, struct column *c);
/* Write the body of one that is finished to where there is room, and VARINT_MAX behind it. Returns
 * the place behind. */
uint8_t *draft_write(const struct draft *d, const struct streams *m, uint8_t *out);

/* A step in the tail: the zigzag by which a value differs from what was said last, and its varint:
 * n bytes, but VARINT_MAX may be read. */
struct step {
	uint64_t zigzag;
	const uint8_t *coded;
	size_t n;
};

/* The other cases of a step: the first value, one that returns, doubles, much to be written. */
void draft_step_slow(struct draft *d, struct drafting *g, uint64_t zigzag);

/* From this row on the value is another. */
static inline void draft_step(struct draft *d, struct drafting *g, struct step step)
{
	uint32_t zeros = g->row - d->since - 1;
	int64_t value = (int64_t)((uint64_t)d->last + (uint64_t)zigzag_decode(step.zigzag));

	if (!d->present || d->real || zeros > 8 || d->values.end - d->values.at < 8 + VARINT_MAX) {
		draft_step_slow(d, g, step.zigzag);
		return;
	}
	memset(stream_at(&g->streams, &d->values), 0, 8);
	memcpy(stream_at(&g->streams, &d->values) + zeros, step.coded, VARINT_MAX);
	d->values.at += zeros + (uint32_t)step.n;
	d->sum.whole += (wide)d->last * (g->mono[g->row] - g->mono[d->since]);
	d->min = value < d->min ? value : d->min;
	d->max = value > d->max ? value : d->max;
	d->varies = true;
	d->last = value;
	d->since = g->row;
}

#endif
