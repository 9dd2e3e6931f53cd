/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/text/args.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	int64_t ns;
} durations[] = {
	{ "h", 3600 * NS_PER_S }, { "m", 60 * NS_PER_S }, { "s", NS_PER_S },
	{ "ms", NS_PER_MS },      { "us", 1000 },         { "ns", 1 },
};
enum { DURATIONS = sizeof durations / sizeof durations[0] };

static int64_t unit_ns(const char *name)
{
	if (!*name)
		return NS_PER_S;
	for (size_t i = 0; i < DURATIONS; i++)
		if (!strcmp(durations[i].name, name))
			return durations[i].ns;
	return 0;
}

int args_duration(const char *text, int64_t *ns)
{
	size_t whole = strspn(text, "0123456789");
	size_t point = whole + (text[whole] == '.');
	size_t end = point + (point > whole ? strspn(text + point, "0123456789") : 0);
	int64_t unit = unit_ns(text + end), total = 0;

	if (!unit || end == 0 || (point > whole && end == point))
		return -EINVAL;
	for (size_t i = 0; i < whole; i++)
		if (__builtin_mul_overflow(total, 10, &total) ||
		    __builtin_add_overflow(total, text[i] - '0', &total))
			return -EINVAL;
	if (__builtin_mul_overflow(total, unit, &total))
		return -EINVAL;
	for (size_t i = point; i < end; i++) {
		int64_t part = text[i] - '0';

		if (part && unit % 10) /* finer than a nanosecond */
			return -EINVAL;
		unit /= 10;
		if (__builtin_add_overflow(total, part * unit, &total))
			return -EINVAL;
	}
	*ns = total;
	return 0;
}

void args_duration_text(int64_t ns, char *out, size_t size)
{
	size_t i = 0;

	if (ns == 0) {
		snprintf(out, size, "0s");
		return;
	}
	while (ns % durations[i].ns)
		i++;
	snprintf(out, size, "%" PRId64 "%s", ns / durations[i].ns, durations[i].name);
}

void args_range_text(const struct option *o, char *out, size_t size)
{
	char low[32], high[32];

	out[0] = '\0';
	if (o->min == 0 && o->max == 0)
		return;
	if (o->type == ARG_DURATION) {
		args_duration_text(o->min, low, sizeof low);
		args_duration_text(o->max, high, sizeof high);
	} else {
		snprintf(low, sizeof low, "%" PRId64, o->min);
		snprintf(high, sizeof high, "%" PRId64, o->max);
	}
	if (o->max == INT64_MAX)
		snprintf(out, size, "at least %s", low);
	else
		snprintf(out, size, "%s to %s", low, high);
}

enum { NAME_MAX_BYTES = 40 };

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Optimal string alignment; three rows are enough for the swap of two neighbours. */
unsigned args_distance(const char *word, const char *name)
{
	unsigned rows[3][NAME_MAX_BYTES + 1];
	size_t n = strnlen(word, NAME_MAX_BYTES + 1), m = strnlen(name, NAME_MAX_BYTES + 1);

	if (n > NAME_MAX_BYTES || m > NAME_MAX_BYTES)
		return NAME_MAX_BYTES;
	if (n > 1 && n < m && !strncmp(word, name, n))
		return 1;
	for (unsigned j = 0; j <= m; j++)
		rows[0][j] = j;
	for (unsigned i = 1; i <= n; i++) {
		unsigned *row = rows[i % 3], *above = rows[(i - 1) % 3];
		const unsigned *two_above = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			bool same = word[i - 1] == name[j - 1];

			row[j] = least(above[j - 1] + !same, least(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && word[i - 1] == name[j - 2] &&
			    word[i - 2] == name[j - 1])
				row[j] = least(row[j], two_above[j - 2] + 1);
		}
	}
	return rows[n % 3][m];
}

bool args_near(const char *word, unsigned distance)
{
	size_t n = strlen(word);

	return distance <= (n < 3 ? 1 : n < 8 ? 2 : 3);
}
