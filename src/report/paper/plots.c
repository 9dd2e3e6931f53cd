/* SPDX-License-Identifier: Apache-2.0 */
#include "report/paper/plots.h"

#include "report/page/page_series.h"
#include "report/summary/own.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nodes whose cores are shown: all of so many, else the most and the least used. */
enum { CORE_MAPS = 4 };

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory while drawing the plots");
}

static uint32_t recordings(const struct plots *p)
{
	return p->run->nnodes - 1;
}

const char *plots_host(const struct plots *p, uint32_t node, char *out, size_t size)
{
	run_host_name(p->run, node, p->rank[node], out, size);
	return out;
}

static bool is_by_instance(enum plot_kind kind)
{
	return kind == PLOT_CORES || kind == PLOT_INSTANCES;
}

static size_t ncharts(const struct plots *p)
{
	return p->set->charts ? npage_charts : 0;
}

void plots_wish(struct traces *t, const struct plot_set *set)
{
	for (size_t c = 0; set->charts && c < npage_charts; c++)
		for (size_t l = 0; l < PAGE_LINES && page_charts[c].lines[l].metric; l++)
			traces_wish(t, page_charts[c].lines[l].metric, false);
	for (size_t i = 0; i < set->n; i++)
		if (*set->row[i].metric)
			traces_wish(t, set->row[i].metric,
				    is_by_instance(set->row[i].kind) || set->row[i].part);
	if (!set->charts)
		return;
	traces_wish(t, own_counter, true);
	traces_wish(t, plot_operations, false);
	for (size_t i = 0; i < PLOT_PRECISIONS; i++)
		traces_wish(t, plot_operations_by_precision[i], false);
	for (size_t i = 0; i < PLOT_TRAFFICS; i++)
		traces_wish(t, plot_traffics[i].metric, false);
}

/* How many recordings have a trace of the metric, or, of a chart, of one of its lines. */
static bool has_trace(const struct plots *p, const char *metric, bool by_instance)
{
	uint32_t n;

	traces_of(p->traces, metric, by_instance, &n);
	return n > 0;
}

static bool is_there(const struct plots *p, const struct plot_row *row)
{
	bool there = false;

	if (row->kind == PLOT_ROOFLINE)
		return true;
	if (row->kind == PLOT_PERFMON_ALL || row->kind == PLOT_PERFMON_EACH)
		return plots_perfmon_there(p, row);
	for (size_t l = 0; row->chart && l < PAGE_LINES && row->chart->lines[l].metric; l++)
		there |= has_trace(p, row->chart->lines[l].metric, false);
	return row->chart ? there : has_trace(p, row->metric, is_by_instance(row->kind));
}

/* Whether so many nodes are shown in this way at all. */
static bool is_for(const struct plots *p, const struct plot_row *row)
{
	uint32_t n = recordings(p);

	switch (row->kind) {
	case PLOT_NODES:
		return n > 1;
	case PLOT_NODE_LINES:
		return n > 1 && n <= PLOT_LINES;
	default:
		return true;
	}
}

void plots_name(struct plots *p, const char *apart)
{
	struct plot *x = &p->plot[p->n - 1];

	for (char *c = x->name; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr(".-_", *c))
			*c = '_';
	for (uint32_t i = 0; i + 1 < p->n; i++)
		if (!strcmp(p->plot[i].name, x->name)) {
			snprintf(x->name, sizeof x->name, "%s-%s%u", x->row->name, apart, x->node);
			return;
		}
}

static void add(struct plots *p, const struct plot_row *row, uint32_t node)
{
	struct plot *x = &p->plot[p->n++];
	char host[64];
	size_t n;

	*x = (struct plot){ .title = row->title, .row = row, .node = node };
	snprintf(x->name, sizeof x->name, "%s", row->name);
	if (row->kind != PLOT_CORES || recordings(p) < 2)
		return;
	n = strlen(x->name);
	snprintf(x->name + n, sizeof x->name - n, "-%s", plots_host(p, node, host, sizeof host));
	plots_name(p, "node");
}

/* By the mean of all of its instances; NAN where there is none. */
static double mean_of_node(const struct plots *p, const struct trace *x, uint32_t n, uint32_t node)
{
	double sum = 0, weight = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; x[i].node == node && k < p->traces->node[node].npoints; k++) {
			sum += x[i].point[k].sum;
			weight += x[i].point[k].weight;
		}
	return weight > 0 ? sum / weight : NAN;
}

struct use {
	uint32_t node;
	double mean;
};

