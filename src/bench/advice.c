/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/advice.h"

#include "core/holm.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double confidence = 0.95;

const char *standing_name(enum standing s)
{
	static const char *const names[] = { "leads",   "same",    "open",  "worse",
					     "refused", "unknown", "failed" };

	_Static_assert(sizeof names / sizeof names[0] == STANDING_NUMBER_OF, "a name each");
	return names[s];
}

const char *advice_verdict_name(enum advice_verdict v)
{
	static const char *const names[] = { "nothing", "single", "undecided", "tie", "winner" };

	_Static_assert(sizeof names / sizeof names[0] == ADVICE_NUMBER_OF, "a name each");
	return names[v];
}

/* ---- candidates ---- */

/* A trial that ended well and breaks a constraint refuses the candidate; one that keeps it, at
 * least, has to say so. */
static void constrain(struct candidate *x, const struct campaign *c, const struct advice_wish *w)
{
	for (uint32_t i = 0; i < w->nconstraints; i++) {
		bool kept = false;

		for (uint32_t k = 0; k < x->group->n; k++) {
			uint32_t trial = x->group->trial[k];
			int holds = c->g.row[trial].reason
					    ? -1
					    : campaign_holds(c, &w->constraint[i], trial);

			kept |= holds == 1;
			if (holds == 0) {
				x->standing = STANDING_REFUSED;
				x->broken = w->text[i];
				return;
			}
		}
		if (!kept && x->standing == STANDING_OPEN) {
			x->standing = STANDING_UNKNOWN;
			x->broken = w->text[i];
		}
	}
}

static int take(struct candidate *x, const struct campaign *c, const struct campaign_group *g,
		const struct bench_figure *f)
{
	struct compared alone;
	const struct compare_wish wish = { .level = confidence };

	*x = (struct candidate){ .group = g, .standing = STANDING_OPEN, .centre = NAN, .p = NAN };
	x->value = calloc(g->n + 1u, sizeof *x->value);
	x->at = calloc(g->n + 1u, sizeof *x->at);
	if (!x->value || !x->at)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->n; i++) {
		const struct bench_row *r = &c->g.row[g->trial[i]];

		if (r->reason) {
			x->nfailed++;
			x->reason = r->reason;
		} else if (isfinite(f->value[g->trial[i]])) {
			x->value[x->n] = f->value[g->trial[i]];
			x->at[x->n++] = r->start_ns;
		}
	}
	if (!x->n) {
		x->standing = STANDING_FAILED;
		return 0;
	}
	if (compare_groups(&alone, &(struct sample_group){ x->value, NULL, x->n },
			   &(struct sample_group){ x->value, NULL, x->n }, &wish))
		return -ENOMEM;
	x->centre = alone.a;
	return 0;
}

static int by_centre(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	bool first = x->standing >= STANDING_REFUSED, second = y->standing >= STANDING_REFUSED;

	if (first != second)
		return first - second;
	if (x->centre != y->centre && !(isnan(x->centre) && isnan(y->centre)))
		return isnan(x->centre)        ? 1
		       : isnan(y->centre)      ? -1
		       : x->centre < y->centre ? -1
					       : 1;
	return (x->group->trial[0] > y->group->trial[0]) -
	       (x->group->trial[0] < y->group->trial[0]);
}

/* Those that may be taken, best first. */
static void sort(struct advice *a, bool more_is_better)
{
	for (uint32_t i = 0; i < a->n && more_is_better; i++)
		a->candidate[i].centre = -a->candidate[i].centre;
	if (a->n)
		qsort(a->candidate, a->n, sizeof *a->candidate, by_centre);
	for (uint32_t i = 0; i < a->n && more_is_better; i++)
		a->candidate[i].centre = -a->candidate[i].centre;
	while (a->ntaken < a->n && a->candidate[a->ntaken].standing < STANDING_REFUSED)
		a->ntaken++;
}

/* ---- what is shown ---- */

/* How much single values vary, of all candidates together; NAN: none was repeated. */
static double common_spread(const struct advice *a)
{
	double squares = 0, df = 0;

	for (uint32_t i = 0; i < a->ntaken; i++) {
		const struct candidate *x = &a->candidate[i];
		double mean = 0;

		for (uint32_t k = 0; k < x->n; k++)
			mean += x->value[k] / x->n;
		for (uint32_t k = 0; k < x->n; k++)
			squares += (x->value[k] - mean) * (x->value[k] - mean);
		df += x->n - 1.0;
	}
	return df > 0 ? sqrt(squares / df) : (double)NAN;
}

