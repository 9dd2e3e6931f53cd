/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/stream.h"

#include "base/text/escape.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

static void begin(struct stream_writer *w, enum stream_kind kind)
{
	bytes_reset(&w->block);
	bytes_u32(&w->block, kind);
	bytes_u32(&w->block, 0);
}

static int finish(struct stream_writer *w, struct err *e)
{
	size_t n = w->block.len - STREAM_HEAD;

	if (w->block.failed || w->codes.failed)
		return err_set(e, -ENOMEM, "out of memory");
	if (n > STREAM_BLOCK_MAX)
		return err_set(e, -EFBIG, "%u columns are too many for one table",
			       w->schema->ncolumns);
	for (int i = 0; i < 4; i++)
		w->block.data[4 + i] = (uint8_t)(n >> 8 * i);
	return 0;
}

/* In UTF-8, as the texts of cells: a column may be called after a device. */
static void put_text(struct stream_writer *w, const char *text)
{
	bytes_reset(&w->codes);
	escape_utf8(&w->codes, text ? text : "");
	bytes_u8(&w->codes, '\0');
	bytes_text(&w->block, w->codes.failed ? NULL : (const char *)w->codes.data);
	w->block.failed |= w->codes.failed;
}

static void put_columns(struct stream_writer *w, const struct column *c, uint32_t n)
{
	bytes_u32(&w->block, n);
	for (uint32_t i = 0; i < n; i++) {
		bytes_u8(&w->block, (uint8_t)c[i].type);
		put_text(w, c[i].name);
		put_text(w, c[i].unit);
		put_text(w, c[i].help);
		put_text(w, c[i].kind);
	}
}

int stream_put_schema(struct stream_writer *w, const struct frame_schema *schema, struct err *e)
{
	w->schema = schema;
	begin(w, STREAM_SCHEMA);
	put_text(w, schema->table);
	put_text(w, schema->losses);
	put_columns(w, schema->columns, schema->ncolumns);
	put_columns(w, schema->metrics, schema->nmetrics);
	return finish(w, e);
}

/* The number of a text; 0: there is no memory, or there are too many. */
static uint32_t number_of(struct stream_writer *w, const char *text)
{
	uint64_t hash = (uint64_t)(uintptr_t)text * UINT64_C(0x9e3779b97f4a7c15);
	struct stream_cache *c = &w->cache[hash >> 32 & (STREAM_CACHE - 1)];
	uint32_t code;

	if (c->stamp == w->stamp && c->text == text)
		return c->number;
	if (dictionary_text(&w->texts, text, &code))
		return 0;
	*c = (struct stream_cache){ text, code + 1, w->stamp };
	return code + 1;
}

/* Room for n bytes, which are taken; NULL when there is none. */
static uint8_t *take(struct bytes *b, size_t n)
{
	if (!bytes_room(b, n))
		return NULL;
	b->len += n;
	return b->data + b->len - n;
}

static bool put_texts(struct stream_writer *w, const struct cells *c, uint32_t nrows)
{
	uint8_t *to = take(&w->codes, nrows * sizeof(uint32_t));

	for (uint32_t i = 0; to && i < nrows; i++, to += sizeof(uint32_t)) {
		uint32_t number = 0;

		if (c->state[i] == STATE_PRESENT && !(number = number_of(w, c->s[i])))
			return false;
		number = htole32(number);
		memcpy(to, &number, sizeof(number));
	}
	return to;
}

static bool put_numbers(struct stream_writer *w, const struct cells *c, uint32_t nrows)
{
	uint8_t *state = take(&w->codes, nrows), *to;

	if (state)
		memcpy(state, c->state, nrows);
	to = take(&w->codes, nrows * sizeof(uint64_t));
	for (uint32_t i = 0; to && i < nrows; i++, to += sizeof(uint64_t)) {
		uint64_t v = c->state[i] == STATE_PRESENT ? htole64((uint64_t)c->i[i]) : 0;

		memcpy(to, &v, sizeof(v));
	}
	return to;
}

static void put_new_texts(struct stream_writer *w)
{
	bytes_u32(&w->block, w->texts.n - w->known);
	for (; w->known < w->texts.n; w->known++) {
		uint32_t n;
		const char *text = dictionary_get(&w->texts, w->known, &n);

		bytes_u32(&w->block, n);
		bytes_put(&w->block, text, n);
	}
}

int stream_put_batch(struct stream_writer *w, const struct batch *b, struct err *e)
{
	bytes_reset(&w->codes);
	if (!++w->stamp)
		memset(w->cache, 0, sizeof(w->cache));
	for (uint32_t i = 0; i < w->schema->ncolumns; i++) {
		bool text = w->schema->columns[i].type == COLUMN_TEXT;

		if (b->nrows && !(text ? put_texts : put_numbers)(w, &b->columns[i], b->nrows))
			return err_set(e, -ENOMEM, "out of memory");
	}
	begin(w, STREAM_BATCH);
	bytes_u32(&w->block, b->nrows);
	put_new_texts(w);
	bytes_put(&w->block, w->codes.data, w->codes.len);
	return finish(w, e);
}

int stream_put_end(struct stream_writer *w, struct err *e)
{
	begin(w, STREAM_END);
	return finish(w, e);
}

void stream_writer_free(struct stream_writer *w)
{
	dictionary_free(&w->texts);
	bytes_free(&w->codes);
	bytes_free(&w->block);
}
