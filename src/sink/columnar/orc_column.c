/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/columnar/orc_column.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "sink/columnar/column.h"
#include "sink/protobuf.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum orc_sign { ORC_UNSIGNED = 0, ORC_SIGNED };

/* ---- runs ---- */

enum { RUN_LEAST = 3, RUN_MOST = 130, LITERALS_MOST = 128 };

static void put_number(struct bytes *out, int64_t v, enum orc_sign sign)
{
	if (sign == ORC_SIGNED)
		bytes_zigzag(out, v);
	else
		bytes_varint(out, (uint64_t)v);
}

static void put_literals(struct bytes *out, const int64_t *v, uint32_t n, enum orc_sign sign)
{
	while (n) {
		uint32_t some = n < LITERALS_MOST ? n : LITERALS_MOST;

		bytes_u8(out, (uint8_t)-some);
		for (uint32_t i = 0; i < some; i++)
			put_number(out, v[i], sign);
		v += some;
		n -= some;
	}
}

/* How many of n numbers go up or down by *step each. */
static uint32_t run_length(const int64_t *v, uint32_t n, int64_t *step)
{
	uint32_t length = 2;
	int64_t next;

	if (n < RUN_LEAST || __builtin_sub_overflow(v[1], v[0], step) || *step < INT8_MIN ||
	    *step > INT8_MAX)
		return 1;
	while (length < n && length < RUN_MOST &&
	       !__builtin_sub_overflow(v[length], v[length - 1], &next) && next == *step)
		length++;
	return length;
}

static void orc_run_numbers(struct bytes *out, const int64_t *v, uint32_t n, enum orc_sign sign)
{
	uint32_t literals = 0, at = 0;

	while (at < n) {
		int64_t step;
		uint32_t length = run_length(v + at, n - at, &step);

		if (length < RUN_LEAST) {
			at++;
			continue;
		}
		put_literals(out, v + literals, at - literals, sign);
		bytes_u8(out, (uint8_t)(length - RUN_LEAST));
		bytes_u8(out, (uint8_t)step);
		put_number(out, v[at], sign);
		at += length;
		literals = at;
	}
	put_literals(out, v + literals, n - literals, sign);
}

static uint8_t reverse(uint8_t b)
{
	b = (uint8_t)(b >> 4 | b << 4);
	b = (uint8_t)((b & 0xcc) >> 2 | (b & 0x33) << 2);
	return (uint8_t)((b & 0xaa) >> 1 | (b & 0x55) << 1);
}

static void put_bytes(struct bytes *out, const uint8_t *bits, uint32_t n)
{
	while (n) {
		uint32_t some = n < LITERALS_MOST ? n : LITERALS_MOST;

		bytes_u8(out, (uint8_t)-some);
		for (uint32_t i = 0; i < some; i++)
			bytes_u8(out, reverse(bits[i]));
		bits += some;
		n -= some;
	}
}

/* n bits, the lowest of each byte first; ORC wants the highest first. */
static void orc_run_bits(struct bytes *out, const uint8_t *bits, uint32_t n)
{
	uint32_t literals = 0, at = 0, nbytes = (n + 7) / 8;

	while (at < nbytes) {
		uint32_t length = 1;

		while (at + length < nbytes && length < RUN_MOST && bits[at + length] == bits[at])
			length++;
		if (length < RUN_LEAST) {
			at++;
			continue;
		}
		put_bytes(out, bits + literals, at - literals);
		bytes_u8(out, (uint8_t)(length - RUN_LEAST));
		bytes_u8(out, reverse(bits[at]));
		at += length;
		literals = at;
	}
	put_bytes(out, bits + literals, nbytes - literals);
}

/* ---- columns ---- */

enum { BLOCK_HEADER = 3 };
#define SECONDS_TO_2015 INT64_C(1420070400)

bool orc_work_open(struct orc_work *w)
{
	w->number = calloc(COLUMN_PAGE_ROWS, sizeof(*w->number));
	w->second = calloc(COLUMN_PAGE_ROWS, sizeof(*w->second));
	return w->number && w->second;
}

void orc_work_close(struct orc_work *w)
{
	squeeze_free(w->zstd);
	bytes_free(&w->raw);
	free(w->number);
	free(w->second);
}

