/* SPDX-License-Identifier: Apache-2.0 */
/* feather.c - Apache Arrow's file, which is Feather version 2: record batches, zstd. While one is
 * compressed by another thread, the rows of the next are gathered. */
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
	struct column_spare *spare;
	struct squeeze_crew crew;
	uint32_t rows; /* of the batch that is compressed; 0: none is */
	struct bytes text;
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
	if (!f->node || !f->buffer || !f->job || columns_open_spare(&f->columns, &f->spare))
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
static bool is_smaller(const struct squeeze_job *j)
{
	return j->out.len < j->n;
}

static size_t size_of(const struct squeeze_job *j)
{
	return is_smaller(j) ? j->out.len : j->n;
}

static size_t aligned(size_t n)
{
	return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Where each buffer will be in the body. False when memory was out. */
static bool place_buffers(struct feather *f, struct arrow_batch *batch)
{
	size_t at = 0;
	bool good = true;

	for (size_t i = 0; i < f->nbuffers; i++) {
		const struct squeeze_job *j = &f->job[i];
		size_t n = j->n ? PREFIX + size_of(j) : 0;

		f->buffer[i] = (struct arrow_buffer){ .offset = (int64_t)at, .length = (int64_t)n };
		at += aligned(n);
		good &= !j->out.failed;
	}
	batch->body = (int64_t)at;
	batch->buffer = f->buffer;
	batch->nbuffers = f->nbuffers;
	return good;
}

static int put_buffer(struct feather *f, const struct squeeze_job *j, struct err *e)
{
	size_t n = size_of(j), behind = aligned(PREFIX + n) - PREFIX - n;
	int rc;

	if (!j->n)
		return 0;
	bytes_u64(&f->text, is_smaller(j) ? j->n : UINT64_MAX);
	rc = put(f, &f->text, e);
	if (!rc)
		rc = text_write(is_smaller(j) ? j->out.data : j->data, n, f->out, e);
	f->at += n;
	while (behind--)
		bytes_u8(&f->text, 0);
	return rc ? rc : put(f, &f->text, e);
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
static int put_block(struct feather *f, const struct arrow_batch *b, struct bytes *blocks,
		     struct err *e)
{
	const struct arrow_block block = { .offset = f->at,
					   .body = (uint64_t)b->body,
					   .message = (uint32_t)f->text.len };
	int rc;

	bytes_put(blocks, &block, sizeof(block));
	if (blocks->failed)
		return no_memory(e);
	rc = put(f, &f->text, e);
	for (size_t i = 0; i < f->nbuffers && !rc; i++)
		rc = put_buffer(f, &f->job[i], e);
	f->nbuffers = 0;
	return rc;
}

/* What is compressed, if anything, gets into the file. */
static int finish_batch(struct feather *f, struct err *e)
{
	struct arrow_batch batch = { .rows = f->rows,
				     .node = f->node,
				     .nnodes = f->schema->ncolumns };

	squeeze_finish(&f->crew);
	if (!f->rows)
		return 0;
	f->rows = 0;
	if (!place_buffers(f, &batch))
		return no_memory(e);
	arrow_record(&f->text, &batch);
	return put_block(f, &batch, &f->batches, e);
}

static int end_batch(void *state, struct err *e)
{
	struct feather *f = state;
	int rc = finish_batch(f, e);

	if (rc)
		return rc;
	for (uint32_t i = 0; i < f->schema->ncolumns; i++)
		add_column(f, &f->columns.column[i], &f->node[i]);
	f->rows = f->columns.nrows;
	squeeze_start(&f->crew, f->job, f->nbuffers);
	columns_swap(&f->columns, f->spare);
	columns_next_page(&f->columns);
	return 0;
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
	int rc;

	bytes_u32(&ends, 0);
	bytes_put(&ends, d->end, d->n * sizeof(*d->end));
	add_buffer(f, NULL, 0);
	add_buffer(f, ends.data, ends.len);
	add_buffer(f, d->text.data, d->text.len);
	squeeze_all(&f->crew, f->job, f->nbuffers);
	rc = place_buffers(f, &batch) && !ends.failed ? 0 : no_memory(e);
	arrow_dictionary(&f->text, &batch, id);
	if (!rc)
		rc = put_block(f, &batch, &f->dictionaries, e);
	bytes_free(&ends);
	return rc;
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

	if (!rc)
		rc = finish_batch(f, e);
	for (uint32_t i = 0; i < f->schema->ncolumns && !rc; i++)
		if (f->schema->columns[i].type == COLUMN_TEXT)
			rc = put_dictionary(f, i, e);
	return rc ? rc : put_footer(f, e);
}

static void feather_free(void *state)
{
	struct feather *f = state;

	squeeze_crew_free(&f->crew);
	columns_close_spare(&f->columns, f->spare);
	columns_close(&f->columns);
	for (size_t i = 0; f->job && i < f->schema->ncolumns * (size_t)BUFFERS; i++)
		bytes_free(&f->job[i].out);
	free(f->job);
	bytes_free(&f->text);
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
