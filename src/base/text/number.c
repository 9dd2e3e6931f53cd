/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/number.h"

#include <string.h>

const char *number_skip_blanks(const char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Twenty digits or more, which may be too many. */
static bool fits(const char *at, const char *end)
{
	uint64_t v = 0;

	for (; at < end; at++) {
		uint64_t digit = (uint64_t)(*at - '0');

		if (v > UINT64_MAX / 10 || (v == UINT64_MAX / 10 && digit > UINT64_MAX % 10))
			return false;
		v = v * 10 + digit;
	}
	return true;
}

/* The digits from `at` on; where they end, or NULL when there are none or too many. Nineteen digits
 * fit whatever they are. */
static inline const char *digits(const char *at, uint64_t *out)
{
	const char *first = at;
	uint64_t v = 0;

	for (; is_digit(*at); at++)
		v = v * 10 + (uint64_t)(*at - '0');
	*out = v;
	if (at - first > 19 && !fits(first, at))
		return NULL;
	return at == first ? NULL : at;
}

bool number_u64(const char **p, uint64_t *out)
{
	const char *end;
	uint64_t v;

	*p = number_skip_blanks(*p);
	end = digits(*p, &v);
	if (!end)
		return false;
	*p = end;
	*out = v;
	return true;
}

bool number_i64(const char **p, int64_t *out)
{
	const char *end;
	bool negative;
	uint64_t v;

	*p = number_skip_blanks(*p);
	negative = **p == '-';
	end = digits(*p + negative, &v);
	if (!end || v > (uint64_t)INT64_MAX + negative)
		return false;
	*p = end;
	*out = negative ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

bool number_count(const char **p, int64_t *out)
{
	const char *first, *end;
	bool negative;
	uint64_t v;

	*p = number_skip_blanks(*p);
	negative = **p == '-';
	first = *p + negative;
	if (!is_digit(*first))
		return false;
	end = digits(first, &v);
	*out = !end || negative || v > INT64_MAX ? -1 : (int64_t)v;
	*p = end ? end : first + strspn(first, "0123456789");
	return true;
}

bool number_fixed(const char **p, unsigned decimals, int64_t *out)
{
	const char *start = number_skip_blanks(*p), *at = start;
	int64_t v;

	*p = start;
	if (!is_digit(*at) || !number_i64(&at, &v))
		return false;
	if (*at == '.' && is_digit(at[1]))
		at++;
	else if (*at == '.')
		return false;
	for (; decimals; decimals--) {
		int digit = is_digit(*at) ? *at++ - '0' : 0;

		if (v > (INT64_MAX - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	if (is_digit(*at))
		return false;
	*p = at;
	*out = v;
	return true;
}

const char *number_next_line(const char *p)
{
	const char *end = strchr(p, '\n');

	return end ? end + 1 : p + strlen(p);
}

const char *number_find_line(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (; *text; text = number_next_line(text))
		if (strncmp(text, key, n) == 0)
			return text + n;
	return NULL;
}

void number_add(int64_t *sum, int64_t count)
{
	if (__builtin_add_overflow(*sum, count, sum))
		*sum = INT64_MAX;
}
