/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/decimal.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The locale "C" is part of libc: nothing is allocated, and nothing need be freed. */
static locale_t point(void)
{
	return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double decimal_parse(const char *text, char **end)
{
	return strtod_l(text, end, point());
}

double decimal_of(const char *text)
{
	char *end;
	double v = decimal_parse(text, &end);

	return end != text && !*end ? v : (double)NAN;
}

bool decimal_are_same(const char *a, const char *b)
{
	return !strcmp(a, b) || decimal_of(a) == decimal_of(b);
}

int decimal_vprint(char *out, size_t size, const char *format, va_list ap)
{
	locale_t callers = uselocale(point()); /* of this thread alone */
	int n = vsnprintf(out, size, format, ap);

	uselocale(callers);
	return n;
}

int decimal_print(char *out, size_t size, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = decimal_vprint(out, size, format, ap);
	va_end(ap);
	return n;
}
