/* SPDX-License-Identifier: Apache-2.0 */
#include "chart/time_chart.h"

#include "base/text/decimal.h"
#include "chart/colour.h"
#include "chart/panel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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
