/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/escape.h"
#include "chart/charts.h"
#include "chart/panel.h"
#include "chart/svg.h"
#include "report/paper/plots.h"
#include "report/summary/own.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the job's own numbers ---- */

struct plots_own {
	struct own own;
	struct plot_row row[OWN_CHARTS];
	char title[OWN_CHARTS][OWN_NAME], name[OWN_CHARTS][PLOT_NAME / 2];
};

static void add(struct plots *p, uint32_t series)
{
	struct plots_own *x = p->numbers;
	const struct own_series *s = &x->own.series[series];
	uint32_t i = p->n;
	struct plot *plot = &p->plot[p->n++];

	escape_terminal_into(x->title[i], sizeof x->title[i], s->name);
	snprintf(x->name[i], sizeof x->name[i], "own-%.50s", s->name);
	x->row[i] = (struct plot_row){ .name = x->name[i],
				       .title = x->title[i],
				       .note = s->mark ? "numbers in the job's marks"
						       : "a counter of the program",
				       .source = "",
				       .kind = PLOT_OWN,
				       .metric = "",
				       .unit = UNIT_ONE };
	*plot = (struct plot){ .title = x->title[i], .row = &x->row[i], .node = series };
	snprintf(plot->name, sizeof plot->name, "%s", x->name[i]);
	plots_name(p, "");
}

int plots_own_make(struct plots *p)
{
	struct plots_own *x = p->numbers = calloc(1, sizeof *x);

	if (!x || own_of_marks(&x->own, p->run))
		return -ENOMEM;
	own_add_counters(&x->own, p->run, p->traces);
	for (uint32_t i = 0; i < x->own.nseries && p->n < OWN_CHARTS; i++)
		if (own_is_first(&x->own, i))
			add(p, i);
	return 0;
}

void plots_own_free(struct plots *p)
{
	if (p->numbers)
		own_free(&p->numbers->own);
	free(p->numbers);
}

/* The times of the only series, or a grid over all. */
static bool values_of(const struct plots *p, uint32_t first, struct own_values *v)
{
	const struct own *own = &p->numbers->own;
	bool alone = p->run->nnodes == 2;
	uint32_t n = alone ? own->series[first].npoints : plot_values_columns(p);

	if (!own_values_reserve(v, n))
		return false;
	for (uint32_t i = 0; i < n; i++)
		v->at_s[i] = alone ? own->series[first].at_s[i] : (i + 0.5) * p->to_s / n;
	return true;
}

static void own_draw(const struct plots *p, const struct plot *x, struct bytes *drawing,
		     const struct box *at)
{
	struct time_chart t = { .title = x->title, .unit = x->row->unit, .limit = NAN };
	struct own_values v;
	struct layer layer;
	char note[96];

	if (!values_of(p, x->node, &v)) {
		drawing->failed = true;
		return;
	}
	t.to_s = p->to_s;
	t.note = x->row->note;
	layer = (struct layer){
		.label = x->title, .colour = colour_named("green"), .at = v.at_s, .mean = v.mean
	};
	layer.n = v.n;
	if (own_values_of(&p->numbers->own, x->node, &v) > 1) {
		layer.min = v.least;
		layer.max = v.most;
		snprintf(note, sizeof note, "%s; mean of the nodes, least and most", x->row->note);
		t.note = note;
	}
	t.layer = &layer;
	t.nlayers = 1;
	time_chart_draw(drawing, at, &t);
	free(v.at_s);
}

/* ---- each kind of plot ---- */

enum { HEAT_COLUMNS = 300, HEAT_ROWS = 512, ROW_NAME = 80 };

static const enum layer_role roles[] = {
	[PAGE_STACK] = LAYER_STACK, [PAGE_LINE] = LAYER_LINE, [PAGE_AREA] = LAYER_AREA
};

static void sentence(const struct plot *x, struct bytes *drawing, const struct box *at,
		     const char *text)
{
	struct panel panel;

	panel_begin(drawing, &panel, at, x->title, "");
	panel_sentence(drawing, &panel, text);
}

