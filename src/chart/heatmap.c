/* SPDX-License-Identifier: Apache-2.0 */
#include "chart/heatmap.h"

#include "chart/colour.h"
#include "chart/panel.h"
#include "chart/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROW_TEXT = 8, NAMES_WIDEST = 110, SCALE_WIDTH = 120, SCALE_HEIGHT = 7 };

static double most_of(const struct heatmap *m)
{
	double most = -INFINITY;

	for (size_t i = 0; i < (size_t)m->nrows * m->ncolumns; i++)
		most = fmax(most, m->value[i]);
	return most;
}

/* From 0 to the most, and what grey is. */
static void draw_scale(struct bytes *d, struct panel *p, enum unit unit, double most)
{
	const struct lettering l = { .size = PANEL_LABEL_SIZE, .colour = COLOUR_INK };
	const struct lettering right = { .size = PANEL_LABEL_SIZE,
					 .colour = COLOUR_INK,
					 .anchor = ANCHOR_END };
	uint8_t steps[COLOUR_STEPS];
	char from[32], to[32];
	double x = p->whole.x + 8, y = p->plot.y + PANEL_LABEL_SIZE - 2, before;

	for (unsigned i = 0; i < COLOUR_STEPS; i++)
		steps[i] = (uint8_t)(i + 1);
	unit_format(unit, 0, from, sizeof from);
	unit_format(unit, most, to, sizeof to);
	before = text_width(from, l.size, false) + 4;
	shape_text(d, &l, (struct point){ x, y }, from);
	x += before;
	shape_grid(d, &(struct box){ x, y - SCALE_HEIGHT + 1, SCALE_WIDTH, SCALE_HEIGHT },
		   COLOUR_STEPS, 1, steps);
	x += SCALE_WIDTH + 4;
	shape_text(d, &l, (struct point){ x, y }, to);
	x = p->whole.x + p->whole.w - 14;
	shape_text(d, &right, (struct point){ x, y }, "no value");
	x -= text_width("no value", l.size, false) + 4;
	shape_box(
		d,
		&(struct box){ x - SCALE_HEIGHT, y - SCALE_HEIGHT + 1, SCALE_HEIGHT, SCALE_HEIGHT },
		colour_cell(0));
	p->plot.y += PANEL_LABEL_SIZE + 4;
	p->plot.h -= PANEL_LABEL_SIZE + 4;
}

static double widest_name(const struct heatmap *m)
{
	double widest = 0;

	for (uint32_t i = 0; i < m->nrows && widest < NAMES_WIDEST; i++)
		widest = fmax(widest, text_width(m->name[i], PANEL_TICK_SIZE, false));
	return fmin(widest, NAMES_WIDEST);
}

/* As many as there is room for, evenly. */
static void draw_names(struct bytes *d, const struct panel *p, const struct heatmap *m,
		       double width)
{
	const struct lettering l = { .size = PANEL_TICK_SIZE,
				     .colour = COLOUR_SOFT,
				     .anchor = ANCHOR_END };
	double height = p->plot.h / m->nrows;
	uint32_t every = (uint32_t)ceil(ROW_TEXT / height);
	char name[256];

	for (uint32_t i = 0; i < m->nrows; i += every ? every : 1)
		shape_text(d, &l,
			   (struct point){ p->plot.x - 4,
					   p->plot.y + (i + 0.5) * height + PANEL_TICK_SIZE / 3.0 },
			   text_fit(m->name[i], &l, width, name, sizeof name));
}

bool heatmap_draw(struct bytes *d, const struct box *at, const struct heatmap *m)
{
	size_t n = (size_t)m->nrows * m->ncolumns;
	double there = most_of(m), most = isnan(m->most) ? there : m->most, width;
	uint8_t *cell;
	struct panel p;

	if (!n || !isfinite(there))
		return false;
	cell = calloc(n, 1);
	if (!cell) {
		d->failed = true;
		return true;
	}
	for (size_t i = 0; i < n; i++)
		cell[i] = colour_step(most > 0 ? m->value[i] / most : m->value[i] * 0);
	panel_begin(d, &p, at, m->title, m->note);
	draw_scale(d, &p, m->unit, most);
	axis_of_time(&p.x, m->from_s, m->to_s);
	width = widest_name(m);
	panel_axis_of_rows(d, &p, "time since the start", width + 6);
	shape_grid(d, &p.plot, m->ncolumns, m->nrows, cell);
	draw_names(d, &p, m, width);
	free(cell);
	return true;
}
