/* SPDX-License-Identifier: Apache-2.0 */
/* orc.c - Apache ORC: stripes of up to a million rows, zstd, statistics. */
#include "sink/columnar/orc_column.h"
#include "sink/protobuf.h"
#include "sink/sink.h"
#include "sink/text.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

enum { STRIPE_ROWS = 1 << 20, STRIPE_BYTES = 16 << 20, ZSTD = 5, WRITER_VERSION = 6 };
enum encoding { ENCODING_DIRECT = 0, ENCODING_DICTIONARY = 1 };
enum type { TYPE_LONG = 4, TYPE_DOUBLE = 6, TYPE_STRING = 7, TYPE_STRUCT = 12, TYPE_INSTANT = 18 };

static const char magic[] = "ORC";

struct orc {
	FILE *out;
	const struct frame_schema *schema;
	struct columns columns;
	struct orc_work work;
	struct orc_column *column; /* [schema->ncolumns] */
	struct bytes text, message, inner;
	struct bytes stripes; /* StripeInformation of each, as the footer has them */
	struct bytes ranges;  /* StripeStatistics of each, as the metadata has them */
	uint64_t stripe_rows, rows, at;
};

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for a stripe");
}

static int put(struct orc *o, struct bytes *b, struct err *e)
{
	o->at += b->len;
	return text_flush(b, o->out, 0, e);
}

static int orc_begin(void *state, const struct frame_schema *schema, FILE *out, struct err *e)
{
	struct orc *o = state;
	int rc = columns_open(&o->columns, schema, e);

	o->schema = schema;
	o->out = out;
	if (rc)
		return rc;
	o->column = calloc(schema->ncolumns + 1u, sizeof(*o->column));
	if (!o->column || !orc_work_open(&o->work))
		return no_memory(e);
	bytes_puts(&o->text, magic);
	return put(o, &o->text, e);
}

/* Compress the message that was made and empty it. */
static void compress_message(struct orc *o)
{
	orc_compress(&o->work, &o->text, &o->message);
	bytes_reset(&o->message);
}

static int put_streams(struct orc *o, struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; i < o->schema->ncolumns && !rc; i++) {
		struct orc_column *c = &o->column[i];
		const struct column_page *p = &o->columns.column[i];

		if (orc_column_end(c, &o->work, p))
			return no_memory(e);
		for (unsigned kind = 0; kind < ORC_STREAMS && !rc; kind++) {
			if (!orc_column_has(c, p->type, (enum orc_stream)kind))
				continue;
			protobuf_number(&o->inner, 1, kind);
			protobuf_number(&o->inner, 2, i + 1);
			protobuf_number(&o->inner, 3, c->stream[kind].len);
			protobuf_message(&o->message, 1, &o->inner);
			rc = put(o, &c->stream[kind], e);
		}
	}
	return rc;
}

static void put_encodings(struct orc *o)
{
	protobuf_number(&o->inner, 1, ENCODING_DIRECT);
	protobuf_message(&o->message, 2, &o->inner);
	for (uint32_t i = 0; i < o->schema->ncolumns; i++) {
		const struct column_page *p = &o->columns.column[i];

		if (p->type == COLUMN_TEXT) {
			protobuf_number(&o->inner, 1, ENCODING_DICTIONARY);
			protobuf_number(&o->inner, 2, p->texts.n);
		} else {
			protobuf_number(&o->inner, 1, ENCODING_DIRECT);
		}
		protobuf_message(&o->message, 2, &o->inner);
	}
	protobuf_text(&o->message, 3, "UTC");
}

/* Statistics of each column, that of all rows first; whose is where a struct orc_range lies in a
 * struct orc_column. */
static void put_ranges(struct orc *o, struct bytes *out, unsigned field, uint64_t rows,
		       size_t whose)
{
	protobuf_number(&o->inner, 1, rows);
	protobuf_number(&o->inner, 10, 0);
	protobuf_message(out, field, &o->inner);
	for (uint32_t i = 0; i < o->schema->ncolumns; i++) {
		const void *range = (const char *)&o->column[i] + whose;

		orc_range_describe(&o->inner, range, o->schema->columns[i].type);
		protobuf_message(out, field, &o->inner);
	}
}

static int end_stripe(struct orc *o, struct err *e)
{
	uint64_t begin = o->at, footer;
	int rc;

	if (!o->stripe_rows)
		return 0;
	rc = put_streams(o, e);
	if (rc)
		return rc;
	put_encodings(o);
	footer = o->at;
	compress_message(o);
	rc = put(o, &o->text, e);
	protobuf_number(&o->inner, 1, begin);
	protobuf_number(&o->inner, 2, 0);
	protobuf_number(&o->inner, 3, footer - begin);
	protobuf_number(&o->inner, 4, o->at - footer);
	protobuf_number(&o->inner, 5, o->stripe_rows);
	protobuf_message(&o->stripes, 3, &o->inner);
	put_ranges(o, &o->message, 1, o->stripe_rows, offsetof(struct orc_column, stripe));
	protobuf_message(&o->ranges, 1, &o->message);
	for (uint32_t i = 0; i < o->schema->ncolumns; i++)
		orc_column_reset(&o->column[i]);
	columns_empty_dictionaries(&o->columns);
	o->rows += o->stripe_rows;
	o->stripe_rows = 0;
	return rc;
}

