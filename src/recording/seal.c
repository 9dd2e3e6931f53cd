/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/seal.h"

#include "base/reserve.h"
#include "recording/block.h"
#include "recording/format.h"
#include "recording/record.h"

#include <errno.h>
#include <math.h>

_Static_assert(sizeof(struct segment) == offsetof(struct segment, data) + SEGMENT_ROOM,
	       "the end of a segment's data is the end of the segment");

int streams_init(struct streams *m, size_t bytes, size_t streams)
{
	/* A segment is left when it has no room for another varint. */
	size_t max = bytes / (SEGMENT_ROOM - VARINT_MAX) + streams + 2;

	*m = (struct streams){ 0 };
	if (max > INT32_MAX / sizeof *m->segment)
		return -ENOMEM;
	m->max = (uint32_t)max;
	m->segment = reserve(max * sizeof *m->segment);
	return m->segment ? 0 : -ENOMEM;
}

void streams_free(struct streams *m)
{
	reserve_free(m->segment, m->max * sizeof *m->segment);
	*m = (struct streams){ 0 };
}

void streams_reset(struct streams *m)
{
	m->n = 0;
	m->full = false;
}

/* reset, and give the memory back until it is needed */
static void streams_let_go(struct streams *m)
{
	reserve_let_go(m->segment, m->n * sizeof *m->segment);
	streams_reset(m);
}

/* Bytes in the last segment. */
static uint32_t last_used(const struct stream *s)
{
	return s->first ? SEGMENT_ROOM - (s->end - s->at) : 0;
}

void stream_extend(struct streams *m, struct stream *s)
{
	uint32_t fresh = m->n;

	if (m->n + 1 < m->max)
		m->n++;
	else
		m->full = true;
	m->segment[fresh].next = 0;
	if (s->first) {
		struct segment *last = &m->segment[s->end / sizeof *last - 1];

		last->used = last_used(s);
		last->next = fresh + 1;
		s->before += last->used;
	} else {
		s->first = fresh + 1;
	}
	s->end = (fresh + 1) * (uint32_t)sizeof *m->segment;
	s->at = s->end - SEGMENT_ROOM;
}

void stream_fill(struct streams *m, struct stream *s, uint32_t zeros)
{
	while (zeros) {
		uint32_t room = s->end - s->at;

		if (!room) {
			stream_extend(m, s);
			continue;
		}
		room = room < zeros ? room : zeros;
		memset(stream_at(m, s), 0, room);
		s->at += room;
		zeros -= room;
	}
}

static uint32_t stream_size(const struct stream *s)
{
	return s->before + last_used(s);
}

/* Copy it whole to where there is room; returns the place behind. */
static uint8_t *stream_copy(const struct streams *m, const struct stream *s, uint8_t *out)
{
	uint32_t left = stream_size(s);

	for (uint32_t i = s->first; left; i = m->segment[i - 1].next) {
		const struct segment *part = &m->segment[i - 1];
		uint32_t n = part->next ? part->used : left;

		memcpy(out, part->data, n);
		out += n;
		left -= n;
	}
	return out;
}

static double as_real(int64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof v);
	return v;
}

void draft_start(struct draft *d, uint32_t series, bool real)
{
	*d = (struct draft){ .series = series, .real = real };
}

/* The value said last stood until this row. */
static void weigh(struct draft *d, const int64_t *mono, uint32_t until)
{
	int64_t stood_ns = mono[until] - mono[d->since];

	if (!d->real)
		d->sum.whole += (wide)d->last * stood_ns;
	else if (!isnan(as_real(d->last)))
		d->sum.real += as_real(d->last) * (double)stood_ns * 1e-9;
}

static void widen(struct draft *d, int64_t value)
{
	if (!d->real) {
		d->min = value < d->min ? value : d->min;
		d->max = value > d->max ? value : d->max;
	} else if (!isnan(as_real(value))) {
		d->min = !(as_real(d->min) <= as_real(value)) ? value : d->min;
		d->max = !(as_real(d->max) >= as_real(value)) ? value : d->max;
	}
}

/* The run is over, and its last value stood until this row. */
static void run_settle(struct draft *d, const int64_t *mono, uint32_t until)
{
	weigh(d, mono, until);
	d->weight_ns += mono[until] - mono[d->run_row];
	d->count += d->end - d->run_row;
}

