/* SPDX-License-Identifier: Apache-2.0 */
#include "core/statistics/cycle_part.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A pattern must fit better than this to count; a gap costs as much as that at most. */
static const double least_fit = 0.55, gap = 0.8;
/* At first it may fit worse, as the pattern is an edge or a peak. */
static const double first_fit = 0.2;
/* What distances cost that are not the period: so often the square of the logarithm. */
static const double uneven = 10;
/* Of a pattern's place that hardly changes: the variance that it counts as. */
static const double still = 0.05;
/* What counts: the part of the series that is covered, its worth, and how far beyond chance. */
static const double covers = 0.4, worth_least = 0.4, enough = 4;

/* Beginnings in a series, and how good they are all together. */
enum start { RISE, FALL, PEAK, DIP, STARTS };
struct track {
	uint32_t *at;
	uint32_t n;
	enum start start;
	double period, value, fit;
};

/* Room for one series, of as many values as the longest. */
struct room {
	double *fit, *best, *most, *scatter;
	uint32_t *before, *most_at, *all;
	struct track now, found;
	double *shuffled;
};

static void room_free(struct room *r)
{
	free(r->fit);
	free(r->best);
	free(r->most);
	free(r->scatter);
	free(r->before);
	free(r->most_at);
	free(r->all);
	free(r->now.at);
	free(r->found.at);
	free(r->shuffled);
}

static bool room_make(struct room *r, uint32_t n)
{
	*r = (struct room){ .fit = malloc(n * sizeof(double)),
			    .best = malloc(n * sizeof(double)),
			    .most = malloc(n * sizeof(double)),
			    .scatter = malloc(n * sizeof(double)),
			    .before = malloc(n * sizeof(uint32_t)),
			    .most_at = malloc(n * sizeof(uint32_t)),
			    .all = malloc(n * sizeof(uint32_t)),
			    .now.at = malloc(n * sizeof(uint32_t)),
			    .found.at = malloc(n * sizeof(uint32_t)),
			    .shuffled = malloc(n * sizeof(double)) };
	return r->fit && r->best && r->most && r->scatter && r->before && r->most_at && r->now.at &&
	       r->found.at && r->shuffled;
}

/* ---- where repeats begin ---- */

struct pattern {
	double x[PATTERN];
	int half; /* values before and behind the beginning */
};

/* Mean 0, length 1. */
static void normalise(struct pattern *p)
{
	int n = 2 * p->half + 1;
	struct cycle_moments m = cycle_moments(p->x, (uint32_t)n);
	double length = m.sd * sqrt(n);

	for (int i = 0; i < n; i++)
		p->x[i] = length > 0 ? (p->x[i] - m.mean) / length : 0;
}

static double scatter(const double *x, int n, double *mean)
{
	struct cycle_moments m = cycle_moments(x, (uint32_t)n);

	*mean = m.mean;
	return sqrt((m.sd * m.sd + still) * n);
}

/* Of what is around each value: it is the same for all patterns of a length. */
static void scatter_all(struct room *r, const struct cycle_scale *s, int half)
{
	double mean;

	for (uint32_t i = (uint32_t)half; i + (uint32_t)half < s->n; i++)
		r->scatter[i] = scatter(s->x + i - half, 2 * half + 1, &mean);
}

/* Values side by side: their sums do not wait for one another. */
enum { ABREAST = 8 };

static void fit_abreast(double *fit, const double *x, const struct pattern *p, const double *by)
{
	double sum[ABREAST] = { 0 };

	for (int k = 0; k < 2 * p->half + 1; k++)
		for (int i = 0; i < ABREAST; i++)
			sum[i] += p->x[k] * x[k + i];
	for (int i = 0; i < ABREAST; i++)
		fit[i] = sum[i] / by[i];
}

static double fit_one(const double *x, const struct pattern *p, double by)
{
	double sum = 0;

	for (int k = 0; k < 2 * p->half + 1; k++)
		sum += p->x[k] * x[k];
	return sum / by;
}

/* The correlation of the pattern with what is around each value; what hardly changes has none.
 * After scatter_all. */
static void fit_all(struct room *r, const struct cycle_scale *s, const struct pattern *p)
{
	uint32_t half = (uint32_t)p->half, end = s->n > 2 * half ? s->n - half : 0, i;

	for (i = 0; i < half && i < s->n; i++)
		r->fit[i] = -1;
	for (; i + ABREAST <= end; i += ABREAST)
		fit_abreast(r->fit + i, s->x + i - half, p, r->scatter + i);
	for (; i < end; i++)
		r->fit[i] = fit_one(s->x + i - half, p, r->scatter[i]);
	for (; i < s->n; i++)
		r->fit[i] = -1;
}

