/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive_slice.h - the slice of a derivation: room for it, and its rows worked out.
 *
 * Private to core/derive*.c.
 */
#ifndef SONDE_CORE_DERIVE_SLICE_H
#define SONDE_CORE_DERIVE_SLICE_H

#include "core/derive.h"
#include "core/value.h"

/* A state besides enum state: not worked out yet. */
enum { SLICE_UNKNOWN = STATE_NUMBER_OF };

/* Of a series, as far as its rate needs it. */
struct last_reading {
	int64_t value, mono_ns;
	bool known;
};

/* Room for rows of so many cells, column 0 (none) included. 0 or -ENOMEM. */
int slice_reserve(struct derive *d, uint32_t want);
/* A new chunk; its cells have their columns. */
void slice_begin(struct derive *d);
/* Read the chunk's next rows. */
void slice_next(struct derive *d);
/* What a cell is in all of these rows, when it is not known yet. */
void slice_work_out(struct derive *d, uint32_t cell);
/* And what it is made to be: NAN is absent. */
void slice_put_column(struct derive *d, uint32_t cell, const double *value);
/* Whether all that is shown is there in the row that is read. */
bool slice_row_is_whole(const struct derive *d);
void slice_free(struct derive *d);

#endif