static int by_use(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	if (x->mean != y->mean)
		return x->mean > y->mean ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

static int add_cores(struct plots *p, const struct plot_row *row)
{
	struct use *use = calloc(p->run->nnodes, sizeof *use);
	uint32_t n, nuse = 0;
	const struct trace *x = traces_of(p->traces, row->metric, true, &n);

	if (!use)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		if (!i || x[i].node != x[i - 1].node)
			use[nuse++].node = x[i].node;
	for (uint32_t i = 0, at = 0; i < nuse && nuse > CORE_MAPS; i++) {
		uint32_t from = at;

		while (at < n && x[at].node == use[i].node)
			at++;
		use[i].mean = mean_of_node(p, x + from, at - from, use[i].node);
		if (isnan(use[i].mean))
			use[i].mean = 0;
	}
	if (nuse > CORE_MAPS)
		qsort(use, nuse, sizeof *use, by_use);
	for (uint32_t i = 0; i < nuse; i++)
		if (nuse <= CORE_MAPS || i < CORE_MAPS / 2 || i >= nuse - CORE_MAPS / 2)
			add(p, row, use[i].node);
	free(use);
	return 0;
}

static void add_missing(struct plots *p, const struct page_index *x, const struct plot_row *row)
{
	struct plot_missing *m = &p->missing[p->nmissing++];
	const char *metric = row->chart ? row->chart->lines[0].metric : row->metric;

	m->title = row->title;
	page_why_missing(p->run, x,
			 &(struct page_question){ p->run->nnodes > 1 ? 1 : 0, metric, row->source },
			 m->why, sizeof m->why);
}

static int add_row(struct plots *p, const struct page_index *x, const struct plot_row *row)
{
	if (!is_for(p, row))
		return 0;
	if (!is_there(p, row)) {
		if (!row->chart || !row->chart->optional)
			add_missing(p, x, row);
		return 0;
	}
	if (row->kind == PLOT_CORES)
		return add_cores(p, row);
	add(p, row, 0);
	return 0;
}

static int list_plots(struct plots *p)
{
	struct page_index x;
	int rc = page_index_make(&x, p->run);

	rc = rc || !p->set->charts ? rc : plots_own_make(p);
	for (size_t i = 0; i < ncharts(p) && !rc; i++)
		rc = add_row(p, &x, &p->chart[i]);
	for (size_t i = 0; i < p->set->n && !rc; i++)
		rc = add_row(p, &x, &p->set->row[i]);
	page_index_free(&x);
	return rc;
}

static bool reserve(struct plots *p)
{
	size_t most = npage_charts + p->set->n;

	p->first = calloc(p->run->nnodes + 1u, sizeof *p->first);
	p->rank = calloc(p->run->nnodes + 1u, sizeof *p->rank);
	p->plot = calloc(most + CORE_MAPS + OWN_CHARTS, sizeof *p->plot);
	p->missing = calloc(most, sizeof *p->missing);
	p->chart = calloc(npage_charts + 1, sizeof *p->chart);
	for (size_t i = 0; p->chart && i < npage_charts; i++)
		p->chart[i] = (struct plot_row){ .name = page_charts[i].id,
						 .title = page_charts[i].title,
						 .note = page_charts[i].note,
						 .source = page_charts[i].source,
						 .kind = PLOT_CHART,
						 .metric = "",
						 .unit = page_charts[i].unit,
						 .chart = &page_charts[i] };
	return p->first && p->rank && p->plot && p->missing && p->chart &&
	       !run_hosts(p->run, p->first) && !run_host_ranks(p->run, p->rank);
}

int plots_make(struct plots *p, struct run *r, const struct summary *s, const struct plot_set *set,
	       const struct traces *t, struct err *e)
{
	int rc = 0;

	*p = (struct plots){ .run = r, .summary = s, .set = set };
	p->own = calloc(1, sizeof *p->own);
	if (!reserve(p) || !p->own)
		return no_memory(e);
	p->traces = t ? t : p->own;
	if (!t) {
		plots_wish(p->own, set);
		rc = traces_read(p->own, r, e);
	}
	if (rc)
		return rc;
	p->to_s = p->traces->to_s > 0 ? p->traces->to_s : s->wall_s > 0 ? s->wall_s : 1;
	return list_plots(p) ? no_memory(e) : 0;
}

void plots_free(struct plots *p)
{
	if (p->own)
		traces_free(p->own);
	free(p->own);
	free(p->first);
	free(p->rank);
	free(p->plot);
	free(p->missing);
	free(p->chart);
	plots_own_free(p);
	*p = (struct plots){ 0 };
}

/* ---- what a plot shows of a metric: of several nodes what they come to together ---- */

enum { COLUMNS_MAX = 400 };

static bool values_reserve(struct plot_values *v, uint32_t n)
{
	*v = (struct plot_values){ .n = n };
	v->at = calloc(4 * ((size_t)n + 1), sizeof *v->at);
	if (!v->at)
		return false;
	v->mean = v->at + n;
	v->min = v->mean + n;
	v->max = v->min + n;
	return true;
}

/* Over absences that are none: points in between, for layers are added up point by point. */
static void join(const double *at, double *v, uint32_t n, uint32_t reach)
{
	uint32_t last = UINT32_MAX;

	for (uint32_t i = 0; i < n; i++) {
		if (isnan(v[i]))
			continue;
		for (uint32_t k = last + 1; last != UINT32_MAX && i - last < reach && k < i; k++)
			v[k] = v[last] + (v[i] - v[last]) * (at[k] - at[last]) / (at[i] - at[last]);
		last = i;
	}
}

bool plot_values_of_trace(const struct plots *p, const struct trace *x, struct plot_values *out)
{
	const struct trace_node *n = &p->traces->node[x->node];
	uint32_t reach = traces_reach(p->traces, x);

	if (!values_reserve(out, n->npoints))
		return false;
	for (uint32_t i = 0; i < n->npoints; i++) {
		bool there = x->point[i].weight > 0;

		out->at[i] = n->at[i];
		out->mean[i] = trace_mean(&x->point[i]);
		out->min[i] = there ? (double)x->point[i].min : NAN;
		out->max[i] = there ? (double)x->point[i].max : NAN;
	}
	join(n->at, out->mean, out->n, reach);
	join(n->at, out->min, out->n, reach);
	join(n->at, out->max, out->n, reach);
	if (n->thinned == 1)
		out->min = out->max = NULL;
	return true;
}

/* What several recordings of one host say at the same time: of the job each its own tasks, of the
 * machine all the same. */
static double within_host(bool of_job, double before, double v)
{
	if (isnan(before) || isnan(v))
		return isnan(before) ? v : before;
	return of_job ? before + v : before;
}

static double over_hosts(enum combine how, double before, double v)
{
	if (isnan(before) || isnan(v))
		return isnan(before) ? v : before;
	switch (how) {
	case COMBINE_MAX:
		return fmax(before, v);
	case COMBINE_MIN:
		return fmin(before, v);
	default:
		return before + v;
	}
}

uint32_t plot_values_columns(const struct plots *p)
{
	uint32_t n = 1;

	for (uint32_t i = 1; i < p->traces->nnodes; i++)
		n = p->traces->node[i].npoints > n ? p->traces->node[i].npoints : n;
	return n < COLUMNS_MAX ? n : COLUMNS_MAX;
}

struct of_host {
	uint32_t host, trace;
};

static int by_host(const void *a, const void *b)
{
	const struct of_host *x = a, *y = b;

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return (x->trace > y->trace) - (x->trace < y->trace);
}

/* Room for what is added up: one recording, one host. */
struct sums {
	struct plot_values one, host;
	double *count; /* [columns] hosts that had a value */
	struct of_host *order;
};

static void add_host(struct plot_values *out, struct sums *x, const struct metric *m)
{
	for (uint32_t c = 0; c < out->n; c++) {
		x->count[c] += !isnan(x->host.mean[c]);
		out->mean[c] = over_hosts(m->over_nodes, out->mean[c], x->host.mean[c]);
	}
}

/* trace[0..n): those of one metric. */
static void add_hosts(const struct plots *p, const struct trace *trace, uint32_t n,
		      const struct metric *m, struct plot_values *out, struct sums *x)
{
	struct trace_columns columns = { x->one.mean, x->one.min, x->one.max, out->n };
	bool of_job = strncmp(m->name, "job.", 4) == 0;

	for (uint32_t i = 0; i < n; i++)
		x->order[i] = (struct of_host){ p->first[trace[i].node], i };
	qsort(x->order, n, sizeof *x->order, by_host);
	for (uint32_t i = 0; i < n; i++) {
		if (!i || x->order[i].host != x->order[i - 1].host)
			for (uint32_t c = 0; c < out->n; c++)
				x->host.mean[c] = NAN;
		traces_columns(p->traces, &trace[x->order[i].trace], &columns);
		for (uint32_t c = 0; c < out->n; c++)
			x->host.mean[c] = within_host(of_job, x->host.mean[c], x->one.mean[c]);
		if (i + 1 == n || x->order[i + 1].host != x->order[i].host)
			add_host(out, x, m);
	}
}

/* Of two instances of a node that nothing can add up. */
static bool is_apart(const struct trace *x, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (x[i].node == x[i - 1].node)
			return true;
	return false;
}

bool plot_values_of(const struct plots *p, const char *metric, struct plot_values *out)
{
	const struct metric *m = page_metric(p->run, metric, NULL);
	uint32_t n, columns = plot_values_columns(p);
	const struct trace *x = traces_of(p->traces, metric, false, &n);
	struct sums sums = { 0 };
	bool good;

	*out = (struct plot_values){ 0 };
	if (!n || !m)
		return true;
	if (p->run->nnodes == 2)
		return plot_values_of_trace(p, x, out);
	if (is_apart(x, n))
		return true;
	sums.count = calloc(columns, sizeof *sums.count);
	sums.order = calloc(n, sizeof *sums.order);
	good = values_reserve(out, columns) && sums.count && sums.order;
	good = values_reserve(&sums.one, columns) && values_reserve(&sums.host, columns) && good;
	for (uint32_t c = 0; c < columns && good; c++) {
		out->at[c] = (c + 0.5) * p->to_s / columns;
		out->mean[c] = NAN;
	}
	if (good)
		add_hosts(p, x, n, m, out, &sums);
	for (uint32_t c = 0; c < columns && good; c++)
		if (m->over_nodes == COMBINE_MEAN || m->over_nodes == COMBINE_NONE)
			out->mean[c] /= sums.count[c];
	out->min = out->max = NULL;
	free(sums.one.at);
	free(sums.host.at);
	free(sums.count);
	free(sums.order);
	return good;
}
