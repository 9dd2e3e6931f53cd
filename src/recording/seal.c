/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/seal.h"

#include "base/reserve.h"
#include "recording/block.h"
#include "recording/format.h"
#include "recording/record.h"
#include "recording/varint.h"

#include <errno.h>

enum {
	FOOTER_MAX = 64 * COLUMNS_MAX + 2 * VARINT_MAX * ROWS_MAX, /* 64: of one entry */
	/* A value that did not change is a byte in the body; one that did is a byte or more in the
	 * image, and here ten at most, with six of run lengths. */
	BODY_PER_IMAGE = 16,
};

int sealer_init(struct sealer *s, uint32_t image_max, uint32_t values_max)
{
	size_t body_max = values_max + (size_t)image_max * BODY_PER_IMAGE;

	*s = (struct sealer){ .values_max = values_max };
	s->column = reserve(COLUMNS_MAX * sizeof *s->column);
	s->mono = reserve(ROWS_MAX * sizeof *s->mono);
	s->utc = reserve(ROWS_MAX * sizeof *s->utc);
	if (!s->column || !s->mono || !s->utc || rows_init(&s->rows, COLUMNS_MAX) ||
	    reserve_bytes(&s->events, image_max) || reserve_bytes(&s->footer, FOOTER_MAX) ||
	    reserve_bytes(&s->body, body_max) || compressor_init(&s->compressor, body_max)) {
		sealer_free(s);
		return -ENOMEM;
	}
	return 0;
}

void sealer_free(struct sealer *s)
{
	reserve_free(s->column, COLUMNS_MAX * sizeof *s->column);
	reserve_free(s->mono, ROWS_MAX * sizeof *s->mono);
	reserve_free(s->utc, ROWS_MAX * sizeof *s->utc);
	rows_free(&s->rows);
	reserve_bytes_free(&s->events);
	reserve_bytes_free(&s->footer);
	reserve_bytes_free(&s->body);
	compressor_free(&s->compressor);
	*s = (struct sealer){ 0 };
}

enum pass { PASS_MEASURE, PASS_WRITE };

static bool columns_add(struct sealer *s, enum pass pass, uint32_t from)
{
	for (uint32_t i = from; i < s->rows.n; i++) {
		if (s->ncolumns == COLUMNS_MAX)
			return false;
		s->rows.open[i].place = s->ncolumns;
		if (pass == PASS_MEASURE)
			column_start(&s->column[s->ncolumns], s->rows.open[i].series,
				     s->rows.open[i].real);
		s->ncolumns++;
	}
	return true;
}

/* Follow what a commit's records say of open series; keep the records for the EVENTS block. */
static int records_walk(struct sealer *s, struct scan *in, enum pass pass)
{
	const uint8_t *from = in->at, *behind = from;
	struct record r;
	int rc;

	while ((rc = record_get(in, &r, NULL)) > 0) {
		const struct event *e = &r.event;
		uint32_t n = s->rows.n;

		behind = in->at;
		if (e->kind == EVENT_SERIES_END)
			rows_close(&s->rows, e->id, e->count);
		if (e->kind == EVENT_SERIES &&
		    (!rows_open(&s->rows, e->id, e->count, e->mask, 0) || !columns_add(s, pass, n)))
			return -EBADMSG;
	}
	if (rc == 0 && pass == PASS_MEASURE)
		bytes_put(&s->events, from, (size_t)(behind - from));
	return rc;
}

static int row_measure(struct sealer *s)
{
	uint32_t row = s->nrows;
	int64_t mono = s->rows.times.mono, utc = row_times_utc(&s->rows.times);

	if (row == ROWS_MAX || mono < 0 || mono > MONO_MAX || utc < 0 || utc > UTC_MAX ||
	    (row && mono < s->mono[row - 1]) || (uint64_t)s->ncolumns * (row + 1) > s->values_max)
		return -EBADMSG;
	s->mono[row] = mono;
	s->utc[row] = utc;
	for (uint32_t i = 0; i < s->rows.n; i++) {
		const struct row_series *v = &s->rows.open[i];

		if (v->present)
			column_measure(&s->column[v->place], row, v->last, s->mono);
	}
	return 0;
}

static void row_write(struct sealer *s)
{
	for (uint32_t i = 0; i < s->rows.n; i++) {
		const struct row_series *v = &s->rows.open[i];
		struct column *c = &s->column[v->place];

		if (v->present && c->body)
			column_write(c, s->nrows, v->last);
	}
}

