/* SPDX-License-Identifier: Apache-2.0 */
/* What the page's script is given: numbers packed and read back, finer points where a verdict
 * points, each core by itself, phases and marks. */
#include "report/page/page_data.h"
#include "report/page/page_events.h"
#include "report/page/page_series.h"
#include "unit/synthetic_run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* jansson, which reads what was written, has some of the same names. */
#define json_object jansson_object
#define json_array  jansson_array
#define json_real   jansson_real
#define json_null   jansson_null
#include <jansson.h>
#undef json_object
#undef json_array
#undef json_real
#undef json_null

static const struct metric pss = { "job.pss_bytes", .unit = UNIT_BYTES, .kind = KIND_GAUGE };
static const struct metric used = {
	"cpu.used_ratio",   "cpu",      .unit = UNIT_RATIO,
	.kind = KIND_GAUGE, .div = 100, .over_instances = COMBINE_MEAN
};
static const struct metric odd = { "node.odd_count", .label = "Odd things", .unit = UNIT_COUNT,
				   .kind = KIND_GAUGE };

static const struct metric disk_mode = { "disk.mode_number", "disk", .label = "Mode",
					 .unit = UNIT_COUNT, .kind = KIND_GAUGE };

static json_t *parsed(struct bytes *b)
{
	json_t *j = json_loadb((const char *)b->data, b->len, JSON_DECODE_ANY, NULL);

	assert_false(b->failed);
	assert_non_null(j);
	bytes_free(b);
	return j;
}

static json_t *packed(const double *v, size_t n)
{
	struct bytes out = { 0 };
	struct json j = { .out = &out };

	page_pack_numbers(&j, v, n);
	return parsed(&out);
}

static size_t from_base64(const char *text, uint8_t *out)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t n = 0;

	for (; text[0]; text += 4) {
		uint32_t v = 0;

		for (int i = 0; i < 4; i++)
			v = v << 6 |
			    (text[i] == '=' ? 0 : (uint32_t)(strchr(digit, text[i]) - digit));
		out[n++] = (uint8_t)(v >> 16);
		if (text[2] != '=')
			out[n++] = (uint8_t)(v >> 8);
		if (text[3] != '=')
			out[n++] = (uint8_t)v;
	}
	return n;
}

/* As charts.js reads it. */
static double unpacked(const json_t *j, size_t i)
{
	uint8_t raw[4096];
	unsigned bits;

	if (!json_is_object(j))
		return json_number_value(j);
	from_base64(json_string_value(json_object_get(j, "values")), raw);
	bits = raw[2 * i] | (unsigned)raw[2 * i + 1] << 8;
	if (bits == 0xffff)
		return NAN;
	return ldexp(bits >> 11 ? (bits & 2047) + 2048 : bits & 2047,
		     (bits >> 11 ? (int)(bits >> 11) - 1 : 0) +
			     (int)json_integer_value(json_object_get(j, "scale")));
}

static void numbers_keep_three_digits(void **state)
{
	double v[] = {
		0, 1e-300, 1, 1023.5, 2047, 2048, 4095.9, 1e6, 123456789, 1e12, NAN, 3 * 1e11
	};
	size_t n = sizeof v / sizeof v[0];
	json_t *j = packed(v, n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		double got = unpacked(j, i), step = 1e12 / ldexp(1, 40);

		if (isnan(v[i]))
			assert_true(isnan(got));
		else
			assert_true(fabs(got - v[i]) <= fmax(v[i] / 4000, step));
	}
	assert_true(unpacked(j, 0) == 0);
	json_decref(j);
}

static void the_largest_is_not_absent(void **state)
{
	double v[2] = { 0 };

	(void)state;
	for (int i = 0; i < 2000; i++) {
		json_t *j;

		v[1] = nextafter(ldexp(1, i % 60), 0) - (i / 60 ? ldexp(i, -20) : 0);
		j = packed(v, 2);
		assert_true(fabs(unpacked(j, 1) / v[1] - 1) < 1 / 4000.0);
		json_decref(j);
	}
}

static void equal_ones_and_none_are_short(void **state)
{
	const double same[] = { 7, 7, 7 }, none[] = { NAN, NAN }, below[] = { -1, 2 };
	json_t *a = packed(same, 3), *b = packed(none, 2), *c = packed(below, 2),
	       *d = packed(NULL, 0);

	(void)state;
	assert_true(json_number_value(a) == 7);
	assert_true(json_is_null(b));
	assert_true(json_is_string(c));
	assert_true(json_is_null(d));
	json_decref(a);
	json_decref(b);
	json_decref(c);
	json_decref(d);
}

