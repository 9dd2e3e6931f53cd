/* SPDX-License-Identifier: Apache-2.0 */
#include "core/statistics/change.h"

#include "base/array.h"
#include "base/random.h"
#include "core/describe.h"
#include "core/statistics/compare.h"
#include "core/statistics/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How often chance is asked; when it has won as often as REFUTED, the answer is no. Of few values
 * MORE times as often, which costs little. */
enum { SIMULATIONS = 999, REFUTED = 10, MORE = 5, SEED = 20261122 };
static const double level = REFUTED / (double)(SIMULATIONS + 1);
/* Turns in which the likeness and the place are found from each other. */
enum { TURNS = 2 };
/* What is as unlikely as this for each place by itself needs no simulation, from so many values on.
 */
static const double plain_level = 1e-6;
enum { PLAIN_FROM = 50 };
/* Ranks of a series of so few values cannot show how large a step is: their sizes are tested, too;
 * and how alike neighbours are is known badly: it is drawn to 0 by what so many further values say
 * that are not (bench/history_steps.c). */
enum { SIZES_BELOW = 50, LIKENESS_PRIOR = 8 };
static const double likeness_most = 0.95;
/* Standard errors of what is worth a closer look. */
static const double rough_strength = 3;

struct place {
	uint32_t at;
	double share; /* of the squares that a change here explains; 0: none is possible */
	double rho;
};

struct work {
	double *score; /* [n] of a segment */
	double *size;  /* [n] its values */
	double *share; /* [n] that a change at each place explains; 0 where none may be */
	double *made;  /* [n] what chance does */
	bool few;      /* values there are in all */
};

/* ---- one change ---- */

/* The place where a step explains most, when neighbours are alike by rho: generalised least squares
 * of a level and a step in noise of the first order, as Wang 2008 (J. Appl. Meteor. Climatol. 47,
 * 2423) has it; the squares are those of the innovations, the first value's scaled to be one. share
 * [n] may be NULL. */
static struct place scan(const double *y, uint32_t n, double rho, double *share)
{
	double rest = 1 - rho, first = sqrt(1 - rho * rho), later = 0;
	double aa = first * first + (n - 1) * rest * rest, ay, yy;
	struct place best = { .rho = rho };

	ay = first * first * y[0];
	yy = first * first * y[0] * y[0];
	for (uint32_t i = 1; i < n; i++) {
		double w = y[i] - rho * y[i - 1];

		ay += rest * w;
		yy += w * w;
	}
	yy -= ay * ay / aa; /* what a level alone leaves */
	for (uint32_t k = n - 1; k > 0; k--) {
		double w = y[k] - rho * y[k - 1], sy = w + rest * later;
		double ss = 1 + (n - 1 - k) * rest * rest;
		double left, gain, as;

		as = rest + (n - 1 - k) * rest * rest;
		later += w;
		if (share)
			share[k] = 0;
		if (k < CHANGE_SIDE || k > n - CHANGE_SIDE || !(yy > 0))
			continue;
		left = sy - as * ay / aa;
		gain = left * left / (ss - as * as / aa) / yy;
		if (share)
			share[k] = gain;
		if (gain >= best.share) {
			best.share = gain;
			best.at = k;
		}
	}
	return best;
}

/* The correlation of neighbours when the levels before and from k on are taken out, without what
 * that does to it (Kendall 1954, for each of the levels). Less than 0 is taken for 0. */
static double likeness_of(const double *y, uint32_t n, uint32_t k, bool few)
{
	double mean[2] = { 0, 0 }, squares = 0, products = 0, last = 0;
	double drawn = few ? n / (n + (double)LIKENESS_PRIOR) : 1;

	for (uint32_t i = 0; i < n; i++)
		mean[i >= k] += y[i] / (i >= k ? n - k : k);
	for (uint32_t i = 0; i < n; i++) {
		double e = y[i] - mean[i >= k];

		squares += e * e;
		products += e * last;
		last = e;
	}
	if (!(squares > 0) || n <= 6)
		return 0;
	return fmin(fmax(drawn * (n * products / squares + 2) / (n - 6.0), 0), likeness_most);
}

static struct place find(const double *y, uint32_t n, bool few)
{
	struct place p = scan(y, n, 0, NULL);

	for (int turn = 0; turn < TURNS && p.share > 0; turn++)
		p = scan(y, n, likeness_of(y, n, p.at, few), NULL);
	return p;
}

/* How many standard errors a step is. */
static double strength_of(const struct place *p, uint32_t n)
{
	return sqrt(p->share / fmax(1 - p->share, 1e-300) * (n - 3));
}

/* How often series without a change, whose neighbours are as alike, have a place that explains as
 * much (a Monte Carlo test, Besag and Clifford 1991: it ends when chance has won often enough). */
