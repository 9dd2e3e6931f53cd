/* SPDX-License-Identifier: Apache-2.0 */
#include "core/expr/expr.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* a = 2, b = 3, zero = 0; mean(a) = 20, max(a) = 40; every other name is absent. */
static struct expr_value lookup(void *ctx, const char *function, const char *name)
{
	(void)ctx;
	if (function && !strcmp(name, "a"))
		return (struct expr_value){ true, !strcmp(function, "mean") ? 20 : 40 };
	if (!function && !strcmp(name, "a"))
		return (struct expr_value){ true, 2 };
	if (!function && !strcmp(name, "b"))
		return (struct expr_value){ true, 3 };
	if (!function && !strcmp(name, "zero"))
		return (struct expr_value){ true, 0 };
	if (!function && !strcmp(name, "infinite"))
		return (struct expr_value){ true, INFINITY };
	return (struct expr_value){ false, 0 };
}

static struct expr_value eval(const char *text)
{
	struct err e = { "" };
	struct expr *x;
	struct expr_value v;

	if (expr_parse(&x, text, &e))
		fail_msg("%s: %s", text, e.text);
	v = expr_eval(x, lookup, NULL);
	expr_free(x);
	return v;
}

static void check(const char *text, double want)
{
	struct expr_value v = eval(text);

	if (!v.known || fabs(v.v - want) > 1e-12 * fabs(want))
		fail_msg("%s: %s %.17g, not %.17g", text, v.known ? "is" : "absent", v.v, want);
}

static void check_absent(const char *text)
{
	struct expr_value v = eval(text);

	if (v.known)
		fail_msg("%s: is %.17g, not absent", text, v.v);
}

static void check_fault(const char *text, int column)
{
	struct err e = { "" };
	struct expr *x = NULL;
	char want[32];

	snprintf(want, sizeof(want), "column %d: ", column);
	assert_int_equal(expr_parse(&x, text, &e), -EINVAL);
	assert_null(x);
	if (strncmp(e.text, want, strlen(want)))
		fail_msg("%s: %s(wanted %s)", text, e.text, want);
}

static void test_arithmetic_and_precedence(void **state)
{
	(void)state;
	check("1 + 2 * 3", 7);
	check("(1+2)*3", 9);
	check("10 - 4 - 3", 3);
	check("16 / 4 / 2", 2);
	check("-a * b", -6);
	check("--a", 2);
	check("2 - -a", 4);
	check("1 + a < 4 and b == 3", 1);
	check("1 or 0 and 0", 1);
	check("not 1 == 2", 1);
	check("not not a", 1);
	check("a <= 2", 1);
	check("a >= b", 0);
	check("a != b", 1);
	check("a > b", 0);
}

static void test_numbers_and_suffixes(void **state)
{
	(void)state;
	check("1.5e3", 1500);
	check(".5", 0.5);
	check("2k", 2000);
	check("2M", 2e6);
	check("2G", 2e9);
	check("2Ki", 2048);
	check("2Mi", 2097152);
	check("2Gi", 2147483648.0);
	check("95%", 0.95);
	check("7%", 0.07);
	check("10%*a", 0.2);
}

static void test_functions(void **state)
{
	(void)state;
	check("min(3, a, 5)", 2);
	check("max(3, a, 5)", 5);
	check("max(1)", 1);
	check("abs(a - b)", 1);
	check("if(a < b, 10, 20)", 10);
	check("if(a > b, 10, 20)", 20);
	check("mean(a)", 20);
	check("max( a )", 40);
	check("max(a, 1)", 2);
	check("known(mean(a)) + 1", 2);
}

static void test_absence_spreads_but_where_decided(void **state)
{
	(void)state;
	check_absent("gone");
	check_absent("gone + 1");
	check_absent("gone * 0");
	check_absent("-gone");
	check_absent("not gone");
	check_absent("gone == gone");
	check_absent("max(a, gone)");
	check_absent("mean(gone)");
	check("known(gone)", 0);
	check("known(a)", 1);
	check("0 and gone", 0);
	check("gone and 0", 0);
	check_absent("1 and gone");
	check("1 or gone", 1);
	check("gone or 1", 1);
	check_absent("gone or 0");
	check("if(1, a, gone)", 2);
	check_absent("if(0, a, gone)");
	check_absent("if(gone, 1, 1)");
}

static void test_division_by_zero_and_overflow_are_absent(void **state)
{
	(void)state;
	check_absent("a / zero");
	check_absent("zero / zero");
	check_absent("1e300 * 1e300");
	check_absent("infinite");
	check("zero / a", 0);
}