/* What the node has, of all hosts. NAN when it is not known of one. */
static double limit_of(const struct plots *p, const char *of)
{
	const struct summary *s = p->summary;
	double sum = 0;

	for (uint32_t i = 0; of && i < s->nnodes; i++)
		if (!s->nodes[i].again)
			sum += strcmp(of, "memory") ? s->nodes[i].cores : s->nodes[i].memory_bytes;
	return of && sum > 0 ? sum : NAN;
}

static struct layer layer_of(const struct plot_values *v, const char *label, uint32_t colour,
			     enum layer_role role)
{
	return (struct layer){ .label = label,
			       .colour = colour,
			       .role = role,
			       .at = v->at,
			       .mean = v->mean,
			       .min = role == LAYER_STACK ? NULL : v->min,
			       .max = role == LAYER_STACK ? NULL : v->max,
			       .n = v->n };
}

static void draw_time_chart(const struct plots *p, const struct plot *x, struct bytes *drawing,
			    const struct box *at, struct time_chart *t)
{
	char note[160];

	t->title = x->title;
	t->note = x->row->note;
	t->unit = x->row->unit;
	t->to_s = p->to_s;
	if (p->summary->nhosts > 1 && x->row->kind != PLOT_NODE_LINES &&
	    x->row->kind != PLOT_INSTANCES) {
		snprintf(note, sizeof note, "%u nodes together%s%s", p->summary->nhosts,
			 *t->note ? "; " : "", t->note);
		t->note = note;
	}
	if (!time_chart_draw(drawing, at, t))
		sentence(x, drawing, at, "No value was read.");
}

static void draw_chart(const struct plots *p, const struct plot *x, struct bytes *drawing,
		       const struct box *at)
{
	const struct page_chart *chart = x->row->chart;
	struct plot_values values[PAGE_LINES] = { { .n = 0 } };
	struct layer layer[PAGE_LINES];
	struct time_chart t = { .layer = layer,
				.limit = limit_of(p, chart->limit_of),
				.limit_label = chart->limit_label };
	uint32_t lines = 0;

	for (size_t l = 0; l < PAGE_LINES && chart->lines[l].metric; l++) {
		const struct page_line *line = &chart->lines[l];

		if (!plot_values_of(p, line->metric, &values[l]))
			drawing->failed = true;
		if (!values[l].n || drawing->failed)
			continue;
		layer[t.nlayers] = layer_of(&values[l], line->label, colour_named(line->colour),
					    roles[line->role]);
		if (line->role != PAGE_STACK)
			layer[t.nlayers].dash = (enum dash)(lines++ % DASH_NUMBER_OF);
		t.nlayers++;
	}
	draw_time_chart(p, x, drawing, at, &t);
	for (size_t l = 0; l < PAGE_LINES; l++)
		free(values[l].at);
}

static void draw_total(const struct plots *p, const struct plot *x, struct bytes *drawing,
		       const struct box *at)
{
	struct plot_values v;
	struct layer layer;
	struct time_chart t = { .layer = &layer, .limit = NAN };

	if (!plot_values_of(p, x->row->metric, &v))
		drawing->failed = true;
	layer = layer_of(&v, x->title, colour_series(0), LAYER_AREA);
	t.nlayers = v.n && !drawing->failed;
	draw_time_chart(p, x, drawing, at, &t);
	free(v.at);
}

/* "host", of an instance "host: name"; of a single node the name alone. */
static void name_trace(const struct plots *p, const struct trace *x, char out[ROW_NAME])
{
	const char *name = x->instance ? p->run->instances[x->instance].name : NULL;
	char host[ROW_NAME];

	plots_host(p, x->node, host, sizeof host);
	if (!name)
		snprintf(out, ROW_NAME, "%s", host);
	else if (p->run->nnodes == 2)
		snprintf(out, ROW_NAME, "%s", name);
	else
		snprintf(out, ROW_NAME, "%.40s: %.30s", host, name);
}

static void draw_lines(const struct plots *p, const struct plot *x, struct bytes *drawing,
		       const struct box *at, const struct trace *trace, uint32_t n)
{
	struct plot_values values[PLOT_LINES] = { { .n = 0 } };
	char name[PLOT_LINES][ROW_NAME];
	struct layer layer[PLOT_LINES];
	struct time_chart t = { .layer = layer, .limit = NAN };

	for (uint32_t i = 0; i < n && i < PLOT_LINES; i++) {
		if (!plot_values_of_trace(p, &trace[i], &values[i])) {
			drawing->failed = true;
			break;
		}
		name_trace(p, &trace[i], name[i]);
		layer[i] = layer_of(&values[i], name[i], colour_series(i), LAYER_LINE);
		layer[i].dash = (enum dash)(i % DASH_NUMBER_OF);
		t.nlayers++;
	}
	draw_time_chart(p, x, drawing, at, &t);
	for (uint32_t i = 0; i < PLOT_LINES; i++)
		free(values[i].at);
}