static int commit_walk(struct sealer *s, struct scan in, enum pass pass)
{
	uint8_t flags = scan_u8(&in);
	int rc;

	if (flags & ~COMMIT_FLAGS)
		return -EBADMSG;
	if (flags & COMMIT_LIST && (!rows_list_get(&in, &s->rows) || !columns_add(s, pass, 0)))
		return -EBADMSG;
	rc = records_walk(s, &in, pass);
	if (rc || !(flags & COMMIT_ROW))
		return rc;
	if (!rows_get(&in, &s->rows))
		return -EBADMSG;
	if (pass == PASS_WRITE)
		row_write(s);
	else
		rc = row_measure(s);
	s->nrows++;
	return rc;
}

static int image_walk(struct sealer *s, const struct image *image, enum pass pass)
{
	struct scan in = { .at = image->data, .end = image->data + image->len };

	s->rows.n = 0;
	s->rows.times = (struct row_times){ 0 };
	s->ncolumns = s->nrows = 0;
	while (in.at < in.end) {
		uint32_t length = scan_u32(&in);
		struct scan commit;
		int rc;

		scan_take(&in, COMMIT_HEADER - 4);
		commit.at = scan_take(&in, length);
		if (in.bad)
			return -EBADMSG;
		commit = (struct scan){ .at = commit.at, .end = in.at };
		rc = commit_walk(s, commit, pass);
		if (rc)
			return rc;
	}
	return 0;
}

/* Give each column its place in the body, then fill it. */
static int body_write(struct sealer *s, const struct image *image)
{
	size_t size = 0;

	for (uint32_t i = 0; i < s->ncolumns; i++) {
		column_finish(&s->column[i], s->nrows, s->mono);
		if (s->column[i].body > s->body.cap - size)
			return -EBADMSG;
		if (s->column[i].body)
			column_rewind(&s->column[i], s->body.data + size);
		size += s->column[i].body;
	}
	s->body.len = size;
	return image_walk(s, image, PASS_WRITE);
}

static uint32_t footer_write(struct sealer *s)
{
	struct row_times times = { 0 };
	uint32_t behind = 0, n = 0;

	bytes_reset(&s->footer);
	for (uint32_t row = 0; row < s->nrows; row++) {
		struct row_times now = row_times_at(&times, s->utc[row], s->mono[row]);

		row_times_put(&s->footer, &times, &now);
		times = now;
	}
	for (uint32_t i = 0; i < s->ncolumns; i++) {
		struct column *c = &s->column[i];

		if (!c->range.count)
			continue;
		if (c->body)
			column_written(c);
		column_put(&s->footer, c, behind);
		behind = c->range.series;
		n++;
	}
	return n;
}

static int chunk_put(struct sealer *s, const struct image *image, uint32_t sequence,
		     struct bytes *out)
{
	size_t start = block_start(out, BLOCK_CHUNK, sequence);
	int rc = body_write(s, image);
	uint32_t ncolumns;

	if (rc)
		return rc;
	ncolumns = footer_write(s);
	bytes_varint(out, image->node);
	bytes_varint(out, image->generation);
	bytes_varint(out, s->nrows);
	bytes_varint(out, ncolumns);
	section_put(out, &s->compressor, s->footer.data, s->footer.len);
	section_put(out, &s->compressor, s->body.data, s->body.len);
	block_finish(out, start);
	return 0;
}

static void events_put(struct sealer *s, const struct image *image, uint32_t sequence,
		       struct bytes *out)
{
	size_t start = block_start(out, BLOCK_EVENTS, sequence);

	bytes_varint(out, image->generation);
	section_put(out, &s->compressor, s->events.data, s->events.len);
	block_finish(out, start);
}

int seal(struct sealer *s, const struct image *image, unsigned which, uint32_t *sequence,
	 struct bytes *out)
{
	uint32_t next = *sequence;
	int rc;

	bytes_reset(&s->events);
	rc = image_walk(s, image, PASS_MEASURE);
	if (rc)
		return rc;
	if (which & SEAL_EVENTS && s->events.len)
		events_put(s, image, next++, out);
	if (which & SEAL_CHUNK && s->nrows)
		rc = chunk_put(s, image, next++, out);
	if (rc)
		return rc;
	if (out->failed)
		return -ENOBUFS;
	*sequence = next;
	return 0;
}
