/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paint.h - a document painted with cairo, its texts set with pango.
 */
#ifndef SONDE_DRAW_PAINT_H
#define SONDE_DRAW_PAINT_H

#include "chart/document.h"

#include <stdio.h>

/* The drawing that is left in `in`, whole, into out. 0, or -errno with a sentence. */
int paint_document(const struct document *d, struct scan in, FILE *out, struct err *e);

#endif
