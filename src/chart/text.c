/* SPDX-License-Identifier: Apache-2.0 */
#include "chart/text.h"

#include "base/text/escape.h"

#include <string.h>

/* Hundredths of the size, from the blank to the tilde. */
static const uint8_t widths[] = {
	32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36,  32, 34, 64, 64, 64,
	64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63,
	58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63,  61, 73, 68, 99, 69,
	61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35,  63, 63, 28, 28, 58,
	28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59,  52, 64, 34, 64, 84,
};
_Static_assert(sizeof widths == '~' - ' ' + 1, "a width for each character of ASCII that shows");

enum { WIDE = 100, LATIN = 65, PIECES_MAX = 512 };
#define BOLD 1.13

/* The bytes of the character at s, which is valid UTF-8, and its width. */
static size_t next(const char *s, unsigned *width)
{
	uint8_t c = (uint8_t)*s;

	if (c < 0x80) {
		*width = c >= ' ' && c <= '~' ? widths[c - ' '] : WIDE;
		return 1;
	}
	*width = c < 0xd0 ? LATIN : WIDE;
	return c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

static double width_of(const char *s, size_t n, const struct lettering *l)
{
	double sum = 0;

	for (const char *end = s + n; s < end;) {
		unsigned width;

		s += next(s, &width);
		sum += width;
	}
	return sum / 100 * l->size * (l->bold ? BOLD : 1);
}

double text_width(const char *text, double size, bool bold)
{
	const struct lettering l = { .size = size, .bold = bold };
	struct bytes clean = { 0 };
	double width;

	escape_terminal(&clean, text);
	width = width_of((const char *)clean.data, clean.len, &l);
	bytes_free(&clean);
	return width;
}

/* As many of its first bytes as are no wider. */
static size_t fitting(const char *s, size_t n, const struct lettering *l, double width)
{
	double sum = 0;
	size_t at = 0;

	while (at < n) {
		unsigned w;
		size_t len = next(s + at, &w);

		sum += w / 100.0 * l->size * (l->bold ? BOLD : 1);
		if (sum > width)
			break;
		at += len;
	}
	return at;
}

const char *text_fit(const char *text, const struct lettering *l, double width, char *out,
		     size_t size)
{
	size_t n, most;

	escape_terminal_into(out, size, text);
	n = strlen(out);
	if (width_of(out, n, l) <= width)
		return out;
	most = fitting(out, n, l, width - width_of("...", 3, l));
	while (most + 4 > size)
		most = fitting(out, most - 1, l, width);
	memcpy(out + most, "...", 4);
	return out;
}

/* Where the line that begins at s ends: behind the last word that fits, or within one that is
 * longer than a line. */
static size_t line_end(const char *s, size_t n, const struct lettering *l, double width)
{
	size_t most = fitting(s, n, l, width), at = most;
	unsigned first = 0;

	if (most == n)
		return n;
	while (at > 0 && s[at] != ' ')
		at--;
	return at ? at : most ? most : next(s, &first);
}

static void put_line(struct bytes *drawing, const struct lettering *l, struct point at,
		     const char *s, size_t n, bool cut)
{
	char line[PIECES_MAX];

	if (!drawing)
		return;
	if (n > sizeof line - 4)
		n = fitting(s, sizeof line - 8, l, 1e9);
	memcpy(line, s, n);
	memcpy(line + n, cut ? "..." : "", cut ? 4 : 1);
	shape_text(drawing, l, at, line);
}

uint32_t text_wrap(struct bytes *drawing, const struct lettering *l, const struct box *at,
		   uint32_t lines, const char *text)
{
	struct bytes clean = { 0 };
	uint32_t line = 0;
	const char *s, *end;

	escape_terminal(&clean, text);
	s = (const char *)clean.data;
	for (end = s ? s + clean.len : s; s < end && line < lines; line++) {
		size_t n = line_end(s, (size_t)(end - s), l, at->w);
		bool cut = line + 1 == lines && s + n < end;

		if (cut)
			n = fitting(s, n, l, at->w - width_of("...", 3, l));
		put_line(drawing, l, (struct point){ at->x, at->y + line * at->h }, s, n, cut);
		for (s += n; s < end && *s == ' '; s++)
			;
	}
	if (drawing)
		drawing->failed |= clean.failed;
	bytes_free(&clean);
	return line;
}
