/* SPDX-License-Identifier: Apache-2.0 */
#include "chart/level_chart.h"

#include "chart/colour.h"
#include "chart/panel.h"

#include <math.h>

static const double dot = 1.6; /* points across */

static void make_axes(struct panel *p, const struct level_chart *c)
{
	double min = INFINITY, max = -INFINITY;

	for (uint32_t i = 0; i < c->n; i++) {
		min = fmin(min, c->value[i]);
		max = fmax(max, c->value[i]);
	}
	axis_around_values(&p->x, UNIT_COUNT, 1, fmax(c->n, 2));
	axis_around_values(&p->y, c->unit, c->n ? min : 0, c->n ? max : 1);
}

/* Where a new level may have begun, and where it most likely did. */
static void draw_change(struct bytes *d, const struct panel *p, const struct level *l,
			uint32_t colour)
{
	const struct pen pen = { .colour = colour, .width = 0.9, .dash = DASH_LONG };
	double low = axis_place(&p->x, l->low + 0.5), high = axis_place(&p->x, l->high + 1.5);
	double at = axis_place(&p->x, l->from + 0.5);

	shape_box(d, &(struct box){ low, p->plot.y, fmax(high - low, 1), p->plot.h },
		  colour_tint(colour, 0.85));
	shape_line(d, &pen,
		   (const struct point[]){ { at, p->plot.y }, { at, p->plot.y + p->plot.h } }, 2);
}

void level_chart_draw(struct bytes *d, const struct box *at, const struct level_chart *c)
{
	const uint32_t point = colour_series(0), change = colour_series(1);
	const struct pen level = { .colour = COLOUR_INK, .width = 1.4 };
	const struct legend_entry entry[] = {
		{ "value", point, DASH_NONE, .filled = true },
		{ "level", COLOUR_INK, DASH_NONE, .filled = false },
		{ "change, and where it may lie as well (95 %)", change, DASH_LONG,
		  .filled = false },
	};
	struct panel p;

	panel_begin(d, &p, at, c->title, c->note);
	panel_legend(d, &p, entry, c->nlevels ? 3 : 1);
	make_axes(&p, c);
	panel_axes(d, &p, c->x_title);
	for (uint32_t i = 1; i < c->nlevels; i++)
		draw_change(d, &p, &c->level[i], change);
	for (uint32_t i = 0; i < c->n; i++)
		shape_box(d,
			  &(struct box){ axis_place(&p.x, i + 1) - dot / 2,
					 axis_place(&p.y, c->value[i]) - dot / 2, dot, dot },
			  point);
	for (uint32_t i = 0; i < c->nlevels; i++) {
		double y = axis_place(&p.y, c->level[i].value);

		shape_line(d, &level,
			   (const struct point[]){ { axis_place(&p.x, c->level[i].from + 0.5), y },
						   { axis_place(&p.x, c->level[i].to + 0.5), y } },
			   2);
	}
}
