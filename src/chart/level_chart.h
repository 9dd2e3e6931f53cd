/* SPDX-License-Identifier: Apache-2.0 */
/*
 * level_chart.h - values in the order they were measured, as points, with the levels they keep to
 * and where these change.
 *
 * The axis of the values begins where they do: what is looked for is a difference of a few percent.
 */
#ifndef SONDE_CHART_LEVEL_CHART_H
#define SONDE_CHART_LEVEL_CHART_H

#include "chart/shape.h"
#include "core/metric.h"

/* Values from, from + 1, ... to - 1. */
struct level {
	uint32_t from, to;
	double value;
	uint32_t low, high; /* from lies in here; of the first level it is 0 */
};

struct level_chart {
	const char *title, *note; /* may be hostile, and so may all texts */
	const char *x_title;
	enum unit unit;
	const double *value; /* [n] finite */
	uint32_t n;
	const struct level *level; /* none: they are not known */
	uint32_t nlevels;
};

void level_chart_draw(struct bytes *drawing, const struct box *at, const struct level_chart *c);

#endif
