/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_chart.h - values over time as lines, areas and layers on each other.
 *
 * A value that is NAN was not there: the line has a gap, it does not go to 0. Where several samples
 * became one point, their mean is the line, and least and most a band around it.
 */
#ifndef SONDE_CHART_TIME_CHART_H
#define SONDE_CHART_TIME_CHART_H

#include "chart/shape.h"
#include "core/metric.h"

enum layer_role { LAYER_LINE = 0, LAYER_AREA /* a line, tinted below */, LAYER_STACK };

struct layer {
	const char *label; /* may be hostile */
	uint32_t colour;
	enum layer_role role;
	enum dash dash;
	const double *at;        /* [n] seconds, growing */
	const double *mean;      /* [n] */
	const double *min, *max; /* [n], or NULL: no band */
	uint32_t n;
};

struct time_chart {
	const char *title, *note;
	enum unit unit;
	bool log; /* unless there is nothing above 0 */
	double from_s, to_s;
	const struct layer *layer; /* those that stack have the same times */
	uint32_t nlayers;
	double limit; /* a dashed line; NAN: none */
	const char *limit_label;
	bool unnamed; /* too many for a legend */
};

enum { TIMELINE_LAYERS = 64 };

/* False when no layer has a value: then nothing is drawn. */
bool time_chart_draw(struct bytes *drawing, const struct box *at, const struct time_chart *t);

#endif