/* Rows of a heat map: so many traces each, when there are more than can be distinguished. */
struct rows {
	double *value, *count, *column; /* [n * HEAT_COLUMNS], the same, [3 * HEAT_COLUMNS] */
	char (*name)[ROW_NAME];
	const char **names;
	uint32_t n, each;
};

static bool rows_make(struct rows *r, const struct plots *p, const struct trace *x, uint32_t n)
{
	size_t cells;

	r->each = (n + HEAT_ROWS - 1) / HEAT_ROWS;
	r->n = (n + r->each - 1) / r->each;
	cells = (size_t)r->n * HEAT_COLUMNS;
	r->value = calloc(cells, sizeof *r->value);
	r->count = calloc(cells, sizeof *r->count);
	r->column = calloc((size_t)3 * HEAT_COLUMNS, sizeof *r->column);
	r->name = calloc(r->n, sizeof *r->name);
	r->names = calloc(r->n, sizeof *r->names);
	if (!r->value || !r->count || !r->column || !r->name || !r->names)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		size_t first = (size_t)(i / r->each) * HEAT_COLUMNS;
		struct trace_columns c = { r->column, r->column + HEAT_COLUMNS,
					   r->column + (size_t)2 * HEAT_COLUMNS, HEAT_COLUMNS };

		traces_columns(p->traces, &x[i], &c);
		for (uint32_t k = 0; k < HEAT_COLUMNS; k++)
			if (!isnan(c.mean[k])) {
				r->value[first + k] += c.mean[k];
				r->count[first + k]++;
			}
		if (i % r->each == 0)
			name_trace(p, &x[i], r->name[i / r->each]);
	}
	for (size_t i = 0; i < cells; i++)
		r->value[i] = r->count[i] > 0 ? r->value[i] / r->count[i] : NAN;
	for (uint32_t i = 0; i < r->n; i++)
		r->names[i] = r->name[i];
	return true;
}

static void rows_free(struct rows *r)
{
	free(r->value);
	free(r->count);
	free(r->column);
	free(r->name);
	free(r->names);
}

static void draw_heatmap(const struct plots *p, const struct plot *x, struct bytes *drawing,
			 const struct box *at, const struct trace *trace, uint32_t n)
{
	struct rows rows = { .n = 0 };
	struct heatmap m = { .title = x->title,
			     .note = x->row->note,
			     .unit = x->row->unit,
			     .to_s = p->to_s,
			     .ncolumns = HEAT_COLUMNS,
			     .most = x->row->unit == UNIT_RATIO ? 1 : NAN };
	char host[ROW_NAME], note[256], title[256];

	if (!n || !rows_make(&rows, p, trace, n)) {
		drawing->failed |= n > 0;
		rows_free(&rows);
		return;
	}
	m.nrows = rows.n;
	m.name = rows.names;
	m.value = rows.value;
	if (x->row->kind == PLOT_CORES && p->run->nnodes > 2) {
		snprintf(title, sizeof title, "%s of %s", x->title,
			 plots_host(p, x->node, host, sizeof host));
		m.title = title;
	}
	if (rows.each > 1) {
		snprintf(note, sizeof note, "%s; a row is the mean of %u", x->row->note, rows.each);
		m.note = note;
	}
	if (!heatmap_draw(drawing, at, &m))
		sentence(x, drawing, at, "No value was read.");
	rows_free(&rows);
}

/* Those of one node, among all of the metric's. */
static const struct trace *of_node(const struct trace *x, uint32_t *n, uint32_t node)
{
	uint32_t first = 0, end;

	while (first < *n && x[first].node != node)
		first++;
	for (end = first; end < *n && x[end].node == node; end++)
		;
	*n = end - first;
	return *n ? x + first : NULL;
}

