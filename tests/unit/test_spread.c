/* SPDX-License-Identifier: Apache-2.0 */
#include "core/statistics/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void near(double got, double wanted)
{
	assert_true(fabs(got - wanted) < 1e-9);
}

static void test_values_side_by_side(void **state)
{
	const struct spread s = spread_of((const double[]){ 2, NAN, 6, 1 }, 4);

	(void)state;
	assert_int_equal(s.n, 3);
	near(s.total, 9);
	near(s.mean, 3);
	near(s.min, 1);
	near(s.max, 6);
	assert_int_equal(s.least, 3);
	assert_int_equal(s.most, 2);
	near(s.imbalance, 1);
}

static void test_equal_values_are_balanced(void **state)
{
	const struct spread s = spread_of((const double[]){ 4, 4 }, 2);

	(void)state;
	near(s.imbalance, 0);
	assert_int_equal(s.least, 0);
	assert_int_equal(s.most, 0);
}

static void test_no_imbalance_without_two_shares_of_something(void **state)
{
	(void)state;
	assert_true(isnan(spread_of((const double[]){ 5, NAN }, 2).imbalance));
	assert_true(isnan(spread_of((const double[]){ 0, 0 }, 2).imbalance));
	assert_true(isnan(spread_of((const double[]){ -1, 3 }, 2).imbalance));
	near(spread_of((const double[]){ 5, NAN }, 2).mean, 5);
}

static void test_nothing_is_known_of_nothing(void **state)
{
	const struct spread s = spread_of((const double[]){ NAN }, 1), none = spread_of(NULL, 0);

	(void)state;
	assert_int_equal(s.n, 0);
	assert_true(isnan(s.total) && isnan(s.mean) && isnan(s.min) && isnan(s.max));
	assert_true(isnan(none.total) && isnan(none.mean) && isnan(none.imbalance));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_side_by_side),
		cmocka_unit_test(test_equal_values_are_balanced),
		cmocka_unit_test(test_no_imbalance_without_two_shares_of_something),
		cmocka_unit_test(test_nothing_is_known_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
