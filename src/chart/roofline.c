/* SPDX-License-Identifier: Apache-2.0 */
#include "chart/roofline.h"

#include "chart/colour.h"
#include "chart/panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DOT 1.6

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
	for (uint32_t i = 0; i < r->n; i++)
		if (has_both(r, i))
			shape_box(d,
				  &(struct box){
					  axis_place(&p.x, r->operations[i] / r->traffic[i]) -
						  DOT / 2,
					  axis_place(&p.y, r->operations[i]) - DOT / 2, DOT, DOT },
				  colour_series(0));
	draw_roof(d, &p, &x);
	return true;
}
