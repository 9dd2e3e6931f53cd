/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_growth.c - how much counters rose: the footers' last values less their first ones.
 *
 * What several recordings of one host saw of the machine at the same time is the same: it is their
 * mean, so that it counts once.
 */
#include "report/summary/summary_part.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_of_the_node(const struct metric *m)
{
	return m->kind == KIND_COUNTER && m->storage == STORE_INT && !m->formula &&
	       (!m->domain ||
		(strcmp(m->domain, "process") != 0 && strcmp(m->domain, "gpu_process") != 0));
}

/* Not of the machine, so that each recording has its own. */
static bool is_of_the_job(const struct metric *m)
{
	static const char *const scopes[] = { "job.", "cgroup", "monitor.", "perf." };

	for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++)
		if (strncmp(m->name, scopes[i], strlen(scopes[i])) == 0)
			return true;
	return false;
}

struct span {
	double from, to, sum;
};

/* share[i]: of what node i saw of its machine, the part that no other recording saw as well.
 * [nnodes]; to be freed; NULL: out of memory. */
static double *shares(const struct run *r)
{
	uint32_t *host = calloc(r->nnodes + 1, sizeof *host);
	struct span *span = calloc(r->nnodes + 1, sizeof *span);
	double *share = calloc(r->nnodes + 1, sizeof *share);
	bool made = host && span && share && !run_hosts(r, host);

	for (uint32_t i = 0; made && i < r->nnodes; i++)
		span[i] = (struct span){ NAN, NAN, 0 };
	for (uint32_t i = 1; made && i < r->nnodes; i++) {
		struct span *all = &span[host[i]];
		double from = run_seconds(r, i, r->nodes[i].first_ns);
		double to = run_seconds(r, i, r->nodes[i].last_ns);

		if (!r->nodes[i].rows || !(to > from))
			continue;
		all->from = fmin(all->from, from);
		all->to = fmax(all->to, to);
		all->sum += to - from;
	}
	for (uint32_t i = 1; made && i < r->nnodes; i++)
		share[i] = fmin(1, (span[host[i]].to - span[host[i]].from) / span[host[i]].sum);
	free(host);
	free(span);
	if (made)
		return share;
	free(share);
	return NULL;
}

int summary_growth_make(struct summary *s, const struct run *r, const struct series_index *x,
			struct err *e)
{
	double *grown = malloc((r->nmetrics + 1) * sizeof *grown), *share = shares(r);
	bool made = grown && share;

	s->growth = calloc(r->nmetrics + 1, sizeof *s->growth);
	for (uint32_t i = 0; made && i < r->nmetrics; i++)
		grown[i] = NAN;
	for (uint32_t i = 1; made && i < r->nseries; i++) {
		const struct run_series *row = &r->series[i];
		const struct metric *m = &r->metrics[row->metric].row;
		double rise = x->last[i] - x->begin[i], *sum = &grown[row->metric];

		if (!is_of_the_node(m) || !(rise >= 0) || row->instance >= r->ninstances ||
		    row->node >= r->nnodes || r->instances[row->instance].flags & INSTANCE_ASIDE)
			continue;
		rise *= is_of_the_job(m) ? 1 : share[row->node];
		*sum = isnan(*sum) ? rise : *sum + rise;
	}
	for (uint32_t i = 1; made && s->growth && i < r->nmetrics; i++)
		if (!isnan(grown[i]))
			s->growth[s->ngrowth++] =
				(struct summary_growth){ r->metrics[i].row.name, grown[i] };
	free(grown);
	free(share);
	return made && s->growth
		       ? 0
		       : err_set(e, -ENOMEM, "out of memory for the summary of %.300s", r->path);
}

double summary_grown(const struct summary *s, const char *metric)
{
	for (uint32_t i = 0; i < s->ngrowth; i++)
		if (strcmp(s->growth[i].metric, metric) == 0)
			return s->growth[i].grown;
	return NAN;
}
