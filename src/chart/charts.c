/* SPDX-License-Identifier: Apache-2.0 */
#include "chart/charts.h"

#include "base/text/decimal.h"
#include "chart/panel.h"
#include "chart/svg.h"

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

/* A step so many times as long as the others is time that nobody looked at. */
enum { GAP_STEPS = 10, LABEL_MAX = 200 };
#define AREA_TINT 0.82
#define BAND_TINT 0.70
#define LOG_SPAN  1e6 /* what is below the most by more than this is not told apart */

struct extent {
	double min, max, least_above_0;
};

static void extend(struct extent *x, double v)
{
	if (isnan(v))
		return;
	x->min = fmin(x->min, v);
	x->max = fmax(x->max, v);
	if (v > 0)
		x->least_above_0 = fmin(x->least_above_0, v);
}

static bool has_values(const struct layer *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (!isnan(l->mean[i]))
			return true;
	return false;
}

static bool is_stacked(const struct layer *l)
{
	return l->role == LAYER_STACK && has_values(l);
}

/* What the layers below and including this one add up to; NAN where one of them is absent. */
static void add_layer(double *sum, const struct layer *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		sum[i] += l->mean[i];
}

static const struct layer *first_stacked(const struct time_chart *t)
{
	for (uint32_t i = 0; i < t->nlayers; i++)
		if (is_stacked(&t->layer[i]))
			return &t->layer[i];
	return NULL;
}

/* sum: [n] of the stacked layers. */
static struct extent extent_of(const struct time_chart *t, double *sum)
{
	struct extent x = { INFINITY, -INFINITY, INFINITY };
	const struct layer *stacked = first_stacked(t);

	for (uint32_t k = 0; k < t->nlayers; k++) {
		const struct layer *l = &t->layer[k];

		if (is_stacked(l))
			add_layer(sum, l);
		for (uint32_t i = 0; i < l->n && l->role != LAYER_STACK; i++) {
			extend(&x, l->mean[i]);
			extend(&x, l->min ? l->min[i] : NAN);
			extend(&x, l->max ? l->max[i] : NAN);
		}
	}
	for (uint32_t i = 0; stacked && i < stacked->n; i++)
		extend(&x, sum[i]);
	return x;
}

/* The end of the stretch that begins at point i: the next that is absent or comes late. */
static uint32_t stretch_end(const struct layer *l, const double *v, uint32_t i)
{
	double step = l->n > 1 ? (l->at[l->n - 1] - l->at[0]) / (l->n - 1) : 0;

	for (i++; i < l->n; i++)
		if (isnan(v[i]) || l->at[i] - l->at[i - 1] > GAP_STEPS * step)
			break;
	return i;
}

struct canvas {
	struct bytes *drawing;
	struct panel panel;
	struct point *point; /* room for twice as many as the longest layer has */
};

static struct point place(const struct canvas *c, double at, double v)
{
	return (struct point){ axis_place(&c->panel.x, at), axis_place(&c->panel.y, v) };
}

/* Points i to end along v, the way there and, along low (NULL: the axis), back. */
static void draw_area(struct canvas *c, const struct layer *l, uint32_t colour, const double *v,
		      const double *low)
{
	for (uint32_t i = 0, end; i < l->n; i = end) {
		uint32_t n = 0;

		end = i + 1;
		if (isnan(v[i]))
			continue;
		end = stretch_end(l, v, i);
		for (uint32_t k = i; k < end; k++)
			c->point[n++] = place(c, l->at[k], v[k]);
		for (uint32_t k = end; k-- > i;)
			c->point[n++] = place(c, l->at[k], low ? low[k] : c->panel.y.from);
		if (end - i > 1)
			shape_area(c->drawing, colour, c->point, n);
	}
}

static void draw_line(struct canvas *c, const struct layer *l, const double *v, double width)
{
	const struct pen pen = { .colour = l->colour, .width = width, .dash = l->dash };

	for (uint32_t i = 0, end; i < l->n; i = end) {
		uint32_t n = 0;

		end = i + 1;
		if (isnan(v[i]))
			continue;
		end = stretch_end(l, v, i);
		for (uint32_t k = i; k < end; k++)
			c->point[n++] = place(c, l->at[k], v[k]);
		if (n == 1) { /* a lone value is to be seen, too */
			c->point[n++] = c->point[0];
			c->point[0].x -= 1;
			c->point[1].x += 1;
		}
		shape_line(c->drawing, &pen, c->point, n);
	}
}

