/* SPDX-License-Identifier: Apache-2.0 */
#include "chart/panel.h"

#include "chart/colour.h"
#include "chart/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MARGIN = 8, RIGHT = 14, LINE_HEIGHT = 11, SWATCH = 14, LEGEND_GAP = 12, LABEL_MAX = 160 };

static const struct pen grid_pen = { .colour = COLOUR_GRID, .width = 0.5 };
static const struct pen axis_pen = { .colour = COLOUR_AXIS, .width = 0.75 };

static void segment(struct bytes *d, const struct pen *pen, struct point a, struct point b)
{
	shape_line(d, pen, (const struct point[]){ a, b }, 2);
}

static void lower_top(struct panel *p, double by)
{
	p->plot.y += by;
	p->plot.h -= by;
}

void panel_begin(struct bytes *d, struct panel *p, const struct box *at, const char *title,
		 const char *note)
{
	const struct lettering heading = { .size = PANEL_TITLE_SIZE,
					   .colour = COLOUR_INK,
					   .bold = true };
	const struct lettering soft = { .size = PANEL_LABEL_SIZE, .colour = COLOUR_SOFT };
	double width = at->w - 2 * MARGIN;
	char line[512];

	*p = (struct panel){ .whole = *at, .plot = *at };
	lower_top(p, MARGIN + PANEL_TITLE_SIZE);
	shape_text(d, &heading, (struct point){ at->x + MARGIN, p->plot.y },
		   text_fit(title, &heading, width, line, sizeof line));
	if (note && note[0]) {
		lower_top(p, LINE_HEIGHT);
		shape_text(d, &soft, (struct point){ at->x + MARGIN, p->plot.y },
			   text_fit(note, &soft, width, line, sizeof line));
	}
	lower_top(p, MARGIN);
}

static void swatch(struct bytes *d, const struct legend_entry *e, struct point at)
{
	const struct pen pen = { .colour = e->colour, .width = 1.5, .dash = e->dash };

	if (e->filled)
		shape_box(d, &(struct box){ at.x, at.y - 6, SWATCH - 4, 7 }, e->colour);
	else
		segment(d, &pen, (struct point){ at.x, at.y - 2.5 },
			(struct point){ at.x + SWATCH - 3, at.y - 2.5 });
}

void panel_legend(struct bytes *d, struct panel *p, const struct legend_entry *entry, uint32_t n)
{
	const struct lettering l = { .size = PANEL_LABEL_SIZE, .colour = COLOUR_INK };
	double left = p->whole.x + MARGIN, x = left, most = p->whole.w - 2 * MARGIN;
	char label[LABEL_MAX];

	if (!n)
		return;
	lower_top(p, PANEL_LABEL_SIZE - 2);
	for (uint32_t i = 0; i < n; i++) {
		double width;

		text_fit(entry[i].label, &l, most - SWATCH, label, sizeof label);
		width = SWATCH + text_width(label, l.size, false);
		if (x > left && x + width > left + most) {
			x = left;
			lower_top(p, LINE_HEIGHT);
		}
		swatch(d, &entry[i], (struct point){ x, p->plot.y });
		shape_text(d, &l, (struct point){ x + SWATCH, p->plot.y }, label);
		x += width + LEGEND_GAP;
	}
	lower_top(p, MARGIN);
}

static void x_axis(struct bytes *d, const struct panel *p, const char *title)
{
	const struct lettering tick = { .size = PANEL_TICK_SIZE,
					.colour = COLOUR_SOFT,
					.anchor = ANCHOR_MIDDLE };
	const struct lettering label = { .size = PANEL_LABEL_SIZE,
					 .colour = COLOUR_SOFT,
					 .anchor = ANCHOR_MIDDLE };
	double bottom = p->plot.y + p->plot.h;
	char text[LABEL_MAX];

	for (unsigned i = 0; i < p->x.nticks; i++) {
		double x = axis_place(&p->x, p->x.tick[i]);

		segment(d, &axis_pen, (struct point){ x, bottom }, (struct point){ x, bottom + 3 });
		shape_text(d, &tick, (struct point){ x, bottom + 4 + PANEL_TICK_SIZE },
			   p->x.label[i]);
	}
	segment(d, &axis_pen, (struct point){ p->plot.x, bottom },
		(struct point){ p->plot.x + p->plot.w, bottom });
	snprintf(text, sizeof text, p->x.unit[0] ? "%s [%s]" : "%s", title, p->x.unit);
	shape_text(d, &label,
		   (struct point){ p->plot.x + p->plot.w / 2, p->whole.y + p->whole.h - 4 }, text);
}

static void y_axis(struct bytes *d, const struct panel *p)
{
	const struct lettering tick = { .size = PANEL_TICK_SIZE,
					.colour = COLOUR_SOFT,
					.anchor = ANCHOR_END };
	const struct lettering label = { .size = PANEL_LABEL_SIZE,
					 .colour = COLOUR_SOFT,
					 .anchor = ANCHOR_MIDDLE,
					 .turned = true };

	for (unsigned i = 0; i < p->y.nticks; i++) {
		double y = axis_place(&p->y, p->y.tick[i]);

		segment(d, &grid_pen, (struct point){ p->plot.x, y },
			(struct point){ p->plot.x + p->plot.w, y });
		shape_text(d, &tick, (struct point){ p->plot.x - 4, y + PANEL_TICK_SIZE / 3.0 },
			   p->y.label[i]);
	}
	if (p->y.unit[0])
		shape_text(d, &label,
			   (struct point){ p->whole.x + MARGIN + PANEL_LABEL_SIZE,
					   p->plot.y + p->plot.h / 2 },
			   p->y.unit);
}

static void make_room(struct panel *p, double left)
{
	double x_labels = MARGIN + PANEL_TICK_SIZE + PANEL_LABEL_SIZE + 4;

	p->plot.x = p->whole.x + left;
	p->plot.w = p->whole.w - left - RIGHT;
	p->plot.h -= x_labels;
	p->x.begin = p->plot.x;
	p->x.length = p->plot.w;
	p->y.begin = p->plot.y + p->plot.h;
	p->y.length = -p->plot.h;
}

void panel_axes(struct bytes *d, struct panel *p, const char *x_title)
{
	double widest = 0;

	for (unsigned i = 0; i < p->y.nticks; i++)
		widest = fmax(widest, text_width(p->y.label[i], PANEL_TICK_SIZE, false));
	make_room(p, MARGIN + 1.6 * PANEL_LABEL_SIZE + widest + 4);
	y_axis(d, p);
	x_axis(d, p, x_title);
}

void panel_axis_of_rows(struct bytes *d, struct panel *p, const char *x_title, double left)
{
	make_room(p, MARGIN + left);
	x_axis(d, p, x_title);
}

void panel_sentence(struct bytes *d, const struct panel *p, const char *text)
{
	const struct lettering l = { .size = PANEL_TITLE_SIZE, .colour = COLOUR_SOFT };
	const struct box at = { p->whole.x + 3 * MARGIN, p->plot.y + 3 * LINE_HEIGHT,
				p->whole.w - 6 * MARGIN, 14 };

	text_wrap(d, &l, &at, 8, text);
}
