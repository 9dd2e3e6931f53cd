/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/draft.h"

#include <math.h>

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
