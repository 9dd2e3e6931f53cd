/* SPDX-License-Identifier: Apache-2.0 */
/* parquet.c - Apache Parquet: row groups of up to a million rows, zstd, statistics. */
#include "sink/columnar/parquet_format.h"

#include "sink/columnar/parquet_chunk.h"
#include "sink/sink.h"
#include "sink/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP_ROWS = 1 << 20, GROUP_BYTES = 16 << 20 };

static const char magic[] = "PAR1";

struct parquet {
	FILE *out;
	const struct frame_schema *schema;
	struct columns columns;
	struct parquet_work work;
	struct parquet_chunk *chunk; /* [schema->ncolumns] of the open row group */
	struct bytes dictionary, name;
	struct bytes groups; /* what the footer will say of the row groups so far */
	uint32_t ngroups;
	uint64_t group_rows, rows, at; /* at: bytes written */
};

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for a row group");
}

/* Write b and empty it. */
static int put(struct parquet *p, struct bytes *b, struct err *e)
{
	p->at += b->len;
	return text_flush(b, p->out, 0, e);
}

static int parquet_begin(void *state, const struct frame_schema *schema, FILE *out, struct err *e)
{
	struct parquet *p = state;
	int rc = columns_open(&p->columns, schema, e);

	p->schema = schema;
	p->out = out;
	if (rc)
		return rc;
	p->chunk = calloc(schema->ncolumns + 1u, sizeof(*p->chunk));
	if (!p->chunk || !parquet_work_open(&p->work))
		return no_memory(e);
	bytes_puts(&p->dictionary, magic);
	return put(p, &p->dictionary, e);
}

static int end_chunk(struct parquet *p, uint32_t i, struct thrift *t, struct err *e)
{
	struct parquet_chunk *c = &p->chunk[i];
	const struct column_page *page = &p->columns.column[i];
	struct parquet_place where = { .at = p->at };
	int rc;

	parquet_chunk_dictionary(c, &p->work, page, &p->dictionary);
	column_name(&p->name, &p->schema->columns[i]);
	if (p->dictionary.failed || p->name.failed)
		return no_memory(e);
	where.dictionary = p->dictionary.len;
	where.name = (const char *)p->name.data;
	thrift_struct(t, 0);
	thrift_i64(t, 2, (int64_t)where.at);
	thrift_struct(t, 3);
	parquet_chunk_describe(c, page, &where, t);
	thrift_struct_end(t);
	thrift_struct_end(t);
	rc = put(p, &p->dictionary, e);
	return rc ? rc : put(p, &c->pages, e);
}

static int end_group(struct parquet *p, struct err *e)
{
	struct thrift t = { .out = &p->groups };
	uint64_t at = p->at, unpacked = 0;
	int rc = 0;

	if (!p->group_rows)
		return 0;
	thrift_struct(&t, 0);
	thrift_list(&t, 1, THRIFT_STRUCT, p->schema->ncolumns);
	for (uint32_t i = 0; i < p->schema->ncolumns && !rc; i++) {
		rc = end_chunk(p, i, &t, e);
		unpacked += p->chunk[i].unpacked;
		parquet_chunk_reset(&p->chunk[i]);
	}
	thrift_i64(&t, 2, (int64_t)unpacked);
	thrift_i64(&t, 3, (int64_t)p->group_rows);
	thrift_i64(&t, 5, (int64_t)at);
	thrift_i64(&t, 6, (int64_t)(p->at - at));
	thrift_struct_end(&t);
	columns_empty_dictionaries(&p->columns);
	p->rows += p->group_rows;
	p->group_rows = 0;
	p->ngroups++;
	return rc;
}

static int end_page(void *state, struct err *e)
{
	struct parquet *p = state;
	size_t size = 0;

	for (uint32_t i = 0; i < p->schema->ncolumns; i++) {
		const struct column_page *page = &p->columns.column[i];

		if (parquet_chunk_page(&p->chunk[i], &p->work, page, p->columns.nrows))
			return no_memory(e);
		size += parquet_chunk_size(&p->chunk[i], page);
	}
	p->group_rows += p->columns.nrows;
	columns_next_page(&p->columns);
	return p->group_rows >= GROUP_ROWS || size >= GROUP_BYTES ? end_group(p, e) : 0;
}

static int parquet_batch(void *state, const struct batch *b, struct err *e)
{
	struct parquet *p = state;

	return columns_batch(&p->columns, b, end_page, p, e);
}

