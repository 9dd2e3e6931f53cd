/* SPDX-License-Identifier: Apache-2.0 */
/* advice_next.c - what to try next: what is not told from the best yet, and what lies beside it. */
#include "base/text/decimal.h"
#include "bench/advice.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 256 };

static struct advice_step *add(struct advice *a, uint32_t candidate)
{
	if (a->nsteps == ADVICE_STEPS)
		return NULL;
	a->step[a->nsteps] = (struct advice_step){ .candidate = candidate };
	return &a->step[a->nsteps++];
}

/* ---- repeats ---- */

/* The one that might be best by most comes first: that is how far its interval reaches beyond what
 * leads, as an upper confidence bound; one whose spread is not known might be anything. */
static double promise(const struct candidate *x, bool more_is_better)
{
	if (isnan(x->against.low))
		return INFINITY;
	return more_is_better ? x->against.high : -x->against.low;
}

static bool is_step(const struct advice *a, uint32_t candidate)
{
	for (uint32_t i = 0; i < a->nsteps; i++)
		if (a->step[i].candidate == candidate)
			return true;
	return false;
}

/* What would take more trials than are worth it is not repeated. */
static bool may_be_decided(const struct candidate *x)
{
	return x->standing == STANDING_OPEN && !x->hopeless;
}

static void add_repeats(struct advice *a, const struct advice_wish *w)
{
	uint32_t most = 0, open = 0, first = a->candidate[0].standing == STANDING_LEADS;

	for (uint32_t i = first; i < a->ntaken; i++)
		if (may_be_decided(&a->candidate[i])) {
			open++;
			most = a->candidate[i].n + a->candidate[i].more > most
				       ? a->candidate[i].n + a->candidate[i].more
				       : most;
		}
	for (uint32_t turn = 0; turn < open && turn < ADVICE_STEPS / 2; turn++) {
		uint32_t best = a->ntaken;
		struct advice_step *s;

		for (uint32_t i = first; i < a->ntaken; i++)
			if (may_be_decided(&a->candidate[i]) && !is_step(a, i) &&
			    (best == a->ntaken ||
			     promise(&a->candidate[i], w->more_is_better) >
				     promise(&a->candidate[best], w->more_is_better)))
				best = i;
		s = best < a->ntaken ? add(a, best) : NULL;
		if (!s)
			break;
		s->repeats = a->candidate[best].more ? a->candidate[best].more : ADVICE_LEAST;
		snprintf(s->why, sizeof s->why, "%s",
			 a->candidate[best].n < ADVICE_LEAST ||
					 isnan(a->candidate[best].against.low)
				 ? "too few trials to know how much it varies"
				 : "it might be better than what leads: its interval reaches "
				   "beyond");
	}
	most = open && most < ADVICE_LEAST ? ADVICE_LEAST : most;
	if (first && open && most > a->candidate[0].n) {
		struct advice_step *s = add(a, 0);

		if (s) {
			s->repeats = most - a->candidate[0].n;
			snprintf(s->why, sizeof s->why, "the leader is compared with each of them");
		}
	} else if (a->verdict == ADVICE_SINGLE && a->candidate[0].n < ADVICE_LEAST) {
		struct advice_step *s = add(a, 0);

		if (s) {
			s->repeats = ADVICE_LEAST - a->candidate[0].n;
			snprintf(s->why, sizeof s->why, "how much it varies is not known");
		}
	}
}

/* ---- neighbours ---- */

struct values {
	const char *text[VALUES_MAX];
	double number[VALUES_MAX];
	uint32_t n;
	bool numbers;
};

static const char *said(const struct advice *a, const struct campaign *c, uint32_t candidate,
			uint32_t parameter)
{
	return c->g.parameter[parameter].text[a->candidate[candidate].group->trial[0]];
}

/* Each value that was tried of a parameter, failed ones too. */
static void find_values(struct values *v, const struct advice *a, const struct campaign *c,
			uint32_t parameter)
{
	*v = (struct values){ .numbers = true };
	for (uint32_t i = 0; i < a->n && v->n < VALUES_MAX; i++) {
		const char *text = said(a, c, i, parameter);
		uint32_t k = 0;

		while (text && k < v->n && strcmp(v->text[k], text) != 0)
			k++;
		if (!text || k < v->n)
			continue;
		v->number[v->n] = decimal_of(text);
		v->numbers &= isfinite(v->number[v->n]);
		v->text[v->n++] = text;
	}
}

/* Was what leads tried with another value of one parameter? */
static bool was_tried(const struct advice *a, const struct campaign *c, uint32_t parameter,
		      const char *value)
{
	for (uint32_t i = 0; i < a->n; i++) {
		bool alike = true;

		for (uint32_t k = 0; k < c->g.nparameters && alike; k++) {
			const char *wanted = k == parameter ? value : said(a, c, 0, k);
			const char *has = said(a, c, i, k);

			alike = wanted && has ? !strcmp(wanted, has) : wanted == has;
		}
		if (alike)
			return true;
	}
	return false;
}

static void add_value(struct advice *a, const struct campaign *c, uint32_t parameter,
		      const char *value, const char *why)
{
	struct advice_step *s;

	if (!value || was_tried(a, c, parameter, value))
		return;
	s = add(a, 0);
	if (!s)
		return;
	s->repeats = ADVICE_LEAST;
	s->parameter = c->g.parameter[parameter].name;
	s->value = value;
	snprintf(s->why, sizeof s->why, "%s", why);
}

/* One step further than what was tried, in the ratio or distance of the last two values. */
static void add_beyond(struct advice *a, const struct campaign *c, uint32_t parameter, double last,
		       double before)
{
	double next = before > 0 && last > 0 ? last * (last / before) : last + (last - before);
	bool whole = last == floor(last) && before == floor(before);
	char text[40];

	if (!isfinite(next) || next == last)
		return;
	if (whole) {
		next = round(next);
		if (next < 1 && last >= 1)
			return;
	}
	decimal_print(text, sizeof text, whole ? "%.15g" : "%.6g", next);
	add_value(a, c, parameter, pool_text(&a->pool, text, strlen(text)),
		  "what leads lies at the edge of what was tried");
}

static void add_neighbours_of(struct advice *a, const struct campaign *c, uint32_t parameter)
{
	const char *lead = said(a, c, 0, parameter);
	double here, below = -INFINITY, above = INFINITY;
	const char *low = NULL, *high = NULL;
	struct values v;

	find_values(&v, a, c, parameter);
	if (!lead || v.n < 2)
		return;
	for (uint32_t i = 0; i < v.n && !v.numbers; i++)
		add_value(a, c, parameter, v.text[i], "tried with other parameters only");
	if (!v.numbers)
		return;
	here = decimal_parse(lead, NULL);
	for (uint32_t i = 0; i < v.n; i++) {
		if (v.number[i] < here && v.number[i] > below) {
			below = v.number[i];
			low = v.text[i];
		}
		if (v.number[i] > here && v.number[i] < above) {
			above = v.number[i];
			high = v.text[i];
		}
	}
	add_value(a, c, parameter, low, "the next value below, tried with other parameters only");
	add_value(a, c, parameter, high, "the next value above, tried with other parameters only");
	if (!high && low)
		add_beyond(a, c, parameter, here, below);
	if (!low && high)
		add_beyond(a, c, parameter, here, above);
}

int advice_next(struct advice *a, const struct campaign *c, const struct advice_wish *w)
{
	if (!a->ntaken)
		return 0;
	add_repeats(a, w);
	for (uint32_t i = 0; i < c->g.nparameters; i++)
		add_neighbours_of(a, c, i);
	return 0;
}
