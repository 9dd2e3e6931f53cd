/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/stream.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A text with its number before it. */
struct numbered {
	uint32_t number;
	char text[];
};

uint32_t stream_number(const char *text)
{
	uint32_t number;

	memcpy(&number, text - offsetof(struct numbered, text), sizeof(number));
	return number;
}

static int malformed(struct err *e)
{
	return err_set(e, -EPROTO, "what came is not a table of this version of Sonde");
}

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory");
}

/* Where a text of the schema will be in r->names, once all of them are there. */
static size_t take_name(struct stream_reader *r, struct scan *in)
{
	size_t n, at = r->names.len;
	const char *text = scan_text(in, &n);

	if (text && !memchr(text, 0, n))
		bytes_put(&r->names, text, n);
	else
		in->bad = true;
	bytes_u8(&r->names, 0);
	return at;
}

/* Names are offsets until the last is there. */
static int take_columns(struct stream_reader *r, struct scan *in, struct column **out, uint32_t *n)
{
	uint32_t count = scan_u32(in);

	if (in->bad || count > (size_t)(in->end - in->at) / 5)
		return -EPROTO;
	*out = calloc(count + 1u, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	*n = count;
	for (struct column *c = *out; c < *out + count; c++) {
		uint8_t type = scan_u8(in);

		in->bad |= type > COLUMN_TIME;
		c->type = (enum column_type)type;
		c->name = (const char *)take_name(r, in);
		c->unit = (const char *)take_name(r, in);
		c->help = (const char *)take_name(r, in);
		c->kind = (const char *)take_name(r, in);
	}
	return in->bad ? -EPROTO : 0;
}

static const char *name_at(const struct stream_reader *r, const char *offset)
{
	return (const char *)r->names.data + (size_t)offset;
}

static void place_names(const struct stream_reader *r, struct column *c, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		c[i].name = name_at(r, c[i].name);
		c[i].unit = name_at(r, c[i].unit);
		c[i].help = name_at(r, c[i].help);
		c[i].kind = name_at(r, c[i].kind);
		if (!*c[i].kind)
			c[i].kind = NULL;
	}
}

static int get_schema(struct stream_reader *r, struct scan *in, struct err *e)
{
	size_t table, losses;
	int rc;

	if (r->columns)
		return malformed(e);
	table = take_name(r, in);
	losses = take_name(r, in);
	rc = take_columns(r, in, &r->columns, &r->schema.ncolumns);
	if (!rc)
		rc = take_columns(r, in, &r->metrics, &r->schema.nmetrics);
	if (rc == -EPROTO || in->at != in->end)
		return malformed(e);
	r->cells = calloc(r->schema.ncolumns + 1u, sizeof(*r->cells));
	if (rc || !r->cells || r->names.failed)
		return no_memory(e);
	place_names(r, r->columns, r->schema.ncolumns);
	place_names(r, r->metrics, r->schema.nmetrics);
	r->schema.table = (const char *)r->names.data + table;
	r->schema.losses = (const char *)r->names.data + losses;
	r->schema.columns = r->columns;
	r->schema.metrics = r->metrics;
	return 0;
}

static int add_text(struct stream_reader *r, const uint8_t *text, uint32_t n)
{
	struct numbered *x;

	r->ntexts += !r->ntexts;
	if (r->ntexts >= r->text_cap) {
		uint32_t cap = r->text_cap ? r->text_cap * 2 : 256;
		char **bigger = cap ? reallocarray(r->text, cap, sizeof(*bigger)) : NULL;

		if (!bigger)
			return -ENOMEM;
		r->text = bigger;
		r->text_cap = cap;
	}
	x = malloc(sizeof(*x) + n + 1u);
	if (!x)
		return -ENOMEM;
	x->number = r->ntexts;
	memcpy(x->text, text, n);
	x->text[n] = '\0';
	r->text[r->ntexts++] = x->text;
	return 0;
}

static int take_texts(struct stream_reader *r, struct scan *in)
{
	uint32_t count = scan_u32(in);
	int rc = 0;

	for (; count && !in->bad && !rc; count--) {
		uint32_t n = scan_u32(in);
		const uint8_t *text = scan_take(in, n);

		if (!text || memchr(text, 0, n))
			return -EPROTO;
		rc = add_text(r, text, n);
	}
	return in->bad ? -EPROTO : rc;
}

static int reserve_cells(struct stream_reader *r, uint32_t nrows)
{
	if (nrows <= r->room)
		return 0;
	for (uint32_t i = 0; i < r->schema.ncolumns; i++) {
		int64_t *values = reallocarray(r->cells[i].i, nrows, sizeof(*values));
		uint8_t *state;

		r->cells[i].i = values ? values : r->cells[i].i;
		state = realloc(r->cells[i].state, nrows);
		r->cells[i].state = state ? state : r->cells[i].state;
		if (!values || !state)
			return -ENOMEM;
	}
	r->room = nrows;
	return 0;
}

static void take_text_cells(struct stream_reader *r, struct scan *in, struct cells *c, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t number = scan_u32(in);

		in->bad |= number && number >= r->ntexts;
		c->state[i] = number ? STATE_PRESENT : STATE_ABSENT;
		c->s[i] = number && !in->bad ? r->text[number] : NULL;
	}
}

static void take_number_cells(struct scan *in, struct cells *c, uint32_t n)
{
	const uint8_t *state = scan_take(in, n), *at = scan_take(in, n * sizeof(uint64_t));

	for (uint32_t i = 0; state && at && i < n; i++, at += sizeof(uint64_t)) {
		uint64_t v;

		memcpy(&v, at, sizeof(v));
		c->i[i] = (int64_t)le64toh(v);
		c->state[i] = state[i] == STATE_PRESENT ? STATE_PRESENT : STATE_ABSENT;
	}
}

static int get_batch(struct stream_reader *r, struct scan *in, struct err *e)
{
	uint32_t nrows = scan_u32(in);
	int rc = take_texts(r, in);

	r->batch.nrows = 0;
	if (!r->columns || rc == -EPROTO ||
	    (size_t)(in->end - in->at) / 4 / (r->schema.ncolumns + !r->schema.ncolumns) < nrows)
		return malformed(e);
	if (rc || reserve_cells(r, nrows))
		return no_memory(e);
	for (uint32_t i = 0; i < r->schema.ncolumns; i++) {
		if (r->columns[i].type == COLUMN_TEXT)
			take_text_cells(r, in, &r->cells[i], nrows);
		else
			take_number_cells(in, &r->cells[i], nrows);
	}
	if (in->bad || in->at != in->end)
		return malformed(e);
	r->batch = (struct batch){ nrows, r->cells };
	return 0;
}

int stream_get(struct stream_reader *r, enum stream_kind kind, const uint8_t *data, size_t n,
	       struct err *e)
{
	struct scan in = { data, n ? data + n : data, false };

	switch (kind) {
	case STREAM_SCHEMA:
		return get_schema(r, &in, e);
	case STREAM_BATCH:
		return get_batch(r, &in, e);
	case STREAM_END:
		return n || !r->columns ? malformed(e) : 0;
	}
	return malformed(e);
}

void stream_reader_free(struct stream_reader *r)
{
	for (uint32_t i = 0; r->cells && i < r->schema.ncolumns; i++) {
		free(r->cells[i].i);
		free(r->cells[i].state);
	}
	for (uint32_t i = 1; i < r->ntexts; i++)
		free(r->text[i] - offsetof(struct numbered, text));
	free(r->text);
	free(r->cells);
	free(r->columns);
	free(r->metrics);
	bytes_free(&r->names);
	*r = (struct stream_reader){ 0 };
}
