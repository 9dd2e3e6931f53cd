/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column.h - rows gathered into columns, a page of them at a time: what the formats that store
 * columns (Parquet, Arrow, ORC, pickle) begin with.
 *
 * Every column has a place for each row; a cell that is absent is 0 there and its bit in `valid` is
 * clear. Texts are codes in a dictionary, which outlives pages until it is emptied. The number of
 * rows of a page is bounded, and less where there are many columns.
 */
#ifndef SONDE_SINK_COLUMNAR_COLUMN_H
#define SONDE_SINK_COLUMNAR_COLUMN_H

#include "base/bytes.h"
#include "core/frame/frame.h"
#include "sink/columnar/sorted.h"

enum { COLUMN_PAGE_ROWS = 65536, COLUMN_CACHE = 256 };

struct column_cache {
	const char *text;
	uint32_t code, stamp;
};

struct column_page {
	enum column_type type;
	union {
		int64_t *i; /* COLUMN_INT, COLUMN_TIME */
		double *d;
		uint32_t *code; /* COLUMN_TEXT */
	};
	uint8_t *valid; /* a bit for each row, the lowest first; those behind the rows are clear */
	uint32_t nulls;
	struct dictionary texts;
	/* Texts of this batch by where they lie, which is the same for the same text mostly. */
	struct column_cache *cache;
};

struct columns {
	const struct frame_schema *schema;
	uint32_t nrows, room;
	struct column_page *column; /* [schema->ncolumns] */
	uint32_t stamp;             /* while texts stay */
};

/* 0 or -errno. Close in either case. The schema is borrowed. */
int columns_open(struct columns *c, const struct frame_schema *schema, struct err *e);
/* Rows of a batch from *row on, until there are no more or the page is full; *row moves on. 0 or
 * -errno. */
int columns_take(struct columns *c, const struct batch *b, uint32_t *row, struct err *e);
/* Take all rows of a batch; whenever the page is full, full(state) writes it and goes on to the
 * next. 0 or -errno. */
int columns_batch(struct columns *c, const struct batch *b, int (*full)(void *state, struct err *e),
		  void *state, struct err *e);
/* Forget the rows; dictionaries stay. */
void columns_next_page(struct columns *c);
/* Forget the texts as well: codes begin at 0 again. */
void columns_empty_dictionaries(struct columns *c);
void columns_close(struct columns *c);

/* What a table and its columns are, as JSON, for the file's own metadata: docs/export.md. */
void columns_describe(struct bytes *out, const struct frame_schema *schema);
/* Put the name of a column into out, in UTF-8 and with a NUL, which is all that is there then. */
void column_name(struct bytes *out, const struct column *c);

/*
 * Blocks of bytes through zstd, each one a frame of its own.
 */
/* One of many blocks that are compressed side by side. */
struct squeeze_job {
	const void *data;
	size_t n;
	struct bytes out; /* emptied, then filled; failed when memory is out */
};

enum { SQUEEZE_THREADS = 2 };

/* Append data, compressed, to out and return how many bytes that took; 0 when memory is out, which
 * out->failed tells, too. *context is made when it is NULL. */
size_t squeeze(void **context, struct bytes *out, const void *data, size_t n);
void squeeze_free(void *context); /* NULL is one, too */

/* All of them, by this thread and, where there is another CPU, by a second one, which has ended
 * when this returns. */
void squeeze_all(void *context[SQUEEZE_THREADS], struct squeeze_job *jobs, size_t n);

#endif
