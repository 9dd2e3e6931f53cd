/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parquet_chunk.h - one column of a row group of Parquet: data pages, encoded and compressed as
 * they come, and what the footer says of them.
 *
 * Texts are codes in a dictionary. Numbers are as well, while a page has many of them twice and the
 * dictionary is small.
 */
#ifndef SONDE_SINK_COLUMNAR_PARQUET_CHUNK_H
#define SONDE_SINK_COLUMNAR_PARQUET_CHUNK_H

#include "sink/columnar/column.h"
#include "sink/columnar/parquet.h"

struct parquet_chunk {
	struct bytes pages;        /* data pages with their headers */
	uint64_t unpacked;         /* their bytes, were they not compressed */
	struct dictionary numbers; /* of a column of numbers */
	bool plain;                /* the next pages hold numbers, not codes */
	uint32_t coded_pages, plain_pages;
	uint64_t rows, nulls;
	bool ranged; /* min and max are known; NaN has no part in them */
	union {
		int64_t i;
		double d;
	} min, max;
};

/* Where a chunk lies in the file. */
struct parquet_place {
	const char *name; /* of its column */
	uint64_t at;
	size_t dictionary; /* bytes of its dictionary page; 0: it has none */
};

/* What is only used while a page is made; one serves all columns. */
struct parquet_work {
	void *zstd;
	struct bytes body, packed;
	int64_t *present; /* [COLUMN_PAGE_ROWS] numbers of a page without gaps */
	uint32_t *code;   /* [COLUMN_PAGE_ROWS] codes of it without gaps */
};

bool parquet_work_open(struct parquet_work *w); /* close in either case */
void parquet_work_close(struct parquet_work *w);

/* Append a page. 0 or -ENOMEM. */
int parquet_chunk_page(struct parquet_chunk *c, struct parquet_work *w, const struct column_page *p,
		       uint32_t nrows);
/* Bytes that it holds now. */
size_t parquet_chunk_size(const struct parquet_chunk *c, const struct column_page *p);

/* The chunk is complete: put its dictionary page, if it has one, into out; the data pages come
 * behind it. */
void parquet_chunk_dictionary(struct parquet_chunk *c, struct parquet_work *w,
			      const struct column_page *p, struct bytes *out);
/* What the footer says of it. */
void parquet_chunk_describe(const struct parquet_chunk *c, const struct column_page *p,
			    const struct parquet_place *where, struct thrift *t);
void parquet_chunk_reset(struct parquet_chunk *c);
void parquet_chunk_free(struct parquet_chunk *c);

#endif