static bool draw_stack(struct canvas *c, const struct time_chart *t, uint32_t longest)
{
	double *sum = calloc(2 * (size_t)longest + 1, sizeof *sum), *below = sum + longest;

	for (uint32_t k = 0; sum && k < t->nlayers; k++) {
		const struct layer *l = &t->layer[k];

		if (!is_stacked(l))
			continue;
		for (uint32_t i = 0; i < l->n; i++)
			below[i] = sum[i];
		add_layer(sum, l);
		draw_area(c, l, l->colour, sum, below);
		draw_line(c,
			  &(struct layer){
				  .colour = colour_tint(l->colour, 0.3), .at = l->at, .n = l->n },
			  sum, 0.4);
	}
	free(sum);
	return sum;
}

static void draw_lines(struct canvas *c, const struct time_chart *t)
{
	for (uint32_t k = 0; k < t->nlayers; k++) {
		const struct layer *l = &t->layer[k];

		if (l->role == LAYER_AREA)
			draw_area(c, l, colour_tint(l->colour, AREA_TINT), l->mean, NULL);
	}
	for (uint32_t k = 0; k < t->nlayers; k++) {
		const struct layer *l = &t->layer[k];

		if (l->role == LAYER_STACK || !l->min || !l->max)
			continue;
		if (!first_stacked(t)) {
			draw_area(c, l, colour_tint(l->colour, BAND_TINT), l->max, l->min);
			continue;
		}
		/* A band would hide the layers. */
		draw_line(c, l, l->min, 0.3);
		draw_line(c, l, l->max, 0.3);
	}
	for (uint32_t k = 0; k < t->nlayers; k++)
		if (t->layer[k].role != LAYER_STACK)
			draw_line(c, &t->layer[k], t->layer[k].mean, 1.1);
}

static void draw_limit(struct canvas *c, const struct time_chart *t)
{
	const struct pen pen = { .colour = COLOUR_SOFT, .width = 0.9, .dash = DASH_LONG };
	const struct box *b = &c->panel.plot;
	double y = axis_place(&c->panel.y, t->limit);

	if (t->limit <= c->panel.y.to)
		shape_line(c->drawing, &pen,
			   (const struct point[]){ { b->x, y }, { b->x + b->w, y } }, 2);
}

static void draw_legend(struct canvas *c, const struct time_chart *t)
{
	struct legend_entry entry[TIMELINE_LAYERS + 1];
	char limit[LABEL_MAX], number[64];
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->nlayers && n < TIMELINE_LAYERS && !t->unnamed; i++) {
		const struct layer *l = &t->layer[i];

		if (has_values(l))
			entry[n++] = (struct legend_entry){ l->label, l->colour, l->dash,
							    l->role == LAYER_STACK };
	}
	if (isfinite(t->limit)) {
		if (t->unit == UNIT_CORES) /* a number of them, not a measurement */
			decimal_print(number, sizeof number, "%.6g", t->limit);
		else
			unit_format(t->unit, t->limit, number, sizeof number);
		snprintf(limit, sizeof limit, "%s: %s", t->limit_label, number);
		entry[n++] =
			(struct legend_entry){ limit, COLOUR_SOFT, DASH_LONG, .filled = false };
	}
	panel_legend(c->drawing, &c->panel, entry, n);
}

static void make_axes(struct canvas *c, const struct time_chart *t, const struct extent *x)
{
	bool log = t->log && isfinite(x->least_above_0);
	double max = x->max, min = x->min;

	/* A limit far above all that was used would leave nothing to see of it. */
	if (isfinite(t->limit) && t->limit <= 4 * max)
		max = fmax(max, t->limit);
	if (log)
		min = fmax(x->least_above_0, max / LOG_SPAN);
	axis_of_time(&c->panel.x, t->from_s, t->to_s);
	axis_of_values(&c->panel.y, t->unit, min, max, log);
	panel_axes(c->drawing, &c->panel, "time since the start");
}

bool time_chart_draw(struct bytes *drawing, const struct box *at, const struct time_chart *t)
{
	struct canvas c = { .drawing = drawing };
	uint32_t longest = 0;
	struct extent x;
	double *sum;

	for (uint32_t i = 0; i < t->nlayers; i++)
		longest = t->layer[i].n > longest ? t->layer[i].n : longest;
	sum = calloc(longest + 1u, sizeof *sum);
	c.point = calloc(2 * (size_t)longest + 2, sizeof *c.point);
	if (!sum || !c.point) {
		drawing->failed = true;
		x = (struct extent){ 0 };
	} else {
		x = extent_of(t, sum);
	}
	if (!drawing->failed && x.max >= x.min) {
		panel_begin(drawing, &c.panel, at, t->title, t->note);
		draw_legend(&c, t);
		make_axes(&c, t, &x);
		if (!draw_stack(&c, t, longest))
			drawing->failed = true;
		draw_lines(&c, t);
		draw_limit(&c, t);
	}
	free(sum);
	free(c.point);
	return x.max >= x.min;
}
