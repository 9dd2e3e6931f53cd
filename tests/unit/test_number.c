/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and lines are read by hand: never past the NUL, never wrapped. */
#include "base/text/number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void unsigned_numbers(void **unused)
{
	static const struct {
		const char *text;
		bool ok;
		uint64_t value;
		size_t used; /* how far the text was read */
	} rows[] = {
		{ "0", true, 0, 1 },
		{ " \t 42 7", true, 42, 5 },
		{ "18446744073709551615", true, UINT64_MAX, 20 },
		{ "18446744073709551616", false, 0, 0 },
		{ "18446744073709551620", false, 0, 0 },
		{ "99999999999999999999999", false, 0, 0 },
		{ "00000000000000000000000000007", true, 7, 29 },
		{ "", false, 0, 0 },
		{ "  ", false, 0, 2 },
		{ "\n5", false, 0, 0 },
		{ "-5", false, 0, 0 },
		{ "+5", false, 0, 0 },
		{ "x", false, 0, 0 },
		{ "12abc", true, 12, 2 },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *p = rows[i].text;
		uint64_t v = 77;

		assert_int_equal(number_u64(&p, &v), rows[i].ok);
		assert_int_equal(v, rows[i].ok ? rows[i].value : 77);
		assert_int_equal(p - rows[i].text, rows[i].used);
	}
}

static void signed_numbers(void **unused)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t value;
	} rows[] = {
		{ "-1", true, -1 },
		{ "9223372036854775807", true, INT64_MAX },
		{ "9223372036854775808", false, 0 },
		{ "-9223372036854775808", true, INT64_MIN },
		{ "-9223372036854775809", false, 0 },
		{ "-", false, 0 },
		{ "- 1", false, 0 },
		{ "--1", false, 0 },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *p = rows[i].text;
		int64_t v = 77;

		assert_int_equal(number_i64(&p, &v), rows[i].ok);
		assert_int_equal(v, rows[i].ok ? rows[i].value : 77);
		assert_ptr_equal(p, rows[i].text + (rows[i].ok ? strlen(rows[i].text) : 0));
	}
}

static void counts_in_a_row(void **unused)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t value;
		size_t used;
	} rows[] = {
		{ " 7 8", true, 7, 2 },
		{ "9223372036854775807", true, INT64_MAX, 19 },
		{ "9223372036854775808 8", true, -1, 19 },
		{ "18446744073709551615 8", true, -1, 20 },
		{ "99999999999999999999999 8", true, -1, 23 },
		{ "-7 8", true, -1, 2 },
		{ "-", false, 77, 0 },
		{ " x", false, 77, 1 },
		{ "\n5", false, 77, 0 },
		{ "", false, 77, 0 },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *p = rows[i].text;
		int64_t v = 77;

		assert_int_equal(number_count(&p, &v), rows[i].ok);
		assert_int_equal(v, rows[i].value);
		assert_int_equal(p - rows[i].text, rows[i].used);
	}
}

static void fixed_point_numbers(void **unused)
{
	static const struct {
		const char *text;
		unsigned decimals;
		bool ok;
		int64_t value;
	} rows[] = {
		{ "0.52", 2, true, 52 },
		{ "12.07", 2, true, 1207 },
		{ "5", 2, true, 500 },
		{ "5.1", 2, true, 510 },
		{ "5.123", 2, false, 0 },
		{ "5.", 2, false, 0 },
		{ ".5", 2, false, 0 },
		{ "-0.5", 2, false, 0 },
		{ "92233720368547758.07", 2, true, INT64_MAX },
		{ "92233720368547758.08", 2, false, 0 },
		{ "nan", 2, false, 0 },
		{ "7", 0, true, 7 },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *p = rows[i].text;
		int64_t v = 77;

		assert_int_equal(number_fixed(&p, rows[i].decimals, &v), rows[i].ok);
		assert_int_equal(v, rows[i].ok ? rows[i].value : 77);
	}
}

static void lines(void **unused)
{
	const char *text = "ab 1\nabc 2\n\nx";

	(void)unused;
	assert_string_equal(number_next_line(text), "abc 2\n\nx");
	assert_string_equal(number_next_line("no end"), "");
	assert_string_equal(number_next_line(""), "");
	assert_string_equal(number_find_line(text, "abc "), "2\n\nx");
	assert_string_equal(number_find_line(text, "ab"), " 1\nabc 2\n\nx");
	assert_null(number_find_line(text, "b"));
	assert_null(number_find_line("", "b"));
	assert_null(number_find_line("ab", "abc"));
	assert_string_equal(number_skip_blanks(" \t\n "), "\n ");
}

static void sums_stop_at_the_largest(void **unused)
{
	int64_t sum = 3;

	(void)unused;
	number_add(&sum, 4);
	assert_int_equal(sum, 7);
	for (int i = 0; i < 3; i++)
		number_add(&sum, INT64_C(6148914691236517204));
	assert_int_equal(sum, INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unsigned_numbers),
		cmocka_unit_test(signed_numbers),
		cmocka_unit_test(counts_in_a_row),
		cmocka_unit_test(fixed_point_numbers),
		cmocka_unit_test(lines),
		cmocka_unit_test(sums_stop_at_the_largest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
