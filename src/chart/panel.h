/* SPDX-License-Identifier: Apache-2.0 */
/*
 * panel.h - what all charts have around them: title, note, legend, axes with their grid.
 *
 * Drawn from the top down; what is left for the data is in `plot`.
 */
#ifndef SONDE_CHART_PANEL_H
#define SONDE_CHART_PANEL_H

#include "chart/shape.h"
#include "core/metric.h"

#include <stdbool.h>

enum { AXIS_TICKS = 24, AXIS_LABEL = 24, AXIS_UNIT = 24 };

/* From values to places on paper. The unit's prefix is chosen once for the whole axis ("GiB"), so
 * that ticks are bare numbers. Bytes have ticks at powers of two, time at minutes, hours, days. */
struct axis {
	double from, to;      /* values at its ends */
	double begin, length; /* places; length may be negative */
	double divisor;       /* a value / divisor is in its unit */
	char unit[AXIS_UNIT]; /* "GiB"; "" for bare numbers */
	double tick[AXIS_TICKS];
	char label[AXIS_TICKS][AXIS_LABEL];
	unsigned nticks;
	bool log;
};

/* For values from min to max, ends at ticks. A linear one begins at 0 unless min is below. On a
 * logarithmic one min has to be above 0. */
void axis_of_values(struct axis *a, enum unit unit, double min, double max, bool log);
/* The same, which begins where the values do: for values that hardly differ. */
void axis_around_values(struct axis *a, enum unit unit, double min, double max);
/* Seconds since the run's start, in the unit that suits them; ends where they end. */
void axis_of_time(struct axis *a, double from_s, double to_s);
/* Its place; values beyond an end are moved to it. */
double axis_place(const struct axis *a, double value);

struct panel {
	struct box whole, plot;
	struct axis x, y;
};

struct legend_entry {
	const char *label;
	uint32_t colour;
	enum dash dash;
	bool filled; /* a patch and not a line */
};

enum { PANEL_TICK_SIZE = 7, PANEL_LABEL_SIZE = 8, PANEL_TITLE_SIZE = 10 };

/* Title and note (or ""), which may be hostile. */
void panel_begin(struct bytes *drawing, struct panel *p, const struct box *at, const char *title,
		 const char *note);
void panel_legend(struct bytes *drawing, struct panel *p, const struct legend_entry *entry,
		  uint32_t n);
/* With x and y made, takes room for their labels, places them and draws them. x_title: what x is;
 * its unit is added. */
void panel_axes(struct bytes *drawing, struct panel *p, const char *x_title);
/* The axis of x alone, of a chart whose rows are no values; left: room for their names. */
void panel_axis_of_rows(struct bytes *drawing, struct panel *p, const char *x_title, double left);
/* In place of a chart: why there is none. */
void panel_sentence(struct bytes *drawing, const struct panel *p, const char *text);

#endif
