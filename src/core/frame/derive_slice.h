/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive_slice.h - the slice of a derivation: room for it, its columns worked out, and transposed
 * into rows.
 *
 * Private to core/derive*.c.
 */
#ifndef SONDE_CORE_FRAME_DERIVE_SLICE_H
#define SONDE_CORE_FRAME_DERIVE_SLICE_H

#include "core/frame/derive.h"
#include "core/frame/rate.h"
#include "core/metric.h"

/* Of a column: not worked out yet. */
#define SLICE_UNKNOWN UINT32_MAX

/* A cell of a device, one of those that a sum is made of (core/frame/derive_combine.c). */
struct member {
	uint32_t cell, next;   /* the next one of the same sum; 0: none */
	double value;          /* its last one */
	int64_t at_ns, gap_ns; /* when that was, and how long after the one before */
	int64_t whole_ns;      /* of the first one: when the whole was last known */
	bool whole_known;
	bool known, begun; /* has a last value; was read at all (a first reading has no rate) */
};

/* Links the members of each sum. 0 or -ENOMEM. */
int combine_open(struct derive *d);
/* A new chunk: where its columns have them. */
void combine_chunk(struct derive *d);
/* Nothing has been read yet. */
void combine_rewind(struct derive *d);
/* What a node's instances combine into, for the rows of the slice. */
void derive_combine(struct derive *d, uint32_t cell, uint32_t column);
/* The rate of a series at its first reading after the slice, in this chunk; NAN: it has none. */
double slice_next_rate(const struct derive *d, const struct chunk_column *c);

/* Room for so many columns, column 0 (none) included. 0 or -ENOMEM. */
int slice_reserve(struct derive *d, uint32_t columns);
/* A new chunk; its cells have their columns. */
void slice_begin(struct derive *d);
/* Read the chunk's next rows. */
void slice_next(struct derive *d);
/* A column of which nothing is known yet has no values. */
void slice_clear(struct slice *s, uint32_t column);
/* A value, which stands for so many seconds; what is not finite is none. */
void slice_put(struct slice *s, uint32_t column, uint32_t row, double value, double seconds);
/* Sees to it that the cell's column is worked out. Returns the column. */
uint32_t derive_work_out(struct derive *d, uint32_t cell);
void slice_free(struct derive *d);

/* The readings of a row of the slice. */
void transposed_row(struct derive *d, uint32_t row, struct instant *out);
/* Room for what slice_reserve has room for. 0 or -ENOMEM. */
int transposed_reserve(struct derive *d);
void transposed_free(struct transposed *t);

#endif
