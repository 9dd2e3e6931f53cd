/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - one object of columns and rows, schema sonde/table/1: docs/schema/table.json. */
#include "base/text/json.h"

#include "sink/sink.h"
#include "sink/text.h"

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

static void put_cell(struct json_sink *s, enum column_type type, const struct cells *c,
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
			put_cell(s, s->schema->columns[i].type, &b->columns[i], row);
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