static void put_block(struct orc_work *w, struct bytes *out, const uint8_t *data, size_t n)
{
	size_t begin = out->len, size;

	bytes_put(out, (const uint8_t[BLOCK_HEADER]){ 0 }, BLOCK_HEADER);
	size = squeeze(&w->zstd, out, data, n);
	if (size >= n && !out->failed) {
		out->len = begin + BLOCK_HEADER;
		bytes_put(out, data, n);
	}
	if (out->failed)
		return;
	size = (out->len - begin - BLOCK_HEADER) << 1 | (size >= n);
	for (unsigned i = 0; i < BLOCK_HEADER; i++)
		out->data[begin + i] = (uint8_t)(size >> 8 * i);
}

void orc_compress(struct orc_work *w, struct bytes *out, const struct bytes *raw)
{
	out->failed |= raw->failed;
	for (size_t at = 0; at < raw->len; at += ORC_BLOCK)
		put_block(w, out, raw->data + at,
			  raw->len - at < ORC_BLOCK ? raw->len - at : ORC_BLOCK);
}

/* Write what is in w->raw as the next part of a stream. */
static void put_stream(struct orc_column *c, struct orc_work *w, enum orc_stream kind)
{
	orc_compress(w, &c->stream[kind], &w->raw);
	bytes_reset(&w->raw);
}

static bool is_present(const struct column_page *p, uint32_t row)
{
	return p->valid[row / 8] >> row % 8 & 1;
}

/* The numbers or codes that are there, one behind the other; returns how many. */
static uint32_t take_present(struct orc_work *w, const struct column_page *p, uint32_t nrows)
{
	uint32_t n = 0;

	for (uint32_t row = 0; row < nrows; row++) {
		w->number[n] = p->type == COLUMN_TEXT ? p->code[row] : p->i[row];
		n += is_present(p, row);
	}
	return n;
}

static void widen_int(struct orc_range *r, int64_t v)
{
	if (!r->known || v < r->min.i)
		r->min.i = v;
	if (!r->known || v > r->max.i)
		r->max.i = v;
	r->known = true;
}

static void widen_real(struct orc_range *r, double v)
{
	if (isnan(v)) {
		r->nan = true;
		return;
	}
	if (!r->known || v < r->min.d)
		r->min.d = v;
	if (!r->known || v > r->max.d)
		r->max.d = v;
	r->known = true;
}

static void widen(struct orc_range *r, enum column_type type, const int64_t *v, uint32_t n)
{
	double real;

	for (uint32_t i = 0; i < n && type != COLUMN_TEXT; i++) {
		if (type != COLUMN_REAL) {
			widen_int(r, v[i]);
			continue;
		}
		memcpy(&real, &v[i], sizeof(real));
		widen_real(r, real);
	}
}

/* Trailing zeros are told by the lowest three bits: one less than there are, 0 for none. */
static int64_t short_nanos(int64_t ns)
{
	int64_t zeros = 1;

	if (!ns || ns % 100)
		return ns << 3;
	for (ns /= 100; ns % 10 == 0 && zeros < 7; zeros++)
		ns /= 10;
	return ns << 3 | zeros;
}

/* Seconds before 1970 with a fraction are stored as the next: every reader takes one off again, but
 * not of 0. */
static int put_times(struct orc_column *c, struct orc_work *w, uint32_t n, struct err *e)
{
	for (uint32_t i = 0; i < n; i++) {
		int64_t s = w->number[i] / NS_PER_S, ns = w->number[i] % NS_PER_S;

		s -= ns < 0;
		ns += ns < 0 ? NS_PER_S : 0;
		if (s == -1 && ns >= NS_PER_MS)
			return err_set(e, -ERANGE,
				       "ORC cannot hold a time in the last second before 1970");
		s += s < 0 && ns >= NS_PER_MS;
		w->number[i] = s - SECONDS_TO_2015;
		w->second[i] = short_nanos(ns);
	}
	orc_run_numbers(&w->raw, w->number, n, ORC_SIGNED);
	put_stream(c, w, ORC_DATA);
	orc_run_numbers(&w->raw, w->second, n, ORC_UNSIGNED);
	put_stream(c, w, ORC_SECONDARY);
	return 0;
}