/* The best row of beginnings: the sum of how well the pattern fits, less what uneven distances
 * cost. */
static void place(struct room *r, const struct cycle_scale *s, double period, double least,
		  struct track *out)
{
	uint32_t nearest = (uint32_t)ceil(period / 2), farthest = (uint32_t)(3 * period);
	double cost[3 * PATTERN];
	uint32_t end = 0, n = 0;

	for (uint32_t d = nearest; d <= farthest; d++)
		cost[d] = fmin(gap, uneven * log(d / period) * log(d / period));
	for (uint32_t i = 0; i < s->n; i++) {
		double best = 0;

		r->before[i] = UINT32_MAX;
		for (uint32_t d = nearest; d <= farthest && d <= i; d++)
			if (r->best[i - d] - cost[d] > best) {
				best = r->best[i - d] - cost[d];
				r->before[i] = i - d;
			}
		if (i > farthest && r->most[i - farthest] - gap > best) {
			best = r->most[i - farthest] - gap;
			r->before[i] = r->most_at[i - farthest];
		}
		r->best[i] = best + r->fit[i] - least;
		r->most_at[i] = i && r->most[i - 1] >= r->best[i] ? r->most_at[i - 1] : i;
		r->most[i] = r->best[r->most_at[i]];
		end = r->best[i] > r->best[end] ? i : end;
	}
	out->value = r->best[end];
	for (uint32_t i = end; i != UINT32_MAX; i = r->before[i])
		out->at[n++] = i;
	out->n = n;
	out->fit = 0;
	for (uint32_t i = 0; i < n; i++)
		out->fit += r->fit[out->at[i]] / n;
	for (uint32_t i = 0; i < n / 2; i++) {
		uint32_t kept = out->at[i];

		out->at[i] = out->at[n - 1 - i];
		out->at[n - 1 - i] = kept;
	}
}

static void learn(struct pattern *p, const struct cycle_scale *s, const struct track *t)
{
	int n = 2 * p->half + 1;

	memset(p->x, 0, sizeof p->x);
	for (uint32_t i = 0; i < t->n; i++) {
		const double *x = s->x + t->at[i] - p->half;
		double mean, by;

		if (t->at[i] < (uint32_t)p->half || t->at[i] + (uint32_t)p->half >= s->n)
			continue;
		by = scatter(x, n, &mean);
		for (int k = 0; k < n; k++)
			p->x[k] += (x[k] - mean) / by;
	}
	normalise(p);
}

/* Learns the pattern and places it again. */
static void improve(struct room *r, const struct cycle_scale *s, double period, struct track *t)
{
	struct pattern p = { .half = (int)(period / 2) };

	scatter_all(r, s, p.half);
	for (int pass = 0; pass < PASSES && t->n > 1; pass++) {
		learn(&p, s, t);
		fit_all(r, s, &p);
		place(r, s, period, least_fit, t);
	}
	t->period = period;
}

/* From an edge or a peak, upward or downward, to the pattern of all repeats. After scatter_all. */
static void track(struct room *r, const struct cycle_scale *s, double period, enum start start,
		  struct track *out)
{
	struct pattern p = { .half = (int)(period / 2) };
	double sign = start == RISE || start == PEAK ? 1 : -1;

	for (int k = 0; k <= 2 * p.half; k++)
		p.x[k] = (start <= FALL ? k >= p.half : abs(k - p.half) <= 1) ? sign : -sign;
	normalise(&p);
	for (int pass = 0; pass < PASSES; pass++) {
		fit_all(r, s, &p);
		place(r, s, period,
		      least_fit - (least_fit - first_fit) * (PASSES - 1 - pass) / (PASSES - 1),
		      out);
		if (out->n < 2)
			break;
		learn(&p, s, out);
	}
	out->period = period;
	out->start = start;
}

static double covered(const struct track *t)
{
	double sum = 0;

	for (uint32_t i = 1; i < t->n; i++)
		if (t->at[i] - t->at[i - 1] < 2 * t->period)
			sum += t->at[i] - t->at[i - 1];
	return sum;
}

/* How much it is, compared with what as many repeats would have by chance. */
static double worth(const struct track *t, const struct cycle_scale *s)
{
	return t->value / sqrt(s->n / t->period);
}

