/* SPDX-License-Identifier: Apache-2.0 */
#include "chart/roofline.h"

#include "chart/colour.h"
#include "chart/panel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOT 1.6

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