static int end_page(void *state, struct err *e)
{
	struct orc *o = state;
	size_t size = 0;

	for (uint32_t i = 0; i < o->schema->ncolumns; i++) {
		const struct column_page *p = &o->columns.column[i];
		int rc = orc_column_page(&o->column[i], &o->work, p, o->columns.nrows, e);

		if (rc)
			return rc;
		size += orc_column_size(&o->column[i], p);
	}
	o->stripe_rows += o->columns.nrows;
	columns_next_page(&o->columns);
	return o->stripe_rows >= STRIPE_ROWS || size >= STRIPE_BYTES ? end_stripe(o, e) : 0;
}

static int orc_batch(void *state, const struct batch *b, struct err *e)
{
	struct orc *o = state;

	return columns_batch(&o->columns, b, end_page, o, e);
}

static void put_types(struct orc *o)
{
	static const enum type types[] = { [COLUMN_TEXT] = TYPE_STRING,
					   [COLUMN_INT] = TYPE_LONG,
					   [COLUMN_REAL] = TYPE_DOUBLE,
					   [COLUMN_TIME] = TYPE_INSTANT };

	protobuf_number(&o->inner, 1, TYPE_STRUCT);
	for (uint32_t i = 0; i < o->schema->ncolumns; i++)
		protobuf_number(&o->inner, 2, i + 1);
	for (uint32_t i = 0; i < o->schema->ncolumns; i++) {
		column_name(&o->text, &o->schema->columns[i]);
		protobuf_text(&o->inner, 3, o->text.failed ? "" : (const char *)o->text.data);
		o->inner.failed |= o->text.failed;
		bytes_reset(&o->text);
	}
	protobuf_message(&o->message, 4, &o->inner);
	for (uint32_t i = 0; i < o->schema->ncolumns; i++) {
		protobuf_number(&o->inner, 1, types[o->schema->columns[i].type]);
		protobuf_message(&o->message, 4, &o->inner);
	}
}

static void put_description(struct orc *o)
{
	columns_describe(&o->text, o->schema);
	protobuf_text(&o->inner, 1, "sonde");
	protobuf_binary(&o->inner, 2, o->text.data, o->text.len);
	o->inner.failed |= o->text.failed;
	bytes_reset(&o->text);
	protobuf_message(&o->message, 5, &o->inner);
}

static void put_postscript(struct orc *o, uint64_t footer, uint64_t metadata)
{
	size_t begin = o->text.len;

	protobuf_number(&o->text, 1, footer);
	protobuf_number(&o->text, 2, ZSTD);
	protobuf_number(&o->text, 3, ORC_BLOCK);
	protobuf_binary(&o->text, 4, (const uint8_t[]){ 0, 12 }, 2);
	protobuf_number(&o->text, 5, metadata);
	protobuf_number(&o->text, 6, WRITER_VERSION);
	protobuf_text(&o->text, 8000, magic);
	bytes_u8(&o->text, (uint8_t)(o->text.len - begin));
}

static int orc_end(void *state, struct err *e)
{
	struct orc *o = state;
	uint64_t metadata;
	int rc = o->columns.nrows ? end_page(o, e) : 0;

	if (!rc)
		rc = end_stripe(o, e);
	if (rc)
		return rc;
	orc_compress(&o->work, &o->text, &o->ranges);
	metadata = o->text.len;
	rc = put(o, &o->text, e);
	if (rc)
		return rc;
	protobuf_number(&o->message, 1, sizeof(magic) - 1);
	protobuf_number(&o->message, 2, o->at - metadata);
	bytes_put(&o->message, o->stripes.data, o->stripes.len);
	o->message.failed |= o->stripes.failed;
	put_types(o);
	put_description(o);
	protobuf_number(&o->message, 6, o->rows);
	put_ranges(o, &o->message, 7, o->rows, offsetof(struct orc_column, file));
	protobuf_number(&o->message, 8, 0);
	compress_message(o);
	put_postscript(o, o->text.len, metadata);
	return put(o, &o->text, e);
}

static void orc_free(void *state)
{
	struct orc *o = state;

	for (uint32_t i = 0; o->column && i < o->schema->ncolumns; i++)
		orc_column_free(&o->column[i]);
	free(o->column);
	orc_work_close(&o->work);
	columns_close(&o->columns);
	bytes_free(&o->text);
	bytes_free(&o->message);
	bytes_free(&o->inner);
	bytes_free(&o->stripes);
	bytes_free(&o->ranges);
}

const struct sink sink_orc = {
	.name = "orc",
	.what = "Apache ORC, zstd",
	.size = sizeof(struct orc),
	.begin = orc_begin,
	.batch = orc_batch,
	.end = orc_end,
	.free = orc_free,
};