static uint32_t points_within(const struct trace_node *n, double from, double to)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < n->npoints; i++)
		count += n->at[i] >= from && n->at[i] <= to;
	return count;
}

static void a_proof_has_finer_points(void **state)
{
	struct synth *s = synth_new(300);
	uint32_t x = synth_series(s, 1, synth_metric(s, pss), 0);
	struct summary_verdict verdict;
	struct summary sum = { .wall_s = 15000, .verdicts = &verdict, .nverdicts = 1 };
	struct traces d = { 0 };
	double seen = 0;

	(void)state;
	verdict =
		(struct summary_verdict){ .metric = "job.pss_bytes", .from_s = 7000, .to_s = 7100 };
	for (int i = 0; i < 15000; i++) {
		synth_row(s, 1, i);
		synth_put(s, x, i == 7050 ? 9000 : 1000);
	}
	page_series_wish(&d, &s->run, &sum);
	assert_int_equal(traces_read(&d, &s->run, NULL), 0);
	assert_true(points_within(&d.node[1], 7000, 7100) >= 100);
	assert_true(points_within(&d.node[1], 3000, 3100) <= 11);
	assert_true(points_within(&d.node[1], 0, 29) >= 29);
	assert_true(d.node[1].npoints < 2000);
	for (uint32_t i = 0; i < d.n * d.node[1].npoints; i++)
		seen += (double)d.trace[i / d.node[1].npoints].point[i % d.node[1].npoints].weight;
	assert_true(fabs(seen - 14999) < 1); /* no row is lost */
	traces_free(&d);
	synth_free(s);
}

static void a_mean_is_exact_as_shown(void **state)
{
	struct synth *s = synth_new(300);
	uint32_t x = synth_series(s, 1, synth_metric(s, pss), 0);
	struct traces d = { 0 };

	(void)state;
	for (int i = 0; i < 9000; i++) {
		synth_row(s, 1, 0.1 * i);
		synth_put(s, x, 971776);
	}
	traces_wish(&d, "job.pss_bytes", false);
	assert_int_equal(traces_read(&d, &s->run, NULL), 0);
	assert_int_equal(d.n, 1);
	for (uint32_t i = 0; i < d.node[1].npoints; i++)
		assert_true((float)trace_mean(&d.trace[0].point[i]) == 971776.0F);
	traces_free(&d);
	synth_free(s);
}

