/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svg.h - a drawing of one page as an SVG document, without a library.
 *
 * Its texts stay texts, in the reader's font. It holds no script and names no other file.
 */
#ifndef SONDE_CHART_SVG_H
#define SONDE_CHART_SVG_H

#include "chart/shape.h"

/* Append the document of the drawing's first page; title is what it says to who cannot see it. 0 or
 * -errno. */
int svg_write(struct bytes *out, const struct bytes *drawing, const char *title, struct err *e);

#endif
