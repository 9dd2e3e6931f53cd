/* SPDX-License-Identifier: Apache-2.0 */
#include "chart/svg.h"

#include "base/text/decimal.h"
#include "base/text/escape.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* At most two decimals, and none that say nothing; a point whatever the locale. */
static void number(struct bytes *b, double v)
{
	char text[32];
	int n = decimal_print(text, sizeof text, "%.2f", v);

	while (n > 1 && text[n - 1] == '0')
		n--;
	if (text[n - 1] == '.')
		n--;
	if (n == 2 && text[0] == '-' && text[1] == '0')
		bytes_u8(b, '0');
	else
		bytes_put(b, text, (size_t)n);
}

static void attribute(struct bytes *b, const char *name, double v)
{
	bytes_printf(b, " %s=\"", name);
	number(b, v);
	bytes_u8(b, '"');
}

static void points(struct bytes *b, const struct shape *s)
{
	bytes_puts(b, " points=\"");
	for (uint32_t i = 0; i < s->n; i++) {
		bytes_puts(b, i ? " " : "");
		number(b, s->point[i].x);
		bytes_u8(b, ',');
		number(b, s->point[i].y);
	}
	bytes_puts(b, "\"/>\n");
}

static void box(struct bytes *b, const struct shape *s)
{
	bytes_puts(b, "<rect");
	attribute(b, "x", s->box.x);
	attribute(b, "y", s->box.y);
	attribute(b, "width", s->box.w);
	attribute(b, "height", s->box.h);
	bytes_printf(b, " fill=\"#%06x\"/>\n", s->colour);
}

static void line(struct bytes *b, const struct shape *s)
{
	static const char *const dashes[DASH_NUMBER_OF] = {
		[DASH_LONG] = "6 2", [DASH_SHORT] = "3 2", [DASH_DOTS] = "1 1.5"
	};

	bytes_printf(b, "<polyline fill=\"none\" stroke=\"#%06x\"", s->pen.colour);
	attribute(b, "stroke-width", s->pen.width);
	if (dashes[s->pen.dash])
		bytes_printf(b, " stroke-dasharray=\"%s\"", dashes[s->pen.dash]);
	points(b, s);
}

static void area(struct bytes *b, const struct shape *s)
{
	bytes_printf(b, "<polygon fill=\"#%06x\"", s->colour);
	points(b, s);
}

static void text(struct bytes *b, const struct shape *s)
{
	static const char *const anchors[ANCHOR_NUMBER_OF] = {
		[ANCHOR_MIDDLE] = " text-anchor=\"middle\"", [ANCHOR_END] = " text-anchor=\"end\""
	};
	const struct lettering *l = &s->lettering;

	bytes_puts(b, "<text");
	attribute(b, "x", s->box.x);
	attribute(b, "y", s->box.y);
	attribute(b, "font-size", l->size);
	bytes_printf(b, " fill=\"#%06x\"", l->colour);
	bytes_puts(b, anchors[l->anchor] ? anchors[l->anchor] : "");
	bytes_puts(b, l->bold ? " font-weight=\"bold\"" : "");
	if (l->turned) {
		bytes_puts(b, " transform=\"rotate(-90 ");
		number(b, s->box.x);
		bytes_u8(b, ' ');
		number(b, s->box.y);
		bytes_puts(b, ")\"");
	}
	bytes_u8(b, '>');
	escape_html(b, s->text);
	bytes_puts(b, "</text>\n");
}

/* All cells of one colour are one path; those beside each other one rectangle of it. */
static void cells_of(struct bytes *b, const struct shape *s, uint8_t step)
{
	double w = s->box.w / s->columns, h = s->box.h / s->rows;

	for (uint32_t row = 0; row < s->rows; row++)
		for (uint32_t c = 0, n; c < s->columns; c += n) {
			const uint8_t *cell = &s->cell[(size_t)row * s->columns + c];

			for (n = 1; c + n < s->columns && cell[n] == cell[0]; n++)
				;
			if (cell[0] != step)
				continue;
			bytes_u8(b, 'M');
			number(b, s->box.x + c * w);
			bytes_u8(b, ' ');
			number(b, s->box.y + row * h);
			bytes_u8(b, 'h');
			number(b, n * w);
			bytes_u8(b, 'v');
			number(b, h);
			bytes_u8(b, 'h');
			number(b, -(n * w));
			bytes_u8(b, 'z');
		}
}

static void grid(struct bytes *b, const struct shape *s)
{
	bytes_puts(b, "<g shape-rendering=\"crispEdges\">\n");
	for (unsigned step = 0; step <= COLOUR_STEPS; step++) {
		size_t before = b->len, empty;

		bytes_printf(b, "<path fill=\"#%06x\" d=\"", colour_cell((uint8_t)step));
		empty = b->len;
		cells_of(b, s, (uint8_t)step);
		if (b->len == empty)
			b->len = before;
		else
			bytes_puts(b, "\"/>\n");
	}
	bytes_puts(b, "</g>\n");
}

