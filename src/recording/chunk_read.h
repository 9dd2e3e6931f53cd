/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_read.h - a CHUNK block's payload, read: its times and ranges first, its values when asked.
 *
 * Series are the file's ids. Memory is the largest chunk's; it is refused before it is taken when
 * the format's limits are passed.
 */
#ifndef SONDE_RECORDING_CHUNK_READ_H
#define SONDE_RECORDING_CHUNK_READ_H

#include "recording/bodies.h"
#include "recording/column.h"
#include "recording/section.h"

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
/* Expand the bodies; 0, -EBADMSG or -ENOMEM. Then column i decodes into nrows values and flags. */
int chunk_read_bodies(struct chunk_reader *r);
bool chunk_read_column(const struct chunk_reader *r, uint32_t i, int64_t *value, uint8_t *present);

#endif
