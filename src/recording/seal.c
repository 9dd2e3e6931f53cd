/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/seal.h"

#include "base/reserve.h"
#include "recording/block.h"
#include "recording/format.h"
#include "recording/record.h"

#include <errno.h>

enum {
	ENTRY_MAX = 64, /* of one column in the footer */
	/* A value that did not change is a byte in the body; one that did is a byte or more in the
	 * image, and here ten at most, with six of run lengths. */
	BODY_PER_IMAGE = 16,
	LAST_RUN = 2 * VARINT_MAX,
};

int sealer_init(struct sealer *s, uint32_t image_max, uint32_t columns_max, uint32_t values_max)
{
	size_t streams_max = values_max + (size_t)image_max * BODY_PER_IMAGE;
	size_t footer_max = (size_t)columns_max * ENTRY_MAX + 2 * VARINT_MAX * ROWS_MAX;
	size_t body_max = streams_max + (size_t)columns_max * LAST_RUN;

	*s = (struct sealer){ .values_max = values_max, .columns_max = columns_max };
	s->column = reserve(columns_max * sizeof *s->column);
	s->drafting.mono = reserve(ROWS_MAX * sizeof *s->drafting.mono);
	s->utc = reserve(ROWS_MAX * sizeof *s->utc);
	s->bodies = reserve(2 * (size_t)columns_max * sizeof *s->bodies);
	if (!s->column || !s->drafting.mono || !s->utc || !s->bodies ||
	    rows_init(&s->rows, columns_max) ||
	    streams_init(&s->drafting.streams, streams_max, 2 * (size_t)columns_max) ||
	    reserve_bytes(&s->events, image_max) || reserve_bytes(&s->footer, footer_max) ||
	    reserve_bytes(&s->body, body_max) || compressor_init(&s->compressor)) {
		sealer_free(s);
		return -ENOMEM;
	}
	return 0;
}

void sealer_free(struct sealer *s)
{
	reserve_free(s->column, s->columns_max * sizeof *s->column);
	reserve_free(s->drafting.mono, ROWS_MAX * sizeof *s->drafting.mono);
	reserve_free(s->utc, ROWS_MAX * sizeof *s->utc);
	reserve_free(s->bodies, 2 * (size_t)s->columns_max * sizeof *s->bodies);
	rows_free(&s->rows);
	streams_free(&s->drafting.streams);
	reserve_bytes_free(&s->events);
	reserve_bytes_free(&s->footer);
	reserve_bytes_free(&s->body);
	compressor_free(&s->compressor);
	*s = (struct sealer){ 0 };
}

void sealer_let_go(struct sealer *s)
{
	streams_let_go(&s->drafting.streams);
	reserve_let_go(s->column, s->ncolumns * sizeof *s->column);
	reserve_let_go(s->events.data, s->events.len);
	reserve_let_go(s->footer.data, s->footer.len);
	reserve_let_go(s->body.data, s->body.len);
}

static bool columns_add(struct sealer *s, uint32_t from)
{
	for (uint32_t i = from; i < s->rows.n; i++) {
		if (s->ncolumns == s->columns_max)
			return false;
		s->rows.place[i] = s->ncolumns;
		draft_start(&s->column[s->ncolumns++], s->rows.series[i], s->rows.real[i]);
	}
	return true;
}

static void series_close(struct sealer *s, uint32_t id, uint32_t count)
{
	uint32_t behind = rows_find(&s->rows, id + count);

	for (uint32_t i = rows_find(&s->rows, id); i < behind; i++)
		draft_absent(&s->column[s->rows.place[i]], s->nrows);
	rows_close(&s->rows, id, count);
}

/* Follow what a commit's records say of open series; keep the records for the EVENTS block. */
static int records_walk(struct sealer *s, struct scan *in)
{
	const uint8_t *from = in->at, *behind = from;
	struct record r;
	int rc;

	while ((rc = record_get(in, &r, NULL)) > 0) {
		const struct event *e = &r.event;
		uint32_t n = s->rows.n;

		behind = in->at;
		s->declares |= e->kind == EVENT_CATALOGUE;
		if (e->kind == EVENT_SERIES_END)
			series_close(s, e->id, e->count);
		if (e->kind == EVENT_SERIES &&
		    (!rows_open(&s->rows, e->id, e->count, e->mask, 0) || !columns_add(s, n)))
			return -EBADMSG;
	}
	if (rc == 0)
		bytes_put(&s->events, from, (size_t)(behind - from));
	return rc;
}

static bool time_take(struct sealer *s)
{
	uint32_t row = s->nrows;
	int64_t mono = s->rows.times.mono, utc = row_times_utc(&s->rows.times);

	if (row == ROWS_MAX || mono < 0 || mono > MONO_MAX || utc < 0 || utc > UTC_MAX ||
	    (row && mono < s->drafting.mono[row - 1]) ||
	    (uint64_t)s->ncolumns * (row + 1) > s->values_max)
		return false;
	s->drafting.mono[row] = mono;
	s->utc[row] = utc;
	return true;
}

