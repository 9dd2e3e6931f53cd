/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/columnar/parquet_chunk.h"

#include "sink/columnar/column.h"
#include "sink/columnar/parquet.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS_MAX = 1 << 17, STATISTIC_MAX = 256 };

bool parquet_work_open(struct parquet_work *w)
{
	w->present = calloc(COLUMN_PAGE_ROWS, sizeof(*w->present));
	w->code = calloc(COLUMN_PAGE_ROWS, sizeof(*w->code));
	return w->present && w->code;
}

void parquet_work_close(struct parquet_work *w)
{
	squeeze_free(w->zstd);
	bytes_free(&w->body);
	bytes_free(&w->packed);
	free(w->present);
	free(w->code);
}

static bool is_present(const struct column_page *p, uint32_t row)
{
	return p->valid[row / 8] >> row % 8 & 1;
}

/* The numbers that are there, one behind the other. */
static const int64_t *present_numbers(struct parquet_work *w, const struct column_page *p,
				      uint32_t nrows)
{
	uint32_t n = 0;

	if (!p->nulls)
		return p->i;
	for (uint32_t row = 0; row < nrows; row++) {
		w->present[n] = p->i[row];
		n += is_present(p, row);
	}
	return w->present;
}

static const uint32_t *present_codes(struct parquet_work *w, const struct column_page *p,
				     uint32_t nrows)
{
	uint32_t n = 0;

	if (!p->nulls)
		return p->code;
	for (uint32_t row = 0; row < nrows; row++) {
		w->code[n] = p->code[row];
		n += is_present(p, row);
	}
	return w->code;
}

static void range_int(struct parquet_chunk *c, const int64_t *v, uint32_t n)
{
	if (n && !c->ranged)
		c->min.i = c->max.i = *v;
	for (uint32_t i = 0; i < n; i++) {
		if (v[i] < c->min.i)
			c->min.i = v[i];
		if (v[i] > c->max.i)
			c->max.i = v[i];
	}
	c->ranged |= n > 0;
}

static void range_real(struct parquet_chunk *c, const int64_t *bits, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		double v;

		memcpy(&v, &bits[i], sizeof(v));
		if (isnan(v))
			continue;
		if (!c->ranged || v < c->min.d)
			c->min.d = v;
		if (!c->ranged || v > c->max.d)
			c->max.d = v;
		c->ranged = true;
	}
}

/* 1: w->code has the codes of all; 0: they are better off without; -ENOMEM. */
static int code_numbers(struct parquet_chunk *c, struct parquet_work *w, const int64_t *v,
			uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (dictionary_number(&c->numbers, (uint64_t)v[i], &w->code[i]))
			return -ENOMEM;
		if (c->numbers.n > NUMBERS_MAX)
			return 0;
	}
	return c->coded_pages || c->numbers.n <= n - n / 4;
}

static void put_codes(struct bytes *out, const uint32_t *code, uint32_t n, uint32_t known)
{
	unsigned width = hybrid_width(known ? known - 1 : 0);

	bytes_u8(out, (uint8_t)width);
	hybrid_put(out, code, n, width);
}

/* The values of a page into w->body; *coded: they are codes. 0 or -ENOMEM. */
static int put_values(struct parquet_chunk *c, struct parquet_work *w, const struct column_page *p,
		      uint32_t nrows, bool *coded)
{
	uint32_t n = nrows - p->nulls, known = c->numbers.n;
	const int64_t *v;
	int rc;

	*coded = true;
	if (p->type == COLUMN_TEXT) {
		put_codes(&w->body, present_codes(w, p, nrows), n, p->texts.n);
		return 0;
	}
	v = present_numbers(w, p, nrows);
	if (p->type == COLUMN_REAL)
		range_real(c, v, n);
	else
		range_int(c, v, n);
	rc = c->plain ? 0 : code_numbers(c, w, v, n);
	if (rc > 0) {
		put_codes(&w->body, w->code, n, c->numbers.n);
		return 0;
	}
	if (!c->plain)
		c->numbers.n = known; /* nothing is looked up from now on */
	c->plain = true;
	*coded = false;
	bytes_put(&w->body, v, n * sizeof(*v));
	return rc;
}

