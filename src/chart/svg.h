/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svg.h - a drawing of one page as an SVG document, without a library.
 *
 * Its texts stay texts, in the reader's font. It holds no script and names no other file.
 */
#ifndef SONDE_CHART_SVG_H
#define SONDE_CHART_SVG_H

#include "chart/shape.h"

#include <stdint.h>

/* Append the document of the drawing's first page; title is what it says to who cannot see it. 0 or
 * -errno. */
int svg_write(struct bytes *out, const struct bytes *drawing, const char *title, struct err *e);

/*
 * The colours of charts: those of lines and layers, told apart by who does not see all
 * of them as well, and the scale of heat maps, from light to dark.
 */
enum {
	COLOUR_INK = 0x1f2933,
	COLOUR_SOFT = 0x5b6672,
	COLOUR_GRID = 0xe3e7eb,
	COLOUR_AXIS = 0x9aa5b1,
	COLOUR_PAPER = 0xffffff,
	COLOUR_SERIES = 8 /* different ones for lines */
};

/* By the word that the tables of charts have for it: "blue"; ink for an unknown one. */
uint32_t colour_named(const char *name);
/* The n-th line's; they begin anew after COLOUR_SERIES. */
uint32_t colour_series(uint32_t n);
/* The same, half way to white: 1 is white, 0 the colour. */
uint32_t colour_tint(uint32_t colour, double share);

/* Cells of a heat map: 0 is no value, 1 to COLOUR_STEPS from the least to the most. */
enum { COLOUR_STEPS = 32 };
uint8_t colour_step(double share); /* of 0 to 1; NAN is no value */
uint32_t colour_cell(uint8_t step);

/*
 * How wide a text will be, so that it can be placed without a font.
 *
 * Widths are those of DejaVu Sans, which is wider than most; a text in another font is shorter, not
 * longer. A character that is not known counts as a wide one.
 */
/* In points, of this size; bold is wider. text is made harmless before, as shape_text does. */
double text_width(const char *text, double size, bool bold);

/* What fits of it, with three dots at its end when that is not all. Returns out. */
const char *text_fit(const char *text, const struct lettering *l, double width, char *out,
		     size_t size);

/* Draws it in lines of at most so many points, at most so many of them; `height` apart. How many
 * lines it took. A null drawing: only counts. */
uint32_t text_wrap(struct bytes *drawing, const struct lettering *l, const struct box *at,
		   uint32_t lines, const char *text);

#endif
