/* SPDX-License-Identifier: Apache-2.0 */
#include "chart/panel.h"

#include "base/text/decimal.h"
#include "chart/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS_WANTED = 6, DECADES_MAX = 10 };

/* How an axis of a unit is scaled: by which base, and what it is called without a prefix. */
static const struct {
	const char *symbol;
	double base; /* of prefixes; 0: none */
	double factor;
} units[UNIT_NUMBER_OF] = {
	[UNIT_ONE] = { "", 1000, 1 },
	[UNIT_COUNT] = { "", 1000, 1 },
	[UNIT_RATIO] = { "%", 0, 100 },
	[UNIT_SECONDS] = { "s", 1000, 1 },
	[UNIT_BYTES] = { "B", 1024, 1 },
	[UNIT_JOULES] = { "J", 1000, 1 },
	[UNIT_HERTZ] = { "Hz", 1000, 1 },
	[UNIT_CELSIUS] = { "\u00b0C", 0, 1 },
	[UNIT_CORES] = { "cores", 0, 1 },
	[UNIT_BYTES_PER_SECOND] = { "B/s", 1000, 1 },
	[UNIT_PER_SECOND] = { "/s", 1000, 1 },
	[UNIT_WATTS] = { "W", 1000, 1 },
	[UNIT_ELAPSED_SECONDS] = { "s", 1000, 1 },
};

