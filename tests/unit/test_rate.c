/* SPDX-License-Identifier: Apache-2.0 */
/* What two readings of a counter make: its rise and its rate, and when there is none. */
#include "core/frame/rate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct metric whole = { .name = "x.bytes", .mul = 512 };
static const struct metric ticks = { .name = "x.seconds", .div = 100 };
static const struct metric real = { .name = "x.joules", .storage = STORE_REAL };

static int64_t bits(double v)
{
	int64_t stored;

	memcpy(&stored, &v, sizeof stored);
	return stored;
}

static struct counter_reading at(int64_t value, double seconds)
{
	return (struct counter_reading){ value, (int64_t)(seconds * 1e9), true };
}

static double rate(const struct metric *m, struct counter_reading from, struct counter_reading to)
{
	return counter_rate(m, &from, &to);
}

static void is_a_difference_over_real_time(void **state)
{
	(void)state;
	assert_float_equal(rate(&whole, at(10, 1), at(14, 3)), 1024, 0);
	assert_float_equal(rate(&ticks, at(100, 1), at(150, 1.25)), 2, 1e-12);
	assert_float_equal(rate(&real, at(bits(0.5), 1), at(bits(2), 1.5)), 3, 0);
	assert_float_equal(rate(&whole, at(10, 1), at(10, 2)), 0, 0);
}

/* Beyond 2^53, where doubles are apart by more than 1. */
static void is_exact_for_integers(void **state)
{
	const struct metric m = { .name = "x" };

	(void)state;
	assert_float_equal(rate(&m, at(INT64_MAX - 1, 1), at(INT64_MAX, 2)), 1, 0);
	assert_float_equal(counter_rise(&m, (INT64_C(1) << 60) + 1, (INT64_C(1) << 60) + 4), 3, 0);
}

static void is_none_where_a_counter_went_back(void **state)
{
	(void)state;
	assert_true(isnan(rate(&whole, at(10, 1), at(9, 2))));
	assert_true(isnan(rate(&real, at(bits(2), 1), at(bits(1), 2))));
	assert_true(isnan(counter_rise_of(2, 1)));
	assert_true(isnan(rate(&whole, at(INT64_MIN, 1), at(INT64_MAX, 2))));
	assert_true(isnan(rate(&whole, at(INT64_MAX, 1), at(INT64_MIN, 2))));
}

/* A series that was absent, or not to be read, meanwhile. */
static void spans_a_gap(void **state)
{
	(void)state;
	assert_float_equal(rate(&ticks, at(0, 1), at(1000, 11)), 1, 0);
	assert_float_equal(counter_seconds(&(struct counter_reading){ 0, 5, true },
					   &(struct counter_reading){ 0, 500000005, true }),
			   0.5, 0);
}

static void is_none_without_two_readings_or_time(void **state)
{
	const struct counter_reading never = { 0 };

	(void)state;
	assert_true(isnan(rate(&whole, never, at(9, 2))));
	assert_true(isnan(rate(&whole, at(9, 2), never)));
	assert_true(isnan(rate(&whole, at(1, 2), at(9, 2))));
	assert_true(isnan(rate(&whole, at(1, 2), at(9, 1))));
	assert_true(isnan(counter_rise_of(NAN, 1)));
	assert_true(isnan(counter_rise_of(1, NAN)));
}

static void is_none_when_not_finite(void **state)
{
	(void)state;
	assert_true(isnan(rate(&real, at(bits(1), 1), at(bits(INFINITY), 2))));
	assert_true(isnan(rate(&real, at(bits(NAN), 1), at(bits(1), 2))));
	assert_true(isnan(rate(&real, at(bits(-1e308), 1), at(bits(1e308), 2))));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_a_difference_over_real_time),
		cmocka_unit_test(is_exact_for_integers),
		cmocka_unit_test(is_none_where_a_counter_went_back),
		cmocka_unit_test(spans_a_gap),
		cmocka_unit_test(is_none_without_two_readings_or_time),
		cmocka_unit_test(is_none_when_not_finite),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
