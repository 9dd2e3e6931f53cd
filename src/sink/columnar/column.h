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

#include <pthread.h>
#include <stdatomic.h>

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

/* Places for the cells of a column, beside its own. */
struct column_spare {
	void *cells;
	uint8_t *valid;
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
/* Of each column, for a page that is not written yet while the next one is gathered. 0 or -ENOMEM;
 * close in either case, before the columns. */
int columns_open_spare(const struct columns *c, struct column_spare **out);
void columns_close_spare(const struct columns *c, struct column_spare *s); /* NULL is fine */
/* What was gathered lies in s then, and what was in s is gathered over. */
void columns_swap(struct columns *c, struct column_spare *s);

/*
 * Pages that are written by another thread, where there is another CPU, while the next is gathered.
 *
 * write is called for one page at a time, in their order; what it says of one is the result of the
 * next call here.
 */
struct columns_behind {
	int (*write)(void *state, const struct column_page *page, uint32_t nrows, struct err *e);
	void *state;
	struct column_spare *spare;
	struct column_page *page; /* that is written: [ncolumns] */
	uint32_t nrows;
	pthread_t thread;
	bool runs;
	int rc;
	struct err e;
};

/* write and state are set, the rest is zero. 0 or -ENOMEM; close in either case, before the
 * columns. */
int columns_behind_open(struct columns_behind *b, const struct columns *c);
void columns_behind_close(struct columns_behind *b, const struct columns *c);
/* The page that was gathered is written behind, and the next one begins. 0 or -errno. */
int columns_write_behind(struct columns_behind *b, struct columns *c, struct err *e);
/* All is written. 0 or -errno. */
int columns_behind_finish(struct columns_behind *b, struct err *e);

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

/* Two threads, where there is another CPU. {0} is one; it does not move while jobs are at work. */
struct squeeze_crew {
	void *context[SQUEEZE_THREADS];
	struct squeeze_job *jobs;
	size_t n;
	atomic_size_t next;
	pthread_t thread;
	bool helped;
};

/* The other thread begins with the jobs, whose data stay as they are until squeeze_finish, in which
 * this one takes part. */
void squeeze_start(struct squeeze_crew *c, struct squeeze_job *jobs, size_t n);
void squeeze_finish(struct squeeze_crew *c); /* also if nothing was started */
/* Both. */
void squeeze_all(struct squeeze_crew *c, struct squeeze_job *jobs, size_t n);
void squeeze_crew_free(struct squeeze_crew *c);

#endif