static void choose_prefix(struct axis *a, enum unit u, double most)
{
	static const char *const decimal[] = { "", "k", "M", "G", "T", "P", "E" };
	static const char *const binary[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
	static const char *const small[] = { "", "m", "\u00b5", "n" };
	double base = units[u].base;
	unsigned p = 0;

	a->divisor = 1 / units[u].factor;
	while (base > 0 && p < 6 && most / a->divisor >= base) {
		a->divisor *= base;
		p++;
	}
	if (p || u != UNIT_SECONDS) {
		decimal_print(a->unit, sizeof a->unit, "%s%s", (base == 1024 ? binary : decimal)[p],
			      units[u].symbol);
		return;
	}
	while (p < 3 && most > 0 && most / a->divisor < 1) {
		a->divisor /= base;
		p++;
	}
	decimal_print(a->unit, sizeof a->unit, "%s%s", small[p], units[u].symbol);
}

/* The least of the steps people like that is not smaller. */
static double nice_step(double least, bool binary)
{
	double power = pow(10, floor(log10(least)));

	if (binary)
		return exp2(ceil(log2(least) - 1e-9));
	for (const double *m = (const double[]){ 1, 2, 5, 0 }; *m > 0; m++)
		if (power * *m >= least * (1 - 1e-9))
			return power * *m;
	return power * 10;
}

/* As many decimals as tell this step from the next. */
static int decimals_of(double step)
{
	int n = 0;

	while (n < 6 && fabs(step - round(step)) > 1e-9 * fmax(fabs(step), 1e-3)) {
		step *= 10;
		n++;
	}
	return n;
}

static void add_tick(struct axis *a, double value, const char *label)
{
	if (a->nticks == AXIS_TICKS)
		return;
	a->tick[a->nticks] = value;
	decimal_print(a->label[a->nticks++], AXIS_LABEL, "%s", label);
}

static void linear_ticks(struct axis *a, double min, double max, bool binary)
{
	double low = min / a->divisor, high = max / a->divisor, step;
	int decimals;

	if (!(high > low))
		high = low + 1;
	step = nice_step((high - low) / STEPS_WANTED, binary);
	decimals = decimals_of(step);
	low = floor(low / step + 1e-9) * step;
	high = ceil(high / step - 1e-9) * step;
	a->from = low * a->divisor;
	a->to = high * a->divisor;
	for (long i = 0, n = lround((high - low) / step); i <= n; i++) {
		double v = low + (double)i * step;
		char label[AXIS_LABEL];

		v = fabs(v) < step / 2 ? 0.0 : v;
		if (step < 1e-5)
			decimal_print(label, sizeof label, "%.6g", v);
		else
			decimal_print(label, sizeof label, "%.*f", decimals, v);
		add_tick(a, v * a->divisor, label);
	}
}

static void log_ticks(struct axis *a, double min, double max)
{
	double low = floor(log10(min / a->divisor) + 1e-9);
	double high = ceil(log10(max / a->divisor) - 1e-9), every;

	if (high <= low)
		high = low + 1;
	every = ceil((high - low) / DECADES_MAX);
	a->from = pow(10, low) * a->divisor;
	a->to = pow(10, high) * a->divisor;
	for (long i = 0, n = lround((high - low) / every); i <= n; i++) {
		double d = low + (double)i * every;
		char label[AXIS_LABEL];

		if (fabs(d) > 5)
			decimal_print(label, sizeof label, "1e%.0f", d);
		else
			decimal_print(label, sizeof label, "%.*f", d < 0 ? (int)-d : 0, pow(10, d));
		add_tick(a, pow(10, d) * a->divisor, label);
	}
}

void axis_of_values(struct axis *a, enum unit unit, double min, double max, bool log)
{
	*a = (struct axis){ .log = log };
	if ((unsigned)unit >= UNIT_NUMBER_OF)
		unit = UNIT_ONE;
	if (!isfinite(min) || !isfinite(max) || min > max)
		min = max = log ? 1 : 0;
	choose_prefix(a, unit, fmax(fabs(min), fabs(max)));
	if (log)
		log_ticks(a, min, max);
	else
		linear_ticks(a, fmin(min, 0), fmax(max, 0),
			     unit == UNIT_BYTES && a->divisor >= 1024);
}

void axis_around_values(struct axis *a, enum unit unit, double min, double max)
{
	double room = max > min ? 0 : fmax(fabs(max) / 20, 1e-300);

	*a = (struct axis){ .log = false };
	choose_prefix(a, unit, fmax(fabs(min), fabs(max)));
	linear_ticks(a, min - room, max + room, unit == UNIT_BYTES && a->divisor >= 1024);
}

void axis_of_time(struct axis *a, double from_s, double to_s)
{
	static const struct {
		double upto, second;
		const char *unit;
	} rows[] = { { 120, 1, "s" },
		     { 7200, 60, "min" },
		     { 172800, 3600, "h" },
		     { INFINITY, 86400, "d" } };
	size_t r = 0;
	double length = to_s - from_s, step, first;
	int decimals;

	if (!(length > 0) || !isfinite(length))
		length = 1;
	while (length > rows[r].upto)
		r++;
	*a = (struct axis){ .from = from_s, .to = from_s + length, .divisor = rows[r].second };
	decimal_print(a->unit, sizeof a->unit, "%s", rows[r].unit);
	step = nice_step(length / a->divisor / 10, false);
	if (r == 1 && step > 10)
		step = step > 15 ? 30 : 15;
	if (r == 2 && step > 2)
		step = length > 30 * a->divisor ? 6 : 4;
	decimals = decimals_of(step);
	first = ceil(from_s / a->divisor / step - 1e-9) * step;
	for (long i = 0; i < AXIS_TICKS; i++) {
		double v = first + (double)i * step;
		char label[AXIS_LABEL];

		if (v * a->divisor > a->to * (1 + 1e-9))
			break;
		v = fabs(v) < step / 2 ? 0.0 : v;
		if (step < 1e-5)
			decimal_print(label, sizeof label, "%.6g", v);
		else
			decimal_print(label, sizeof label, "%.*f", decimals, v);
		add_tick(a, v * a->divisor, label);
	}
}

double axis_place(const struct axis *a, double value)
{
	double share;

	if (a->log)
		share = value > 0 ? log(value / a->from) / log(a->to / a->from) : 0;
	else
		share = (value - a->from) / (a->to - a->from);
	return a->begin + fmin(fmax(share, 0), 1) * a->length;
}

/* ---- panel ---- */

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