static void run_begin(struct draft *d, struct drafting *g)
{
	run_settle(d, g->mono, d->end);
	stream_zeros(&g->streams, &d->values, d->end - d->since - 1);
	stream_varint(&g->streams, &d->runs, d->run_gap);
	stream_varint(&g->streams, &d->runs, d->end - d->run_row);
	d->run_gap = g->row - d->end;
	d->run_row = g->row;
}

static void begin(struct draft *d, uint32_t row, int64_t value)
{
	d->begun = d->present = true;
	d->first = d->last = d->min = d->max = value;
	d->first_row = d->run_row = d->run_gap = d->since = row;
}

void draft_step_slow(struct draft *d, struct drafting *g, uint64_t zigzag)
{
	int64_t value = (int64_t)((uint64_t)d->last + (uint64_t)zigzag_decode(zigzag));

	if (d->present) {
		stream_zeros(&g->streams, &d->values, g->row - d->since - 1);
		weigh(d, g->mono, g->row);
	} else if (d->begun) {
		run_begin(d, g);
	} else {
		begin(d, g->row, value);
		return;
	}
	stream_varint(&g->streams, &d->values,
		      d->real ? (uint64_t)value ^ (uint64_t)d->last : zigzag);
	widen(d, value);
	d->varies = d->varies || zigzag;
	d->present = true;
	d->last = value;
	d->since = g->row;
}

void draft_value(struct draft *d, struct drafting *g, int64_t value)
{
	draft_step_slow(d, g, zigzag_encode((int64_t)((uint64_t)value - (uint64_t)d->last)));
}

void draft_absent(struct draft *d, uint32_t row)
{
	if (d->present)
		d->end = row;
	d->present = false;
}

static uint8_t *last_run_write(const struct draft *d, uint8_t *out)
{
	return varint_write(varint_write(out, d->run_gap), d->end - d->run_row);
}

static uint32_t body_size(const struct draft *d)
{
	uint8_t run[2 * VARINT_MAX];
	uint32_t size = d->varies ? stream_size(&d->values) : 0;

	if (!d->full)
		size += stream_size(&d->runs) + (uint32_t)(last_run_write(d, run) - run);
	return size;
}

void draft_finish(struct draft *d, struct drafting *g, uint32_t nrows, struct column *c)
{
	*c = (struct column){ .range.series = d->series };
	if (!d->begun)
		return;
	draft_absent(d, nrows);
	run_settle(d, g->mono, d->end < nrows ? d->end : nrows - 1);
	if (d->varies)
		stream_zeros(&g->streams, &d->values, d->end - d->since - 1);
	d->full = d->count == nrows;
	c->flags = (uint8_t)((d->full ? COLUMN_FULL : 0) | (d->varies ? 0 : COLUMN_CONSTANT) |
			     (d->real ? COLUMN_REAL : 0) |
			     (d->min == d->first && d->max == d->last ? COLUMN_GROWING : 0));
	c->body = body_size(d);
	c->weight_ns = d->weight_ns;
	c->first_row = d->first_row;
	c->last_row = d->end - 1;
	c->range =
		(struct range){ .series = d->series,
				.count = d->count,
				.min = d->min,
				.max = d->max,
				.first = d->first,
				.last = d->last,
				.first_ns = g->mono[c->first_row],
				.last_ns = g->mono[c->last_row],
				.weighted_sum = d->real ? d->sum.real : (double)d->sum.whole * 1e-9,
				.weight = (double)d->weight_ns * 1e-9 };
}

uint8_t *draft_write(const struct draft *d, const struct streams *m, uint8_t *out)
{
	if (!d->full) {
		out = stream_copy(m, &d->runs, out);
		out = last_run_write(d, out);
	}
	return d->varies ? stream_copy(m, &d->values, out) : out;
}

enum {
	ENTRY_MAX = 64, /* of one column in the footer */
	/* A value that did not change is a byte in the body; one that did is a byte or more in the
	 * image, and here ten at most, with six of run lengths. */
	BODY_PER_IMAGE = 16,
	LAST_RUN = 2 * VARINT_MAX,
	/* Raw bytes of a frame of bodies: smaller ones are expanded for fewer columns in vain, but
	 * take longer for all. */
	FRAME = 12 << 10,
};