/* Of two cores, read 50 ms apart by the sample's clock and 60 ms by the kernel's. */
static void states_of_cpus_are_shares_of_the_kernels_time(void **state)
{
	static const struct metric rows[] = {
		{ "node.cpu_user_seconds", .unit = UNIT_SECONDS, .div = 100 },
		{ "node.cpu_idle_seconds", .unit = UNIT_SECONDS, .div = 100 },
		{ "node.cores_online_count", .unit = UNIT_COUNT, .kind = KIND_GAUGE },
	};
	static const int64_t read[][3] = { { 0, 0, 2 }, { 9, 3, 2 }, { 17, 5, 2 }, { 21, 5, 2 } };
	static const double shown[] = { 1.5, 1.6, 0.8 };
	struct synth *s = synth_new(8);
	struct traces d = { 0 };
	uint32_t x[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		x[i] = synth_series(s, 1, synth_metric(s, rows[i]), 0);
	for (int i = 0; i < 4; i++) {
		synth_row(s, 1, 0.05 * i);
		for (int k = 0; k < 3; k++)
			synth_put(s, x[k], read[i][k]);
	}
	traces_wish(&d, "node.cpu_user_cores", false);
	assert_int_equal(traces_read(&d, &s->run, NULL), 0);
	assert_int_equal(d.n, 1);
	assert_int_equal(d.node[1].npoints, 4);
	for (int i = 0; i < 3; i++) /* the last: the kernel lost most of that time */
		assert_true(fabs(trace_mean(&d.trace[0].point[i + 1]) - shown[i]) < 1e-6);
	traces_free(&d);
	synth_free(s);
}

static json_t *data_of(struct synth *s, const struct summary *sum)
{
	struct bytes out = { 0 };
	struct traces t = { 0 };

	page_series_wish(&t, &s->run, sum);
	assert_int_equal(traces_read(&t, &s->run, NULL), 0);
	assert_int_equal(page_data_json(&out, &s->run, sum, &t, NULL), 0);
	traces_free(&t);
	return parsed(&out);
}

static void each_core_has_a_row(void **state)
{
	struct synth *s = synth_new(8);
	uint32_t metric = synth_metric(s, used), x[2];
	struct summary sum = { .wall_s = 10 };
	json_t *j, *map;
	uint8_t cells[64];

	(void)state;
	x[0] = synth_series(s, 1, metric, synth_instance(s, "cpu", "cpu0"));
	x[1] = synth_series(s, 1, metric, synth_instance(s, "cpu", "cpu1"));
	for (int i = 0; i <= 10; i++) {
		synth_row(s, 1, i);
		synth_put(s, x[0], 100);
		if (i < 5)
			synth_put(s, x[1], 10 * i);
	}
	s->nodes[1].last_ns = 10000000000;
	j = data_of(s, &sum);
	map = json_object_get(
		json_object_get(json_array_get(json_object_get(j, "nodes"), 0), "maps"), "cores");
	assert_int_equal(json_array_size(json_object_get(map, "names")), 2);
	assert_int_equal(json_integer_value(json_object_get(map, "columns")), 11);
	assert_int_equal(from_base64(json_string_value(json_object_get(map, "cells")), cells), 22);
	assert_int_equal(cells[3], 250);
	assert_in_range(cells[11 + 3], 70, 105); /* 30 to 40 % */
	assert_int_equal(cells[11 + 9], 255);    /* absent, not 0 */
	json_decref(j);
	synth_free(s);
}

static void phases_marks_and_proofs_are_told(void **state)
{
	struct synth *s = synth_new(8);
	uint32_t x = synth_series(s, 1, synth_metric(s, odd), 0);
	struct summary_verdict verdict;
	struct summary sum = { .wall_s = 10, .verdicts = &verdict, .nverdicts = 1 };
	json_t *j, *e, *charts;

	(void)state;
	verdict = (struct summary_verdict){ .metric = "node.odd_count" };
	for (int i = 0; i < 5; i++) {
		synth_row(s, 1, i);
		synth_put(s, x, i);
	}
	s->marks[1] =
		(struct run_mark){ .node = 1, .at_ns = 2000000000, .name = "<b>", .message = "m" };
	s->run.nmarks = 2;
	s->spans[1] = (struct run_span){ 1, 0, 1000000000, 3000000000, "load", "" };
	s->spans[2] = (struct run_span){ 1, 0, 500000000, INT64_MAX, "open", "" };
	s->spans[3] = (struct run_span){ 1, 0, 3000020000, 3000070000, "short", "" };
	s->run.nspans = 4;
	j = data_of(s, &sum);
	e = json_array_get(json_object_get(j, "marks"), 0);
	assert_true(json_number_value(json_object_get(e, "at")) == 2);
	assert_string_equal(json_string_value(json_object_get(e, "name")), "<b>");
	e = json_array_get(json_object_get(j, "spans"), 0);
	assert_string_equal(json_string_value(json_object_get(e, "name")), "open");
	assert_null(json_object_get(e, "to"));
	e = json_array_get(json_object_get(j, "spans"), 2);
	assert_true(json_number_value(json_object_get(e, "from")) == 3.00002);
	assert_true(json_number_value(json_object_get(e, "to")) == 3.00007);
	assert_int_equal(json_integer_value(json_object_get(j, "spans_total")), 3);
	charts = json_object_get(j, "charts");
	e = json_array_get(charts, 0);
	assert_string_equal(json_string_value(json_object_get(e, "title")), "Cores used");
	e = json_array_get(charts, json_array_size(charts) - 1);
	assert_string_equal(json_string_value(json_object_get(e, "title")), "Odd things");
	json_decref(j);
	synth_free(s);
}

/* What nothing can add up is never averaged: from the least to the most, or the one that a verdict
 * is about. */
static void instances_that_nothing_adds_up_are_a_range(void **state)
{
	static struct summary_verdict verdicts[] = {
		{ .metric = "disk.mode_number" },
		{ .metric = "disk.mode_number", .instance = "sdb" },
	};
	const struct summary sum = { .verdicts = verdicts, .nverdicts = 2 };
	struct synth *s = synth_new(8);
	uint32_t metric = synth_metric(s, disk_mode), x[2];
	json_t *j, *e;

	(void)state;
	x[0] = synth_series(s, 1, metric, synth_instance(s, "disk", "sda"));
	x[1] = synth_series(s, 1, metric, synth_instance(s, "disk", "sdb"));
	for (int i = 0; i < 5; i++) {
		synth_row(s, 1, i);
		synth_put(s, x[0], 2);
		synth_put(s, x[1], 8);
	}
	j = data_of(s, &sum);
	e = json_object_get(json_array_get(json_object_get(j, "nodes"), 0), "series");
	assert_true(json_number_value(json_object_get(json_object_get(e, "disk.mode_number[sdb]"),
						      "mean")) == 8);
	e = json_object_get(e, "disk.mode_number");
	assert_null(json_object_get(e, "mean"));
	assert_true(json_number_value(json_object_get(e, "min")) == 2);
	assert_true(json_number_value(json_object_get(e, "max")) == 8);
	assert_int_equal(json_integer_value(json_object_get(e, "instances")), 2);
	e = json_object_get(j, "charts");
	e = json_array_get(e, json_array_size(e) - 1);
	assert_string_equal(json_string_value(json_object_get(e, "title")), "Mode of sdb");
	json_decref(j);
	synth_free(s);
}

enum { MANY = 5000 };

static struct page_event *steps_of(const char *name)
{
	struct page_event *e = calloc(MANY + 2, sizeof *e);

	assert_non_null(e);
	for (uint32_t i = 0; i < MANY; i++)
		e[i] = (struct page_event){ .node = 1,
					    .id = i,
					    .name = name,
					    .from_s = i * 0.01,
					    .to_s = i * 0.01 + 0.005,
					    .count = 1,
					    .is_span = true };
	return e;
}

static double lasted(const struct page_event *e)
{
	return e->count > 1 ? e->lasted_s : e->to_s - e->from_s;
}

/* Each of the short ones is in some bar, with its time; what is long stays itself. */
static void many_short_phases_become_few(void **state)
{
	struct page_event *e = steps_of("step");
	uint32_t n, count = 0;
	double sum = 0;

	(void)state;
	e[MANY] = (struct page_event){
		.node = 1, .name = "all", .to_s = 50, .count = 1, .is_span = true
	};
	e[MANY + 1] = (struct page_event){
		.node = 2, .name = "step", .from_s = 3, .to_s = NAN, .count = 1, .is_span = true
	};
	n = page_events_merge(e, MANY + 2, 400, 50);
	assert_in_range(n, 50, 400);
	assert_string_equal(e[0].name, "all");
	assert_int_equal(e[0].count, 1);
	for (uint32_t i = 0; i < n; i++) {
		count += e[i].count;
		sum += e[i].node == 1 ? lasted(&e[i]) : 0;
		assert_true(!i || e[i - 1].from_s <= e[i].from_s);
		if (e[i].node == 2)
			assert_true(isnan(e[i].to_s));
	}
	assert_int_equal(count, MANY + 2);
	assert_true(fabs(sum - (50 + MANY * 0.005)) < 1e-6);
	free(e);
}

static void phases_of_many_names_lose_them(void **state)
{
	static char name[MANY][16];
	struct page_event *e = steps_of("");
	uint32_t n, count = 0;

	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(name[i], sizeof name[i], "step %u", i);
		e[i].name = name[i];
	}
	n = page_events_merge(e, MANY, 100, 50);
	assert_in_range(n, 10, 100);
	for (uint32_t i = 0; i < n; i++) {
		count += e[i].count;
		assert_true(e[i].count == 1 || !e[i].name);
	}
	assert_int_equal(count, MANY);
	free(e);
}

