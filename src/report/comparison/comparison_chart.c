/* SPDX-License-Identifier: Apache-2.0 */
/* comparison_chart.c - runs over time, and figures of runs, as SVG. */
#include "base/array.h"
#include "core/frame/frame.h"
#include "report/comparison/comparison_page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRACKS_OF_A_GROUP = 20 };
enum { WIDTH = 560, HEIGHT = 180, LEFT = 70, RIGHT = 12, TOP = 10, BOTTOM = 26 };
enum { STRIP_WIDTH = 130, STRIP_HEIGHT = 30 };

const struct comparison_chart comparison_charts[COMPARISON_CHARTS] = {
	{ "job.cpu_cores", "Cores in use", UNIT_CORES },
	{ "job.resident_bytes", "Resident memory", UNIT_BYTES },
	{ "job.processes_live_count", "Processes", UNIT_COUNT },
	{ "job.read_bytes_per_second", "Read", UNIT_BYTES_PER_SECOND },
	{ "job.written_bytes_per_second", "Written", UNIT_BYTES_PER_SECOND },
	{ "node.pressure_cpu_some_ratio", "Time in which tasks waited for a CPU", UNIT_RATIO },
};

/* ---- reading ---- */

static unsigned chart_of(const char *metric)
{
	unsigned i = 0;

	while (i < COMPARISON_CHARTS && strcmp(comparison_charts[i].metric, metric) != 0)
		i++;
	return i;
}

/* What nodes add up to; a ratio is the largest of a node. */
static void add_value(struct comparison_track *t, unsigned chart, double seconds, double v)
{
	double at = floor(seconds / t->window_s + 1e-9), *cell;

	if (chart == COMPARISON_CHARTS || !(at >= 0) || !isfinite(v))
		return;
	cell = &t->value[chart][at < COMPARISON_POINTS ? (unsigned)at : COMPARISON_POINTS - 1];
	if (isnan(*cell))
		*cell = v;
	else if (comparison_charts[chart].unit == UNIT_RATIO)
		*cell = fmax(*cell, v);
	else if (at < COMPARISON_POINTS)
		*cell += v;
}

static void add_batch(struct comparison_track *t, const struct frame_schema *schema,
		      const struct batch *b)
{
	const struct cells *metric = NULL, *seconds = NULL, *value = NULL;

	for (uint32_t i = 0; i < schema->ncolumns; i++) {
		const char *name = schema->columns[i].name;

		metric = strcmp(name, "metric") == 0 ? &b->columns[i] : metric;
		seconds = strcmp(name, "seconds") == 0 ? &b->columns[i] : seconds;
		value = strcmp(name, "value") == 0 ? &b->columns[i] : value;
	}
	for (uint32_t i = 0; metric && seconds && value && i < b->nrows; i++)
		add_value(t, chart_of(metric->s[i]), seconds->d[i], value->d[i]);
}

static int read_track(struct comparison_track *t, struct run *r, struct err *e)
{
	struct bytes globs = { 0 };
	struct selection sel = { .table = FRAME_SERIES, .combine = true, .every_s = t->window_s };
	struct frame *f = NULL;
	struct batch b;
	int rc;

	for (unsigned i = 0; i < COMPARISON_CHARTS; i++)
		bytes_printf(&globs, "%s%s", i ? "," : "", comparison_charts[i].metric);
	bytes_u8(&globs, '\0');
	sel.metrics = (const char *)globs.data;
	rc = globs.failed ? err_set(e, -ENOMEM, "out of memory") : frame_open(&f, r, &sel, e);
	while (!rc && (rc = frame_next(f, &b, e)) > 0) {
		add_batch(t, frame_schema(f), &b);
		rc = 0;
	}
	frame_close(f);
	bytes_free(&globs);
	return rc;
}

int comparison_page_add(struct comparison_page *p, enum comparison_group group, struct run *r,
			const struct summary *s, struct err *e)
{
	struct comparison_track *t;
	uint32_t before = 0;
	void *grown;

	for (uint32_t i = 0; i < p->n; i++)
		before += p->track[i].group == group;
	if (before == TRACKS_OF_A_GROUP || !(s->wall_s > 0))
		return 0;
	grown = array_room(p->track, p->n, &p->cap, sizeof *p->track);
	if (!grown)
		return err_set(e, -ENOMEM, "out of memory for the charts");
	p->track = grown;
	t = &p->track[p->n++];
	t->group = group;
	t->window_s = fmax(s->wall_s, 0.001) / COMPARISON_POINTS;
	/* No finer than what was sampled, or lines have holes. */
	if (s->interval_s > 0)
		t->window_s = fmax(t->window_s, s->interval_s);
	for (unsigned i = 0; i < COMPARISON_CHARTS; i++)
		for (unsigned k = 0; k < COMPARISON_POINTS; k++)
			t->value[i][k] = NAN;
	return read_track(t, r, e);
}

