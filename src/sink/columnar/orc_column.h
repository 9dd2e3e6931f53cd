/* SPDX-License-Identifier: Apache-2.0 */
/*
 * orc_column.h - one column of a stripe of ORC: its streams, compressed as pages come, and its
 * statistics.
 */
#ifndef SONDE_SINK_COLUMNAR_ORC_COLUMN_H
#define SONDE_SINK_COLUMNAR_ORC_COLUMN_H

#include "sink/columnar/column.h"

enum orc_stream {
	ORC_PRESENT = 0,
	ORC_DATA,
	ORC_LENGTH,
	ORC_DICTIONARY,
	ORC_SECONDARY = 5,
	ORC_STREAMS
};

/* Of a stripe, or of the file. */
struct orc_range {
	uint64_t values, nulls;
	bool known, nan; /* min and max are there; a NaN was */
	union {
		int64_t i;
		double d;
	} min, max;
};

struct orc_column {
	struct bytes stream[ORC_STREAMS]; /* by its kind */
	struct orc_range stripe, file;
};

/* What is only used while a page is made; one serves all columns. */
struct orc_work {
	void *zstd;
	struct bytes raw;
	int64_t *number, *second; /* [COLUMN_PAGE_ROWS] */
};

bool orc_work_open(struct orc_work *w); /* close in either case */
void orc_work_close(struct orc_work *w);

/* Append raw bytes to a stream, compressed, as ORC frames them. */
enum { ORC_BLOCK = 1 << 18 };
void orc_compress(struct orc_work *w, struct bytes *out, const struct bytes *raw);

/* Append a page. 0 or -errno. */
int orc_column_page(struct orc_column *c, struct orc_work *w, const struct column_page *p,
		    uint32_t nrows, struct err *e);
/* The stripe is complete: its texts, and the part of the file's statistics. 0 or -ENOMEM. */
int orc_column_end(struct orc_column *c, struct orc_work *w, const struct column_page *p);
/* Whether the stripe has this stream of it, though it may be empty. */
bool orc_column_has(const struct orc_column *c, enum column_type type, enum orc_stream kind);
void orc_column_reset(struct orc_column *c);
/* Bytes that it holds now. */
size_t orc_column_size(const struct orc_column *c, const struct column_page *p);
void orc_column_free(struct orc_column *c);

/* The message ColumnStatistics. */
void orc_range_describe(struct bytes *out, const struct orc_range *r, enum column_type type);

#endif
