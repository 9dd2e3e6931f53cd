/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/campaign/campaign_verdict.h"

#include "bench/campaign/campaign_page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static const double margin_ratio = 0.05, level = 0.95; /* as compare's own */

/* The values of a group, with the times of their trials. */
struct values {
	double *value;
	int64_t *at;
	uint32_t n;
	bool timed;
};

static int read_values(struct values *v, const struct campaign *c, const struct campaign_group *g,
		       const struct bench_figure *f)
{
	*v = (struct values){ .value = calloc(g->n + 1u, sizeof *v->value),
			      .at = calloc(g->n + 1u, sizeof *v->at),
			      .timed = true };
	if (!v->value || !v->at)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->n; i++) {
		const struct bench_row *row = &c->g.row[g->trial[i]];

		if (row->reason || !isfinite(f->value[g->trial[i]]))
			continue;
		v->timed &= row->start_ns > 0;
		v->at[v->n] = row->start_ns;
		v->value[v->n++] = f->value[g->trial[i]];
	}
	return 0;
}

static void free_values(struct values *v)
{
	free(v->value);
	free(v->at);
}

static uint32_t count(const struct campaign *c, const struct campaign_group *g,
		      const struct bench_figure *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n; i++)
		n += !c->g.row[g->trial[i]].reason && isfinite(f->value[g->trial[i]]);
	return n;
}

static uint32_t find_best(const struct campaign *c, const struct campaign_groups *groups,
			  const struct bench_figure *f)
{
	uint32_t best = groups->n;
	double reached = NAN;

	for (uint32_t i = 0; i < groups->n; i++) {
		double median = campaign_median(c, &groups->group[i], f);
		bool better = f->sense == BENCH_LESS_IS_BETTER   ? median < reached
			      : f->sense == BENCH_MORE_IS_BETTER ? median > reached
								 : false;

		if (count(c, &groups->group[i], f) < CAMPAIGN_LEAST || isnan(median))
			continue;
		if (best == groups->n || better) {
			best = i;
			reached = median;
		}
	}
	return best;
}

static int compare_one(struct comparison_figure *out, const struct values *best,
		       const struct campaign *c, const struct campaign_group *g,
		       const struct bench_figure *f)
{
	static const struct comparison none;
	const struct compare_wish wish = { .margin_ratio = margin_ratio,
					   .margin_absolute = comparison_floor_of(&none, f->name,
										  bench_unit(f)),
					   .level = level };
	const struct sample_group a = { best->value, best->timed ? best->at : NULL, best->n };
	struct values v;
	int rc = read_values(&v, c, g, f);
	const struct sample_group b = { v.value, best->timed && v.timed ? v.at : NULL, v.n };
	const struct sample_group plain = { best->value, b.at ? a.at : NULL, best->n };

	*out = (struct comparison_figure){ .name = f->name,
					   .unit = bench_unit(f),
					   .less_is_better = f->sense == BENCH_LESS_IS_BETTER,
					   .more_is_better = f->sense == BENCH_MORE_IS_BETTER };
	if (!rc)
		rc = compare_groups(&out->result, &plain, &b, &wish);
	free_values(&v);
	return rc;
}

static int by_p(const void *a, const void *b)
{
	double x = (*(struct comparison_figure *const *)a)->result.p;
	double y = (*(struct comparison_figure *const *)b)->result.p;

	return (x > y) - (x < y);
}

/* The more are asked about, the more one of them would differ by chance. */
static int correct(struct campaign_verdicts *x)
{
	struct comparison_figure **asked = calloc(x->n + 1u, sizeof(struct comparison_figure *));
	double least = 0;
	uint32_t n = 0;

	if (!asked)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->n; i++)
		if (i != x->best && !isnan(x->of[i].result.p))
			asked[n++] = &x->of[i];
	if (n)
		qsort(asked, n, sizeof(struct comparison_figure *), by_p);
	for (uint32_t i = 0; i < n; i++) {
		struct compared *r = &asked[i]->result;

		least = fmax(least, fmin(1, r->p * (n - i)));
		r->finding = compare_finding(r, least, level);
	}
	free(asked);
	return 0;
}

int campaign_verdicts_make(struct campaign_verdicts *x, const struct campaign *c,
			   const struct campaign_groups *groups, const struct bench_figure *f,
			   struct err *e)
{
	struct values best = { 0 };
	int rc = 0;

	*x = (struct campaign_verdicts){ .of = calloc(groups->n + 1u, sizeof *x->of),
					 .n = groups->n,
					 .best = find_best(c, groups, f) };
	if (!x->of)
		rc = -ENOMEM;
	if (!rc && x->best < x->n)
		rc = read_values(&best, c, &groups->group[x->best], f);
	for (uint32_t i = 0; i < x->n && x->best < x->n && !rc; i++)
		rc = compare_one(&x->of[i], &best, c, &groups->group[i], f);
	if (!rc)
		rc = correct(x);
	free_values(&best);
	return rc ? err_set(e, rc, "out of memory for the combinations") : 0;
}

void campaign_verdicts_free(struct campaign_verdicts *x)
{
	free(x->of);
}
