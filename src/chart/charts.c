/* SPDX-License-Identifier: Apache-2.0 */
#include "chart/charts.h"

#include "chart/colour.h"
#include "chart/panel.h"
#include "chart/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- heat map ---- */

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

/* ---- roofline ---- */

#define DOT 1.6 /* points across */

enum { EACH_POINT = 4096 };

static bool has_both(const struct roofline *r, uint32_t i)
{
	return r->operations[i] > 0 && r->traffic[i] > 0;
}

struct reach {
	double least_x, most_x, least_y, most_y, most_traffic;
};

static struct reach reach_of(const struct roofline *r)
{
	struct reach x = { INFINITY, 0, INFINITY, 0, 0 };

	for (uint32_t i = 0; i < r->n; i++) {
		double intensity = r->operations[i] / r->traffic[i];

		if (!has_both(r, i))
			continue;
		x.least_x = fmin(x.least_x, intensity);
		x.most_x = fmax(x.most_x, intensity);
		x.least_y = fmin(x.least_y, r->operations[i]);
		x.most_y = fmax(x.most_y, r->operations[i]);
		x.most_traffic = fmax(x.most_traffic, r->traffic[i]);
	}
	return x;
}

/* Left of the ridge the traffic bounds, right of it the operations. */
static void draw_roof(struct bytes *d, const struct panel *p, const struct reach *x)
{
	const struct pen pen = { .colour = COLOUR_INK, .width = 1, .dash = DASH_LONG };
	double ridge = x->most_y / x->most_traffic;
	double left = fmax(p->x.from, p->y.from / x->most_traffic);
	struct point point[3];

	ridge = fmin(fmax(ridge, left), p->x.to);
	point[0] = (struct point){ axis_place(&p->x, left),
				   axis_place(&p->y, left * x->most_traffic) };
	point[1] = (struct point){ axis_place(&p->x, ridge), axis_place(&p->y, x->most_y) };
	point[2] = (struct point){ axis_place(&p->x, p->x.to), axis_place(&p->y, x->most_y) };
	shape_line(d, &pen, point, 3);
}

static size_t columns_of(const struct box *at)
{
	return (size_t)(at->w / DOT) + 1;
}

/* Is there a dot in this place already? From now on there is. */
static bool is_covered(uint8_t *dots, const struct box *at, const struct box *dot)
{
	double column = (dot->x - at->x) / DOT, row = (dot->y - at->y) / DOT;
	size_t i;

	if (!dots || !(column >= 0 && row >= 0 && dot->x < at->x + at->w && dot->y < at->y + at->h))
		return false;
	i = (size_t)row * columns_of(at) + (size_t)column;
	if (dots[i])
		return true;
	dots[i] = 1;
	return false;
}

/* Of very many points those that others would cover are left out. */
static void draw_points(struct bytes *d, const struct panel *p, const struct box *at,
			const struct roofline *r)
{
	uint8_t *dots = r->n <= EACH_POINT ? NULL
					   : calloc(columns_of(at) * ((size_t)(at->h / DOT) + 1),
						    sizeof *dots);

	d->failed |= r->n > EACH_POINT && !dots;
	for (uint32_t i = 0; i < r->n && !d->failed; i++) {
		struct box dot = { axis_place(&p->x, r->operations[i] / r->traffic[i]) - DOT / 2,
				   axis_place(&p->y, r->operations[i]) - DOT / 2, DOT, DOT };

		if (has_both(r, i) && !is_covered(dots, at, &dot))
			shape_box(d, &dot, colour_series(0));
	}
	free(dots);
}

bool roofline_draw(struct bytes *d, const struct box *at, const struct roofline *r)
{
	struct reach x = reach_of(r);
	struct legend_entry entry[2] = { { "a sample", colour_series(0), DASH_NONE, true },
					 { NULL, COLOUR_INK, DASH_LONG, false } };
	char roof[160], traffic[32], title[120], unit[AXIS_UNIT];
	struct panel p;

	if (!(x.most_y > 0))
		return false;
	unit_format(UNIT_BYTES_PER_SECOND, x.most_traffic, traffic, sizeof traffic);
	panel_begin(d, &p, at, r->title, r->note);
	axis_of_values(&p.x, UNIT_ONE, x.least_x, x.most_x, true);
	axis_of_values(&p.y, UNIT_PER_SECOND, x.least_y, x.most_y, true);
	/* "G/s" are GFLOP/s. */
	snprintf(unit, sizeof unit, "%.*sFLOP/s", (int)strcspn(p.y.unit, "/"), p.y.unit);
	memcpy(p.y.unit, unit, sizeof unit);
	snprintf(roof, sizeof roof, "the most that was measured: %.4g %s, %s %s",
		 x.most_y / p.y.divisor, unit, traffic, r->bytes);
	entry[1].label = roof;
	panel_legend(d, &p, entry, 2);
	snprintf(title, sizeof title, "operations per byte %s", r->bytes);
	panel_axes(d, &p, title);
	draw_points(d, &p, at, r);
	draw_roof(d, &p, &x);
	return true;
}

/* ---- levels ---- */

static void make_level_axes(struct panel *p, const struct level_chart *c)
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
	make_level_axes(&p, c);
	panel_axes(d, &p, c->x_title);
	for (uint32_t i = 1; i < c->nlevels; i++)
		draw_change(d, &p, &c->level[i], change);
	for (uint32_t i = 0; i < c->n; i++)
		shape_box(d,
			  &(struct box){ axis_place(&p.x, i + 1) - DOT / 2,
					 axis_place(&p.y, c->value[i]) - DOT / 2, DOT, DOT },
			  point);
	for (uint32_t i = 0; i < c->nlevels; i++) {
		double y = axis_place(&p.y, c->level[i].value);

		shape_line(d, &level,
			   (const struct point[]){ { axis_place(&p.x, c->level[i].from + 0.5), y },
						   { axis_place(&p.x, c->level[i].to + 0.5), y } },
			   2);
	}
}
