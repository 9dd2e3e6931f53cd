/* SPDX-License-Identifier: Apache-2.0 */
/* plots_perfmon.c - plots as perfmon drew them: all nodes together, and a line for each. */
#include "chart/colour.h"
#include "chart/time_chart.h"
#include "report/paper/plots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 400, NAMED = 12, HOST = 80 };

/* A trace of each node; of parts of a node (packages, ...) what they add up to. */
struct hosts {
	struct trace *x;
	uint32_t n;
	bool own; /* the points are this list's */
};

static bool is_part(const struct plots *p, const struct trace *x, const char *part)
{
	const char *kind = run_label(p->run, x->instance, "kind");

	return kind && !strcmp(kind, part);
}

static bool add_part(const struct plots *p, struct hosts *h, const struct trace *x)
{
	uint32_t npoints = p->traces->node[x->node].npoints;
	struct trace *to = h->n ? &h->x[h->n - 1] : NULL;

	if (!to || to->node != x->node) {
		to = &h->x[h->n];
		*to = (struct trace){ .node = x->node,
				      .point = calloc(npoints + 1u, sizeof *to->point) };
		if (!to->point)
			return false;
		h->n++;
	}
	for (uint32_t i = 0; i < npoints; i++) {
		struct trace_point *t = &to->point[i];

		if (!(x->point[i].weight > 0))
			continue;
		t->sum += x->point[i].sum;
		t->weight = fmax(t->weight, x->point[i].weight);
		t->min += x->point[i].min;
		t->max += x->point[i].max;
	}
	return true;
}

static bool hosts_make(struct hosts *h, const struct plots *p, const struct plot_row *row)
{
	uint32_t n;
	const struct trace *x = traces_of(p->traces, row->metric, row->part != NULL, &n);
	bool good = true;

	*h = (struct hosts){ .own = row->part };
	h->x = calloc(n + 1u, sizeof *h->x);
	if (!h->x)
		return false;
	for (uint32_t i = 0; i < n && good; i++) {
		if (!row->part)
			h->x[h->n++] = x[i];
		else if (is_part(p, &x[i], row->part))
			good = add_part(p, h, &x[i]);
	}
	return good;
}

static void hosts_free(struct hosts *h)
{
	for (uint32_t i = 0; h->own && i < h->n; i++)
		free(h->x[i].point);
	free(h->x);
}

bool plots_perfmon_there(const struct plots *p, const struct plot_row *row)
{
	struct hosts h;
	bool there = hosts_make(&h, p, row) && h.n;

	hosts_free(&h);
	return there;
}

/* "CPU Load: average/node 312 %, max/node 400 %": the mean of the nodes' means, the most of any. */
static void make_title(const struct plots *p, const struct hosts *h, const struct plot_row *row,
		       char *out, size_t size)
{
	double means = 0, most = NAN;
	char mean_text[32], most_text[32];
	uint32_t known = 0;

	for (uint32_t i = 0; i < h->n; i++) {
		double sum = 0, weight = 0;

		for (uint32_t k = 0; k < p->traces->node[h->x[i].node].npoints; k++) {
			const struct trace_point *t = &h->x[i].point[k];

			sum += t->sum;
			weight += t->weight;
			if (t->weight > 0)
				most = fmax(most, (double)t->max);
		}
		if (weight > 0) {
			means += sum / weight;
			known++;
		}
	}
	snprintf(out, size, "%s: average/node %s, max/node %s", row->title,
		 unit_format(row->unit, known ? means / known : NAN, mean_text, sizeof mean_text),
		 unit_format(row->unit, most, most_text, sizeof most_text));
}

static void draw_all(const struct plots *p, const struct hosts *h, const struct plot_row *row,
		     struct bytes *drawing, const struct box *at, struct time_chart *t)
{
	double *room = calloc((size_t)6 * COLUMNS, sizeof *room);
	double *times = room, *sum = room + COLUMNS, *count = sum + COLUMNS;
	struct layer layer = { .colour = colour_series(0), .role = LAYER_AREA, .n = COLUMNS };

	if (!room) {
		drawing->failed = true;
		return;
	}
	for (uint32_t i = 0; i < h->n; i++) {
		struct trace_columns c = { count + COLUMNS, count + (size_t)2 * COLUMNS,
					   count + (size_t)3 * COLUMNS, COLUMNS };

		traces_columns(p->traces, &h->x[i], &c);
		for (uint32_t k = 0; k < COLUMNS; k++)
			if (!isnan(c.mean[k])) {
				sum[k] += c.mean[k];
				count[k]++;
			}
	}
	for (uint32_t k = 0; k < COLUMNS; k++) {
		times[k] = (k + 0.5) * p->to_s / COLUMNS;
		sum[k] = count[k] > 0 ? sum[k] / (row->total ? 1 : count[k]) : NAN;
	}
	layer.label = row->total ? "total of all nodes" : "average of all nodes";
	layer.at = times;
	layer.mean = sum;
	t->layer = &layer;
	t->nlayers = 1;
	time_chart_draw(drawing, at, t);
	free(room);
}

static void draw_each(const struct plots *p, const struct hosts *h, struct bytes *drawing,
		      const struct box *at, struct time_chart *t)
{
	struct plot_values *values = calloc(h->n + 1u, sizeof *values);
	struct layer *layer = calloc(h->n + 1u, sizeof *layer);
	char(*name)[HOST] = calloc(h->n + 1u, sizeof *name);

	if (!values || !layer || !name)
		drawing->failed = true;
	for (uint32_t i = 0; i < h->n && !drawing->failed; i++) {
		if (!plot_values_of_trace(p, &h->x[i], &values[i])) {
			drawing->failed = true;
			break;
		}
		layer[i] = (struct layer){ .label = plots_host(p, h->x[i].node, name[i], HOST),
					   .colour = colour_series(i),
					   .dash = (enum dash)(i / COLOUR_SERIES % DASH_NUMBER_OF),
					   .at = values[i].at,
					   .mean = values[i].mean,
					   .n = values[i].n };
	}
	t->layer = layer;
	t->nlayers = h->n;
	t->unnamed = h->n > NAMED;
	if (!drawing->failed)
		time_chart_draw(drawing, at, t);
	for (uint32_t i = 0; values && i < h->n; i++)
		free(values[i].at);
	free(values);
	free(layer);
	free(name);
}

void plots_perfmon_draw(const struct plots *p, const struct plot *x, struct bytes *drawing,
			const struct box *at)
{
	struct time_chart t = {
		.unit = x->row->unit, .log = x->row->log, .to_s = p->to_s, .limit = NAN
	};
	char title[200], note[64];
	struct hosts h;

	if (!hosts_make(&h, p, x->row)) {
		drawing->failed = true;
		hosts_free(&h);
		return;
	}
	make_title(p, &h, x->row, title, sizeof title);
	snprintf(note, sizeof note, "%u node%s%s", h.n, h.n == 1 ? "" : "s",
		 x->row->kind == PLOT_PERFMON_EACH && h.n > NAMED ? ", a line each" : "");
	t.title = title;
	t.note = note;
	if (x->row->kind == PLOT_PERFMON_ALL)
		draw_all(p, &h, x->row, drawing, at, &t);
	else
		draw_each(p, &h, drawing, at, &t);
	hosts_free(&h);
}
