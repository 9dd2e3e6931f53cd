/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/column.h"

#include "recording/varint.h"

#include <math.h>
#include <string.h>

static double as_real(int64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof v);
	return v;
}

static double number(bool real, int64_t stored)
{
	return real ? as_real(stored) : (double)stored;
}

static int64_t next_value(bool real, int64_t last, uint64_t coded)
{
	if (real)
		return (int64_t)((uint64_t)last ^ coded);
	return (int64_t)((uint64_t)last + (uint64_t)zigzag_decode(coded));
}

static void real_put(struct bytes *out, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	bytes_u64(out, bits);
}

static void step_put(struct bytes *out, int64_t value, int64_t from)
{
	bytes_zigzag(out, (int64_t)((uint64_t)value - (uint64_t)from));
}

static int64_t step_get(struct scan *in, int64_t from)
{
	return (int64_t)((uint64_t)from + (uint64_t)scan_zigzag(in));
}

void column_put(struct bytes *out, const struct column *c, uint32_t behind)
{
	const struct range *r = &c->range;

	bytes_varint(out, r->series - behind);
	bytes_u8(out, c->flags);
	if (!(c->flags & COLUMN_FULL)) {
		bytes_varint(out, r->count);
		bytes_varint(out, c->first_row);
		bytes_varint(out, c->last_row - c->first_row);
		bytes_varint(out, (uint64_t)c->weight_ns);
	}
	bytes_zigzag(out, r->first);
	if (!(c->flags & COLUMN_CONSTANT)) {
		step_put(out, r->last, r->first);
		real_put(out, r->weighted_sum);
		if (!(c->flags & COLUMN_GROWING)) {
			step_put(out, r->min, r->first);
			step_put(out, r->max, r->first);
		}
	}
	if ((c->flags & (COLUMN_FULL | COLUMN_CONSTANT)) != (COLUMN_FULL | COLUMN_CONSTANT))
		bytes_varint(out, c->body);
}

static void rows_get(struct scan *in, struct column *c, uint32_t nrows, const int64_t *mono)
{
	uint64_t count = nrows, first = 0, span = nrows - 1;

	if (!(c->flags & COLUMN_FULL)) {
		count = scan_varint(in);
		first = scan_varint(in);
		span = scan_varint(in);
		c->weight_ns = (int64_t)scan_varint(in);
	} else {
		c->weight_ns = mono[nrows - 1] - mono[0];
	}
	if (first >= nrows || span >= nrows - first || !count || count > span + 1 ||
	    c->weight_ns < 0) {
		in->bad = true;
		return;
	}
	c->range.count = (uint32_t)count;
	c->first_row = (uint32_t)first;
	c->last_row = (uint32_t)(first + span);
	c->range.first_ns = mono[first];
	c->range.last_ns = mono[first + span];
	c->range.weight = (double)c->weight_ns * 1e-9;
}

static void values_get(struct scan *in, struct column *c)
{
	struct range *r = &c->range;
	uint64_t bits;

	r->first = r->last = r->min = r->max = scan_zigzag(in);
	if (c->flags & COLUMN_CONSTANT) {
		double v = number(c->flags & COLUMN_REAL, r->first);

		r->weighted_sum = isnan(v) ? 0 : v * r->weight;
		return;
	}
	r->last = r->max = step_get(in, r->first);
	bits = scan_u64(in);
	memcpy(&r->weighted_sum, &bits, sizeof bits);
	if (!(c->flags & COLUMN_GROWING)) {
		r->min = step_get(in, r->first);
		r->max = step_get(in, r->first);
	}
}

bool column_get(struct scan *in, struct column *c, uint32_t behind, uint32_t nrows,
		const int64_t *mono)
{
	uint64_t gap = scan_varint(in), body = 0;

	*c = (struct column){ .flags = scan_u8(in) };
	if (in->bad || !gap || gap > UINT32_MAX - behind || c->flags & ~COLUMN_FLAGS)
		return false;
	c->range.series = behind + (uint32_t)gap;
	rows_get(in, c, nrows, mono);
	if (in->bad)
		return false;
	values_get(in, c);
	if ((c->flags & (COLUMN_FULL | COLUMN_CONSTANT)) != (COLUMN_FULL | COLUMN_CONSTANT))
		body = scan_varint(in);
	c->body = (uint32_t)body;
	return !in->bad && body <= UINT32_MAX;
}

/* Where values are: present[] from the run lengths. */
static bool runs_decode(const struct column *c, struct scan *body, uint32_t nrows, uint8_t *present)
{
	uint64_t row = 0, left = c->range.count;

	memset(present, c->flags & COLUMN_FULL, nrows);
	if (c->flags & COLUMN_FULL)
		return true;
	while (left) {
		uint64_t absent = scan_varint(body), run = scan_varint(body);

		if (body->bad || absent > nrows - row || run > nrows - row - absent || !run ||
		    run > left)
			return false;
		memset(present + row + absent, 1, run);
		row += absent + run;
		left -= run;
	}
	return present[c->first_row] && row == c->last_row + 1u;
}

bool column_decode(const struct column *c, struct scan body, uint32_t nrows, int64_t *value,
		   uint8_t *present)
{
	const uint8_t *at;
	int64_t last = c->range.first;
	uint64_t coded;

	if (!runs_decode(c, &body, nrows, present))
		return false;
	at = body.at;
	for (uint32_t row = 0; row < nrows; row++) {
		value[row] = present[row] ? last : 0;
		if (!present[row] || row == c->first_row || c->flags & COLUMN_CONSTANT)
			continue;
		if (at < body.end && *at < 0x80) {
			coded = *at++;
		} else {
			at = varint_read(at, body.end, &coded);
			if (!at)
				return false;
		}
		last = next_value(c->flags & COLUMN_REAL, last, coded);
		value[row] = last;
	}
	return at == body.end && last == c->range.last;
}