static void begin_header(struct thrift *t, enum parquet_page type, size_t body, size_t packed)
{
	thrift_struct(t, 0);
	thrift_i32(t, 1, (int32_t)type);
	thrift_i32(t, 2, (int32_t)body);
	thrift_i32(t, 3, (int32_t)packed);
}

static void put_header(struct bytes *out, const struct parquet_work *w, uint32_t nrows, bool coded)
{
	struct thrift t = { .out = out };

	begin_header(&t, PARQUET_DATA_PAGE, w->body.len, w->packed.len);
	thrift_struct(&t, 5);
	thrift_i32(&t, 1, (int32_t)nrows);
	thrift_i32(&t, 2, coded ? PARQUET_RLE_DICTIONARY : PARQUET_PLAIN);
	thrift_i32(&t, 3, PARQUET_RLE);
	thrift_i32(&t, 4, PARQUET_RLE);
	thrift_struct_end(&t);
	thrift_struct_end(&t);
}

static void pack_body(struct parquet_work *w)
{
	bytes_reset(&w->packed);
	squeeze(&w->zstd, &w->packed, w->body.data, w->body.len);
}

int parquet_chunk_page(struct parquet_chunk *c, struct parquet_work *w, const struct column_page *p,
		       uint32_t nrows)
{
	size_t before = c->pages.len;
	uint32_t levels;
	bool coded;

	bytes_reset(&w->body);
	bytes_u32(&w->body, 0);
	hybrid_bits(&w->body, p->valid, nrows, p->nulls);
	if (w->body.failed)
		return -ENOMEM;
	levels = (uint32_t)(w->body.len - sizeof(levels));
	memcpy(w->body.data, &levels, sizeof(levels));
	if (put_values(c, w, p, nrows, &coded) || w->body.failed)
		return -ENOMEM;
	pack_body(w);
	put_header(&c->pages, w, nrows, coded);
	c->unpacked += c->pages.len - before + w->body.len;
	bytes_put(&c->pages, w->packed.data, w->packed.len);
	c->rows += nrows;
	c->nulls += p->nulls;
	c->coded_pages += coded;
	c->plain_pages += !coded;
	return w->packed.failed || c->pages.failed ? -ENOMEM : 0;
}

static const struct dictionary *dictionary_of(const struct parquet_chunk *c,
					      const struct column_page *p)
{
	return p->type == COLUMN_TEXT ? &p->texts : &c->numbers;
}

size_t parquet_chunk_size(const struct parquet_chunk *c, const struct column_page *p)
{
	return c->pages.len + dictionary_size(dictionary_of(c, p));
}

static void put_dictionary(struct bytes *out, const struct dictionary *d)
{
	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t length;
		const char *text;

		if (d->number) {
			bytes_u64(out, d->number[i]);
			continue;
		}
		text = dictionary_get(d, i, &length);
		bytes_u32(out, length);
		bytes_put(out, text, length);
	}
}

void parquet_chunk_dictionary(struct parquet_chunk *c, struct parquet_work *w,
			      const struct column_page *p, struct bytes *out)
{
	const struct dictionary *d = dictionary_of(c, p);
	struct thrift t = { .out = out };
	size_t before = out->len;

	if (!c->coded_pages)
		return;
	bytes_reset(&w->body);
	put_dictionary(&w->body, d);
	pack_body(w);
	begin_header(&t, PARQUET_DICTIONARY_PAGE, w->body.len, w->packed.len);
	thrift_struct(&t, 7);
	thrift_i32(&t, 1, (int32_t)d->n);
	thrift_i32(&t, 2, PARQUET_PLAIN);
	thrift_struct_end(&t);
	thrift_struct_end(&t);
	c->unpacked += out->len - before + w->body.len;
	bytes_put(out, w->packed.data, w->packed.len);
	out->failed |= w->body.failed || w->packed.failed;
}

static int compare(const struct dictionary *d, uint32_t a, uint32_t b)
{
	uint32_t na, nb;
	const char *x = dictionary_get(d, a, &na), *y = dictionary_get(d, b, &nb);
	int order = memcmp(x, y, na < nb ? na : nb);

	return order ? order : (na > nb) - (na < nb);
}

