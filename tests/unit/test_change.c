/* SPDX-License-Identifier: Apache-2.0 */
/* Made series with fixed seeds, so that each run finds the same; docs/bench.md has the table that
 * `change_rates` prints of more of them. */
#include "base/random.h"
#include "core/statistics/change.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { LONG_SERIES = 200, SERIES = 300 };

/* Student's with 3 degrees of freedom, of variance 1: values far out. */
static double far_out(struct random *r)
{
	double z = random_normal(r), squares = 0;

	for (int i = 0; i < 3; i++) {
		double x = random_normal(r);

		squares += x * x;
	}
	return z / sqrt(squares);
}

/* Around 100 with a standard deviation of 2, neighbours correlated by rho. */
static void make(double *v, uint32_t n, double rho, bool heavy, struct random *r)
{
	double u = random_normal(r);

	for (uint32_t i = 0; i < n; i++) {
		double fresh = heavy ? far_out(r) : random_normal(r);

		u = i ? rho * u + sqrt(1 - rho * rho) * fresh : u;
		v[i] = 100 + 2 * u;
	}
}

static void count(double rho, bool heavy, int *flagged, int *found)
{
	struct random r = { 7 };
	double v[LONG_SERIES];
	struct changes c;

	*flagged = *found = 0;
	for (int i = 0; i < SERIES; i++) {
		uint32_t at = 40 + (uint32_t)i * 120 / SERIES;

		make(v, LONG_SERIES, rho, heavy, &r);
		assert_int_equal(changes_find(&c, v, LONG_SERIES), 0);
		*flagged += c.n > 0;
		changes_free(&c);
		for (uint32_t k = at; k < LONG_SERIES; k++)
			v[k] += 5;
		assert_int_equal(changes_find(&c, v, LONG_SERIES), 0);
		for (uint32_t k = 0; k < c.n; k++)
			if (abs((int)c.change[k].at - (int)at) <= 5) {
				*found += 1;
				break;
			}
		changes_free(&c);
	}
}

static void test_stable_is_stable_and_a_step_is_found(void **state)
{
	static const struct {
		double rho;
		bool heavy;
		int percent; /* of steps that are found */
	} rows[] = { { 0, false, 95 }, { 0.3, false, 95 }, { 0.6, false, 95 },
		     { 0, true, 95 },  { 0.3, true, 95 },  { 0.6, true, 90 } };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int flagged, found;

		count(rows[i].rho, rows[i].heavy, &flagged, &found);
		print_message("rho %.1f%s: %d of %d stable ones flagged, %d steps found\n",
			      rows[i].rho, rows[i].heavy ? ", heavy tails" : "", flagged, SERIES,
			      found);
		assert_true(100 * flagged <= 2 * SERIES);
		assert_true(100 * found >= rows[i].percent * SERIES);
	}
}

static void test_two_steps_have_levels(void **state)
{
	struct random r = { 3 };
	double v[150];
	struct changes c;

	(void)state;
	make(v, 150, 0.2, false, &r);
	for (uint32_t i = 50; i < 100; i++)
		v[i] += 20;
	assert_int_equal(changes_find(&c, v, 150), 0);
	assert_int_equal(c.n, 2);
	assert_true(c.change[0].at == 50 && c.change[1].at == 100);
	assert_true(c.change[0].low <= 50 && c.change[0].high >= 50);
	assert_true(c.change[0].difference_low < 20 && c.change[0].difference_high > 20);
	assert_true(c.change[1].difference_low < -20 && c.change[1].difference_high > -20);
	assert_true(fabs(c.change[0].after - c.change[1].before) < 1e-9);
	assert_true(c.change[0].p > 0 && c.change[0].p <= 0.01);
	changes_free(&c);
}

/* As times since 1970: what is told of a series does not depend on where its values lie. */
static void test_large_values_that_hardly_differ(void **state)
{
	struct random r = { 7 };
	double v[60], far[60];
	struct changes c, d;

	(void)state;
	for (uint32_t i = 0; i < 60; i++) {
		v[i] = random_normal(&r) + (i >= 25 ? 4 : 0);
		far[i] = v[i] + 1e10;
	}
	assert_int_equal(changes_find(&c, v, 60), 0);
	assert_int_equal(changes_find(&d, far, 60), 0);
	assert_int_equal(c.n, 1);
	assert_int_equal(d.n, 1);
	assert_int_equal(c.change[0].at, d.change[0].at);
	assert_int_equal(c.change[0].low, d.change[0].low);
	assert_int_equal(c.change[0].high, d.change[0].high);
	changes_free(&c);
	changes_free(&d);
}

static void test_odd_series(void **state)
{
	double v[40], huge[20];
	struct changes c;

	(void)state;
	for (int i = 0; i < 40; i++)
		v[i] = 7;
	assert_int_equal(changes_find(&c, v, 40), 0);
	assert_int_equal(c.n, 0);
	for (int i = 20; i < 40; i++)
		v[i] = 8; /* two values only */
	assert_int_equal(changes_find(&c, v, 40), 0);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.change[0].at, 20);
	assert_true(c.change[0].before == 7 && c.change[0].after == 8);
	changes_free(&c);
	v[30] = 1e300; /* one value alone is no level */
	for (int i = 0; i < 40; i++)
		v[i] = i == 30 ? 1e300 : 7 + i % 3;
	assert_int_equal(changes_find(&c, v, 40), 0);
	assert_int_equal(c.n, 0);
	for (int i = 0; i < 20; i++)
		huge[i] = i < 10 ? -1e308 : 1e308;
	assert_int_equal(changes_find(&c, huge, 20), 0);
	changes_free(&c);
	for (uint32_t n = 0; n < CHANGE_LEAST; n++) {
		assert_int_equal(changes_find(&c, v, n), 0);
		assert_int_equal(c.n, 0);
	}
	assert_int_equal(changes_find(&c, v, CHANGE_MOST + 1), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stable_is_stable_and_a_step_is_found),
		cmocka_unit_test(test_two_steps_have_levels),
		cmocka_unit_test(test_large_values_that_hardly_differ),
		cmocka_unit_test(test_odd_series),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
