/* SPDX-License-Identifier: Apache-2.0 */
/* A column there and back: made from changes, judged by the words of docs/format.md, decoded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "recording/chunk.h"
#include "recording/seal.h"

static uint64_t chance(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static const int64_t hard[] = { 0, 1, -1, INT64_MAX, INT64_MIN, INT64_MIN + 1, 127, 128, -64, -65 };
enum { HARD = sizeof hard / sizeof hard[0] };

enum { LENGTH = 120 };

struct one {
	int64_t value[LENGTH], mono[LENGTH];
	uint8_t present[LENGTH];
	uint32_t nrows;
	bool real;
};

/* Say what changes, as a row does: as the value itself, or as a step. */
static void column_make(const struct one *o, struct draft *d, struct drafting *g, struct column *c)
{
	int64_t last = 0;

	streams_reset(&g->streams);
	draft_start(d, 9, o->real);
	for (g->row = 0; g->row < o->nrows; g->row++) {
		bool was = g->row && o->present[g->row - 1];
		int64_t value = o->value[g->row];
		uint64_t zigzag = zigzag_encode((int64_t)((uint64_t)value - (uint64_t)last));
		uint8_t coded[VARINT_MAX];
		size_t n = (size_t)(varint_write(coded, zigzag) - coded);

		if (!o->present[g->row]) {
			draft_absent(d, g->row);
			continue;
		}
		if (!zigzag && !was)
			draft_value(d, g, value);
		else if (zigzag)
			draft_step(d, g, (struct step){ zigzag, coded, n });
		last = value;
	}
	draft_finish(d, g, o->nrows, c);
}

static double as_number(const struct one *o, uint32_t row)
{
	double real;

	memcpy(&real, &o->value[row], sizeof real);
	return o->real ? real : (double)o->value[row];
}

/* The range again, by the words of docs/format.md. */
static void check_range(const struct one *o, const struct range *r)
{
	double weighted = 0, size = 0, min = INFINITY, max = -INFINITY;
	int64_t weight = 0;
	uint32_t count = 0;

	for (uint32_t row = 0; row < o->nrows; row++) {
		double v = as_number(o, row);
		int64_t stood = row + 1 < o->nrows ? o->mono[row + 1] - o->mono[row] : 0;

		if (!o->present[row])
			continue;
		count++;
		weight += stood;
		if (isnan(v))
			continue;
		weighted += v * (double)stood * 1e-9;
		size += fabs(v) * (double)stood * 1e-9;
		min = fmin(min, v);
		max = fmax(max, v);
	}
	assert_int_equal(r->count, count);
	assert_true(fabs(r->weight - (double)weight * 1e-9) < 1e-15);
	if (isfinite(size))
		assert_true(fabs(r->weighted_sum - weighted) <= 1e-9 * size);
	if (min <= max && !o->real) {
		assert_true((double)r->min == min && (double)r->max == max);
	} else if (min <= max) {
		assert_true(memcmp(&r->min, &min, 8) == 0 || min == 0);
		assert_true(memcmp(&r->max, &max, 8) == 0 || max == 0);
	}
}

static void column_there_and_back(const struct one *o, struct drafting *g)
{
	int64_t value[LENGTH];
	uint8_t present[LENGTH], body[LENGTH * 3 * VARINT_MAX + COLUMN_BEHIND] = { 0 }, *behind;
	struct bytes footer = { 0 };
	struct draft d;
	struct column c, back;
	struct scan in;

	g->mono = (int64_t *)(uintptr_t)o->mono;
	column_make(o, &d, g, &c);
	if (!c.range.count)
		return;
	behind = draft_write(&d, &g->streams, body);
	assert_ptr_equal(behind, body + c.body);
	check_range(o, &c.range);
	column_put(&footer, &c, 4);
	in = (struct scan){ .at = footer.data, .end = footer.data + footer.len };
	assert_true(column_get(&in, &back, 4, o->nrows, o->mono));
	assert_ptr_equal(in.at, in.end);
	assert_int_equal(back.body, c.body);
	assert_int_equal(back.range.count, c.range.count);
	assert_int_equal(back.range.min, c.range.min);
	assert_int_equal(back.range.max, c.range.max);
	if (isfinite(c.range.weighted_sum)) /* in 48 bits */
		assert_true(fabs(back.range.weighted_sum - c.range.weighted_sum) <=
			    1e-11 * fabs(c.range.weighted_sum));
	assert_true(column_decode(&back, (struct scan){ .at = body, .end = body + c.body },
				  o->nrows, value, present));
	assert_memory_equal(present, o->present, o->nrows);
	for (uint32_t row = 0; row < o->nrows; row++) {
		if (present[row])
			assert_int_equal(value[row], o->value[row]);
	}
	if (c.body) /* a body that is cut is refused */
		assert_false(column_decode(&back,
					   (struct scan){ .at = body, .end = body + c.body - 1 },
					   o->nrows, value, present));
	bytes_free(&footer);
}

static void test_columns_come_back(void **state)
{
	uint64_t seed = 7;
	struct drafting g = { 0 };

	(void)state;
	assert_int_equal(streams_init(&g.streams, LENGTH * 2 * VARINT_MAX, 2), 0);
	for (int round = 0; round < 5000; round++) {
		struct one o = { .nrows = 1 + (uint32_t)(chance(&seed) % LENGTH),
				 .real = round % 2 };
		uint64_t holes = chance(&seed) % 4, moves = chance(&seed) % 4;

		for (uint32_t row = 0; row < o.nrows; row++) {
			o.mono[row] = row * 1000 + (int64_t)(chance(&seed) % 1000);
			o.present[row] = !holes || chance(&seed) % 4 >= holes;
			o.value[row] = moves && chance(&seed) % 4 < moves
					       ? hard[chance(&seed) % HARD]
				       : row ? o.value[row - 1]
					     : 77;
			if (moves == 3 && chance(&seed) % 2)
				o.value[row] = (int64_t)chance(&seed);
		}
		column_there_and_back(&o, &g);
		assert_false(g.streams.full);
	}
	streams_free(&g.streams);
}

static void test_bodies_stand_by_size(void **state)
{
	static const uint32_t size[] = { 3, 0, 70000, 256, 3, 1 << 24, 70001, 255, 0, 3 };
	static const uint32_t wanted[] = { 5, 6, 2, 3, 7, 0, 4, 9, 1, 8 };
	enum { BODIES = sizeof size / sizeof size[0] };
	struct body body[2 * BODIES];

	(void)state;
	for (uint32_t i = 0; i < BODIES; i++)
		body[i] = (struct body){ .size = size[i], .column = i };
	for (int again = 0; again < 2; again++) {
		bodies_sort(body, BODIES);
		for (uint32_t i = 0; i < BODIES; i++) {
			assert_int_equal(body[i].column, wanted[i]);
			assert_int_equal(body[i].size, size[wanted[i]]);
		}
	}
	bodies_sort(NULL, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns_come_back),
		cmocka_unit_test(test_bodies_stand_by_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