static void describe_texts(const struct dictionary *d, struct thrift *t)
{
	uint32_t min = 0, max = 0, nmin, nmax;
	const char *least, *most;

	for (uint32_t i = 1; i < d->n; i++) {
		if (compare(d, i, min) < 0)
			min = i;
		if (compare(d, i, max) > 0)
			max = i;
	}
	if (!d->n)
		return;
	least = dictionary_get(d, min, &nmin);
	most = dictionary_get(d, max, &nmax);
	if (nmin > STATISTIC_MAX || nmax > STATISTIC_MAX)
		return;
	thrift_binary(t, 5, most, nmax);
	thrift_binary(t, 6, least, nmin);
}

/* Zeros of either sign are equal: the smallest is said to be -0, the largest +0. */
static void describe_range(const struct parquet_chunk *c, const struct column_page *p,
			   struct thrift *t)
{
	struct parquet_chunk range = *c;

	if (p->type == COLUMN_REAL && range.min.d == 0)
		range.min.d = -0.0;
	if (p->type == COLUMN_REAL && range.max.d == 0)
		range.max.d = 0;
	thrift_binary(t, 5, &range.max, sizeof(range.max));
	thrift_binary(t, 6, &range.min, sizeof(range.min));
}

static void describe_statistics(const struct parquet_chunk *c, const struct column_page *p,
				struct thrift *t)
{
	thrift_struct(t, 12);
	thrift_i64(t, 3, (int64_t)c->nulls);
	if (p->type == COLUMN_TEXT)
		describe_texts(&p->texts, t);
	else if (c->ranged)
		describe_range(c, p, t);
	thrift_struct_end(t);
}

static void describe_pages(struct thrift *t, enum parquet_page type, enum parquet_encoding encoding,
			   uint32_t n)
{
	if (!n)
		return;
	thrift_struct(t, 0);
	thrift_i32(t, 1, (int32_t)type);
	thrift_i32(t, 2, (int32_t)encoding);
	thrift_i32(t, 3, (int32_t)n);
	thrift_struct_end(t);
}

static void describe_encodings(const struct parquet_chunk *c, struct thrift *t)
{
	thrift_list(t, 2, THRIFT_I32, c->coded_pages ? 3 : 2);
	thrift_element_i32(t, PARQUET_PLAIN);
	thrift_element_i32(t, PARQUET_RLE);
	if (c->coded_pages)
		thrift_element_i32(t, PARQUET_RLE_DICTIONARY);
}

void parquet_chunk_describe(const struct parquet_chunk *c, const struct column_page *p,
			    const struct parquet_place *where, struct thrift *t)
{
	thrift_i32(t, 1, (int32_t)parquet_type(p->type));
	describe_encodings(c, t);
	thrift_list(t, 3, THRIFT_BINARY, 1);
	thrift_element_text(t, where->name);
	thrift_i32(t, 4, PARQUET_ZSTD);
	thrift_i64(t, 5, (int64_t)c->rows);
	thrift_i64(t, 6, (int64_t)c->unpacked);
	thrift_i64(t, 7, (int64_t)(where->dictionary + c->pages.len));
	thrift_i64(t, 9, (int64_t)(where->at + where->dictionary));
	if (where->dictionary)
		thrift_i64(t, 11, (int64_t)where->at);
	describe_statistics(c, p, t);
	thrift_list(t, 13, THRIFT_STRUCT, (c->coded_pages ? 2U : 0U) + (c->plain_pages ? 1U : 0U));
	describe_pages(t, PARQUET_DICTIONARY_PAGE, PARQUET_PLAIN, c->coded_pages > 0);
	describe_pages(t, PARQUET_DATA_PAGE, PARQUET_RLE_DICTIONARY, c->coded_pages);
	describe_pages(t, PARQUET_DATA_PAGE, PARQUET_PLAIN, c->plain_pages);
}

void parquet_chunk_reset(struct parquet_chunk *c)
{
	bytes_reset(&c->pages);
	dictionary_empty(&c->numbers);
	c->unpacked = c->rows = c->nulls = 0;
	c->coded_pages = c->plain_pages = 0;
	c->plain = c->ranged = false;
}

void parquet_chunk_free(struct parquet_chunk *c)
{
	bytes_free(&c->pages);
	dictionary_free(&c->numbers);
}
