/* SPDX-License-Identifier: Apache-2.0 */
/* feather.c - Apache Arrow's file, which is Feather version 2: record batches, zstd. */
#include "sink/columnar/arrow.h"
#include "sink/columnar/column.h"
#include "sink/sink.h"
#include "sink/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, BUFFERS = 3, PREFIX = sizeof(int64_t) };

static const char magic[] = "ARROW1\0"; /* and the NUL at its end: eight bytes */

struct feather {
	FILE *out;
	const struct frame_schema *schema;
	struct columns columns;
	void *zstd[SQUEEZE_THREADS];
	struct bytes text, body;
	struct arrow_node *node; /* [ncolumns] */
	struct squeeze_job *job; /* [ncolumns * BUFFERS] and as many buffers */
	struct arrow_buffer *buffer;
	size_t nbuffers;
	struct bytes batches, dictionaries; /* struct arrow_block of each */
	uint64_t at;
};

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for a record batch");
}

static int put(struct feather *f, struct bytes *b, struct err *e)
{
	f->at += b->len;
	return text_flush(b, f->out, 0, e);
}

static int feather_begin(void *state, const struct frame_schema *schema, FILE *out, struct err *e)
{
	struct feather *f = state;
	int rc = columns_open(&f->columns, schema, e);

	f->schema = schema;
	f->out = out;
	if (rc)
		return rc;
	f->node = calloc(schema->ncolumns + 1u, sizeof(*f->node));
	f->buffer = calloc(schema->ncolumns + 1u, BUFFERS * sizeof(*f->buffer));
	f->job = calloc(schema->ncolumns + 1u, BUFFERS * sizeof(*f->job));
	if (!f->node || !f->buffer || !f->job)
		return no_memory(e);
	bytes_put(&f->text, magic, sizeof(magic));
	arrow_schema(&f->text, schema);
	return put(f, &f->text, e);
}

/* A buffer that will be in the body. */
static void add_buffer(struct feather *f, const void *data, size_t n)
{
	struct squeeze_job *j = &f->job[f->nbuffers++];

	j->data = data;
	j->n = n;
}

/* In the body a buffer's length comes first, then it, compressed where that makes it smaller. */
static void put_buffer(struct bytes *body, const struct squeeze_job *j, struct arrow_buffer *where)
{
	*where = (struct arrow_buffer){ .offset = (int64_t)body->len };
	if (!j->n)
		return;
	if (j->out.len < j->n) {
		bytes_u64(body, j->n);
		bytes_put(body, j->out.data, j->out.len);
	} else {
		bytes_u64(body, UINT64_MAX);
		bytes_put(body, j->data, j->n);
	}
	where->length = (int64_t)body->len - where->offset;
	while (body->len % ALIGNMENT && !body->failed)
		bytes_u8(body, 0);
	body->failed |= j->out.failed;
}

static void put_body(struct feather *f, struct arrow_batch *batch)
{
	squeeze_all(f->zstd, f->job, f->nbuffers);
	for (size_t i = 0; i < f->nbuffers; i++)
		put_buffer(&f->body, &f->job[i], &f->buffer[i]);
	batch->body = (int64_t)f->body.len;
	batch->buffer = f->buffer;
	batch->nbuffers = f->nbuffers;
	f->nbuffers = 0;
}

static void add_column(struct feather *f, const struct column_page *p, struct arrow_node *node)
{
	uint32_t n = f->columns.nrows;

	*node = (struct arrow_node){ n, p->nulls };
	add_buffer(f, p->valid, p->nulls ? (n + 7) / 8 : 0);
	if (p->type == COLUMN_TEXT)
		add_buffer(f, p->code, n * sizeof(*p->code));
	else
		add_buffer(f, p->i, n * sizeof(*p->i));
}

/* Write the message in f->text and the body, and remember where. */
static int put_block(struct feather *f, struct bytes *blocks, struct err *e)
{
	const struct arrow_block block = { .offset = f->at,
					   .body = f->body.len,
					   .message = (uint32_t)f->text.len };
	int rc;

	bytes_put(blocks, &block, sizeof(block));
	if (blocks->failed)
		return no_memory(e);
	rc = put(f, &f->text, e);
	return rc ? rc : put(f, &f->body, e);
}

static int end_batch(void *state, struct err *e)
{
	struct feather *f = state;
	struct arrow_batch batch = { .rows = f->columns.nrows,
				     .node = f->node,
				     .nnodes = f->schema->ncolumns };

	for (uint32_t i = 0; i < f->schema->ncolumns; i++)
		add_column(f, &f->columns.column[i], &f->node[i]);
	put_body(f, &batch);
	arrow_record(&f->text, &batch);
	columns_next_page(&f->columns);
	return put_block(f, &f->batches, e);
}

static int feather_batch(void *state, const struct batch *b, struct err *e)
{
	struct feather *f = state;

	return columns_batch(&f->columns, b, end_batch, f, e);
}

/* A file has each dictionary once, and it may come behind the batches that refer to it. */
static int put_dictionary(struct feather *f, uint32_t id, struct err *e)
{
	const struct dictionary *d = &f->columns.column[id].texts;
	struct arrow_node node = { d->n, 0 };
	struct arrow_batch batch = { .rows = d->n, .node = &node, .nnodes = 1 };
	struct bytes ends = { 0 };

	bytes_u32(&ends, 0);
	bytes_put(&ends, d->end, d->n * sizeof(*d->end));
	add_buffer(f, NULL, 0);
	add_buffer(f, ends.data, ends.len);
	add_buffer(f, d->text.data, d->text.len);
	put_body(f, &batch);
	f->body.failed |= ends.failed;
	bytes_free(&ends);
	arrow_dictionary(&f->text, &batch, id);
	return put_block(f, &f->dictionaries, e);
}

static int put_footer(struct feather *f, struct err *e)
{
	const struct arrow_file file = {
		.dictionary = (const struct arrow_block *)f->dictionaries.data,
		.ndictionaries = f->dictionaries.len / sizeof(struct arrow_block),
		.batch = (const struct arrow_block *)f->batches.data,
		.nbatches = f->batches.len / sizeof(struct arrow_block),
	};

	bytes_u32(&f->text, UINT32_MAX);
	bytes_u32(&f->text, 0);
	arrow_footer(&f->text, f->schema, &file);
	return put(f, &f->text, e);
}

static int feather_end(void *state, struct err *e)
{
	struct feather *f = state;
	int rc = f->columns.nrows ? end_batch(f, e) : 0;

	for (uint32_t i = 0; i < f->schema->ncolumns && !rc; i++)
		if (f->schema->columns[i].type == COLUMN_TEXT)
			rc = put_dictionary(f, i, e);
	return rc ? rc : put_footer(f, e);
}

static void feather_free(void *state)
{
	struct feather *f = state;

	columns_close(&f->columns);
	for (size_t i = 0; i < SQUEEZE_THREADS; i++)
		squeeze_free(f->zstd[i]);
	for (size_t i = 0; f->job && i < f->schema->ncolumns * (size_t)BUFFERS; i++)
		bytes_free(&f->job[i].out);
	free(f->job);
	bytes_free(&f->text);
	bytes_free(&f->body);
	bytes_free(&f->batches);
	bytes_free(&f->dictionaries);
	free(f->node);
	free(f->buffer);
}

const struct sink sink_feather = {
	.name = "feather",
	.what = "Apache Arrow file (Feather version 2), zstd",
	.size = sizeof(struct feather),
	.begin = feather_begin,
	.batch = feather_batch,
	.end = feather_end,
	.free = feather_free,
};
