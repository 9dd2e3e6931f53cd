/* SPDX-License-Identifier: Apache-2.0 */
/* campaign_chart.c - the charts of the benchmark page. */
#include "base/text/decimal.h"
#include "bench/campaign/campaign_page.h"
#include "chart/panel.h"
#include "report/page/page_html.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 360, HEIGHT = 220, LEFT = 58, RIGHT = 12, TOP = 22, BOTTOM = 40 };
enum { CHARTS_MAX = 12, VALUES_MAX = 12, TRIALS_MAX = 400, LABEL = 12, LETTER = 7 };

static void begin(struct bytes *b, const char *title, const char *said)
{
	bytes_puts(b, "<figure class=\"panel\"><figcaption>");
	html_text(b, title);
	bytes_printf(b, "</figcaption><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH,
		     HEIGHT);
	html_text(b, said);
	bytes_puts(b, "\">");
}

static void put_y(struct bytes *b, struct axis *y)
{
	y->begin = HEIGHT - BOTTOM;
	y->length = -(HEIGHT - TOP - BOTTOM);
	for (unsigned i = 0; i < y->nticks; i++) {
		double at = axis_place(y, y->tick[i]);

		bytes_printf(b,
			     "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text class=\"end\" x=\"%d\" "
			     "y=\"%.1f\">%s</text>",
			     LEFT, at, WIDTH - RIGHT, LEFT - 5, at + 4, y->label[i]);
	}
	bytes_printf(b, "<text x=\"4\" y=\"11\">%s</text>", y->unit);
}

/* ---- a chart for each parameter ---- */

struct chart_column {
	const char *text;
	double number;
};

static int by_number(const void *a, const void *b)
{
	const struct chart_column *x = a, *y = b;

	if (!isnan(x->number) && !isnan(y->number) && x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return strcmp(x->text, y->text);
}

/* Its values, numbers by their size; how many there were at all. */
static uint32_t find_columns(struct chart_column *x, const struct campaign *c, const char *name,
			     const struct campaign_groups *groups, uint32_t *n)
{
	uint32_t left_out = 0;

	*n = 0;
	for (uint32_t i = 0; i < groups->n; i++) {
		const char *text = campaign_text(c, groups->group[i].trial[0], name);
		uint32_t k = 0;

		while (text && k < *n && strcmp(x[k].text, text) != 0)
			k++;
		if (!text || k < *n)
			continue;
		if (*n == VALUES_MAX) {
			left_out++;
			continue;
		}
		x[*n].text = text;
		x[*n].number = decimal_of(text);
		(*n)++;
	}
	if (*n)
		qsort(x, *n, sizeof *x, by_number);
	return left_out;
}

/* What a chart shows. */
struct subject {
	const struct campaign *c;
	const struct campaign_groups *groups;
	const struct bench_figure *f;
	const char *name; /* of the parameter */
	struct axis y;
};

static void put_column(struct bytes *b, const struct subject *s, const struct chart_column *x,
		       double at)
{
	const struct campaign *c = s->c;
	const struct bench_figure *f = s->f;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->groups->n; i++) {
		const struct campaign_group *g = &s->groups->group[i];
		const char *text = campaign_text(c, g->trial[0], s->name);
		double median = campaign_median(c, g, f);

		if (!text || strcmp(text, x->text) != 0)
			continue;
		for (uint32_t k = 0; k < g->n && n < TRIALS_MAX; k++)
			if (!c->g.row[g->trial[k]].reason && isfinite(f->value[g->trial[k]])) {
				bytes_printf(b,
					     "<circle class=\"value\" cx=\"%.1f\" cy=\"%.1f\" "
					     "r=\"2.5\"/>",
					     at + (int)(n % 5) * 2 - 4,
					     axis_place(&s->y, f->value[g->trial[k]]));
				n++;
			}
		if (!isnan(median)) {
			bytes_printf(b,
				     "<a href=\"#g%u\"><path class=\"median\" d=\"M%.1f %.1fh16\"/>"
				     "<title>",
				     i + 1, at - 8, axis_place(&s->y, median));
			html_text(b, g->label);
			bytes_printf(b, ": %.5g</title></a>", median);
		}
	}
}

