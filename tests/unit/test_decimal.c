/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as text, against printf and strtod. */
#include "base/text/decimal.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check(double v)
{
	char wanted[64], room[DECIMAL_ROOM];
	const char *got = decimal_shortest(room, v);

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(wanted, sizeof wanted, "%.*g", digits, v + 0.0); /* -0 becomes 0 */
		if (strtod(wanted, NULL) == v)
			break;
	}
	if (strcmp(got, wanted) != 0)
		fail_msg("%a is %s instead of %s", v, got, wanted);
}

/* It, and what lies beside it, with both signs. */
static void check_about(double v)
{
	double up = v, down = v;

	for (int i = 0; i < 5; i++) {
		check(up);
		check(-up);
		check(down);
		check(-down);
		up = nextafter(up, INFINITY);
		down = nextafter(down, -INFINITY);
	}
}

static uint64_t random_bits(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

static void edges(void **state)
{
	static const double odd[] = { 0,       -0.0,    NAN,    INFINITY, -INFINITY,
				      DBL_MIN, DBL_MAX, 5e-324, 0.3,      1.0 / 3 };

	(void)state;
	for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
		check(odd[i]);
	for (int power = -323; power <= 308; power++) {
		char text[16];

		snprintf(text, sizeof text, "1e%d", power);
		check_about(strtod(text, NULL));
		check_about(strtod(text, NULL) / 2);
		check_about(strtod(text, NULL) * 5);
	}
	for (int power = -1074; power < 1024; power++)
		check_about(ldexp(1, power));
}

/* Where most measured values are, and where the quick way ends. */
static void short_decimals_and_quotients(void **state)
{
	uint64_t seed = 1;
	double power = 1;

	(void)state;
	for (int places = 0; places < 20; places++, power *= 10)
		for (int i = 0; i < 3000; i++) {
			uint64_t n = random_bits(&seed) >> (seed % 60);

			check((double)n / power);
			check((double)(n % 100000) / power);
			check((double)n / ((double)(seed % 2000000000) / 1e9));
		}
}

static void all_exponents(void **state)
{
	uint64_t seed = 2;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		uint64_t bits = random_bits(&seed);
		double v;

		memcpy(&v, &bits, sizeof v);
		check(v);
		/* 2^-16 to 2^52 */
		bits = (bits & ~(UINT64_C(0x7ff) << 52)) | (UINT64_C(1007) + bits % 69) << 52;
		memcpy(&v, &bits, sizeof v);
		check(v);
	}
}

/* Half way between two texts, and between two doubles. */
static void ties(void **state)
{
	(void)state;
	for (int power = 1; power < 50; power++)
		for (uint64_t odd = 1; odd < 400; odd += 2) {
			check(ldexp((double)odd, -power));
			check(ldexp((double)(odd + (UINT64_C(1) << 50)), -power));
			check(ldexp((double)(odd + (UINT64_C(1) << 52)), -power));
		}
}

static void whole_numbers(void **state)
{
	uint64_t seed = 3;
	static const int64_t edge[] = { 0, 1, -1, 9, 10, INT64_MAX, INT64_MIN, INT64_MIN + 1 };

	(void)state;
	for (size_t i = 0; i < 20000; i++) {
		int64_t v = (int64_t)(random_bits(&seed) >> (i % 64));
		char wanted[32], room[DECIMAL_ROOM];

		v = i < sizeof edge / sizeof edge[0] ? edge[i]
		    : i % 2                          ? v
						     : (int64_t)(0 - (uint64_t)v);
		snprintf(wanted, sizeof wanted, "%" PRId64, v);
		assert_string_equal(decimal_whole(room, v), wanted);
		check((double)v);
	}
}

static void a_whole_text_is_a_number_or_none(void **state)
{
	static const char *const none[] = { "", " ", "x", "1x", "1 ", "0.5.5", "1,5" };

	(void)state;
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		assert_true(isnan(decimal_of(none[i])));
	assert_true(decimal_of("-1.5e3") == -1500);
	assert_true(decimal_are_same("512", "5.12e2"));
	assert_true(decimal_are_same("fast", "fast"));
	assert_true(decimal_are_same("nan", "nan"));
	assert_false(decimal_are_same("fast", "slow"));
	assert_false(decimal_are_same("512", "512x"));
	assert_false(decimal_are_same("512", "513"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges),
		cmocka_unit_test(short_decimals_and_quotients),
		cmocka_unit_test(a_whole_text_is_a_number_or_none),
		cmocka_unit_test(all_exponents),
		cmocka_unit_test(ties),
		cmocka_unit_test(whole_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