/* The best of a scale, in r->found. Its worth; 0: none. */
static double search(struct room *r, const struct cycle_scale *s, uint32_t shortest)
{
	struct cycle_scale window = *s;
	double period[PROPOSALS], best = 0;
	uint32_t n;

	if (s->n > WINDOW)
		window = (struct cycle_scale){ s->x + (s->n - WINDOW) / 2, WINDOW };
	n = cycle_propose(r->best, &window, shortest, period);
	for (uint32_t i = 0; i < STARTS * n; i++) {
		struct track t;
		double w;

		if (i % STARTS == RISE)
			scatter_all(r, &window, (int)(period[i / STARTS] / 2));
		track(r, &window, period[i / STARTS], (enum start)(i % STARTS), &r->now);
		w = worth(&r->now, &window);
		if (r->now.n <= CYCLE_REPEATS || !(w > best) ||
		    !(covered(&r->now) > covers * window.n))
			continue;
		best = w;
		t = r->found;
		r->found = r->now;
		r->now = t;
	}
	return best;
}

/* By how many standard deviations it is worth more than in random order. */
static double beyond_chance(struct room *r, const struct cycle_scale *s, uint32_t shortest,
			    double period, double found)
{
	struct random random = { 1 };
	struct cycle_scale shuffled = { r->shuffled, s->n < WINDOW ? s->n : WINDOW };
	struct cycle_scale window = { s->x + (s->n - shuffled.n) / 2, shuffled.n };
	double sum = 0, squares = 0, mean, sd;

	for (int i = 0; i < SHUFFLES; i++) {
		double w;

		cycle_shuffle(r->shuffled, &window, period, &random);
		w = search(r, &shuffled, shortest);
		sum += w;
		squares += w * w;
	}
	mean = sum / SHUFFLES;
	sd = sqrt(fmax(0, squares / SHUFFLES - mean * mean));
	return (found - mean) / fmax(sd, 0.1);
}

/* ---- all of it ---- */

/* A beginning between two values, where a parabola through the fits is highest. */
static double between(const struct room *r, const struct cycle_scale *s, uint32_t i)
{
	double a, b;

	if (!i || i + 1 >= s->n || r->fit[i - 1] < 0 || r->fit[i + 1] < 0)
		return i;
	a = r->fit[i - 1] - r->fit[i + 1];
	b = r->fit[i - 1] - 2 * r->fit[i] + r->fit[i + 1];
	return i + (b < 0 ? fmax(-0.5, fmin(0.5, a / b / 2)) : 0);
}

/* On a finer scale, where the pattern fits best near where it was. */
static void refine(struct room *r, const struct cycle_scale *s, double period, struct track *t)
{
	struct pattern p = { .half = (int)(period / 2) };

	scatter_all(r, s, p.half);
	for (int pass = 0; pass < 2; pass++) {
		learn(&p, s, t);
		fit_all(r, s, &p);
		for (uint32_t i = 0; i < t->n; i++) {
			uint32_t best = t->at[i],
				 last = t->at[i] + FINER < s->n ? t->at[i] + FINER : s->n - 1;

			for (uint32_t k = t->at[i] > FINER ? t->at[i] - FINER : 0; k <= last; k++)
				best = r->fit[k] > r->fit[best] ? k : best;
			t->at[i] = best;
		}
	}
}

/* How alike distances are to those so many before: near 1 where parts of unequal length repeat,
 * near 0 where lengths are random. 0, too, where that may be chance. */
static double alike(const struct track *t, uint32_t by)
{
	const uint32_t *at = t->at;
	uint32_t n = t->n;
	const double sure = 4;
	double sum = 0, squares = 0, products = 0, mean, r;
	uint32_t known = 0;

	for (uint32_t i = 1; i < n; i++)
		sum += fmin(at[i] - at[i - 1], 2 * t->period);
	mean = sum / (n - 1);
	for (uint32_t i = 1; i < n; i++) {
		double a = fmin(at[i] - at[i - 1], 2 * t->period) - mean;

		squares += a * a / (n - 1);
		if (i > by) {
			products += a * (fmin(at[i - by] - at[i - by - 1], 2 * t->period) - mean);
			known++;
		}
	}
	r = known && squares > 0 ? products / known / squares : 0;
	return r * sqrt(known) > sure ? r : 0;
}

/* Whether r->now, of which each is `one` several times, fits better than what was found. */
static bool fits_better(const struct room *r, const struct track *one, bool parts)
{
	const double better = 0.85, worse = 0.1;
	const struct track *now = &r->now, *found = &r->found;

	if (now->n <= CYCLE_REPEATS || !(covered(now) > 0.8 * covered(one)))
		return false;
	return 1 - now->fit < better * (1 - found->fit) ||
	       (parts && now->fit > one->fit - worse &&
		(found->n == one->n || now->value > found->value));
}

/* Several beginnings may be of one repeat: every second, third or fourth then fits far better, or
 * the distances repeat. In r->found. */