/* Every second one where they would lie on each other. */
static void put_labels(struct bytes *b, const struct chart_column *x, uint32_t n, double room)
{
	double widest = 0;

	for (uint32_t i = 0; i < n; i++)
		widest = fmax(widest, LETTER * fmin((double)strlen(x[i].text), LABEL));
	for (uint32_t i = 0; i<n; i += widest> room && n > 2 ? 2 : 1) {
		char label[40];

		snprintf(label, sizeof label, "%.*s%s", LABEL, x[i].text,
			 strlen(x[i].text) > LABEL ? "..." : "");
		bytes_printf(b, "<text class=\"middle\" x=\"%.1f\" y=\"%d\">",
			     LEFT + room * (i + 0.5), HEIGHT - BOTTOM + 15);
		html_text(b, label);
		bytes_puts(b, "</text>");
	}
}

static void put_chart(struct bytes *b, const struct campaign *c, const char *name,
		      const struct campaign_groups *groups, const struct bench_figure *f)
{
	struct chart_column x[VALUES_MAX];
	double min = INFINITY, max = -INFINITY, room;
	struct subject s = { .c = c, .groups = groups, .f = f, .name = name };
	char said[300];
	uint32_t n, left_out = find_columns(x, c, name, groups, &n);

	for (uint32_t i = 0; i < c->g.ntrials; i++)
		if (!c->left_out[i] && !c->g.row[i].reason && isfinite(f->value[i])) {
			min = fmin(min, f->value[i]);
			max = fmax(max, f->value[i]);
		}
	if (!n || !(min <= max))
		return;
	snprintf(said, sizeof said, "%.80s by %.80s: each trial a dot, medians as lines", f->name,
		 name);
	begin(b, name, said);
	axis_around_values(&s.y, bench_unit(f), min, max);
	put_y(b, &s.y);
	room = (WIDTH - LEFT - RIGHT) / (double)n;
	for (uint32_t i = 0; i < n; i++)
		put_column(b, &s, &x[i], LEFT + room * (i + 0.5));
	put_labels(b, x, n, room);
	if (left_out)
		bytes_printf(b, "<text x=\"%d\" y=\"%d\">%u further values are in the table</text>",
			     LEFT, HEIGHT - 6, left_out);
	bytes_puts(b, "</svg></figure>\n");
}

void campaign_chart_parameters(struct bytes *b, const struct campaign *c,
			       const struct campaign_groups *groups, const struct bench_figure *f)
{
	uint32_t charts = 0;

	bytes_puts(b, "<div class=\"multiples\">");
	for (uint32_t i = 0; i < c->g.nparameters && charts < CHARTS_MAX; i++)
		if (campaign_differs(c, groups, c->g.parameter[i].name)) {
			put_chart(b, c, c->g.parameter[i].name, groups, f);
			charts++;
		}
	if (campaign_differs(c, groups, "component")) {
		put_chart(b, c, "component", groups, f);
		charts++;
	}
	bytes_puts(b, "</div>");
	if (!charts)
		bytes_puts(b, "<p class=\"panel empty\">All trials had the same parameters.</p>");
}

/* ---- the front ---- */

struct spot {
	double x, y;
	uint32_t group;
	bool best; /* no other is less in both, or less in one and equal in the other */
};

static bool beats(const struct spot *a, const struct spot *b)
{
	return a->x <= b->x && a->y <= b->y && (a->x < b->x || a->y < b->y);
}

static int by_x(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;

	if (x->x != y->x)
		return x->x < y->x ? -1 : 1;
	return (x->y > y->y) - (x->y < y->y);
}

/* Sorted, so that what has been the least so far tells who is beaten. */
static void find_front(struct spot *s, uint32_t n)
{
	const struct spot *last = NULL;

	if (n)
		qsort(s, n, sizeof *s, by_x);
	for (uint32_t i = 0; i < n; i++) {
		s[i].best = !last || !beats(last, &s[i]);
		if (s[i].best)
			last = &s[i];
	}
}