static void add_values(double *to, const struct trace_point *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		double v = trace_mean(&p[i]);

		if (!isnan(v))
			to[i] = isnan(to[i]) ? v : to[i] + v;
	}
}

/* A node's operations a second into operations[0..npoints): of all precisions, else their sum. */
static void node_operations(const struct plots *p, uint32_t node, double *operations)
{
	uint32_t n = p->traces->node[node].npoints, any;
	const struct trace *all = traces_of_node(p->traces, plot_operations, false, node, &any);

	for (uint32_t i = 0; i < n; i++)
		operations[i] = NAN;
	if (all)
		add_values(operations, all->point, n);
	for (int k = 0; !all && k < PLOT_PRECISIONS; k++) {
		const struct trace *x = traces_of_node(p->traces, plot_operations_by_precision[k],
						       false, node, &any);

		if (x)
			add_values(operations, x->point, n);
	}
}

/* The points of all nodes whose traffic is known in this way. False: out of memory. */
static bool fill_roofline(const struct plots *p, const struct plot_traffic *traffic,
			  struct roofline *r, double **room)
{
	uint32_t total = 0, ntraces;
	const struct trace *x = traces_of(p->traces, traffic->metric, false, &ntraces);

	for (uint32_t i = 0; i < ntraces; i++)
		total += p->traces->node[x[i].node].npoints;
	free(*room);
	*room = calloc(2 * (size_t)total + 1, sizeof **room);
	if (!*room)
		return false;
	r->n = 0;
	r->operations = *room;
	r->traffic = *room + total;
	r->bytes = traffic->words;
	for (uint32_t i = 0; i < ntraces; i++) {
		uint32_t n = p->traces->node[x[i].node].npoints;

		node_operations(p, x[i].node, *room + r->n);
		for (uint32_t k = 0; k < n; k++)
			(*room)[total + r->n + k] = trace_mean(&x[i].point[k]);
		r->n += n;
	}
	return true;
}

static void draw_roofline(const struct plots *p, const struct plot *x, struct bytes *drawing,
			  const struct box *at)
{
	struct roofline r = { .title = x->title, .note = x->row->note };
	const char *why = p->summary->counters_refused;
	double *room = NULL;
	bool drawn = false;
	char text[512];

	for (int i = 0; i < PLOT_TRAFFICS && !drawn && !drawing->failed; i++) {
		if (!fill_roofline(p, &plot_traffics[i], &r, &room))
			drawing->failed = true;
		else
			drawn = roofline_draw(drawing, at, &r);
	}
	if (!drawn && why)
		snprintf(text, sizeof text, "%s%sot counted: %s", p->summary->counters_missing,
			 *p->summary->counters_missing ? " n" : "N", why);
	if (!drawn)
		sentence(x, drawing, at, why ? text : plot_roofline_missing);
	free(room);
}

void plots_draw(const struct plots *p, const struct plot *x, struct bytes *drawing,
		const struct box *at)
{
	uint32_t n = 0;
	const struct trace *trace =
		traces_of(p->traces, x->row->metric,
			  x->row->kind == PLOT_CORES || x->row->kind == PLOT_INSTANCES, &n);

	switch (x->row->kind) {
	case PLOT_CHART:
		draw_chart(p, x, drawing, at);
		break;
	case PLOT_TOTAL:
		draw_total(p, x, drawing, at);
		break;
	case PLOT_CORES:
		trace = of_node(trace, &n, x->node);
		draw_heatmap(p, x, drawing, at, trace, n);
		break;
	case PLOT_NODES:
		draw_heatmap(p, x, drawing, at, trace, n);
		break;
	case PLOT_NODE_LINES:
		draw_lines(p, x, drawing, at, trace, n);
		break;
	case PLOT_INSTANCES:
		if (n > PLOT_LINES)
			draw_heatmap(p, x, drawing, at, trace, n);
		else
			draw_lines(p, x, drawing, at, trace, n);
		break;
	case PLOT_ROOFLINE:
		draw_roofline(p, x, drawing, at);
		break;
	case PLOT_OWN:
		own_draw(p, x, drawing, at);
		break;
	case PLOT_PERFMON_ALL:
	case PLOT_PERFMON_EACH:
		plots_perfmon_draw(p, x, drawing, at);
	}
}
