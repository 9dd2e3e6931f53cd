/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary.h"

#include "report/rules.h"
#include "report/summary_part.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

void series_index_add(struct series_index *x, const struct run *r, const struct range *range,
		      uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t series = range[i].series;
		const struct metric *m;

		if (!range[i].count || series >= r->nseries)
			continue;
		m = &r->metrics[r->series[series].metric].row;
		if (isnan(x->begin[series]))
			x->begin[series] = metric_value(m, range[i].first);
		x->last[series] = metric_value(m, range[i].last);
		x->max[series] = fmax(x->max[series], metric_value(m, range[i].max));
	}
}

int series_index_make(struct series_index *x, const struct run *r, struct err *e)
{
	x->begin = malloc((r->nseries + 1) * sizeof *x->begin);
	x->last = malloc((r->nseries + 1) * sizeof *x->last);
	x->max = malloc((r->nseries + 1) * sizeof *x->max);
	x->next = calloc(r->nseries + 1, sizeof *x->next);
	x->first = calloc(r->ninstances + 1, sizeof *x->first);
	if (!x->begin || !x->last || !x->max || !x->next || !x->first)
		return err_set(e, -ENOMEM, "out of memory for the summary of %.300s", r->path);
	for (uint32_t i = 0; i < r->nseries; i++)
		x->begin[i] = x->last[i] = x->max[i] = NAN;
	for (uint32_t i = r->nseries; i-- > 1;) {
		uint32_t instance = r->series[i].instance;

		if (instance >= r->ninstances && instance)
			continue;
		x->next[i] = x->first[instance];
		x->first[instance] = i;
	}
	return 0;
}

void series_index_free(struct series_index *x)
{
	free(x->begin);
	free(x->last);
	free(x->max);
	free(x->next);
	free(x->first);
	*x = (struct series_index){ 0 };
}

double series_index_last(const struct series_index *x, const struct run *r, uint32_t instance,
			 uint32_t metric)
{
	double found = NAN;

	for (uint32_t i = x->first[instance]; i; i = x->next[i])
		if (metric && r->series[i].metric == metric && !isnan(x->last[i]))
			found = x->last[i];
	return found;
}

double series_index_max(const struct series_index *x, const struct run *r, uint32_t instance,
			uint32_t metric)
{
	double found = NAN;

	for (uint32_t i = x->first[instance]; i; i = x->next[i])
		if (metric && r->series[i].metric == metric)
			found = fmax(found, x->max[i]);
	return found;
}

/* names as summary_metrics_make takes them. */
static int make(struct summary *out, struct run *r, const struct rules *builtin, const char *names,
		const char *compared, struct err *e)
{
	struct series_index x = { 0 };
	int rc;

	*out = (struct summary){ .path = r->path, .start_utc_ns = r->t0_utc_ns };
	rc = series_index_make(&x, r, e);
	if (!rc)
		rc = summary_metrics_make(out, r, names, &x, e);
	out->ndamages = r->ndamages;
	if (!rc)
		rc = summary_job_make(out, r, &x, e);
	if (!rc)
		rc = summary_energy_make(out, r, &x, e);
	if (!rc)
		rc = summary_nodes_make(out, r, compared, e);
	if (!rc)
		rc = summary_counters_make(out, r, &x, e);
	if (!rc)
		rc = summary_mechanisms_make(out, r, e);
	if (!rc)
		rc = summary_tasks_make(out, r, e);
	if (!rc)
		rc = summary_processes_make(out, r, &x, e);
	if (!rc)
		rules_apply(builtin, out);
	series_index_free(&x);
	if (rc)
		summary_free(out);
	return rc;
}

/* What rules look at, and what is compared over nodes. */
static void add_names(struct bytes *names, const struct run *r, const struct rules *builtin,
		      const struct summary_wish *w)
{
	rules_metrics(builtin, names);
	if (w->site)
		rules_metrics(w->site, names);
	if (r->nnodes > 2)
		summary_compared(names);
	if (w->compared)
		bytes_printf(names, "%s%s", names->len ? "," : "", w->compared);
	bytes_u8(names, 0);
}

int summary_make_as(struct summary *out, struct run *r, const struct summary_wish *w, struct err *e)
{
	struct bytes names = { 0 };
	struct rules *builtin;
	int rc = rules_builtin(&builtin, e);

	*out = (struct summary){ 0 };
	if (rc)
		return rc;
	if (!w->all)
		add_names(&names, r, builtin, w);
	rc = names.failed ? err_set(e, -ENOMEM, "out of memory for the summary of %.300s", r->path)
			  : make(out, r, builtin, (const char *)names.data, w->compared, e);
	bytes_free(&names);
	rules_free(builtin);
	return rc;
}

int summary_make(struct summary *out, struct run *r, struct err *e)
{
	return summary_make_as(out, r, &(struct summary_wish){ .all = true }, e);
}

int summary_make_judged(struct summary *out, struct run *r, const struct rules *site, struct err *e)
{
	return summary_make_as(out, r, &(struct summary_wish){ .site = site }, e);
}

void summary_free(struct summary *s)
{
	for (uint32_t i = 0; i < s->nmetrics; i++)
		free(s->metrics[i].name);
	free(s->metrics);
	free(s->nodes);
	free(s->hosts);
	free(s->comparisons);
	hostlist_free(&s->missing);
	hostlist_free(&s->unsynchronised);
	free(s->processes);
	free(s->commands);
	free(s->tasks);
	free(s->steps);
	free(s->mechanism);
	*s = (struct summary){ 0 };
}
