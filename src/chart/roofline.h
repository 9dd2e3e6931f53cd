/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roofline.h - floating-point operations a second over operations per byte of memory traffic, both
 * logarithmic: each sample a point; of more than some thousand, those that others would cover are
 * left out.
 *
 * What the machine could do is not measured. The roof is what it was seen to do: the most
 * operations a second and the most bytes a second that a sample had.
 */
#ifndef SONDE_CHART_ROOFLINE_H
#define SONDE_CHART_ROOFLINE_H

#include "chart/shape.h"

struct roofline {
	const char *title, *note;
	const char *bytes;                  /* of which traffic: "read from memory" */
	const double *operations, *traffic; /* [n] per second; NAN: not known */
	uint32_t n;
};

/* False when no point has both above 0: then nothing is drawn. */
bool roofline_draw(struct bytes *drawing, const struct box *at, const struct roofline *r);

#endif
