/* SPDX-License-Identifier: Apache-2.0 */
/* Rows come out in the order of metric, node, instance and time, however many parts they were
 * sorted in. */
#include "sink/columnar/sorted.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 5000, BATCH = 100, METRICS = 7, NODES = 3, INSTANCES = 4 };

static const struct column columns[] = { { "value", COLUMN_REAL, "", "", NULL },
					 { "node", COLUMN_TEXT, "", "", NULL },
					 { "metric", COLUMN_TEXT, "", "", NULL },
					 { "time", COLUMN_TIME, "", "", NULL },
					 { "instance", COLUMN_TEXT, "", "", NULL } };
static const struct frame_schema schema = { .table = "series", .ncolumns = 5, .columns = columns };
/* Two places with one text are one metric. */
static char same_a[] = "m3", same_b[] = "m3";
static const char *const metrics[METRICS] = { same_a, "m1", "m10", "m2", same_b, "a", "z" };
static const char *const nodes[NODES] = { "n2", "n1", "n10" };
static const char *const instances[INSTANCES] = { NULL, "sdb", "sda", "" };

struct row {
	const char *metric, *node, *instance;
	int64_t time;
	double value;
};

static int compare(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int by_all(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = compare(x->metric, y->metric);

	order = order ? order : compare(x->node, y->node);
	order = order ? order : compare(x->instance, y->instance);
	return order ? order : (x->time > y->time) - (x->time < y->time);
}

/* Every series meets only late rows, too: some metrics begin in the second half. */
static void make_rows(struct row *row)
{
	for (uint32_t i = 0; i < ROWS; i++) {
		uint32_t r = (i * 2654435761U) >> 8;

		row[i] = (struct row){ metrics[r % (i < ROWS / 2 ? 4 : METRICS)],
				       nodes[r / 7 % NODES], instances[r / 21 % INSTANCES],
				       (int64_t)(i ^ 21), i };
	}
}

static void add(struct sorted *s, const struct row *row)
{
	double value[BATCH];
	const char *text[3][BATCH];
	int64_t time[BATCH];
	uint8_t here[BATCH], there[BATCH], present[BATCH];
	const struct cells cells[] = { { .d = value, .state = here },
				       { .s = text[0], .state = present },
				       { .s = text[1], .state = present },
				       { .i = time, .state = present },
				       { .s = text[2], .state = there } };

	memset(present, STATE_PRESENT, sizeof present);
	for (uint32_t at = 0; at < ROWS; at += BATCH) {
		for (uint32_t i = 0; i < BATCH; i++) {
			const struct row *x = &row[at + i];

			value[i] = x->value;
			text[0][i] = x->node;
			text[1][i] = x->metric;
			text[2][i] = x->instance;
			time[i] = x->time;
			there[i] = x->instance ? STATE_PRESENT : STATE_ABSENT;
			here[i] = (at + i) % 10 ? STATE_PRESENT : STATE_ABSENT;
		}
		assert_int_equal(sorted_add(s, &(struct batch){ BATCH, cells }, NULL), 0);
	}
}

/* Every tenth row has no value and is left out. */
static uint32_t keep_values(struct row *row)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ROWS; i++)
		if (i % 10)
			row[n++] = row[i];
	return n;
}

static void test_order(void **state)
{
	static const uint32_t most[] = { SORTED_ROWS, ROWS, 1000, 64, 7 };
	static struct row want[ROWS];

	(void)state;
	for (size_t m = 0; m < sizeof(most) / sizeof(most[0]); m++) {
		struct sorted s;
		struct sorted_row got;
		uint32_t n, rank = 0;

		make_rows(want);
		assert_int_equal(sorted_init(&s, &schema, most[m], NULL), 0);
		add(&s, want);
		n = keep_values(want);
		qsort(want, n, sizeof(want[0]), by_all);
		for (uint32_t i = 0; i < n; i++) {
			const struct sorted_series *x;

			assert_int_equal(sorted_next(&s, &got, NULL), 1);
			x = &s.series[got.series];
			assert_string_equal(x->metric, want[i].metric);
			assert_string_equal(x->node, want[i].node);
			assert_int_equal(compare(x->instance, want[i].instance), 0);
			assert_int_equal(got.time_ns, want[i].time);
			assert_true(got.value == want[i].value);
			if (i && (strcmp(want[i].metric, want[i - 1].metric) ||
				  strcmp(want[i].node, want[i - 1].node) ||
				  compare(want[i].instance, want[i - 1].instance)))
				assert_true(got.rank > rank);
			else if (i)
				assert_int_equal(got.rank, rank);
			rank = got.rank;
		}
		assert_int_equal(sorted_next(&s, &got, NULL), 0);
		assert_int_equal(s.nparts > 1, most[m] < ROWS / 2);
		sorted_free(&s);
	}
}

static void test_nothing_and_another_table(void **state)
{
	struct frame_schema other = schema;
	struct sorted s;
	struct sorted_row got;
	struct err e = { "" };

	(void)state;
	assert_int_equal(sorted_init(&s, &schema, 10, &e), 0);
	assert_int_equal(sorted_next(&s, &got, &e), 0);
	sorted_free(&s);
	other.ncolumns = 3;
	assert_int_equal(sorted_init(&s, &other, 10, &e), -EINVAL);
	assert_true(e.text[0]);
	sorted_free(&s);
}

static void test_no_place_to_sort_in(void **state)
{
	struct sorted s;
	struct err e = { "" };
	double value = 1;
	const char *text = "x";
	int64_t time = 0;
	uint8_t present = STATE_PRESENT;
	const struct cells cells[] = { { .d = &value, .state = &present },
				       { .s = &text, .state = &present },
				       { .s = &text, .state = &present },
				       { .i = &time, .state = &present },
				       { .s = &text, .state = &present } };

	(void)state;
	setenv("TMPDIR", "/nonexistent", 1);
	assert_int_equal(sorted_init(&s, &schema, 1, &e), 0);
	assert_int_equal(sorted_add(&s, &(struct batch){ 1, cells }, &e), -ENOENT);
	assert_non_null(strstr(e.text, "/nonexistent"));
	sorted_free(&s);
	unsetenv("TMPDIR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_nothing_and_another_table),
		cmocka_unit_test(test_no_place_to_sort_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
