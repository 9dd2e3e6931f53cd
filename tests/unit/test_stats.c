/* SPDX-License-Identifier: Apache-2.0 */
#include "core/statistics/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_empty_has_no_mean(void **state)
{
	struct stats st = { 0 };

	(void)state;
	assert_true(isnan(stats_mean(&st)));
}

static void test_mean_is_weighted_by_time(void **state)
{
	struct stats st = { 0 };

	(void)state;
	stats_add(&st, 10, 1);
	stats_add(&st, 2, 3);
	assert_true(stats_mean(&st) == 4);
	assert_true(st.weight == 4);
	assert_true(st.sum == 12);
	assert_int_equal(st.n, 2);
}

static void test_mean_is_plain_when_no_weight_is_known(void **state)
{
	struct stats st = { 0 };

	(void)state;
	stats_add(&st, 10, 0);
	stats_add(&st, 2, 0);
	assert_true(stats_mean(&st) == 6);
}

static void test_extremes_and_ends(void **state)
{
	struct stats st = { 0 };

	(void)state;
	stats_add(&st, -5, 1);
	stats_add(&st, -9, 1);
	stats_add(&st, -1, 1);
	stats_add(&st, -9, 1);
	assert_true(st.min == -9);
	assert_true(st.max == -1);
	assert_true(st.first == -5 && st.last == -9);
}

static void test_a_value_stands_as_long_as_is_said_later(void **state)
{
	struct stats st = { 0 };

	(void)state;
	stats_add(&st, 10, 0);
	stats_stand(&st, 10, 1);
	stats_add(&st, 2, 0);
	stats_stand(&st, 2, 3);
	stats_stand(&st, 99, 0);
	assert_true(stats_mean(&st) == 4);
	assert_true(st.weight == 4 && st.n == 2);
}

static void test_parts_make_the_whole(void **state)
{
	static const double value[] = { -5, -9, -1, -9, 3, 2 };
	struct stats whole = { 0 };

	(void)state;
	for (int i = 0; i < 6; i++)
		stats_add(&whole, value[i], i);
	for (int cut = 0; cut <= 6; cut++) {
		struct stats part[2] = { 0 };

		for (int i = 0; i < 6; i++)
			stats_add(&part[i >= cut], value[i], i);
		stats_join(&part[0], &part[1]);
		assert_memory_equal(&part[0], &whole, sizeof whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_has_no_mean),
		cmocka_unit_test(test_mean_is_weighted_by_time),
		cmocka_unit_test(test_mean_is_plain_when_no_weight_is_known),
		cmocka_unit_test(test_extremes_and_ends),
		cmocka_unit_test(test_a_value_stands_as_long_as_is_said_later),
		cmocka_unit_test(test_parts_make_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