static double chance_of(const struct place *p, uint32_t n, const struct work *w)
{
	struct random r = { SEED + n };
	double fresh = sqrt(1 - p->rho * p->rho);
	uint32_t won = 0, more = w->few ? MORE : 1;
	double *made = w->made;

	if (n >= PLAIN_FROM && student_beyond(strength_of(p, n), n - 3) * n < plain_level)
		return 1.0 / (SIMULATIONS + 1);
	for (uint32_t i = 1; i < more * (SIMULATIONS + 1); i++) {
		made[0] = random_normal(&r);
		for (uint32_t k = 1; k < n; k++)
			made[k] = p->rho * made[k - 1] + fresh * random_normal(&r);
		won += find(made, n, w->few).share >= p->share;
		if (won == more * REFUTED)
			return fmax(level, won / (double)i);
	}
	return fmax(won + 1, more) / (more * (SIMULATIONS + 1.0));
}

/* ---- ranks ---- */

struct ranked {
	double v;
	uint32_t at;
};

static int by_value(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->v != y->v)
		return x->v < y->v ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* Normal scores of the ranks (Blom 1958); equal values get that of their mean rank. */
static int score(double *out, const double *value, uint32_t n)
{
	struct ranked *r = calloc(n, sizeof *r);

	if (!r)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		r[i] = (struct ranked){ value[i], i };
	qsort(r, n, sizeof *r, by_value);
	for (uint32_t i = 0, end; i < n; i = end) {
		double rank, z;

		for (end = i + 1; end < n && r[end].v == r[i].v;)
			end++;
		rank = (i + 1 + end) / 2.0;
		z = -student_quantile((rank - 0.375) / (n + 0.25), 1e15);
		for (uint32_t k = i; k < end; k++)
			out[r[k].at] = z;
	}
	free(r);
	return 0;
}

/* ---- sizes ---- */

/* Values from the first one on, so that squares of large ones that hardly differ keep their digits.
 */
static void take_sizes(double *out, const double *value, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		out[i] = value[i] - value[0];
}

/* ---- several changes ---- */

static int add(struct changes *c, const struct change *new)
{
	void *grown = array_room(c->change, c->n, &c->cap, sizeof *c->change);

	if (!grown)
		return -ENOMEM;
	c->change = grown;
	c->change[c->n++] = *new;
	return 0;
}

/* How alike neighbours are whatever levels there are, from what differences over two places and
 * over one have of squares (as Chakar et al. 2017, Bernoulli 23, 1408, with their medians). */
static double rough_likeness(const double *y, uint32_t n)
{
	double one = 0, two = 0;

	for (uint32_t i = 2; i < n; i++) {
		one += (y[i] - y[i - 1]) * (y[i] - y[i - 1]);
		two += (y[i] - y[i - 2]) * (y[i] - y[i - 2]);
	}
	return one > 0 ? fmin(fmax(two / one - 1, 0), likeness_most) : 0;
}

/* Binary segmentation (Vostrikova 1981): what is left and right of a change is asked again. These
 * are candidates: what is left of them is for prune(). */
static int split(struct changes *c, const double *value, uint32_t from, uint32_t to, struct work *w)
{
	uint32_t n = to - from;
	struct place p;
	int rc;

	if (n < CHANGE_LEAST)
		return 0;
	rc = score(w->score, value + from, n);
	if (rc)
		return rc;
	p = scan(w->score, n, rough_likeness(w->score, n), NULL);
	if (w->few && !(strength_of(&p, n) > rough_strength)) {
		take_sizes(w->size, value + from, n);
		p = scan(w->size, n, 0, NULL); /* of few, the rough likeness is a step's, too */
	}
	if (!(strength_of(&p, n) > rough_strength))
		return 0;
	rc = split(c, value, from, from + p.at, w);
	if (!rc)
		rc = add(c, &(struct change){ .at = from + p.at, .p = NAN });
	return rc ? rc : split(c, value, from + p.at, to, w);
}

static uint32_t neighbour(const struct changes *c, uint32_t i, int step, uint32_t end)
{
	return step < 0 ? i ? c->change[i - 1].at : 0 : i + 1 < c->n ? c->change[i + 1].at : end;
}

/* Is there a change between its neighbours? Its strength stays in `difference` until it is
 * measured. */
static int test(struct changes *c, uint32_t i, const double *value, uint32_t count, struct work *w)
{
	uint32_t from = neighbour(c, i, -1, count), n = neighbour(c, i, 1, count) - from;
	struct place p;
	int rc = score(w->score, value + from, n);

	if (rc)
		return rc;
	p = find(w->score, n, w->few);
	c->change[i].p = p.share > 0 ? chance_of(&p, n, w) : 1;
	c->change[i].difference = strength_of(&p, n);
	if (!w->few || c->change[i].p < level)
		return 0;
	take_sizes(w->size, value + from, n);
	p = find(w->size, n, w->few);
	if (p.share > 0 && isfinite(p.share))
		c->change[i].p = fmin(c->change[i].p, chance_of(&p, n, w));
	return 0;
}

