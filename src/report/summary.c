/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary.h"

#include "report/rules.h"
#include "report/summary_part.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int index_values(struct series_index *x, struct run *r, struct err *e)
{
	const struct range *range;
	uint32_t n;
	int rc = r->rewind(r);

	if (rc)
		return err_set(e, rc, "cannot read %.300s again from its start", r->path);
	while ((rc = r->next_ranges(r, &range, &n, e)) > 0) {
		for (uint32_t i = 0; i < n; i++) {
			uint32_t series = range[i].series;
			const struct metric *m;

			if (!range[i].count || series >= r->nseries)
				continue;
			m = &r->metrics[r->series[series].metric].row;
			x->last[series] = metric_value(m, range[i].last);
			x->max[series] = fmax(x->max[series], metric_value(m, range[i].max));
		}
	}
	return rc;
}

int series_index_make(struct series_index *x, struct run *r, struct err *e)
{
	x->last = malloc((r->nseries + 1) * sizeof *x->last);
	x->max = malloc((r->nseries + 1) * sizeof *x->max);
	x->next = calloc(r->nseries + 1, sizeof *x->next);
	x->first = calloc(r->ninstances + 1, sizeof *x->first);
	if (!x->last || !x->max || !x->next || !x->first)
		return err_set(e, -ENOMEM, "out of memory for the summary of %.300s", r->path);
	for (uint32_t i = 0; i < r->nseries; i++)
		x->last[i] = x->max[i] = NAN;
	for (uint32_t i = r->nseries; i-- > 1;) {
		uint32_t instance = r->series[i].instance;

		if (instance >= r->ninstances && instance)
			continue;
		x->next[i] = x->first[instance];
		x->first[instance] = i;
	}
	return index_values(x, r, e);
}

void series_index_free(struct series_index *x)
{
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

static int judge_by_builtin(struct summary *s, struct err *e)
{
	struct rules *rules;
	int rc = rules_builtin(&rules, e);

	if (rc)
		return rc;
	rules_apply(rules, s);
	rules_free(rules);
	return 0;
}

int summary_make(struct summary *out, struct run *r, struct err *e)
{
	struct series_index x = { 0 };
	int rc;

	*out = (struct summary){ .path = r->path, .start_utc_ns = r->t0_utc_ns };
	out->ndamages = r->ndamages;
	rc = series_index_make(&x, r, e);
	if (!rc)
		rc = summary_metrics_make(out, r, e);
	if (!rc)
		rc = summary_job_make(out, r, &x, e);
	if (!rc)
		rc = summary_processes_make(out, r, &x, e);
	if (!rc)
		rc = judge_by_builtin(out, e);
	series_index_free(&x);
	if (rc)
		summary_free(out);
	return rc;
}

void summary_free(struct summary *s)
{
	for (uint32_t i = 0; i < s->nmetrics; i++)
		free(s->metrics[i].name);
	free(s->metrics);
	free(s->nodes);
	free(s->commands);
	*s = (struct summary){ 0 };
}
