/* SPDX-License-Identifier: Apache-2.0 */
/* plots_values.c - what a plot shows of a metric: of one node its points, of several what they come
 * to together. */
#include "report/page/page_metric.h"
#include "report/paper/plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 400 };

static bool reserve(struct plot_values *v, uint32_t n)
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

	if (!reserve(out, n->npoints))
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
	good = reserve(out, columns) && sums.count && sums.order;
	good = reserve(&sums.one, columns) && reserve(&sums.host, columns) && good;
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