/* Candidates go, the weakest first, until each that is left is one between its neighbours. */
static int prune(struct changes *c, const double *value, uint32_t count, struct work *w)
{
	int rc = 0;

	while (!rc) {
		uint32_t weakest = c->n;

		for (uint32_t i = 0; i < c->n && !rc; i++)
			if (isnan(c->change[i].p))
				rc = test(c, i, value, count, w);
		for (uint32_t i = 0; i < c->n; i++)
			if (c->change[i].p >= level &&
			    (weakest == c->n ||
			     c->change[i].difference < c->change[weakest].difference))
				weakest = i;
		if (weakest == c->n)
			break;
		c->n--;
		memmove(&c->change[weakest], &c->change[weakest + 1],
			(c->n - weakest) * sizeof *c->change);
		for (uint32_t i = weakest ? weakest - 1 : 0; i <= weakest && i < c->n; i++)
			c->change[i].p = NAN;
	}
	return rc;
}

/* To out: values, those that lie further than 3 standard deviations from the middle of their side
 * of the change brought to there; the deviation is that of the median one. They are told from the
 * first value, so that squares of large ones that hardly differ keep their digits. */
static void clip(double *out, const double *value, uint32_t n, uint32_t at, double *room)
{
	for (int side = 0; side < 2; side++) {
		uint32_t from = side ? at : 0, to = side ? n : at, m = to - from;
		double middle, most;

		memcpy(room, value + from, m * sizeof *room);
		sort_values(room, m);
		middle = quantile_of(room, m, 0.5);
		for (uint32_t i = 0; i < m; i++)
			room[i] = fabs(value[from + i] - middle);
		sort_values(room, m);
		most = 3 * 1.4826 * quantile_of(room, m, 0.5);
		for (uint32_t i = from; i < to; i++)
			out[i] = fmin(fmax(value[i], middle - most), middle + most) - value[0];
	}
}

/* Where between its neighbours it is, once these are known, and in which places it may be as well:
 * the share of each in all of them when each was as likely before (Smith 1975, Biometrika 62, 407).
 */
static void place_again(struct changes *c, uint32_t i, const double *value, uint32_t count,
			struct work *w)
{
	struct change *x = &c->change[i];
	uint32_t from = neighbour(c, i, -1, count), n = neighbour(c, i, 1, count) - from;
	double all = 0, sum = 0;
	struct place p;

	clip(w->score, value + from, n, x->at - from, w->made);
	p = find(w->score, n, w->few);
	p = scan(w->score, n, p.rho, w->share);
	x->low = x->high = x->at;
	if (!(p.share > 0) || !isfinite(p.share))
		return;
	c->likeness = fmax(c->likeness, p.rho);
	x->at = x->low = x->high = from + p.at;
	for (uint32_t k = 1; k < n; k++) {
		double rest = (1 - w->share[k]) / fmax(1 - p.share, 1e-300);

		w->share[k] = w->share[k] > 0 ? pow(fmax(rest, 1), -(n - 3.0) / 2) : 0;
		all += w->share[k];
	}
	for (uint32_t k = 1; k < n; k++) {
		double before = sum;

		sum += w->share[k];
		if (before < 0.025 * all && sum >= 0.025 * all && from + k < x->low)
			x->low = from + k;
		if (before < 0.975 * all && sum >= 0.975 * all && from + k > x->high)
			x->high = from + k;
	}
}

/* Levels are those that compare.h finds; that neighbours are alike makes less of n values (Bayley
 * and Hammersley 1946). */
static int measure(struct changes *c, uint32_t i, const double *value, uint32_t count)
{
	struct change *x = &c->change[i];
	uint32_t from = neighbour(c, i, -1, count), to = neighbour(c, i, 1, count);
	const struct sample_group before = { value + from, NULL, x->at - from };
	const struct sample_group after = { value + x->at, NULL, to - x->at };
	const struct compare_wish wish = { .level = 0.95 };
	double wider = sqrt((1 + c->likeness) / (1 - c->likeness));
	struct compared d;

	if (compare_groups(&d, &before, &after, &wish))
		return -ENOMEM;
	x->before = d.a;
	x->after = d.b;
	x->difference = d.difference;
	x->difference_low = d.difference - wider * (d.difference - d.low);
	x->difference_high = d.difference + wider * (d.high - d.difference);
	return 0;
}

int changes_find(struct changes *c, const double *value, uint32_t n)
{
	struct work w = { .few = n < SIZES_BELOW };
	int rc = 0;

	*c = (struct changes){ 0 };
	if (n > CHANGE_MOST)
		return -E2BIG;
	w.score = calloc(4 * (n + 1u), sizeof *w.score);
	if (!w.score)
		return -ENOMEM;
	w.share = w.score + n;
	w.made = w.share + n;
	w.size = w.made + n;
	rc = split(c, value, 0, n, &w);
	if (!rc)
		rc = prune(c, value, n, &w);
	for (uint32_t i = 0; i < c->n && !rc; i++)
		place_again(c, i, value, n, &w);
	for (uint32_t i = 0; i < c->n && !rc; i++)
		rc = measure(c, i, value, n);
	free(w.score);
	return rc;
}

void changes_free(struct changes *c)
{
	free(c->change);
	*c = (struct changes){ 0 };
}