void comparison_page_free(struct comparison_page *p)
{
	free(p->track);
	*p = (struct comparison_page){ 0 };
}

/* ---- runs over time ---- */

struct scale {
	double end_s, most;
};

static struct scale scale_of(const struct comparison_page *p, unsigned chart)
{
	struct scale s = { 0, 0 };

	for (uint32_t i = 0; i < p->n; i++)
		for (unsigned k = 0; k < COMPARISON_POINTS; k++) {
			double v = p->track[i].value[chart][k];

			if (isnan(v))
				continue;
			s.end_s = fmax(s.end_s, (k + 1) * p->track[i].window_s);
			s.most = fmax(s.most, v);
		}
	return s;
}

static void line(struct bytes *b, const struct comparison_track *t, unsigned chart,
		 const struct scale *s)
{
	const char *pen = "M";

	bytes_printf(b, "<path class=\"%s\" d=\"", t->group == GROUP_A ? "a" : "b");
	for (unsigned k = 0; k < COMPARISON_POINTS; k++) {
		double v = t->value[chart][k];

		if (isnan(v))
			continue;
		bytes_printf(b, "%s%.1f %.1f", pen,
			     LEFT + (WIDTH - LEFT - RIGHT) * (k + 0.5) * t->window_s / s->end_s,
			     HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * fmax(v, 0) / s->most);
		pen = "L";
	}
	bytes_puts(b, *pen == 'L' ? "h.1\"/>" : "\"/>"); /* so that a single point is seen */
}

void comparison_chart_svg(struct bytes *b, const struct comparison_page *p, unsigned chart)
{
	const struct comparison_chart *c = &comparison_charts[chart];
	struct scale s = scale_of(p, chart);
	char most[64], end[64];

	if (!(s.end_s > 0) || !(s.most > 0))
		return;
	unit_format(c->unit, s.most, most, sizeof most);
	unit_format(UNIT_SECONDS, s.end_s, end, sizeof end);
	bytes_printf(
		b,
		"<figure><figcaption>%s</figcaption><svg class=\"chart\" viewBox=\"0 0 %d %d\" "
		"role=\"img\" aria-label=\"%s of the runs of A and B over time, at most %s\">"
		"<path class=\"axis\" d=\"M%d %dV%dH%d\"/>"
		"<text x=\"%d\" y=\"%d\" class=\"end\">%s</text>"
		"<text x=\"%d\" y=\"%d\" class=\"end\">0</text>"
		"<text x=\"%d\" y=\"%d\" class=\"end\">%s</text>",
		c->title, WIDTH, HEIGHT, c->title, most, LEFT, TOP, HEIGHT - BOTTOM, WIDTH - RIGHT,
		LEFT - 6, TOP + 5, most, LEFT - 6, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - 8, end);
	for (uint32_t i = 0; i < p->n; i++)
		line(b, &p->track[i], chart, &s);
	bytes_puts(b, "</svg></figure>\n");
}

/* ---- figures of runs ---- */

void comparison_strip_svg(struct bytes *b, const struct comparison *x,
			  const struct comparison_figure *f)
{
	double least = INFINITY, most = -INFINITY;

	for (uint32_t i = 0; i < x->nruns; i++)
		if (x->run[i].group != GROUP_HISTORY && !isnan(f->value[i])) {
			least = fmin(least, f->value[i]);
			most = fmax(most, f->value[i]);
		}
	if (!(most >= least))
		return;
	bytes_printf(b, "<svg class=\"strip\" viewBox=\"0 0 %d %d\" aria-hidden=\"true\">",
		     STRIP_WIDTH, STRIP_HEIGHT);
	for (uint32_t i = 0; i < x->nruns; i++) {
		double share = most > least ? (f->value[i] - least) / (most - least) : 0.5;
		double at = 8 + (STRIP_WIDTH - 16) * share;

		if (x->run[i].group == GROUP_HISTORY || isnan(f->value[i]))
			continue;
		if (x->run[i].group == GROUP_A)
			bytes_printf(b, "<circle class=\"a\" cx=\"%.1f\" cy=\"9\" r=\"4\"/>", at);
		else
			bytes_printf(b, "<path class=\"b\" d=\"M%.1f 18l4 8h-8z\"/>", at);
	}
	bytes_puts(b, "</svg>");
}
