/* SPDX-License-Identifier: Apache-2.0 */
/* plots_values.c - what a plot shows of a metric: of one node its points, of several what they come
 * to together. */
#include "report/page_metric.h"
#include "report/plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 400 };

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

/* x[0..n): the traces of one metric, by node. sum and count: [COLUMNS]. */
static bool add_hosts(const struct plots *p, const struct trace *x, uint32_t n,
		      const struct metric *m, struct plot_values *out, double *count)
{
	struct plot_values one, host;
	bool of_job = strncmp(m->name, "job.", 4) == 0, good = reserve(&one, COLUMNS);

	good = reserve(&host, COLUMNS) && good;
	for (uint32_t i = 0; i < n && good; i++) {
		if (p->first[x[i].node] != x[i].node)
			continue;
		for (uint32_t c = 0; c < COLUMNS; c++)
			host.mean[c] = NAN;
		for (uint32_t k = i; k < n; k++) {
			struct trace_columns columns = { one.mean, one.min, one.max, COLUMNS };

			if (p->first[x[k].node] != x[i].node)
				continue;
			traces_columns(p->traces, &x[k], &columns);
			for (uint32_t c = 0; c < COLUMNS; c++)
				host.mean[c] = within_host(of_job, host.mean[c], one.mean[c]);
		}
		for (uint32_t c = 0; c < COLUMNS; c++) {
			count[c] += !isnan(host.mean[c]);
			out->mean[c] = over_hosts(m->over_nodes, out->mean[c], host.mean[c]);
		}
	}
	free(one.at);
	free(host.at);
	return good;
}

bool plot_values_of(const struct plots *p, const char *metric, struct plot_values *out)
{
	const struct metric *m = page_metric(p->run, metric, NULL);
	uint32_t n;
	const struct trace *x = traces_of(p->traces, metric, false, &n);
	double *count;
	bool good;

	*out = (struct plot_values){ 0 };
	if (!n || !m)
		return true;
	if (p->run->nnodes == 2)
		return plot_values_of_trace(p, x, out);
	count = calloc(COLUMNS, sizeof *count);
	good = reserve(out, COLUMNS) && count;
	for (uint32_t c = 0; c < COLUMNS && good; c++) {
		out->at[c] = (c + 0.5) * p->to_s / COLUMNS;
		out->mean[c] = NAN;
	}
	good = good && add_hosts(p, x, n, m, out, count);
	for (uint32_t c = 0; c < COLUMNS && good; c++)
		if (m->over_nodes == COMBINE_MEAN || m->over_nodes == COMBINE_NONE)
			out->mean[c] /= count[c];
	out->min = out->max = NULL;
	free(count);
	return good;
}
