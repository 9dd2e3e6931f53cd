/* SPDX-License-Identifier: Apache-2.0 */
#include "core/stats.h"

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
	stats_add(&st, 10, 1, 1);
	stats_add(&st, 2, 3, 4);
	assert_true(stats_mean(&st) == 4);
	assert_true(st.weight == 4);
	assert_true(st.sum == 12);
	assert_int_equal(st.n, 2);
}

static void test_mean_is_plain_when_no_weight_is_known(void **state)
{
	struct stats st = { 0 };

	(void)state;
	stats_add(&st, 10, 0, 1);
	stats_add(&st, 2, 0, 2);
	assert_true(stats_mean(&st) == 6);
}

static void test_extremes_with_their_times(void **state)
{
	struct stats st = { 0 };

	(void)state;
	stats_add(&st, -5, 1, 10);
	stats_add(&st, -9, 1, 11);
	stats_add(&st, -1, 1, 12);
	stats_add(&st, -9, 1, 13);
	assert_true(st.min == -9 && st.min_at_s == 11);
	assert_true(st.max == -1 && st.max_at_s == 12);
	assert_true(st.first == -5 && st.last == -9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_has_no_mean),
		cmocka_unit_test(test_mean_is_weighted_by_time),
		cmocka_unit_test(test_mean_is_plain_when_no_weight_is_known),
		cmocka_unit_test(test_extremes_with_their_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
