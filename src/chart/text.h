/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - how wide a text will be, so that it can be placed without a font.
 *
 * Widths are those of DejaVu Sans, which is wider than most; a text in another font is shorter, not
 * longer. A character that is not known counts as a wide one.
 */
#ifndef SONDE_CHART_TEXT_H
#define SONDE_CHART_TEXT_H

#include "chart/shape.h"

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
