/* SPDX-License-Identifier: Apache-2.0 */
#include "chart/svg.h"

#include "base/text/decimal.h"
#include "base/text/escape.h"
#include "chart/colour.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

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
