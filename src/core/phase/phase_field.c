/* SPDX-License-Identifier: Apache-2.0 */
/* phase_field.c - what a rule looks for in a mark: its name, values of keys, a size. */
#include "base/text/decimal.h"
#include "core/phase/markline.h"
#include "core/phase/phase_rule.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

bool phase_pattern_matches(const char *pattern, const char *name, struct phase_star *star)
{
	const char *at = strchr(pattern, '*');
	size_t before = at ? (size_t)(at - pattern) : 0, behind = at ? strlen(at + 1) : 0;
	size_t n = strlen(name);

	*star = (struct phase_star){ name, 0 };
	if (!at)
		return strcmp(pattern, name) == 0;
	if (n < before + behind || strncmp(pattern, name, before) != 0 ||
	    strcmp(at + 1, name + n - behind) != 0)
		return false;
	*star = (struct phase_star){ name + before, n - before - behind };
	return true;
}

uint32_t phase_words_match(const struct phase_words *w, const char *name, struct phase_star *star)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (phase_pattern_matches(w->word[i], name, star))
			return i + 1;
	return 0;
}

/* A part between commas that has no = belongs to the value before it. */
static size_t value_length(const char *value)
{
	size_t n = strcspn(value, ",");

	while (value[n]) {
		size_t part = strcspn(value + n + 1, ",=");

		if (value[n + 1 + part] == '=')
			break;
		n += 1 + part;
	}
	return n;
}

static bool find_between_commas(const char *text, const char *key, char *out, size_t size)
{
	size_t want = strlen(key);

	while (*text) {
		size_t name = strcspn(text, "=,"), n;

		if (text[name] != '=') { /* before the first key */
			text += name + (text[name] == ',');
			continue;
		}
		n = value_length(text + name + 1);
		if (name == want && !strncmp(text, key, want) && n < size) {
			memcpy(out, text + name + 1, n);
			out[n] = '\0';
			return true;
		}
		text += name + 1 + n;
		text += *text == ',';
	}
	return false;
}

bool phase_field(enum phase_fields f, const char *text, const char *key, char *out, size_t size)
{
	return f == PHASE_COMMAS ? find_between_commas(text, key, out, size)
				 : mark_text_find(text, key, out, size);
}

/* How many bytes a unit is; 0: it is none. */
static double unit_bytes(const char *unit, size_t n, double step)
{
	static const char letters[] = "kmgtpe";
	const char *at;

	if (!n || (n == 1 && (*unit == 'B' || *unit == 'b')))
		return 1;
	at = strchr(letters, tolower((unsigned char)*unit));
	if (!at || !*at)
		return 0;
	if (n == 3 && !strncasecmp(unit + 1, "ib", 2))
		step = 1024;
	else if (n > 2 || (n == 2 && tolower((unsigned char)unit[1]) != 'b'))
		return 0;
	return pow(step, (double)(at - letters + 1));
}

bool phase_size(const char *text, double step, double *bytes)
{
	const char *end = text + strlen(text), *unit, *number;
	double times, value;
	char *behind;

	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	for (unit = end; unit > text && isalpha((unsigned char)unit[-1]);)
		unit--;
	for (number = unit; number > text && isspace((unsigned char)number[-1]);)
		number--;
	while (number > text && strchr("0123456789.", number[-1]))
		number--;
	if (number > text && !isspace((unsigned char)number[-1]))
		return false;
	times = unit_bytes(unit, (size_t)(end - unit), step);
	value = decimal_parse(number, &behind);
	if (behind == number || behind > unit || times == 0 || !isfinite(value * times))
		return false;
	while (behind < unit && isspace((unsigned char)*behind))
		behind++;
	if (behind != unit)
		return false;
	*bytes = value * times;
	return true;
}
