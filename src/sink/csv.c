/* SPDX-License-Identifier: Apache-2.0 */
/* csv.c - comma-separated values as RFC 4180 has them: a header, CRLF, quotes where needed. */
#include "base/text/escape.h"
#include "base/text/json.h"
#include "sink/sink.h"
#include "sink/text.h"

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
