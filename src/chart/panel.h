/* SPDX-License-Identifier: Apache-2.0 */
/*
 * panel.h - what all charts have around them: title, note, legend, axes with their grid.
 *
 * Drawn from the top down; what is left for the data is in `plot`.
 */
#ifndef SONDE_CHART_PANEL_H
#define SONDE_CHART_PANEL_H

#include "chart/axis.h"
#include "chart/shape.h"

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