/* A series' token to its column. Returns the place behind it, or NULL. */
static inline const uint8_t *token_take(struct sealer *s, struct draft *d, const uint8_t *at,
					const uint8_t *end)
{
	struct step step = { .coded = at };
	const uint8_t *behind = varint_read(at, end, &step.zigzag);
	bool present;
	int64_t value;

	if (!behind)
		return NULL;
	step.n = (size_t)(behind - at);
	if (step.zigzag && end - at >= VARINT_MAX) {
		draft_step(d, &s->drafting, step);
		return behind;
	}
	if (step.zigzag) {
		draft_step_slow(d, &s->drafting, step.zigzag);
		return behind;
	}
	behind = row_token_other(behind, end, &present, &value);
	if (behind && present)
		draft_value(d, &s->drafting, value);
	else if (behind)
		draft_absent(d, s->nrows);
	return behind;
}

static int row_take(struct sealer *s, struct scan *in)
{
	const uint8_t *at;

	if (!rows_get(in, &s->rows) || !time_take(s))
		return -EBADMSG;
	at = in->at;
	s->drafting.row = s->nrows;
	for (uint32_t first = 0; first < s->rows.n; first += 64) {
		for (uint64_t word = rows_changed(&s->rows, first); word; word &= word - 1) {
			uint32_t i = first + (uint32_t)__builtin_ctzll(word);

			at = token_take(s, &s->column[s->rows.place[i]], at, in->end);
			if (!at)
				return -EBADMSG;
		}
	}
	s->nrows++;
	return 0;
}

static int commit_walk(struct sealer *s, struct scan in)
{
	uint8_t flags = scan_u8(&in);
	int rc;

	if (flags & ~COMMIT_FLAGS)
		return -EBADMSG;
	if (flags & COMMIT_LIST &&
	    (s->ncolumns || !rows_list_get(&in, &s->rows) || !columns_add(s, 0)))
		return -EBADMSG;
	rc = records_walk(s, &in);
	if (rc || !(flags & COMMIT_ROW))
		return rc;
	return row_take(s, &in);
}

static int image_walk(struct sealer *s, const struct image *image)
{
	struct scan in = { .at = image->data, .end = image->data + image->len };

	s->rows.n = 0;
	s->rows.times = (struct row_times){ 0 };
	s->ncolumns = s->nrows = 0;
	streams_reset(&s->drafting.streams);
	while (in.at < in.end) {
		uint32_t length = scan_u32(&in);
		struct scan commit;
		int rc;

		scan_take(&in, COMMIT_HEADER - 4);
		commit.at = scan_take(&in, length);
		if (in.bad)
			return -EBADMSG;
		commit = (struct scan){ .at = commit.at, .end = in.at };
		rc = commit_walk(s, commit);
		if (rc)
			return rc;
	}
	return 0;
}

static void times_write(struct sealer *s)
{
	struct row_times times = { 0 };

	for (uint32_t row = 0; row < s->nrows; row++) {
		struct row_times now = row_times_at(&times, s->utc[row], s->drafting.mono[row]);

		row_times_put(&s->footer, &times, &now);
		times = now;
	}
}

/* Footer and bodies of the columns that hold anything; their number, or -EBADMSG. */
static int columns_write(struct sealer *s)
{
	uint8_t *at = s->body.data;
	uint32_t behind = 0, n = 0;

	for (uint32_t i = 0; i < s->ncolumns; i++) {
		struct column c;

		draft_finish(&s->column[i], &s->drafting, s->nrows, &c);
		if (!c.range.count)
			continue;
		column_put(&s->footer, &c, behind);
		behind = c.range.series;
		s->bodies[n++] = (struct body){ .size = c.body, .column = i };
	}
	if (s->drafting.streams.full)
		return -EBADMSG;
	bodies_sort(s->bodies, n);
	for (uint32_t i = 0; i < n && s->bodies[i].size; i++)
		at = draft_write(&s->column[s->bodies[i].column], &s->drafting.streams, at);
	s->body.len = (size_t)(at - s->body.data);
	return (int)n;
}

static int chunk_put(struct sealer *s, const struct image *image, uint32_t sequence,
		     struct bytes *out)
{
	size_t start = block_start(out, BLOCK_CHUNK, sequence);
	int ncolumns;

	bytes_reset(&s->footer);
	times_write(s);
	ncolumns = columns_write(s);
	if (ncolumns < 0)
		return ncolumns;
	bytes_varint(out, image->node);
	bytes_varint(out, image->generation);
	bytes_varint(out, s->nrows);
	bytes_varint(out, (uint32_t)ncolumns);
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
	if (s->declares)
		section_put_texts(out, &s->compressor, s->events.data, s->events.len);
	else
		section_put(out, &s->compressor, s->events.data, s->events.len);
	block_finish(out, start);
}

int seal(struct sealer *s, const struct image *image, unsigned which, uint32_t *sequence,
	 struct bytes *out)
{
	uint32_t next = *sequence;
	int rc;

	bytes_reset(&s->events);
	s->declares = false;
	rc = image_walk(s, image);
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
