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
static const double uneven = 10, settled = 6;
/* What counts: the part of the series that is covered, its worth, and how far beyond chance; that
 * of a period that no lag shows. */
static const double covers = 0.4, worth_least = 0.4, enough = 4, enough_guessed = 5.2;

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
	double *fit, *best, *most;
	uint32_t *before, *most_at, *all;
	struct track now, found, kept;
	double *shuffled;
	double uneven;
};

static void room_free(struct room *r)
{
	free(r->fit);
	free(r->best);
	free(r->most);
	free(r->before);
	free(r->most_at);
	free(r->all);
	free(r->now.at);
	free(r->found.at);
	free(r->kept.at);
	free(r->shuffled);
}

static bool room_make(struct room *r, uint32_t n)
{
	*r = (struct room){ .uneven = uneven,
			    .fit = malloc(n * sizeof(double)),
			    .best = malloc(n * sizeof(double)),
			    .most = malloc(n * sizeof(double)),
			    .before = malloc(n * sizeof(uint32_t)),
			    .most_at = malloc(n * sizeof(uint32_t)),
			    .all = malloc(n * sizeof(uint32_t)),
			    .now.at = malloc(n * sizeof(uint32_t)),
			    .found.at = malloc(n * sizeof(uint32_t)),
			    .kept.at = malloc(n * sizeof(uint32_t)),
			    .shuffled = malloc(n * sizeof(double)) };
	return r->fit && r->best && r->most && r->before && r->most_at && r->all && r->now.at &&
	       r->found.at && r->kept.at && r->shuffled;
}

/* ---- where repeats begin ---- */

/* The best row of beginnings: the sum of how well the pattern fits, less what uneven distances
 * cost. */
static void place(struct room *r, const struct cycle_scale *s, double period, double least,
		  struct track *out)
{
	const double far = exp(sqrt(gap / r->uneven));
	uint32_t nearest = (uint32_t)ceil(period / 2);
	uint32_t low = (uint32_t)ceil(period / far), high = (uint32_t)(period * far);
	double cost[3 * PATTERN];
	uint32_t end = 0, n = 0;

