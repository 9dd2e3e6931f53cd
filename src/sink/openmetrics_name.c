/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/openmetrics_name.h"

#include "base/text/escape.h"

#include <string.h>

#define PREFIX "sonde_"

static char in_name(char c)
{
	bool known = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

	return known || !c ? c : '_';
}

static void put_name(struct bytes *b, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes_u8(b, (uint8_t)in_name(text[i]));
}

void openmetrics_name(struct bytes *b, const char *metric)
{
	bytes_puts(b, PREFIX);
	put_name(b, metric, strlen(metric));
}

int openmetrics_compare(const char *a, const char *b)
{
	while (*a && in_name(*a) == in_name(*b)) {
		a++;
		b++;
	}
	return in_name(*a) - in_name(*b);
}

void openmetrics_label(struct bytes *b, const char *metric)
{
	static const char *const taken[] = { "node", "job", "instance", "job_id", "recorder" };
	size_t n = strcspn(metric, ".");

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (strlen(taken[i]) == n && !memcmp(taken[i], metric, n)) {
			bytes_puts(b, "device");
			return;
		}
	put_name(b, metric, n);
}

static bool ends_with(const char *name, const char *word)
{
	size_t n = strlen(name), m = strlen(word);

	return n > m + 1 && name[n - m - 1] == '_' && !strcmp(name + n - m, word);
}

void openmetrics_family(struct bytes *b, const char *name, bool counter, const char *unit,
			const char *help)
{
	bytes_printf(b, "# TYPE %s %s\n", name, counter ? "counter" : "gauge");
	if (unit && ends_with(name, unit))
		bytes_printf(b, "# UNIT %s %s\n", name, unit);
	if (!help || !*help)
		return;
	bytes_printf(b, "# HELP %s ", name);
	escape_openmetrics(b, help);
	bytes_u8(b, '\n');
}