static void begin(struct bytes *b, const struct shape *s, const char *title)
{
	struct bytes clean = { 0 };

	bytes_puts(b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"");
	bytes_puts(b, " width=\"");
	number(b, s->box.w);
	bytes_puts(b, "pt\" height=\"");
	number(b, s->box.h);
	bytes_puts(b, "pt\" viewBox=\"0 0 ");
	number(b, s->box.w);
	bytes_u8(b, ' ');
	number(b, s->box.h);
	bytes_puts(b, "\" font-family=\"'DejaVu Sans',Verdana,sans-serif\">\n<title>");
	shape_clean(&clean, title);
	bytes_u8(&clean, 0);
	if (clean.failed)
		b->failed = true;
	else
		escape_html(b, (const char *)clean.data);
	bytes_free(&clean);
	bytes_printf(b, "</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#%06x\"/>\n",
		     COLOUR_PAPER);
}

static void put(struct bytes *b, const struct shape *s)
{
	static void (*const painters[SHAPE_KIND_NUMBER_OF])(struct bytes *,
							    const struct shape *) = {
		[SHAPE_BOX] = box,   [SHAPE_LINE] = line, [SHAPE_AREA] = area,
		[SHAPE_TEXT] = text, [SHAPE_GRID] = grid,
	};

	if (painters[s->kind])
		painters[s->kind](b, s);
}

int svg_write(struct bytes *out, const struct bytes *drawing, const char *title, struct err *e)
{
	struct shape_reader r = { .in = { drawing->data, drawing->data + drawing->len, false } };
	int rc;

	if (drawing->failed)
		return err_set(e, -ENOMEM, "out of memory while drawing");
	while ((rc = shape_next(&r, e)) > 0 && r.pages < 2) {
		if (r.shape.kind == SHAPE_PAGE)
			begin(out, &r.shape, title);
		else
			put(out, &r.shape);
	}
	shape_reader_free(&r);
	if (rc < 0)
		return rc;
	bytes_puts(out, "</svg>\n");
	return out->failed ? err_set(e, -ENOMEM, "out of memory while drawing") : 0;
}

/* Of Okabe and Ito, which stay apart for all kinds of colour vision. */
static const struct {
	const char *name;
	uint32_t colour;
} names[] = {
	{ "blue", 0x0072b2 }, { "orange", 0xe69f00 }, { "green", 0x009e73 },
	{ "red", 0xd55e00 },  { "purple", 0xb5649b }, { "sky", 0x56b4e9 },
	{ "grey", 0x8a939c }, { "ink", 0x1f2933 },    { "pale", 0xe9ecef },
};
_Static_assert(sizeof names / sizeof names[0] > COLOUR_SERIES, "a colour for every line");

enum { NOTHING = 0xc4c9cf };

/* ColorBrewer's YlGnBu: each darker than the one before it. */
static const uint32_t scale[] = { 0xffffd9, 0xedf8b1, 0xc7e9b4, 0x7fcdbb, 0x41b6c4,
				  0x1d91c0, 0x225ea8, 0x253494, 0x081d58 };

uint32_t colour_named(const char *name)
{
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i].name, name) == 0)
			return names[i].colour;
	return COLOUR_INK;
}

uint32_t colour_series(uint32_t n)
{
	return names[n % COLOUR_SERIES].colour;
}

static uint32_t mixed(uint32_t a, uint32_t b, double share)
{
	uint32_t out = 0;

	for (unsigned shift = 0; shift < 24; shift += 8) {
		double from = a >> shift & 255, to = b >> shift & 255;

		out |= (uint32_t)lround(from + (to - from) * share) << shift;
	}
	return out;
}

uint32_t colour_tint(uint32_t colour, double share)
{
	return mixed(colour, COLOUR_PAPER, share);
}

uint8_t colour_step(double share)
{
	if (isnan(share))
		return 0;
	return (uint8_t)(1 + lround(fmin(fmax(share, 0), 1) * (COLOUR_STEPS - 1)));
}

uint32_t colour_cell(uint8_t step)
{
	const uint32_t last = sizeof scale / sizeof scale[0] - 1;
	double at = (double)(step - 1) / (COLOUR_STEPS - 1) * last;
	uint32_t below;

	if (!step || step > COLOUR_STEPS)
		return NOTHING;
	below = (uint32_t)at;
	return below == last ? scale[last] : mixed(scale[below], scale[below + 1], at - below);
}

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