	low = low > nearest ? low : nearest;
	for (uint32_t d = low; d <= high; d++)
		cost[d] = fmin(gap, r->uneven * log(d / period) * log(d / period));
	for (uint32_t i = 0; i < s->n; i++) {
		double best = 0;

		r->before[i] = UINT32_MAX;
		for (uint32_t d = low; d <= high && d <= i; d++)
			if (r->best[i - d] - cost[d] > best) {
				best = r->best[i - d] - cost[d];
				r->before[i] = i - d;
			}
		if (i >= nearest && r->most[i - nearest] - gap > best) {
			best = r->most[i - nearest] - gap;
			r->before[i] = r->most_at[i - nearest];
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

static void learn(struct cycle_pattern *p, const struct cycle_scale *s, const struct track *t)
{
	int n = 2 * p->half + 1;

	memset(p->x, 0, sizeof p->x);
	for (uint32_t i = 0; i < t->n; i++) {
		const double *x = s->x + t->at[i] - p->half;
		double mean, by;

		if (t->at[i] < (uint32_t)p->half || t->at[i] + (uint32_t)p->half >= s->n)
			continue;
		by = cycle_scatter(x, n, &mean);
		for (int k = 0; k < n; k++)
			p->x[k] += (x[k] - mean) / by;
	}
	cycle_normalise(p);
}

/* How well the pattern that it has fits. */
static void fit_again(struct room *r, const struct cycle_scale *s, double period,
		      const struct track *t)
{
	struct cycle_pattern p = { .half = (int)(period / 2) };

	learn(&p, s, t);
	cycle_fit(r->fit, s, &p);
}

/* Learns the pattern and places it again. */
static void improve(struct room *r, const struct cycle_scale *s, double period, struct track *t)
{
	for (int pass = 0; pass < PASSES && t->n > 1; pass++) {
		fit_again(r, s, period, t);
		place(r, s, period, least_fit, t);
	}
	t->period = period;
}

/* From an edge or a peak, upward or downward, to the pattern of all repeats. */
static void track(struct room *r, const struct cycle_scale *s, double period, enum start start,
		  struct track *out)
{
	struct cycle_pattern p = { .half = (int)(period / 2) };
	double sign = start == RISE || start == PEAK ? 1 : -1;

	for (int k = 0; k <= 2 * p.half; k++)
		p.x[k] = (start <= FALL ? k >= p.half : abs(k - p.half) <= 1) ? sign : -sign;
	cycle_normalise(&p);
	for (int pass = 0; pass < PASSES; pass++) {
		cycle_fit(r->fit, s, &p);
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

/* By how many standard deviations it is worth more than in random order. Stops early where it is
 * clear. */
static double beyond_chance(struct room *r, const struct cycle_scale *s, uint32_t shortest,
			    double period, double found)
{
	const double clear = 2;
	struct random random = { 1 };
	struct cycle_scale shuffled = { r->shuffled, s->n < WINDOW ? s->n : WINDOW };
	struct cycle_scale window = { s->x + (s->n - shuffled.n) / 2, shuffled.n };
	double sum = 0, squares = 0, beyond = 0;

	for (int i = 1; i <= SHUFFLES; i++) {
		double w, mean;

		cycle_shuffle(r->shuffled, &window, period, &random);
		w = search(r, &shuffled, shortest);
		sum += w;
		squares += w * w;
		mean = sum / i;
		beyond = (found - mean) / fmax(sqrt(fmax(0, squares / i - mean * mean)), 0.1);
		if (i >= SHUFFLES / 4 && (beyond < enough / clear || beyond > enough * clear))
			break;
	}
	return beyond;
}

/* ---- all of it ---- */

/* On a finer scale, where the pattern fits best near where it was. */
static void refine(struct room *r, const struct cycle_scale *s, double period, struct track *t)
{
	for (int pass = 0; pass < 2; pass++) {
		fit_again(r, s, period, t);
		for (uint32_t i = 0; i < t->n; i++) {
			uint32_t best = t->at[i],
				 last = t->at[i] + FINER < s->n ? t->at[i] + FINER : s->n - 1;

			for (uint32_t k = t->at[i] > FINER ? t->at[i] - FINER : 0; k <= last; k++)
				best = r->fit[k] > r->fit[best] ? k : best;
			t->at[i] = best;
		}
	}
}

/* Of every so many repeats one. */
struct turn {
	uint32_t at, of;
};

/* Whether the parts of repeats are told apart by their place: the share of what varies between
 * parts, of so many values behind each beginning, that is between the places. 1: all of it. What
 * chance would give is taken off. parts: all beginnings; whole: those of the repeats. */
static double apart_in(const struct cycle_scale *s, const struct track *parts,
		       const struct track *whole, uint32_t m, const struct turn *turn)
{
	double sum[PARTS][LONG + 1] = { { 0 } }, all[LONG + 1] = { 0 }, squares = 0, between = 0;
	uint32_t width = (uint32_t)parts->period, of[PARTS] = { 0 }, n = 0, k = 0;

	for (uint32_t i = 0; i < parts->n; i++) {
		uint32_t at = parts->at[i], place;

		while (k + 1 < whole->n && whole->at[k + 1] <= at + width / 4)
			k++;
		if (at + width / 4 < whole->at[k] || at + width > s->n || k % turn->of != turn->at)
			continue;
		place = (uint32_t)(fmax(0, (double)at - whole->at[k]) / parts->period + 0.5);
		if (place >= m)
			continue;
		n++;
		of[place]++;
		for (uint32_t j = 0; j < width; j++) {
			double v = s->x[at + j];

			sum[place][j] += v;
			all[j] += v;
			squares += v * v;
		}
	}
	for (uint32_t j = 0; j < width && n; j++) {
		squares -= all[j] * all[j] / n;
		between -= all[j] * all[j] / n;
		for (uint32_t place = 0; place < m; place++)
			between += of[place] ? sum[place][j] * sum[place][j] / of[place] : 0;
	}
	if (n <= m || !(squares > 0))
		return 0;
	between /= squares;
	return between - (m - 1) * (1 - between) / (n - m);
}

/* Likewise of every second and every third repeat by themselves, the least of it: what is so in
 * some of them only, as after a checkpoint, tells no parts apart. */
static double apart(const struct cycle_scale *s, const struct track *parts,
		    const struct track *whole, uint32_t m)
{
	double least = apart_in(s, parts, whole, m, &(struct turn){ 0, 1 });

	for (uint32_t of = 2; of <= 3; of++)
		for (uint32_t i = 0; i < of; i++)
			least = fmin(least, apart_in(s, parts, whole, m, &(struct turn){ i, of }));
	return least;
}

/* The best row of beginnings of m parts each, in r->now; how far these are apart. */
static double join_parts(struct room *r, const struct cycle_scale *s, const struct track *one,
			 uint32_t m)
{
	const double enough_apart = 0.2, covers_more = 0.8;
	struct track t;
	double by = 0, value = 0;

	r->kept.n = 0;
	for (uint32_t first = 0; first < m && m * one->period <= FINER * LONG; first++) {
		double now;

		r->now.n = 0;
		for (uint32_t i = first; i < one->n; i += m)
			r->now.at[r->now.n++] = one->at[i];
		improve(r, s, m * one->period, &r->now);
		now = apart(s, one, &r->now, m);
		if (r->now.n <= CYCLE_REPEATS || now < enough_apart || r->now.value <= value ||
		    !(covered(&r->now) > covers_more * covered(one)))
			continue;
		value = r->now.value;
		by = now;
		t = r->kept;
		r->kept = r->now;
		r->now = t;
	}
	return by;
}

/* Several beginnings may be of one repeat: then these are told apart by their place in it, and more
 * of them only if that tells clearly more. In r->found. */
static void join(struct room *r, const struct cycle_scale *s)
{
	const double more = 0.15;
	struct track one = r->found, t;
	double best = 0;

	memcpy(r->all, one.at, one.n * sizeof *r->all);
	one.at = r->all;
	for (uint32_t m = 2; m <= PARTS; m++) {
		double by = join_parts(r, s, &one, m);

		if (!(by > best + more))
			continue;
		best = by;
		t = r->found;
		r->found = r->kept;
		r->kept = t;
	}
}

/* Places them again by their own mean distance, now that it is known that they repeat: uneven ones
 * cost less. */
static void settle(struct room *r, const struct cycle_scale *s)
{
	const double near = 0.3, even = 0.06;
	struct track *t = &r->found;
	double sum = 0, squares = 0;
	uint32_t n = 0;

	for (uint32_t i = 1; i < t->n; i++) {
		double d = t->at[i] - t->at[i - 1];

		if (fabs(d / t->period - 1) > near)
			continue;
		sum += d;
		squares += d * d;
		n++;
	}
	if (2 * n < t->n || squares / n < (1 + even * even) * (sum / n) * (sum / n))
		return;
	r->uneven = settled;
	improve(r, s, sum / n, t);
	r->uneven = uneven;
}

/* Where the pattern fits best in a part, if it does not fit much worse than it mostly does. */
static uint32_t good_between(const struct room *r, const struct cycle_scale *s, double from,
			     double to)
{
	const double worse = 0.1;
	uint32_t best = UINT32_MAX;
	double most = r->found.fit - worse;

	for (double at = fmax(1, ceil(from)); at <= to && at + 1 < s->n; at++) {
		uint32_t i = (uint32_t)at;

		if (r->fit[i] < most || r->fit[i] < r->fit[i - 1] || r->fit[i] < r->fit[i + 1])
			continue;
		most = r->fit[i];
		best = i;
	}
	return best;
}

/* Now that it is known what repeats, what fits as well before, between and behind them belongs to
 * them however uneven its distances are. */
static void grow(struct room *r, const struct cycle_scale *s)
{
	const double near = 0.6 * r->found.period, far = 1.5 * r->found.period;
	struct track *t = &r->found;
	uint32_t *to = r->now.at, at, n, first = s->n;

	fit_again(r, s, t->period, t);
	for (at = t->at[0]; first; to[--first] = at) { /* from the end of the room */
		at = good_between(r, s, at - far, at - near);
		if (at == UINT32_MAX)
			break;
	}
	n = s->n - first;
	memmove(to, to + first, n * sizeof *to);
	for (uint32_t i = 0; i < t->n && n < s->n; i++) {
		bool last = i + 1 == t->n;

		to[n++] = at = t->at[i];
		do {
			at = good_between(r, s, at + near, last ? at + far : t->at[i + 1] - near);
			if (at != UINT32_MAX && n < s->n)
				to[n++] = at;
		} while (last && at != UINT32_MAX);
	}
	r->now.at = t->at;
	t->at = to;
	t->n = n;
}

/* What is known of a series on one scale. */
struct chosen {
	const double *signal;
	bool ranks;
	uint32_t n, each;  /* values; how many of them are one on this scale */
	uint32_t shortest; /* period on the finest scale */
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

/* With beginnings on the finest scale that a pattern has room for. 1: it leaves out others that are
 * as good. */
static int keep(struct cycle *c, struct room *r, const struct cycle_scale *coarse,
		const struct chosen *x)
{
	struct cycle_scale fine = { r->shuffled, x->n };
	uint32_t finer = 1, each = x->each;
	struct cycle_beginning *begin;

	track(r, coarse, x->period, x->start, &r->found);
	join(r, coarse);
	settle(r, coarse);
	grow(r, coarse);
	if (cycle_skips(r->fit, coarse, r->found.at, r->found.n, r->found.period))
		return 1;
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
	else
		fit_again(r, coarse, r->found.period, &r->found);
	each /= finer;
	begin = malloc((r->found.n + 1u) * sizeof *begin);
	if (!begin)
		return -ENOMEM;
	free(c->begin);
	c->begin = begin;
	c->n = 0;
	c->fit = r->found.fit;
	c->grain = each;
	for (uint32_t i = 0; i < r->found.n; i++)
		if (!is_invented(r, i, r->found.period * finer))
			begin[c->n++] = (struct cycle_beginning){
				(cycle_between(r->fit, &fine, r->found.at[i]) + 0.5) * each - 0.5,
				r->fit[r->found.at[i]]
			};
	return 0;
}

/* How much more it must be worth than what was found: what repeats every so many repeats, as a
 * checkpoint, is no step. */
static double more_than(const struct cycle *c, const struct chosen *now)
{
	const double longer = 6.9, more = 1.6;
	double ratio = c->period > 0 ? now->period * now->each / c->period : 1;

	return ratio > longer ? more : ratio < 1 / longer ? 1 / more : 1;
}

/* All scales of a series, which is prepared in x. */
static int look(struct cycle *c, struct room *r, double *x, struct chosen *now)
{
	struct cycle_scale s = { x, now->n };
	int rc = 0;

	for (now->each = 1; s.n >= CYCLE_LEAST && rc >= 0;
	     s.n = cycle_halve(x, s.n), now->each *= 2) {
		uint32_t shortest = now->each > 1 ? SHORT : now->shortest;
		double worth = search(r, &s, shortest), beyond;

		now->period = r->found.period;
		now->start = r->found.start;
		if (worth < worth_least || !(worth > c->worth * more_than(c, now)))
			continue;
		beyond = beyond_chance(r, &s, shortest, now->period, worth);
		if (beyond < (cycle_is_guessed(now->period) ? enough_guessed : enough))
			continue;
		rc = keep(c, r, &s, now);
		if (rc)
			continue;
		c->worth = worth;
		c->period = now->period * now->each;
		c->beyond = beyond;
	}
	return rc < 0 ? rc : 0;
}

int cycle_find(struct cycle *c, const double *const *signal, uint32_t nsignals, uint32_t n)
{
	const uint32_t each = n <= SPREAD_MOST ? SPREAD : 1;
	double *x = malloc((n + 1u) * each * sizeof *x),
	       *spread = malloc((n + 1u) * each * sizeof *x);
	struct room r;
	int rc = room_make(&r, (n + 1) * each) && x && spread ? 0 : -ENOMEM;

	*c = (struct cycle){ 0 };
	for (uint32_t i = 0; i < 2 * nsignals && !rc && n >= CYCLE_LEAST; i++) {
		struct chosen now = { .signal = spread,
				      .ranks = i % 2,
				      .n = n * each,
				      .shortest = each > 1 ? SHORT : FINEST };
		double before = c->worth;

		if (!now.ranks)
			cycle_spread(spread, signal[i / 2], n, each);
		rc = cycle_prepare(x, now.signal, now.n, now.ranks);
		if (rc > 0)
			rc = look(c, &r, x, &now);
		if (c->worth < before || c->worth > before)
			c->signal = i / 2;
	}
	for (uint32_t i = 0; i < c->n; i++)
		c->begin[i].at = (c->begin[i].at + 0.5) / each - 0.5;
	c->grain /= each;
	room_free(&r);
	free(x);
	free(spread);
	return rc;
}

void cycle_free(struct cycle *c)
{
	free(c->begin);
	*c = (struct cycle){ 0 };
}
