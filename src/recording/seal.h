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

#include "recording/bodies.h"
#include "recording/draft.h"
#include "recording/rows.h"
#include "recording/section.h"

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
	uint32_t values_max, columns_max;
	struct bytes events, footer, body;
	bool declares; /* events are mostly the texts of metrics */
	struct compressor compressor;
};

/* For images up to image_max bytes, of at most columns_max columns (COLUMNS_MAX at most) and
 * values_max rows x columns. 0 or -ENOMEM. */
int sealer_init(struct sealer *s, uint32_t image_max, uint32_t columns_max, uint32_t values_max);
void sealer_free(struct sealer *s);
/* Give back the memory that the last sealing used; the next takes it again. */
void sealer_let_go(struct sealer *s);

enum { SEAL_EVENTS = 1, SEAL_CHUNK = 2 };

struct image {
	const uint8_t *data;
	size_t len;
	uint32_t node, generation;
};

/* Append the image's EVENTS and CHUNK blocks (those of `which` that hold anything), numbered from
 * *sequence on. 0, -EBADMSG when the image is malformed, -ENOBUFS when out is too small. */
int seal(struct sealer *s, const struct image *image, unsigned which, uint32_t *sequence,
	 struct bytes *out);

#endif