static void describe_type(struct thrift *t, enum column_type type)
{
	if (type == COLUMN_TEXT) {
		thrift_i32(t, 6, PARQUET_UTF8);
		thrift_struct(t, 10);
		thrift_empty_struct(t, 1);
		thrift_struct_end(t);
	} else if (type == COLUMN_TIME) { /* UTC, ns */
		thrift_struct(t, 10);
		thrift_struct(t, 8);
		thrift_bool(t, 1, true);
		thrift_struct(t, 2);
		thrift_empty_struct(t, 3);
		thrift_struct_end(t);
		thrift_struct_end(t);
		thrift_struct_end(t);
	}
}

static void describe_schema(struct parquet *p, struct thrift *t)
{
	thrift_list(t, 2, THRIFT_STRUCT, p->schema->ncolumns + 1u);
	thrift_struct(t, 0);
	thrift_text(t, 4, p->schema->table);
	thrift_i32(t, 5, (int32_t)p->schema->ncolumns);
	thrift_struct_end(t);
	for (uint32_t i = 0; i < p->schema->ncolumns; i++) {
		enum column_type type = p->schema->columns[i].type;

		column_name(&p->name, &p->schema->columns[i]);
		thrift_struct(t, 0);
		thrift_i32(t, 1, (int32_t)parquet_type(type));
		thrift_i32(t, 3, PARQUET_OPTIONAL);
		thrift_text(t, 4, p->name.failed ? "" : (const char *)p->name.data);
		describe_type(t, type);
		thrift_struct_end(t);
		t->out->failed |= p->name.failed;
	}
}

static void put_pair(struct thrift *t, const char *key, const void *value, size_t n)
{
	thrift_struct(t, 0);
	thrift_text(t, 1, key);
	thrift_binary(t, 2, value, n);
	thrift_struct_end(t);
}

static void describe_metadata(struct parquet *p, struct thrift *t)
{
	struct bytes *json = &p->work.body;

	bytes_reset(json);
	columns_describe(json, p->schema);
	t->out->failed |= json->failed;
	thrift_list(t, 5, THRIFT_STRUCT, p->schema->summary ? 2 : 1);
	put_pair(t, "sonde", json->data, json->len);
	if (p->schema->summary)
		put_pair(t, PARQUET_RUN_KEY, p->schema->summary, strlen(p->schema->summary));
}

static void describe_orders(struct parquet *p, struct thrift *t)
{
	thrift_list(t, 7, THRIFT_STRUCT, p->schema->ncolumns);
	for (uint32_t i = 0; i < p->schema->ncolumns; i++) {
		thrift_struct(t, 0);
		thrift_empty_struct(t, 1);
		thrift_struct_end(t);
	}
}

static int put_footer(struct parquet *p, struct err *e)
{
	struct bytes *out = &p->dictionary;
	struct thrift t = { .out = out };

	thrift_struct(&t, 0);
	thrift_i32(&t, 1, 2);
	describe_schema(p, &t);
	thrift_i64(&t, 3, (int64_t)p->rows);
	thrift_list(&t, 4, THRIFT_STRUCT, p->ngroups);
	bytes_put(out, p->groups.data, p->groups.len);
	describe_metadata(p, &t);
	thrift_text(&t, 6, "sonde version " SONDE_VERSION);
	describe_orders(p, &t);
	thrift_struct_end(&t);
	bytes_u32(out, (uint32_t)out->len);
	bytes_puts(out, magic);
	out->failed |= p->groups.failed;
	if (out->len > INT32_MAX)
		return err_set(e, -EFBIG,
			       "too many row groups for one file of Parquet: export "
			       "less of it (--metrics, --from, --until)");
	return put(p, out, e);
}

static int parquet_end(void *state, struct err *e)
{
	struct parquet *p = state;
	int rc = p->columns.nrows ? end_page(p, e) : 0;

	if (!rc)
		rc = end_group(p, e);
	return rc ? rc : put_footer(p, e);
}

static void parquet_free(void *state)
{
	struct parquet *p = state;

	for (uint32_t i = 0; p->chunk && i < p->schema->ncolumns; i++)
		parquet_chunk_free(&p->chunk[i]);
	free(p->chunk);
	parquet_work_close(&p->work);
	columns_close(&p->columns);
	bytes_free(&p->dictionary);
	bytes_free(&p->name);
	bytes_free(&p->groups);
}

const struct sink sink_parquet = {
	.name = "parquet",
	.what = "Apache Parquet, zstd",
	.size = sizeof(struct parquet),
	.begin = parquet_begin,
	.batch = parquet_batch,
	.end = parquet_end,
	.free = parquet_free,
};