static void test_fault_gives_its_column(void **state)
{
	(void)state;
	check_fault("", 1);
	check_fault("   ", 4);
	check_fault("1 +", 4);
	check_fault("(1", 3);
	check_fault("1)", 2);
	check_fault("1 2", 3);
	check_fault("a $ b", 3);
	check_fault("A", 1);
	check_fault("nope(1)", 1);
	check_fault("nope(a, b)", 1);
	check_fault("if(1, 2)", 8);
	check_fault("abs(1, 2)", 9);
	check_fault("abs", 4);
	check_fault("10kb", 4);
	check_fault("0x10", 2);
	check_fault("1e999", 1);
	check_fault("1 < 2 < 3", 7);
	check_fault("and", 1);
	check_fault("2 * not 1", 5);
	check_fault("!a", 1);
	check_fault("a = b", 3);
	check_fault("max(,1)", 5);
}

static void test_depth_and_length_are_bounded(void **state)
{
	char text[8192];
	struct err e;
	struct expr *x;

	(void)state;
	memset(text, '(', 2000);
	text[2000] = '\0';
	assert_int_equal(expr_parse(&x, text, &e), -EINVAL);
	memset(text, '-', 2000);
	assert_int_equal(expr_parse(&x, text, &e), -EINVAL);
	memset(text, '1', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(expr_parse(&x, text, &e), -EINVAL);
	text[0] = '1';
	for (int i = 1; i < 4001; i += 2)
		memcpy(text + i, "+1", 3);
	check(text, 2001);
	/* if(1,1,if(1,1,... keeps two values waiting a level */
	text[0] = '\0';
	for (int i = 0; i < 40; i++)
		memcpy(text + strlen(text), "if(1,1,", 8);
	memcpy(text + strlen(text), "1", 2);
	for (int i = 0; i < 40; i++)
		memcpy(text + strlen(text), ")", 2);
	assert_int_equal(expr_parse(&x, text, &e), -EINVAL);
}

struct seen {
	char text[128];
	const char *first;
};

static void visit(void *ctx, const char *function, const char *name)
{
	struct seen *s = ctx;
	size_t n = strlen(s->text);

	if (!n)
		s->first = name;
	snprintf(s->text + n, sizeof(s->text) - n, "%s:%s ", function ? function : "", name);
}

static struct expr_value same_pointer(void *ctx, const char *function, const char *name)
{
	(void)function;
	return (struct expr_value){ true, name == ctx ? 1 : 0 };
}

static void test_names_are_visited_with_stable_pointers(void **state)
{
	struct seen s = { "", NULL };
	struct expr *x;

	(void)state;
	assert_int_equal(expr_parse(&x, "a.b_1 + mean(c) * min(d)", NULL), 0);
	expr_names(x, visit, &s);
	assert_string_equal(s.text, ":a.b_1 mean:c min:d ");
	assert_true(expr_eval(x, same_pointer, (void *)(uintptr_t)s.first).v == 1);
	expr_free(x);
	expr_free(NULL);
}

static struct expr_value may_be(void *ctx, const char *function, const char *name)
{
	(void)ctx;
	return (struct expr_value){ .known = !function && strcmp(name, "none") != 0 };
}

/* Whatever the values are of those that may be known. */
static void test_what_can_never_be_known_is_told(void **state)
{
	static const struct {
		const char *text;
		bool may;
	} cases[] = {
		{ "1", true },
		{ "none", false },
		{ "a * none", false },
		{ "none - 1", false },
		{ "min(a, none)", false },
		{ "not none", false },
		{ "-abs(none)", false },
		{ "a / b < 3", true },
		{ "known(none)", true },
		{ "none and a", true },
		{ "a or none", true },
		{ "none or none", false },
		{ "if(known(none), none, a)", true },
		{ "if(a, none, none)", false },
		{ "if(none, a, b)", false },
		{ "sum(a) + 1", false },
		{ "none * min(1, a / b)", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct err e = { "" };
		struct expr *x;

		assert_int_equal(expr_parse(&x, cases[i].text, &e), 0);
		if (expr_may_be_known(x, may_be, NULL) != cases[i].may)
			fail_msg("%s", cases[i].text);
		expr_free(x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arithmetic_and_precedence),
		cmocka_unit_test(test_numbers_and_suffixes),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_absence_spreads_but_where_decided),
		cmocka_unit_test(test_division_by_zero_and_overflow_are_absent),
		cmocka_unit_test(test_fault_gives_its_column),
		cmocka_unit_test(test_depth_and_length_are_bounded),
		cmocka_unit_test(test_names_are_visited_with_stable_pointers),
		cmocka_unit_test(test_what_can_never_be_known_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
