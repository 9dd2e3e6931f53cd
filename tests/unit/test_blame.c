/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of two groups of runs: that they add up, which are blamed, which are taken to be the same,
 * and where blame stops. Recordings: tests/cli/compare-blames-the-code.py. */
#include "report/comparison/blame.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { RUNS = 6 };

/* A run of 10 s, 1 s of which the kernel has. */
static void add_run(struct blame *b, int side, int at)
{
	b->subject = BLAME_CPU;
	blame_add_run(b, &(struct blame_run){ .side = side,
					      .at = 1000 + at,
					      .whole_s = 10,
					      .exact = true,
					      .sampled_s = 9,
					      .period_s = 0.01,
					      .period_ns = 1e7 });
	blame_put(b, BLAME_FUNCTION, BLAME_KERNEL, "kernel", "", 1);
}

static void put(struct blame *b, const char *name, const char *module, double seconds)
{
	if (seconds > 0)
		blame_put(b, BLAME_FUNCTION, BLAME_NAMED, name, module, seconds);
}

/* Alternating runs of two functions, whose seconds are those of A and B, a little more or less. */
static void two_functions(struct blame *b, const char *const name[2], double seconds[2][2])
{
	for (int i = 0; i < 2 * RUNS; i++) {
		double noise = 0.01 * ((i * 7) % 5 - 2);

		add_run(b, i % 2, i);
		b->run[b->nruns - 1].whole_s = 1;
		for (int f = 0; f < 2; f++) {
			double used = seconds[f][i % 2];

			used += used > 0 ? noise * (1 + f) : 0;
			put(b, name[f], "app", used);
			b->run[b->nruns - 1].whole_s += used;
		}
	}
}

static struct blame_part *found(struct blame *b, enum blame_kind kind, const char *name,
				const char *module)
{
	return blame_find(b, BLAME_FUNCTION, kind, name, module);
}

static double sum_of(const struct blame *b)
{
	double sum = 0;

	for (uint32_t i = 0; i < b->nparts; i++)
		sum += b->part[i].result.difference;
	return sum;
}

static const char *const names[2] = { "f", "g" };

static void test_slower_function_is_blamed(void **state)
{
	struct blame b = { 0 };

	(void)state;
	two_functions(&b, names, (double[2][2]){ { 4, 5 }, { 4, 4 } });
	assert_int_equal(blame_judge(&b), 0);
	assert_true(b.judged && b.nparts == 3);
	assert_true(found(&b, BLAME_NAMED, "f", "app")->blamed);
	assert_false(found(&b, BLAME_NAMED, "g", "app")->blamed);
	assert_false(found(&b, BLAME_KERNEL, "kernel", "")->blamed);
	assert_true(fabs(found(&b, BLAME_NAMED, "f", "app")->result.difference - 1) < 0.02);
	assert_true(fabs(sum_of(&b) - b.whole.difference) < 1e-12);
	assert_int_equal(b.note.len, 0);
	blame_free(&b);
}

static void test_counting_widens_what_is_alike_by_chance(void **state)
{
	struct blame b = { 0 };
	const struct blame_part *f;

	(void)state;
	for (int i = 0; i < 2 * RUNS; i++) { /* no spread at all */
		add_run(&b, i % 2, i);
		put(&b, "f", "app", i % 2 ? 0.15 : 0.05);
	}
	assert_int_equal(blame_judge(&b), 0);
	f = found(&b, BLAME_NAMED, "f", "app");
	assert_true(f->result.low == f->counted_low && f->result.low < 0.1 &&
		    f->counted_high > 0.1);
	assert_true(f->samples[0] > 29.9 && f->samples[0] < 30.1);
	blame_free(&b);
}

static void test_renamed_functions_are_one_part(void **state)
{
	struct blame b = { 0 };

	(void)state;
	two_functions(&b, names, (double[2][2]){ { 4, 0 }, { 0, 4.1 } });
	assert_int_equal(blame_judge(&b), 0);
	assert_int_equal(b.nparts, 2);
	assert_non_null(found(&b, BLAME_MODULE, "renamed or inlined", "app"));
	assert_null(found(&b, BLAME_NAMED, "f", "app"));
	assert_true(b.note.len > 0);
	assert_true(fabs(sum_of(&b) - b.whole.difference) < 1e-9);
	blame_free(&b);
}

static void test_new_function_is_certain(void **state)
{
	struct blame b = { 0 };

	(void)state;
	two_functions(&b, names, (double[2][2]){ { 4, 4 }, { 0, 1 } });
	assert_int_equal(blame_judge(&b), 0);
	assert_true(found(&b, BLAME_NAMED, "g", "app")->blamed);
	assert_null(found(&b, BLAME_MODULE, "renamed or inlined", "app"));
	blame_free(&b);
}

