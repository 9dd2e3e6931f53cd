/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/quantity.h"

#include "base/text/decimal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *suffix;
	double factor;
} units[] = {
	{ "", 1 },
	{ "n", 1e-9 },
	{ "u", 1e-6 },
	{ "m", 1e-3 },
	{ "k", 1e3 },
	{ "K", 1e3 },
	{ "M", 1e6 },
	{ "G", 1e9 },
	{ "T", 1e12 },
	{ "P", 1e15 },
	{ "E", 1e18 },
	{ "Ki", 1024.0 },
	{ "Mi", 1048576.0 },
	{ "Gi", 1073741824.0 },
	{ "Ti", 1099511627776.0 },
	{ "Pi", 1125899906842624.0 },
	{ "Ei", 1152921504606846976.0 },
};

/* Behind the digits; an e or E is an exponent only when digits follow it. */
static const char *end_of_number(const char *text)
{
	const char *p = text + strspn(text, "0123456789."), *digits;

	if (*p != 'e' && *p != 'E')
		return p;
	digits = p + 1 + (p[1] == '+' || p[1] == '-');
	return *digits >= '0' && *digits <= '9' ? digits + strspn(digits, "0123456789") : p;
}

bool quantity_read(const char *text, double *out)
{
	const char *suffix = end_of_number(text);
	char number[64];
	size_t n = (size_t)(suffix - text);
	double v;

	if (!n || n >= sizeof number)
		return false;
	memcpy(number, text, n);
	number[n] = '\0';
	v = decimal_of(number);
	if (!isfinite(v))
		return false;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (!strcmp(suffix, units[i].suffix)) {
			*out = v * units[i].factor;
			return isfinite(*out);
		}
	return false;
}