int sealer_init(struct sealer *s, uint32_t image_max, uint32_t columns_max, uint32_t values_max)
{
	size_t streams_max = values_max + (size_t)image_max * BODY_PER_IMAGE;
	size_t footer_max = (size_t)columns_max * ENTRY_MAX + 2 * VARINT_MAX * ROWS_MAX;
	size_t body_max = streams_max + (size_t)columns_max * LAST_RUN;

	*s = (struct sealer){ .values_max = values_max,
			      .columns_max = columns_max,
			      .frames_max = (uint32_t)(2 * body_max / FRAME + 2) };
	s->column = reserve(columns_max * sizeof *s->column);
	s->drafting.mono = reserve(ROWS_MAX * sizeof *s->drafting.mono);
	s->utc = reserve(ROWS_MAX * sizeof *s->utc);
	s->bodies = reserve(2 * (size_t)columns_max * sizeof *s->bodies);
	s->frame = reserve(s->frames_max * sizeof *s->frame);
	if (!s->column || !s->drafting.mono || !s->utc || !s->bodies || !s->frame ||
	    rows_init(&s->rows, columns_max) ||
	    streams_init(&s->drafting.streams, streams_max, 2 * (size_t)columns_max) ||
	    reserve_bytes(&s->events, image_max) || reserve_bytes(&s->footer, footer_max) ||
	    reserve_bytes(&s->body, body_max) || codeblock_init(&s->code, image_max) ||
	    compressor_init(&s->compressor)) {
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
	reserve_free(s->frame, s->frames_max * sizeof *s->frame);
	rows_free(&s->rows);
	streams_free(&s->drafting.streams);
	reserve_bytes_free(&s->events);
	reserve_bytes_free(&s->footer);
	reserve_bytes_free(&s->body);
	codeblock_free(&s->code);
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
	codeblock_let_go(&s->code);
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

/* For the CODE block, or with those before it that nobody here knows for the EVENTS block. */
static void record_keep(struct sealer *s, const uint8_t *from, const struct record *r,
			const uint8_t *behind)
{
	size_t n = (size_t)(behind - r->start);

	bytes_put(&s->events, from, (size_t)(r->start - from));
	bytes_put(codeblock_takes(r->start, n) ? &s->code.records : &s->events, r->start, n);
}

/* Follow what a commit's records say of open series; keep the records for the blocks. */
static int records_walk(struct sealer *s, struct scan *in)
{
	const uint8_t *behind = in->at;
	struct record r;
	int rc;

	while ((rc = record_get(in, &r, NULL)) > 0) {
		const struct event *e = &r.event;
		uint32_t n = s->rows.n;

		record_keep(s, behind, &r, in->at);
		behind = in->at;
		s->declares |= e->kind == EVENT_CATALOGUE;
		if (e->kind == EVENT_SERIES_END)
			series_close(s, e->id, e->count);
		if (e->kind == EVENT_SERIES &&
		    (!rows_open(&s->rows, e->id, e->count, e->mask, 0) || !columns_add(s, n)))
			return -EBADMSG;
	}
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

/* As many whole bodies as have room, or one. Two frames side by side have more than FRAME. */
static void frames_cut(struct sealer *s, const struct body *body, uint32_t n)
{
	struct section_frame *f = s->frame;

	*f = (struct section_frame){ 0 };
	for (uint32_t i = 0; i < n && body[i].size; i++) {
		if (f->size && f->size + body[i].size > FRAME)
			*++f = (struct section_frame){ 0 };
		f->size += body[i].size;
	}
	s->nframes = (uint32_t)(f - s->frame) + 1;
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
	frames_cut(s, s->bodies, n);
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
	section_put_frames(out, &s->compressor, s->body.data, s->frame, s->nframes);
	block_finish(out, start);
	return 0;
}

static void events_put(struct sealer *s, const struct image *image, uint32_t sequence,
		       struct bytes *out)
{
	size_t start = block_start(out, BLOCK_EVENTS, sequence);

	bytes_varint(out, image->generation);
	if (s->declares)
		section_put_opening(out, &s->compressor, s->events.data, s->events.len);
	else
		section_put(out, &s->compressor, s->events.data, s->events.len);
	block_finish(out, start);
}

static void code_put(struct sealer *s, const struct image *image, uint32_t sequence,
		     struct bytes *out)
{
	size_t start = block_start(out, BLOCK_CODE, sequence);

	codeblock_put(out, &s->compressor, &s->code, image->generation);
	block_finish(out, start);
}

int seal(struct sealer *s, const struct image *image, unsigned which, uint32_t *sequence,
	 struct bytes *out)
{
	uint32_t next = *sequence;
	int rc;

	bytes_reset(&s->events);
	bytes_reset(&s->code.records);
	s->declares = false;
	rc = image_walk(s, image);
	if (rc)
		return rc;
	if (which & SEAL_CODE && s->code.records.len)
		code_put(s, image, next++, out);
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