int orc_column_page(struct orc_column *c, struct orc_work *w, const struct column_page *p,
		    uint32_t nrows, struct err *e)
{
	uint32_t n = take_present(w, p, nrows);
	int rc = 0;

	c->stripe.values += n;
	c->stripe.nulls += p->nulls;
	widen(&c->stripe, p->type, w->number, n);
	orc_run_bits(&w->raw, p->valid, nrows);
	put_stream(c, w, ORC_PRESENT);
	if (p->type == COLUMN_TIME) {
		rc = put_times(c, w, n, e);
	} else {
		if (p->type == COLUMN_REAL)
			bytes_put(&w->raw, w->number, n * sizeof(*w->number));
		else
			orc_run_numbers(&w->raw, w->number, n,
					p->type == COLUMN_TEXT ? ORC_UNSIGNED : ORC_SIGNED);
		put_stream(c, w, ORC_DATA);
	}
	for (unsigned i = 0; i < ORC_STREAMS && !rc; i++)
		if (c->stream[i].failed)
			rc = err_set(e, -ENOMEM, "out of memory for a stripe");
	return rc;
}

static void put_texts(struct orc_column *c, struct orc_work *w, const struct dictionary *d)
{
	uint32_t length;

	bytes_put(&w->raw, d->text.data, d->text.len);
	put_stream(c, w, ORC_DICTIONARY);
	for (uint32_t at = 0; at < d->n;) {
		uint32_t n = 0;

		for (; at < d->n && n < COLUMN_PAGE_ROWS; at++) {
			dictionary_get(d, at, &length);
			w->number[n++] = length;
		}
		orc_run_numbers(&w->raw, w->number, n, ORC_UNSIGNED);
	}
	put_stream(c, w, ORC_LENGTH);
}

static void merge(struct orc_range *file, const struct orc_range *r, enum column_type type)
{
	file->values += r->values;
	file->nulls += r->nulls;
	file->nan |= r->nan;
	if (!r->known)
		return;
	if (type == COLUMN_REAL) {
		widen_real(file, r->min.d);
		widen_real(file, r->max.d);
	} else {
		widen_int(file, r->min.i);
		widen_int(file, r->max.i);
	}
}

int orc_column_end(struct orc_column *c, struct orc_work *w, const struct column_page *p)
{
	if (p->type == COLUMN_TEXT)
		put_texts(c, w, &p->texts);
	merge(&c->file, &c->stripe, p->type);
	return c->stream[ORC_DICTIONARY].failed || c->stream[ORC_LENGTH].failed ? -ENOMEM : 0;
}

bool orc_column_has(const struct orc_column *c, enum column_type type, enum orc_stream kind)
{
	static const unsigned streams[] = {
		[COLUMN_TEXT] = 1U << ORC_DATA | 1U << ORC_LENGTH | 1U << ORC_DICTIONARY,
		[COLUMN_INT] = 1U << ORC_DATA,
		[COLUMN_REAL] = 1U << ORC_DATA,
		[COLUMN_TIME] = 1U << ORC_DATA | 1U << ORC_SECONDARY,
	};

	return kind == ORC_PRESENT ? c->stripe.nulls > 0 : streams[type] >> kind & 1;
}

void orc_column_reset(struct orc_column *c)
{
	for (unsigned i = 0; i < ORC_STREAMS; i++)
		bytes_reset(&c->stream[i]);
	c->stripe = (struct orc_range){ 0 };
}

size_t orc_column_size(const struct orc_column *c, const struct column_page *p)
{
	size_t size = dictionary_size(&p->texts);

	for (unsigned i = 0; i < ORC_STREAMS; i++)
		size += c->stream[i].len;
	return size;
}

void orc_column_free(struct orc_column *c)
{
	for (unsigned i = 0; i < ORC_STREAMS; i++)
		bytes_free(&c->stream[i]);
}

static int64_t floor_ms(int64_t ns)
{
	return ns / NS_PER_MS - (ns % NS_PER_MS < 0);
}

void orc_range_describe(struct bytes *out, const struct orc_range *r, enum column_type type)
{
	struct bytes range = { 0 };

	protobuf_number(out, 1, r->values);
	if (r->known && type == COLUMN_INT) {
		protobuf_signed(&range, 1, r->min.i);
		protobuf_signed(&range, 2, r->max.i);
		protobuf_message(out, 2, &range);
	} else if (r->known && type == COLUMN_REAL && !r->nan) {
		protobuf_real(&range, 1, r->min.d);
		protobuf_real(&range, 2, r->max.d);
		protobuf_message(out, 3, &range);
	} else if (r->known && type == COLUMN_TIME) { /* in ms: the last one begins in this one */
		protobuf_signed(&range, 3, floor_ms(r->min.i));
		protobuf_signed(&range, 4, floor_ms(r->max.i) + 1);
		protobuf_message(out, 9, &range);
	}
	protobuf_number(out, 10, r->nulls > 0);
	bytes_free(&range);
}
