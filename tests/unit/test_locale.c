/* SPDX-License-Identifier: Apache-2.0 */
/* Who calls libsonde may have set a locale in which a comma stands before the decimals: numbers are
 * read and written with a point all the same. */
#include "base/err.h"
#include "base/text/decimal.h"
#include "base/text/json.h"
#include "core/expr/expr.h"
#include "core/metric.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* A compiled locale of glibc: six texts, the first of which is the decimal point, the fourth the
 * same as a wide character. */
static const unsigned char numeric[] = { 0x14, 0x11, 3,    0x20, 6,    0,   0,    0,   0x20, 0,
					 0,    0,    0x22, 0,    0,    0,   0x23, 0,   0,    0,
					 0x24, 0,    0,    0,    0x28, 0,   0,    0,   0x2c, 0,
					 0,    0,    ',',  0,    0,    0,   ',',  0,   0,    0,
					 0,    0,    0,    0,    'U',  'T', 'F',  '-', '8',  0 };

static bool with_comma(void)
{
	FILE *f;

	mkdir("comma", 0700);
	f = fopen("comma/LC_NUMERIC", "we");
	assert_non_null(f);
	assert_int_equal(fwrite(numeric, 1, sizeof numeric, f), sizeof numeric);
	assert_int_equal(fclose(f), 0);
	setenv("LOCPATH", ".", 1);
	return setlocale(LC_NUMERIC, "comma") && !strcmp(localeconv()->decimal_point, ",");
}

static struct expr_value nothing(void *ctx, const char *function, const char *name)
{
	(void)ctx, (void)function, (void)name;
	return (struct expr_value){ .known = false };
}

static void formulas(void **state)
{
	struct expr *x;
	struct err e;

	(void)state;
	assert_int_equal(expr_parse(&x, "0.5 * 3", &e), 0);
	assert_float_equal(expr_eval(x, nothing, NULL).v, 1.5, 0);
	expr_free(x);
	assert_int_not_equal(expr_parse(&x, "0,5 * 3", &e), 0);
}

static void texts(void **state)
{
	struct bytes b = { 0 };
	struct json j = { .out = &b };
	char text[64], *end;
	struct err e;

	(void)state;
	json_real(&j, 0.1);
	bytes_printf(&b, " %g", 0.25);
	bytes_u8(&b, 0);
	assert_string_equal((const char *)b.data, "0.1 0.25");
	bytes_free(&b);
	assert_string_equal(unit_format(UNIT_SECONDS, 1.25, text, sizeof text), "1.25 s");
	err_set(&e, 0, "%g s", 2.5);
	assert_string_equal(e.text, "2.5 s");
	assert_float_equal(decimal_parse("1.5,", &end), 1.5, 0);
	assert_string_equal(end, ",");
}

/* The caller's own numbers keep their comma. */
static void the_callers_locale_stays(void **state)
{
	char text[16];

	(void)state;
	decimal_print(text, sizeof text, "%.1f", 0.5);
	assert_string_equal(text, "0.5");
	snprintf(text, sizeof text, "%.1f", 0.5);
	assert_string_equal(text, "0,5");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formulas),
		cmocka_unit_test(texts),
		cmocka_unit_test(the_callers_locale_stays),
	};

	if (!with_comma()) {
		puts("this libc takes no locale that is made here");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
