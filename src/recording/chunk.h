/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk.h - the samples of a generation as they stand in a sealed block of type CHUNK, column by
 * column: a column is the values of one series.
 *
 * The footer's entry of a column holds its range and the first value; its body holds where values
 * are present (run lengths, left out when everywhere) and each value's difference to the one before
 * (left out when all are equal). seal.h makes them.
 */
#ifndef SONDE_RECORDING_CHUNK_H
#define SONDE_RECORDING_CHUNK_H

#include "base/bytes.h"
#include "core/frame/run.h"
#include "recording/block.h"

#include <stdint.h>

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
	bool unwanted;     /* set by who does not decode it, before the bodies are expanded */
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

/*
 * The order in which the bodies of a chunk's columns stand: the largest first, those of one size in
 * order of series.
 *
 * Columns of one size are of one kind, and bytes of one kind side by side are compressed better.
 * The footer has the sizes, so a reader needs nothing else to know the order.
 */

struct body {
	uint32_t size;
	uint32_t column;
};

/* Bring them from the order of columns into that of bodies. Behind them is room for as many. */
void bodies_sort(struct body *body, uint32_t n);

/*
 * A CHUNK block's payload, read: its times and ranges first, its values when asked.
 *
 * Series are the file's ids. Memory is the largest chunk's; it is refused before it is taken when
 * the format's limits are passed.
 */

struct chunk_reader {
	uint32_t node, generation, nrows, ncolumns;
	int64_t *utc, *mono;
	struct column *column; /* sorted by series */
	/* private */
	struct scan columns; /* the section of the bodies */
	struct body *bodies; /* as they stand there; behind them room to sort */
	struct bytes footer, body;
	struct expander expander;
	uint32_t rows_cap, columns_cap;
};

int chunk_reader_init(struct chunk_reader *r); /* 0 or -ENOMEM */
void chunk_reader_free(struct chunk_reader *r);

/* Times and ranges. payload is borrowed until the values are read. 0, -EBADMSG or -ENOMEM. */
int chunk_read(struct chunk_reader *r, const uint8_t *payload, size_t n);
/* Expand the bodies, but where all are unwanted; 0, -EBADMSG or -ENOMEM. Then column i decodes into
 * nrows values and flags. */
int chunk_read_bodies(struct chunk_reader *r);
bool chunk_read_column(const struct chunk_reader *r, uint32_t i, int64_t *value, uint8_t *present);

#endif
