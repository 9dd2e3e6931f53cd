/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal.h - turns the rows of one generation, as they stand in a .tail slot, into sealed blocks.
 *
 * The writer seals its own slot; a reader seals the slots that a killed writer left, so that what
 * is read comes out of blocks always. The image is commits one behind the other, known to be whole.
 * Nothing is allocated after sealer_init.
 */
#ifndef SONDE_RECORDING_SEAL_H
#define SONDE_RECORDING_SEAL_H

#include "recording/block.h"
#include "recording/chunk.h"
#include "recording/codeblock.h"
#include "recording/rows.h"
#include "recording/varint.h"

#include <stdbool.h>

/*
 * Many runs of bytes that grow side by side in one piece of reserved memory.
 *
 * A stream is a chain of small segments, so that none needs to know how long it will become.
 * Streams are forgotten all at once. When the memory is used up `full` is set, and what is written
 * then goes nowhere: one check at the end is enough.
 */
enum { SEGMENT_ROOM = 248 /* makes a segment 256 bytes */ };

struct segment {
	uint32_t next; /* index + 1; 0: none */
	uint32_t used;
	uint8_t data[SEGMENT_ROOM];
};

struct streams {
	struct segment *segment;
	uint32_t n, max; /* the last is where bytes go that have no place */
	bool full;
};

/* {0} is empty. at and end are bytes from the start of the memory: a stream is small. */
struct stream {
	uint32_t at, end;
	uint32_t first;  /* index + 1 of its segment; 0: none */
	uint32_t before; /* bytes in the segments but the last */
};

/* For so many bytes in so many streams at most, together less than 2 GiB; 0 or -ENOMEM. */
int streams_init(struct streams *m, size_t bytes, size_t streams);
void streams_free(struct streams *m);
void streams_reset(struct streams *m);

static inline uint8_t *stream_at(const struct streams *m, const struct stream *s)
{
	return (uint8_t *)m->segment + s->at;
}

void stream_extend(struct streams *m, struct stream *s);
void stream_fill(struct streams *m, struct stream *s, uint32_t zeros);

static inline void stream_varint(struct streams *m, struct stream *s, uint64_t v)
{
	if (s->end - s->at < VARINT_MAX)
		stream_extend(m, s);
	s->at += (uint32_t)(varint_write(stream_at(m, s), v) - stream_at(m, s));
}

static inline void stream_zeros(struct streams *m, struct stream *s, uint32_t n)
{
	if (n > 8 || s->end - s->at < 8) {
		stream_fill(m, s, n);
		return;
	}
	memset(stream_at(m, s), 0, 8);
	s->at += n;
}

/*
 * A column that is being made out of the rows of a tail.
 *
 * It is told of changes alone: a value that stays costs nothing until the next one comes. Its
 * differences are coded as the tail's steps are, so that these are copied and not coded again (but
 * those of doubles). What every change touches lies in one cache line.
 */

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

/* Bits of a commit's first byte. */
enum { COMMIT_LIST = 1, COMMIT_ROW = 2, COMMIT_FLAGS = 3 };

struct sealer {
	struct rows rows;
	struct draft *column; /* in order of series */
	uint32_t ncolumns;
	struct drafting drafting;
	int64_t *utc; /* of each row */
	uint32_t nrows;
	struct body *bodies; /* in order of series, then of size; behind them room to sort */
	struct section_frame *frame; /* of the bodies' section */
	uint32_t nframes, frames_max;
	uint32_t values_max, columns_max;
	struct bytes events, footer, body;
	struct codeblock code;
	bool declares; /* events are mostly the texts of metrics */
	struct compressor compressor;
};

/* For images up to image_max bytes, of at most columns_max columns (COLUMNS_MAX at most) and
 * values_max rows x columns. 0 or -ENOMEM. */
int sealer_init(struct sealer *s, uint32_t image_max, uint32_t columns_max, uint32_t values_max);
void sealer_free(struct sealer *s);
/* Give back the memory that the last sealing used; the next takes it again. */
void sealer_let_go(struct sealer *s);

enum { SEAL_EVENTS = 1, SEAL_CHUNK = 2, SEAL_CODE = 4 };

struct image {
	const uint8_t *data;
	size_t len;
	uint32_t node, generation;
};

/* Append the image's CODE, EVENTS and CHUNK blocks (those of `which` that hold anything), numbered
 * from *sequence on. 0, -EBADMSG when the image is malformed, -ENOBUFS when out is too small. */
int seal(struct sealer *s, const struct image *image, unsigned which, uint32_t *sequence,
	 struct bytes *out);

#endif
