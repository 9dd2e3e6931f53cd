/* SPDX-License-Identifier: Apache-2.0 */
/*
 * charts.h - the kinds of charts beside that of values over time (chart/charts.h): heat maps,
 * rooflines, values with their levels. Texts may be hostile.
 */
#ifndef SONDE_CHART_CHARTS_H
#define SONDE_CHART_CHARTS_H

#include "chart/shape.h"
#include "core/metric.h"

/* Many like things over time: a row each, the darker the more. */
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

/* Floating-point operations a second over operations per byte of memory traffic, both logarithmic:
 * each sample a point; of more than some thousand, those that others would cover are left out.
 *
 * What the machine could do is not measured. The roof is what it was seen to do: the most
 * operations a second and the most bytes a second that a sample had. */
struct roofline {
	const char *title, *note;
	const char *bytes;                  /* of which traffic: "read from memory" */
	const double *operations, *traffic; /* [n] per second; NAN: not known */
	uint32_t n;
};

/* False when no point has both above 0: then nothing is drawn. */
bool roofline_draw(struct bytes *drawing, const struct box *at, const struct roofline *r);

/* Values in the order they were measured, as points, with the levels they keep to and where these
 * change. Their axis begins where they do: what is looked for is a difference of a few percent. */

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

/*
 * Values over time as lines, areas and layers on each other.
 *
 * A value that is NAN was not there: the line has a gap, it does not go to 0. Where several samples
 * became one point, their mean is the line, and least and most a band around it.
 */
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
