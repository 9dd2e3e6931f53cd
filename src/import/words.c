/* SPDX-License-Identifier: Apache-2.0 */
/* words.c - what goes with spans and marks of imports: KEY=VALUE, one after the other. */
#include "core/phase/markline.h"
#include "import/timeline.h"

#include <string.h>

/* n bytes of a text or less: no character is cut in two. */
static size_t whole(const char *text, size_t n)
{
	while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	return n;
}

/* n bytes of the value, and "..."; false: there is no room. */
static bool put_some(char detail[TIMELINE_TEXT_MAX + 1], size_t before, const char *key,
		     const char *value, size_t n)
{
	char some[TIMELINE_TEXT_MAX + 4];
	size_t length = whole(value, n);

	memcpy(some, value, length);
	memcpy(some + length, "...", 4);
	return mark_pair_write(detail, TIMELINE_TEXT_MAX + 1, &before, key, some);
}

/* As much of it as there is room for. */
static void put_shortened(char detail[TIMELINE_TEXT_MAX + 1], size_t before, const char *key,
			  const char *value)
{
	size_t least = 0, most = strnlen(value, TIMELINE_TEXT_MAX);

	while (least < most) {
		size_t middle = (least + most + 1) / 2;

		if (put_some(detail, before, key, value, middle))
			least = middle;
		else
			most = middle - 1;
	}
	if (least)
		put_some(detail, before, key, value, least);
}

static bool is_shortened(const char *detail, size_t n)
{
	return (n >= 3 && !strcmp(detail + n - 3, "...")) ||
	       (n >= 4 && !strcmp(detail + n - 4, "...\""));
}

void timeline_word(char detail[TIMELINE_TEXT_MAX + 1], const char *key, const char *value)
{
	size_t n = strlen(detail), at = n;

	if (!mark_pair_write(detail, TIMELINE_TEXT_MAX + 1, &at, key, value) &&
	    !is_shortened(detail, n))
		put_shortened(detail, n, key, value);
}

void timeline_words_left(char detail[TIMELINE_TEXT_MAX + 1])
{
	size_t n = strlen(detail);

	if (n && !is_shortened(detail, n) && n + 4 <= TIMELINE_TEXT_MAX)
		memcpy(detail + n, " ...", 5);
}