/* A mark lasts no time, and many of them from the first to the last. */
static void many_marks_become_few(void **state)
{
	struct page_event *e = steps_of("epoch");
	uint32_t n, count = 0;

	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		e[i].is_span = false;
		e[i].to_s = NAN;
	}
	n = page_events_merge(e, MANY, 100, 50);
	assert_in_range(n, 10, 100);
	for (uint32_t i = 0; i < n; i++) {
		count += e[i].count;
		assert_true(e[i].lasted_s == 0);
		assert_true(e[i].to_s - e[i].from_s < 5);
	}
	assert_int_equal(count, MANY);
	free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_keep_three_digits),
		cmocka_unit_test(the_largest_is_not_absent),
		cmocka_unit_test(equal_ones_and_none_are_short),
		cmocka_unit_test(a_proof_has_finer_points),
		cmocka_unit_test(a_mean_is_exact_as_shown),
		cmocka_unit_test(states_of_cpus_are_shares_of_the_kernels_time),
		cmocka_unit_test(each_core_has_a_row),
		cmocka_unit_test(phases_marks_and_proofs_are_told),
		cmocka_unit_test(instances_that_nothing_adds_up_are_a_range),
		cmocka_unit_test(many_short_phases_become_few),
		cmocka_unit_test(phases_of_many_names_lose_them),
		cmocka_unit_test(many_marks_become_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
