/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/text.h"

#include "base/clock.h"
#include "base/text/escape.h"
#include "base/text/json.h"
#include "sink/sink.h"

#include <errno.h>
#include <string.h>

int text_write(const void *data, size_t n, FILE *out, struct err *e)
{
	int code;

	if (fwrite(data, 1, n, out) == n)
		return 0;
	code = errno ? errno : EIO;
	return err_set(e, -code, "%s", strerror(code));
}

int text_flush(struct bytes *b, FILE *out, size_t most, struct err *e)
{
	int rc;

	if (b->failed)
		return err_set(e, -ENOMEM, "out of memory");
	if (b->len < most || !b->len)
		return 0;
	rc = text_write(b->data, b->len, out, e);
	if (!rc)
		bytes_reset(b);
	return rc;
}

const char *text_time(struct text_time *t, int64_t ns)
{
	if (t->ns != ns || !t->text[0]) {
		t->ns = ns;
		clock_iso(ns, t->text, sizeof t->text);
	}
	return t->text;
}

/* Comma-separated values as RFC 4180 has them: a header, CRLF, quotes where needed. */

struct csv {
	const struct frame_schema *schema;
	FILE *out;
	struct bytes text;
	struct text_time time;
};

static int csv_begin(void *state, const struct frame_schema *schema, FILE *out, struct err *e)
{
	struct csv *c = state;

	c->schema = schema;
	c->out = out;
	for (uint32_t i = 0; i < schema->ncolumns; i++) {
		if (i)
			bytes_u8(&c->text, ',');
		escape_csv(&c->text, schema->columns[i].name);
	}
	bytes_puts(&c->text, "\r\n");
	return text_flush(&c->text, out, TEXT_BLOCK, e);
}

static void put_cell(struct csv *csv, enum column_type type, const struct cells *c, uint32_t row)
{
	struct json number = { .out = &csv->text }; /* a JSON number is a CSV number */

	if (c->state[row] != STATE_PRESENT)
		return;
	switch (type) {
	case COLUMN_TEXT:
		escape_csv(&csv->text, c->s[row]);
		break;
	case COLUMN_INT:
		json_int(&number, c->i[row]);
		break;
	case COLUMN_REAL:
		json_real(&number, c->d[row]);
		break;
	case COLUMN_TIME:
		bytes_puts(&csv->text, text_time(&csv->time, c->i[row]));
		break;
	}
}

static int csv_batch(void *state, const struct batch *b, struct err *e)
{
	struct csv *c = state;
	int rc = 0;

	for (uint32_t row = 0; row < b->nrows && !rc; row++) {
		for (uint32_t i = 0; i < c->schema->ncolumns; i++) {
			if (i)
				bytes_u8(&c->text, ',');
			put_cell(c, c->schema->columns[i].type, &b->columns[i], row);
		}
		bytes_puts(&c->text, "\r\n");
		rc = text_flush(&c->text, c->out, TEXT_BLOCK, e);
	}
	return rc;
}

static int csv_end(void *state, struct err *e)
{
	struct csv *c = state;

	return text_flush(&c->text, c->out, 0, e);
}

static void csv_free(void *state)
{
	struct csv *c = state;

	bytes_free(&c->text);
}

const struct sink sink_csv = {
	.name = "csv",
	.what = "comma-separated values, RFC 4180",
	.size = sizeof(struct csv),
	.begin = csv_begin,
	.batch = csv_batch,
	.end = csv_end,
	.free = csv_free,
};

/* One object of columns and rows, schema sonde/table/1: docs/schema/table.json. */

struct json_sink {
	const struct frame_schema *schema;
	FILE *out;
	struct bytes text;
	struct json json;
	struct text_time time;
};

static const char *const type_names[] = {
	[COLUMN_TEXT] = "text",
	[COLUMN_INT] = "integer",
	[COLUMN_REAL] = "real",
	[COLUMN_TIME] = "time",
};

static void put_column(struct json *j, const struct column *c)
{
	json_object(j);
	json_put_text(j, "name", c->name);
	json_put_text(j, "type", type_names[c->type]);
	json_put_text(j, "unit", c->unit ? c->unit : "");
	json_put_text(j, "help", c->help ? c->help : "");
	if (c->kind)
		json_put_text(j, "kind", c->kind);
	json_object_end(j);
}

static int json_begin(void *state, const struct frame_schema *schema, FILE *out, struct err *e)
{
	struct json_sink *s = state;
	struct json *j = &s->json;

	s->schema = schema;
	s->out = out;
	j->out = &s->text;
	json_object(j);
	json_put_text(j, "schema", "sonde/table/1");
	json_put_text(j, "table", schema->table);
	if (schema->losses && *schema->losses)
		json_put_text(j, "losses", schema->losses);
	json_key(j, "columns");
	json_array(j);
	for (uint32_t i = 0; i < schema->ncolumns; i++)
		put_column(j, &schema->columns[i]);
	json_array_end(j);
	json_key(j, "rows");
	json_array(j);
	return text_flush(&s->text, out, TEXT_BLOCK, e);
}

static void json_put_cell(struct json_sink *s, enum column_type type, const struct cells *c,
			  uint32_t row)
{
	struct json *j = &s->json;

	if (c->state[row] != STATE_PRESENT) {
		json_null(j);
		return;
	}
	switch (type) {
	case COLUMN_TEXT:
		json_text(j, c->s[row]);
		break;
	case COLUMN_INT:
		json_int(j, c->i[row]);
		break;
	case COLUMN_REAL:
		json_real(j, c->d[row]);
		break;
	case COLUMN_TIME:
		json_text(j, text_time(&s->time, c->i[row]));
		break;
	}
}

static int json_batch(void *state, const struct batch *b, struct err *e)
{
	struct json_sink *s = state;
	int rc = 0;

	for (uint32_t row = 0; row < b->nrows && !rc; row++) {
		bytes_u8(&s->text, '\n');
		json_array(&s->json);
		for (uint32_t i = 0; i < s->schema->ncolumns; i++)
			json_put_cell(s, s->schema->columns[i].type, &b->columns[i], row);
		json_array_end(&s->json);
		rc = text_flush(&s->text, s->out, TEXT_BLOCK, e);
	}
	return rc;
}

static int json_end(void *state, struct err *e)
{
	struct json_sink *s = state;

	bytes_u8(&s->text, '\n');
	json_array_end(&s->json);
	json_object_end(&s->json);
	bytes_u8(&s->text, '\n');
	return text_flush(&s->text, s->out, 0, e);
}

static void json_free(void *state)
{
	struct json_sink *s = state;

	bytes_free(&s->text);
}

const struct sink sink_json = {
	.name = "json",
	.what = "one object of columns and rows, schema sonde/table/1",
	.size = sizeof(struct json_sink),
	.begin = json_begin,
	.batch = json_batch,
	.end = json_end,
	.free = json_free,
};
