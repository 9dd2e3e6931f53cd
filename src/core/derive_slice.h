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
/* Works out what is shown of the row that is read; whether all of that is there. */
bool slice_row_is_whole(struct derive *d);
/* What a cell is made to be in the row that is read. */
void slice_put(struct derive *d, uint32_t cell, double value);
void slice_free(struct derive *d);

#endif
