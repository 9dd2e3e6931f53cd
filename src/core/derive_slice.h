/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive_slice.h - the slice of a derivation: room for it, its columns worked out, and turned into
 * rows.
 *
 * Private to core/derive*.c.
 */
#ifndef SONDE_CORE_DERIVE_SLICE_H
#define SONDE_CORE_DERIVE_SLICE_H

#include "core/derive.h"
#include "core/value.h"

/* Of a column: not worked out yet. */
#define SLICE_UNKNOWN UINT32_MAX

/* Of a series, as far as its rate needs it. */
struct last_reading {
	int64_t value, mono_ns;
	bool known;
};

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
void turned_row(struct derive *d, uint32_t row, struct instant *out);
/* Room for what slice_reserve has room for. 0 or -ENOMEM. */
int turned_reserve(struct derive *d);
void turned_free(struct turned *t);

#endif