static void join(struct room *r, const struct cycle_scale *s)
{
	struct track one = r->found, t;

	memcpy(r->all, one.at, one.n * sizeof *r->all);
	one.at = r->all;
	for (uint32_t m = 4; m > 1; m--) {
		bool parts = alike(&one, m) > 0.4;

		for (uint32_t first = 0; first < m; first++) {
			r->now.n = 0;
			for (uint32_t i = first; i < one.n; i += m)
				r->now.at[r->now.n++] = one.at[i];
			if (m * one.period > FINER * LONG || r->now.n <= CYCLE_REPEATS)
				continue;
			improve(r, s, m * one.period, &r->now);
			if (!fits_better(r, &one, parts))
				continue;
			t = r->found;
			r->found = r->now;
			r->now = t;
		}
	}
}

/* What is known of a series on one scale. */
struct chosen {
	const double *signal;
	bool ranks;
	uint32_t n, each; /* values; how many of them are one on this scale */
	double period;
	enum start start;
};

/* Whether a beginning fits badly and is as far from both others as no repeat is: it is in a long
 * repeat only to make it two of about usual length. */
static bool is_invented(const struct room *r, uint32_t i, double period)
{
	const double unlike = 0.5, usual = 0.07;
	const struct track *t = &r->found;

	if (!i || i + 1 >= t->n || r->fit[t->at[i]] > t->fit - unlike)
		return false;
	return fabs((t->at[i] - t->at[i - 1]) / period - 1) > usual &&
	       fabs((t->at[i + 1] - t->at[i]) / period - 1) > usual;
}

/* With beginnings on the finest scale that a pattern has room for. */
static int keep(struct cycle *c, struct room *r, const struct cycle_scale *coarse,
		const struct chosen *x)
{
	struct cycle_scale fine = { r->shuffled, x->n };
	uint32_t finer = 1, each = x->each;
	double *at;

	scatter_all(r, coarse, (int)(x->period / 2));
	track(r, coarse, x->period, x->start, &r->found);
	join(r, coarse);
	while (finer < each && 2 * finer * r->found.period <= FINER * LONG)
		finer *= 2;
	if (cycle_prepare(r->shuffled, x->signal, x->n, x->ranks) < 0)
		return -ENOMEM;
	for (uint32_t k = each; k > finer; k /= 2)
		fine.n = cycle_halve(r->shuffled, fine.n);
	for (uint32_t i = 0; i < r->found.n && finer > 1; i++)
		r->found.at[i] = r->found.at[i] * finer + finer / 2;
	if (finer > 1)
		refine(r, &fine, r->found.period * finer, &r->found);
	each /= finer;
	at = malloc((r->found.n + 1u) * sizeof *at);
	if (!at)
		return -ENOMEM;
	free(c->at);
	c->at = at;
	c->n = 0;
	c->fit = r->found.fit;
	c->grain = each;
	for (uint32_t i = 0; i < r->found.n; i++)
		if (!is_invented(r, i, r->found.period * finer))
			at[c->n++] = (between(r, &fine, r->found.at[i]) + 0.5) * each - 0.5;
	return 0;
}

/* All scales of a series, which is prepared in x. */
static int look(struct cycle *c, struct room *r, double *x, struct chosen *now, double *best)
{
	struct cycle_scale s = { x, now->n };
	int rc = 0;

	for (now->each = 1; s.n >= CYCLE_LEAST && !rc; s.n = cycle_halve(x, s.n), now->each *= 2) {
		uint32_t shortest = now->each > 1 ? SHORT : FINEST;
		double worth = search(r, &s, shortest), beyond;

		now->period = r->found.period;
		now->start = r->found.start;
		if (!(worth > *best) || worth < worth_least)
			continue;
		beyond = beyond_chance(r, &s, shortest, now->period, worth);
		if (beyond < enough)
			continue;
		*best = worth;
		c->beyond = beyond;
		rc = keep(c, r, &s, now);
	}
	return rc;
}

int cycle_find(struct cycle *c, const double *const *signal, uint32_t nsignals, uint32_t n)
{
	double *x = malloc((n + 1u) * sizeof *x), best = 0;
	struct room r;
	int rc = room_make(&r, n + 1) && x ? 0 : -ENOMEM;

	*c = (struct cycle){ 0 };
	for (uint32_t i = 0; i < 2 * nsignals && !rc && n >= CYCLE_LEAST; i++) {
		struct chosen now = { .signal = signal[i / 2], .ranks = i % 2, .n = n };
		double before = best;

		rc = cycle_prepare(x, now.signal, n, now.ranks);
		if (rc > 0)
			rc = look(c, &r, x, &now, &best);
		if (best > before)
			c->signal = i / 2;
	}
	room_free(&r);
	free(x);
	return rc;
}

void cycle_free(struct cycle *c)
{
	free(c->at);
	*c = (struct cycle){ 0 };
}