static void test_small_and_many_are_others(void **state)
{
	struct blame b = { 0 };
	char name[16];
	uint32_t named = 0;

	(void)state;
	for (int i = 0; i < 40; i++) { /* more runs than there is room for at first */
		add_run(&b, i % 2, i);
		for (int f = 0; f < 30; f++) {
			snprintf(name, sizeof name, "f%d", f);
			put(&b, name, "app", f < 25 ? 0.3 + 0.001 * f : 0.01);
		}
	}
	assert_int_equal(blame_judge(&b), 0);
	for (uint32_t i = 0; i < b.nparts; i++)
		named += b.part[i].kind == BLAME_NAMED;
	assert_int_equal(named, BLAME_PARTS_SHOWN);
	assert_int_equal(b.nparts, BLAME_PARTS_SHOWN + 2);
	assert_true(fabs(found(&b, BLAME_OTHERS, "other functions", "")->result.a -
			 (5 * 0.302 + 0.05)) < 1e-9);
	assert_non_null(found(&b, BLAME_NAMED, "f24", "app"));
	blame_free(&b);
}

/* All of A came before all of B: what a drift explains is not blamed, unless none is expected. */
static void test_what_a_drift_explains_is_not_blamed(void **state)
{
	static const double seconds[] = { 4, 4.2, 4, 4.66, 4.86, 4.66 };

	(void)state;
	for (int independent = 0; independent < 2; independent++) {
		struct blame b = { .independent = independent };
		const struct blame_part *f;

		for (int i = 0; i < 6; i++) {
			add_run(&b, i >= 3, i);
			put(&b, "f", "app", seconds[i]);
		}
		assert_int_equal(blame_judge(&b), 0);
		f = found(&b, BLAME_NAMED, "f", "app");
		assert_true(f->result.low > 0 && f->result.p * b.nparts < 0.01);
		assert_int_equal(f->blamed, independent);
		blame_free(&b);
	}
}

static void test_names_of_files_have_no_version(void **state)
{
	static const char *const file[][2] = {
		{ "/lib/libz.so.1.2.13", "libz.so" },
		{ "/lib/x86_64-linux-gnu/libc-2.31.so", "libc.so" },
		{ "libc.so.6", "libc.so" },
		{ "/opt/libpython3.11.so.1.0", "libpython3.11.so" },
		{ "/usr/bin/python3.11", "python3.11" },
		{ "/opt/my.solver", "my.solver" },
		{ "/opt/3.so", "3.so" },
	};
	struct blame b = { 0 };
	struct bytes words = { 0 };

	(void)state;
	add_run(&b, 0, 0);
	for (size_t i = 0; i < sizeof file / sizeof file[0]; i++)
		assert_string_equal(blame_see_module(&b, file[i][0], ""), file[i][1]);
	assert_false(blame_module_words(&words, &b, "libz.so")); /* only in A */
	add_run(&b, 1, 1);
	blame_see_module(&b, "/lib/libz.so.1.3.1", "");
	blame_see_module(&b, "/lib/libc.so.7", "");
	assert_true(blame_module_words(&words, &b, "libz.so"));
	bytes_u8(&words, 0);
	assert_string_equal((const char *)words.data, "libz 1.2.13 -> 1.3.1");
	assert_false(blame_module_words(&words, &b, "libc.so")); /* two files of A */
	bytes_free(&words);
	blame_free(&b);
}

static void test_nothing_is_said_of_nothing(void **state)
{
	struct blame b = { 0 };

	(void)state;
	assert_int_equal(blame_judge(&b), 0);
	assert_true(blame_is_empty(&b) && !b.judged);
	add_run(&b, 1, 0);
	assert_int_equal(blame_judge(&b), 0);
	assert_true(!b.judged && b.refused.len > 0);
	blame_free(&b);
}

/* A parent waits for its child as long as that takes: the child's own wait is named first. */
static void test_what_follows_is_named_last(void **state)
{
	struct blame b = { .subject = BLAME_TIME };
	struct bytes said = { 0 };
	const char *own, *other;

	(void)state;
	for (int i = 0; i < 2 * RUNS; i++) {
		double noise = 0.001 * ((i * 7) % 5 - 2), later = i % 2 ? 2 : 1;

		blame_add_run(&b, &(struct blame_run){ .side = i % 2,
						       .at = 1000 + i,
						       .whole_s = 2.1 * (later + noise),
						       .exact = true,
						       .sampled_s = 4,
						       .period_s = 0.1,
						       .period_ns = 1e8 });
		blame_put(&b, BLAME_OBJECT, BLAME_NAMED, "waits for a child", "",
			  1.1 * (later + noise));
		blame_find(&b, BLAME_OBJECT, BLAME_NAMED, "waits for a child", "")->follows = true;
		blame_put(&b, BLAME_OBJECT, BLAME_NAMED, "waits for storage", "", later + noise);
	}
	assert_int_equal(blame_judge(&b), 0);
	blame_sentence(&said, &b);
	bytes_u8(&said, 0);
	own = strstr((const char *)said.data, "waits for storage");
	other = strstr((const char *)said.data, "waits for a child");
	assert_true(own && other && own < other);
	assert_non_null(strstr((const char *)said.data, "time of threads"));
	bytes_free(&said);
	blame_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slower_function_is_blamed),
		cmocka_unit_test(test_counting_widens_what_is_alike_by_chance),
		cmocka_unit_test(test_renamed_functions_are_one_part),
		cmocka_unit_test(test_new_function_is_certain),
		cmocka_unit_test(test_small_and_many_are_others),
		cmocka_unit_test(test_what_a_drift_explains_is_not_blamed),
		cmocka_unit_test(test_names_of_files_have_no_version),
		cmocka_unit_test(test_nothing_is_said_of_nothing),
		cmocka_unit_test(test_what_follows_is_named_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