static void put_spots(struct bytes *b, const struct campaign_groups *groups, const struct spot *s,
		      uint32_t n, const struct axis *x, const struct axis *y)
{
	const char *pen = "M";

	bytes_puts(b, "<path class=\"front\" d=\"");
	for (uint32_t i = 0; i < n; i++)
		if (s[i].best) {
			bytes_printf(b, "%s%.1f %.1f", pen, axis_place(x, s[i].x),
				     axis_place(y, s[i].y));
			pen = "L";
		}
	bytes_puts(b, "\"/>");
	for (uint32_t i = 0; i < n; i++) {
		bytes_printf(b, "<a href=\"#g%u\">", s[i].group + 1);
		if (s[i].best)
			bytes_printf(b,
				     "<rect class=\"best\" x=\"%.1f\" y=\"%.1f\" width=\"8\" "
				     "height=\"8\"/>",
				     axis_place(x, s[i].x) - 4, axis_place(y, s[i].y) - 4);
		else
			bytes_printf(b, "<circle class=\"other\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>",
				     axis_place(x, s[i].x), axis_place(y, s[i].y));
		bytes_puts(b, "<title>");
		html_text(b, groups->group[s[i].group].label);
		bytes_printf(b, ": %.4g, %.4g</title></a>", s[i].x, s[i].y);
	}
}

static void put_front(struct bytes *b, const struct campaign_groups *groups, struct spot *s,
		      uint32_t n, const char *what, enum unit unit)
{
	struct axis x, y;
	char title[80];
	double most_x = s[0].x, least_x = s[0].x, most_y = s[0].y, least_y = s[0].y;

	find_front(s, n);
	for (uint32_t i = 0; i < n; i++) {
		least_x = fmin(least_x, s[i].x);
		most_x = fmax(most_x, s[i].x);
		least_y = fmin(least_y, s[i].y);
		most_y = fmax(most_y, s[i].y);
	}
	axis_around_values(&x, UNIT_SECONDS, least_x, most_x);
	axis_around_values(&y, unit, least_y, most_y);
	x.begin = LEFT;
	x.length = WIDTH - LEFT - RIGHT;
	snprintf(title, sizeof title, "Time and %s", what);
	begin(b, title,
	      "Filled squares on a line: nothing else is better in both; circles: others");
	put_y(b, &y);
	for (unsigned i = 0; i < x.nticks; i += 2)
		bytes_printf(b, "<text class=\"middle\" x=\"%.1f\" y=\"%d\">%s</text>",
			     axis_place(&x, x.tick[i]), HEIGHT - BOTTOM + 15, x.label[i]);
	bytes_printf(b, "<text class=\"end\" x=\"%d\" y=\"%d\">duration [%s]</text>", WIDTH - RIGHT,
		     HEIGHT - 6, x.unit);
	put_spots(b, groups, s, n, &x, &y);
	bytes_puts(b, "</svg></figure>\n");
}

/* Was something drawn? */
static bool put_against(struct bytes *b, const struct campaign *c,
			const struct campaign_groups *groups, const char *figure, const char *what)
{
	const struct bench_figure *time = campaign_figure(c, "duration_seconds");
	const struct bench_figure *f = campaign_figure(c, figure);
	struct spot *s = calloc(groups->n + 1u, sizeof *s);
	uint32_t n = 0;

	for (uint32_t i = 0; i < groups->n && s; i++) {
		s[n] = (struct spot){ .x = campaign_median(c, &groups->group[i], time),
				      .y = campaign_median(c, &groups->group[i], f),
				      .group = i };
		n += isfinite(s[n].x) && isfinite(s[n].y);
	}
	if (!s)
		b->failed = true;
	else if (n)
		put_front(b, groups, s, n, what, f ? bench_unit(f) : UNIT_ONE);
	else
		bytes_printf(b,
			     "<p class=\"panel empty\">The %s of no trial is known: there is "
			     "nothing to draw, which does not mean that it was 0.</p>",
			     what);
	if (n && n < groups->n)
		bytes_printf(b,
			     "<p class=\"panel empty\">The %s of %u of %u is not known; they "
			     "are not drawn.</p>",
			     what, groups->n - n, groups->n);
	free(s);
	return n;
}

void campaign_chart_front(struct bytes *b, const struct campaign *c,
			  const struct campaign_groups *groups)
{
	bool drawn;

	bytes_puts(b, "<div class=\"multiples\">");
	drawn = put_against(b, c, groups, "energy_joules", "energy");
	drawn |= put_against(b, c, groups, "peak_memory_bytes", "peak memory");
	bytes_puts(b, "</div>");
	if (drawn)
		bytes_puts(b, "<p class=\"soft\">Filled squares on the line: no other is better "
			      "in both. Circles: some other is. Each leads to its row below.</p>");
}
