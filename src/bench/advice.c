/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/advice.h"

#include "base/text/decimal.h"
#include "core/describe.h"
#include "core/statistics/stats.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
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
	*x = (struct candidate){ .group = g,
				 .standing = STANDING_OPEN,
				 .centre = NAN,
				 .change = NAN,
				 .low = NAN,
				 .high = NAN,
				 .p = NAN };
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
	if (!x->n)
		x->standing = STANDING_FAILED;
	return 0;
}

/* Ratios mean something when everything is positive. */
static void take_logarithms(struct advice *a)
{
	a->logs = true;
	for (uint32_t i = 0; i < a->n; i++)
		for (uint32_t k = 0; k < a->candidate[i].n; k++)
			a->logs &= a->candidate[i].value[k] > 0;
	for (uint32_t i = 0; i < a->n && a->logs; i++)
		for (uint32_t k = 0; k < a->candidate[i].n; k++)
			a->candidate[i].value[k] = log(a->candidate[i].value[k]);
}

static int find_centres(struct advice *a)
{
	const struct compare_wish wish = { .level = confidence };
	struct compared alone;

	for (uint32_t i = 0; i < a->n; i++) {
		struct candidate *x = &a->candidate[i];
		const struct sample_group g = { x->value, NULL, x->n };

		if (x->n && compare_groups(&alone, &g, &g, &wish))
			return -ENOMEM;
		if (x->n)
			x->centre = a->logs ? exp(alone.a) : alone.a;
	}
	return 0;
}

static int by_centre(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	bool first = x->standing >= STANDING_REFUSED, second = y->standing >= STANDING_REFUSED;

	if (first != second)
		return first - second;
	/* Too few trials lead nothing. */
	if ((x->n < ADVICE_LEAST) != (y->n < ADVICE_LEAST))
		return x->n < ADVICE_LEAST ? 1 : -1;
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
	if (isnan(own) || !(wanted > 0))
		return;
	x->hopeless = wanted > ADVICE_MOST;
	wanted = fmin(wanted, ADVICE_MOST);
	x->more = wanted > x->n   ? (uint32_t)wanted - x->n
		  : wanted > lead ? 0 /* the one that leads has too few */
				  : x->n;
	if (x->hopeless)
		x->more = 0;
}

static double median_of(double *room, const double *value, uint32_t n)
{
	memcpy(room, value, n * sizeof *room);
	sort_values(room, n);
	return quantile_of(room, n, 0.5);
}

/* Is what shows a difference of one mind? A drift that was taken out may make one, or turn it
 * around, of groups that were measured one after the other. */
static int agrees(const struct candidate *lead, const struct candidate *x,
		  const struct compared *plain, bool *well)
{
	uint32_t n = lead->n > x->n ? lead->n : x->n;
	double *room = calloc(n, sizeof *room), difference;

	if (!room)
		return -ENOMEM;
	difference = median_of(room, x->value, x->n);
	difference -= median_of(room, lead->value, lead->n);
	*well = (difference > 0 && plain->difference > 0 && x->against.difference > 0) ||
		(difference < 0 && plain->difference < 0 && x->against.difference < 0);
	free(room);
	return 0;
}

static double share_of(const struct advice *a, double difference)
{
	double lead = a->candidate[0].centre;

	return a->logs ? expm1(difference) : lead != 0 ? difference / fabs(lead) : (double)NAN;
}

/* What is printed: the change as measured, and an interval that has it, with drift and without. */
static void put_change(const struct advice *a, struct candidate *x, const struct compared *plain)
{
	double low = fmin(fmin(x->against.low, plain->low), plain->difference);
	double high = fmax(fmax(x->against.high, plain->high), plain->difference);

	x->change = share_of(a, plain->difference);
	x->low = isnan(x->against.low) ? (double)NAN : share_of(a, low);
	x->high = isnan(x->against.low) ? (double)NAN : share_of(a, high);
}