/* How many more an answer takes, with the likeness of neighbours and the number of questions. */
static void count_repeats(struct candidate *x, uint32_t lead, uint32_t questions, double spread)
{
	double own = isnan(x->against.spread) ? spread : x->against.spread, wanted;

	wanted = compare_repeats(own, x->against.margin, 1 - (1 - confidence) / questions);
	wanted = fmax(ceil(wanted * x->against.widened * x->against.widened), ADVICE_LEAST);
	if (isnan(own) || !(wanted > 0) || wanted > 1e6)
		return;
	x->more = wanted > x->n   ? (uint32_t)wanted - x->n
		  : wanted > lead ? 0 /* the one that leads has too few */
				  : x->n;
}

static int compare_all(struct advice *a, const struct advice_wish *w)
{
	const struct candidate *lead = &a->candidate[0];
	const struct compare_wish wish = { .margin_ratio = w->margin, .level = confidence };
	const struct sample_group first = { lead->value, lead->at, lead->n };
	double *p = calloc(a->ntaken + 1u, sizeof *p), spread = common_spread(a);
	int rc = p ? 0 : -ENOMEM;

	for (uint32_t i = 1; i < a->ntaken && !rc; i++) {
		struct candidate *x = &a->candidate[i];

		rc = compare_groups(&x->against, &first,
				    &(struct sample_group){ x->value, x->at, x->n }, &wish);
		p[i - 1] = x->against.p;
	}
	if (!rc && a->ntaken > 1)
		rc = holm(p, a->ntaken - 1);
	for (uint32_t i = 1; i < a->ntaken && !rc; i++) {
		struct candidate *x = &a->candidate[i];
		enum finding_of_two f = compare_finding(&x->against, p[i - 1], confidence);

		bool few = x->n < ADVICE_LEAST || lead->n < ADVICE_LEAST;

		x->p = p[i - 1];
		x->standing = few                 ? STANDING_OPEN
			      : f == COMPARE_SAME ? STANDING_SAME
			      : f == (w->more_is_better ? COMPARE_LESS : COMPARE_MORE)
				      ? STANDING_WORSE
				      : STANDING_OPEN;
		if (x->standing == STANDING_OPEN)
			count_repeats(x, lead->n, a->ntaken - 1, spread);
	}
	free(p);
	return rc;
}

static void judge(struct advice *a)
{
	uint32_t count[STANDING_NUMBER_OF] = { 0 };

	for (uint32_t i = 0; i < a->ntaken; i++)
		count[a->candidate[i].standing]++;
	a->verdict = !a->ntaken             ? ADVICE_NOTHING
		     : a->ntaken == 1       ? ADVICE_SINGLE
		     : count[STANDING_OPEN] ? ADVICE_UNDECIDED
		     : count[STANDING_SAME] ? ADVICE_TIE
					    : ADVICE_WINNER;
}

int advice_make(struct advice *a, const struct campaign *c, const struct campaign_groups *groups,
		const struct bench_figure *f, const struct advice_wish *w, struct err *e)
{
	int rc = 0;

	*a = (struct advice){ .candidate = calloc(groups->n + 1u, sizeof *a->candidate) };
	if (!a->candidate)
		return err_set(e, -ENOMEM, "out of memory for the candidates");
	for (uint32_t i = 0; i < c->g.ntrials; i++)
		a->nsilent += !c->left_out[i] && !campaign_said(c, i);
	for (uint32_t i = 0; i < groups->n && !rc; i++) {
		struct candidate *x = &a->candidate[a->n++];

		rc = take(x, c, &groups->group[i], f);
		if (!rc && x->n)
			constrain(x, c, w);
	}
	if (!rc)
		sort(a, w->more_is_better);
	if (!rc && a->ntaken) {
		a->candidate[0].standing = STANDING_LEADS;
		rc = compare_all(a, w);
	}
	if (!rc) {
		judge(a);
		rc = advice_next(a, c, w);
	}
	return rc ? err_set(e, rc, "out of memory for the candidates") : 0;
}

void advice_free(struct advice *a)
{
	for (uint32_t i = 0; i < a->n; i++) {
		free(a->candidate[i].value);
		free(a->candidate[i].at);
	}
	free(a->candidate);
	pool_free(&a->pool);
	*a = (struct advice){ 0 };
}
