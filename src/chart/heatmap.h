/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heatmap.h - many like things over time: a row each, the darker the more.
 */
#ifndef SONDE_CHART_HEATMAP_H
#define SONDE_CHART_HEATMAP_H

#include "chart/shape.h"
#include "core/metric.h"

struct heatmap {
	const char *title, *note;
	enum unit unit;
	double from_s, to_s;
	uint32_t nrows, ncolumns;
	const char *const *name; /* [nrows], may be hostile */
	const double *value;     /* [nrows * ncolumns]; NAN: nothing was there */
	double most;             /* what is darkest; NAN: the most there is */
};

/* False when there is no value: then nothing is drawn. */
bool heatmap_draw(struct bytes *drawing, const struct box *at, const struct heatmap *m);

#endif