static enum standing standing_of(const struct candidate *x, double p, bool agreed,
				 const struct advice_wish *w)
{
	const struct compared *c = &x->against;
	enum finding_of_two f = compare_finding(c, p, confidence);
	/* A difference that is shown, and is not much smaller than what matters, is one. */
	struct compared strict = *c;
	enum finding_of_two shown;

	strict.margin = 0;
	shown = compare_finding(&strict, p, confidence);
	if (f == COMPARE_SAME && fabs(c->difference) >= c->margin / 2)
		f = shown == COMPARE_MORE || shown == COMPARE_LESS ? shown : f;
	if (f == COMPARE_SAME)
		return STANDING_SAME;
	return agreed && f == (w->more_is_better ? COMPARE_LESS : COMPARE_MORE) ? STANDING_WORSE
										: STANDING_OPEN;
}

/* With the one that leads. */
static int compare_one(struct advice *a, struct candidate *x, const struct advice_wish *w,
		       bool *agreed)
{
	const struct candidate *lead = &a->candidate[0];
	const struct compare_wish wish = { .margin_ratio = a->logs ? 0 : w->margin,
					   .margin_absolute = a->logs ? log1p(w->margin) : 0,
					   .level = confidence };
	const struct sample_group first = { lead->value, lead->at, lead->n };
	const struct sample_group second = { x->value, x->at, x->n };
	const struct sample_group first_alone = { lead->value, NULL, lead->n };
	const struct sample_group second_alone = { x->value, NULL, x->n };
	struct compared plain;
	int rc = compare_groups(&x->against, &first, &second, &wish);

	if (!rc)
		rc = compare_groups(&plain, &first_alone, &second_alone, &wish);
	if (!rc)
		rc = agrees(lead, x, &plain, agreed);
	if (!rc)
		put_change(a, x, &plain);
	return rc;
}

static int compare_all(struct advice *a, const struct advice_wish *w)
{
	const struct candidate *lead = &a->candidate[0];
	double *p = calloc(a->ntaken + 1u, sizeof *p), spread = common_spread(a);
	bool *agreed = calloc(a->ntaken + 1u, sizeof *agreed);
	int rc = p && agreed ? 0 : -ENOMEM;

	for (uint32_t i = 1; i < a->ntaken && !rc; i++) {
		rc = compare_one(a, &a->candidate[i], w, &agreed[i]);
		p[i - 1] = a->candidate[i].against.p;
	}
	if (!rc && a->ntaken > 1)
		rc = holm(p, a->ntaken - 1);
	for (uint32_t i = 1; i < a->ntaken && !rc; i++) {
		struct candidate *x = &a->candidate[i];

		x->p = p[i - 1];
		x->standing =
			x->n < ADVICE_LEAST ? STANDING_OPEN : standing_of(x, x->p, agreed[i], w);
		if (x->standing == STANDING_OPEN)
			count_repeats(x, lead->n, a->ntaken - 1, spread);
	}
	free(p);
	free(agreed);
	return rc;
}

/* Without anything that may lead, each needs trials first. */
static void ask_for_trials(struct advice *a)
{
	for (uint32_t i = 0; i < a->ntaken; i++)
		a->candidate[i].more = ADVICE_LEAST - a->candidate[i].n;
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

static int advice_next(struct advice *a, const struct campaign *c, const struct advice_wish *w);

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
	if (!rc) {
		take_logarithms(a);
		rc = find_centres(a);
	}
	if (!rc)
		sort(a, w->more_is_better);
	if (!rc && a->ntaken && a->candidate[0].n >= ADVICE_LEAST) {
		a->candidate[0].standing = STANDING_LEADS;
		rc = compare_all(a, w);
	} else if (!rc) {
		ask_for_trials(a);
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

/* What to try next: what is not told from the best yet, and what lies beside it. */

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

/* Private to advice*.c: what to try next. 0 or -ENOMEM. */
static int advice_next(struct advice *a, const struct campaign *c, const struct advice_wish *w)
{
	if (!a->ntaken)
		return 0;
	add_repeats(a, w);
	for (uint32_t i = 0; i < c->g.nparameters; i++)
		add_neighbours_of(a, c, i);
	return 0;
}
