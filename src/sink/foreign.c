/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/foreign.h"

#include "base/helper.h"
#include "base/text/escape.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- write ---- */

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

/* ---- read ---- */

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

struct foreign {
	struct helper_talk talk;
	struct stream_writer writer;
};

static int send_block(struct foreign *x, struct err *e)
{
	return helper_talk_send(&x->talk, x->writer.block.data, x->writer.block.len, e);
}

static int foreign_begin(struct foreign *x, const struct helper_program *program,
			 const struct frame_schema *schema, FILE *out, struct err *e)
{
	int rc = helper_talk_begin(&x->talk, program, fileno(out), e);

	if (!rc)
		rc = stream_put_schema(&x->writer, schema, e);
	return rc ? rc : send_block(x, e);
}

static int foreign_batch(void *state, const struct batch *b, struct err *e)
{
	struct foreign *x = state;
	int rc = stream_put_batch(&x->writer, b, e);

	return rc ? rc : send_block(x, e);
}

static int foreign_end(void *state, struct err *e)
{
	struct foreign *x = state;
	int rc = stream_put_end(&x->writer, e);

	if (!rc)
		rc = send_block(x, e);
	return rc ? rc : helper_talk_end(&x->talk, e);
}

static void foreign_free(void *state)
{
	struct foreign *x = state;

	helper_talk_free(&x->talk);
	stream_writer_free(&x->writer);
}

static const struct helper_program sqlite_program = { "sqlite", "libsqlite3-dev", "libsqlite3-0" };

static int sqlite_begin(void *state, const struct frame_schema *schema, FILE *out, struct err *e)
{
	return foreign_begin(state, &sqlite_program, schema, out, e);
}

const struct sink sink_sqlite = {
	.name = "sqlite",
	.what = "a table of an SQLite database",
	.collects = true,
	.size = sizeof(struct foreign),
	.begin = sqlite_begin,
	.batch = foreign_batch,
	.end = foreign_end,
	.free = foreign_free,
};

static const struct helper_program hdf5_program = { "hdf5", "libhdf5-dev and libdeflate-dev",
						    "libhdf5-103-1 and libdeflate0" };

static int hdf5_begin(void *state, const struct frame_schema *schema, FILE *out, struct err *e)
{
	return foreign_begin(state, &hdf5_program, schema, out, e);
}

const struct sink sink_hdf5 = {
	.name = "hdf5",
	.extension = "h5",
	.what = "a table of an HDF5 file that pandas.read_hdf opens",
	.collects = true,
	.size = sizeof(struct foreign),
	.begin = hdf5_begin,
	.batch = foreign_batch,
	.end = foreign_end,
	.free = foreign_free,
};

/* ---- the helper's end ---- */

struct serving {
	const struct sink *sink;
	void *state;
	FILE *out;
	struct stream_reader reader;
	uint8_t *block;
	uint32_t room;
};

const char *foreign_path(FILE *out, char *path, size_t size)
{
	snprintf(path, size, "/proc/self/fd/%d", fileno(out));
	return path;
}

/* 1, 0 at the end of the input, -errno. */
static int read_all(void *to, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = read(0, (char *)to + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		done += (size_t)n;
	}
	return 1;
}

static uint32_t number_at(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The next block, in s->block. */
static int read_block(struct serving *s, uint32_t *kind, uint32_t *n, struct err *e)
{
	uint8_t head[STREAM_HEAD];
	int rc = read_all(head, sizeof(head));

	*kind = number_at(head);
	*n = rc > 0 ? number_at(head + 4) : 0;
	if (*n > STREAM_BLOCK_MAX)
		return err_set(e, -EPROTO, "what came is not a table of this version of Sonde");
	if (*n > s->room) {
		uint8_t *bigger = realloc(s->block, *n);

		if (!bigger)
			return err_set(e, -ENOMEM, "out of memory");
		s->block = bigger;
		s->room = *n;
	}
	if (rc > 0 && *n)
		rc = read_all(s->block, *n);
	return rc > 0 ? 0 : err_set(e, rc ? rc : -EPIPE, "the table is truncated");
}

static int serve(struct serving *s, struct err *e)
{
	for (;;) {
		uint32_t kind, n;
		int rc = read_block(s, &kind, &n, e);

		if (!rc)
			rc = stream_get(&s->reader, (enum stream_kind)kind, s->block, n, e);
		if (rc)
			return rc;
		if (kind == STREAM_END)
			return s->sink->end(s->state, e);
		if (kind == STREAM_SCHEMA)
			rc = s->sink->begin(s->state, &s->reader.schema, s->out, e);
		else
			rc = s->sink->batch(s->state, &s->reader.batch, e);
		if (rc)
			return rc;
	}
}

/* After a failure the library may be in any state: it is left alone. */
int foreign_serve(const struct sink *k)
{
	struct serving s = { .sink = k,
			     .state = calloc(1, k->size),
			     .out = fdopen(HELPER_FILE, "r+") };
	struct err e = { "" };
	int rc;

	if (!s.state || !s.out)
		rc = err_set(&e, s.out ? -ENOMEM : -EBADF,
			     "sonde export runs this helper; there is no table or no file");
	else
		rc = serve(&s, &e);
	if (rc)
		_exit(helper_answer(rc, &e));
	k->free(s.state);
	stream_reader_free(&s.reader);
	free(s.state);
	free(s.block);
	fclose(s.out);
	return helper_answer(0, &e);
}
