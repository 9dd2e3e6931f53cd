/* SPDX-License-Identifier: Apache-2.0 */
/* cycle_series.c - a series as it is searched: prepared, on scales, in random order; and periods
 * that may be. */
#include "core/statistics/cycle_part.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct cycle_moments cycle_moments(const double *x, uint32_t n)
{
	double sum = 0, squares = 0, mean;

	for (uint32_t i = 0; i < n; i++)
		sum += x[i];
	mean = sum / n;
	for (uint32_t i = 0; i < n; i++)
		squares += (x[i] - mean) * (x[i] - mean);
	return (struct cycle_moments){ mean, sqrt(squares / n) };
}

struct ranked {
	uint64_t key; /* grows with the value */
	uint32_t at;
};

/* The bits of doubles grow with them, those of negative ones the other way round. */
static uint64_t key_of(double v)
{
	const uint64_t sign = UINT64_C(1) << 63;
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	return bits & sign ? ~bits : bits | sign;
}

enum { DIGIT = 256, DIGITS = sizeof(uint64_t) };

/* Stably by a digit, of which there are so many of each. */
static void sort_by_digit(const struct ranked *from, struct ranked *to, uint32_t n, unsigned shift,
			  uint32_t place[DIGIT])
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < DIGIT; i++) {
		uint32_t count = place[i];

		place[i] = sum;
		sum += count;
	}
	for (uint32_t i = 0; i < n; i++)
		to[place[from[i].key >> shift & (DIGIT - 1)]++] = from[i];
}

/* By digits, since there are many; room: of as many. Where they are then. */
static struct ranked *sort(struct ranked *x, struct ranked *room, uint32_t n)
{
	uint32_t count[DIGITS][DIGIT] = { { 0 } };

	for (uint32_t i = 0; i < n; i++)
		for (unsigned k = 0; k < DIGITS; k++)
			count[k][x[i].key >> (8 * k) & (DIGIT - 1)]++;
	for (unsigned k = 0; k < DIGITS; k++) {
		struct ranked *sorted = room;

		if (count[k][x[0].key >> (8 * k) & (DIGIT - 1)] == n)
			continue; /* all have the same */
		sort_by_digit(x, room, n, 8 * k, count[k]);
		room = x;
		x = sorted;
	}
	return x;
}

/* Each value becomes its place in the order of all; equal ones share theirs. */
static bool rank(double *x, uint32_t n)
{
	struct ranked *rows = malloc(2 * (size_t)n * sizeof *rows), *order;

	if (!rows)
		return false;
	for (uint32_t i = 0; i < n; i++)
		rows[i] = (struct ranked){ key_of(x[i] + 0.0), i }; /* one 0 */
	order = sort(rows, rows + n, n);
	for (uint32_t from = 0, to; from < n; from = to) {
		for (to = from; to < n && order[to].key == order[from].key; to++)
			;
		for (uint32_t i = from; i < to; i++)
			x[order[i].at] = (from + to) / 2.0;
	}
	free(rows);
	return true;
}

/* What is not known is as before; what is far out is cut, or all become ranks, so that a burst does
 * not hide the rest; mean 0, variance 1. 1; 0: there is nothing in it; -ENOMEM. */
int cycle_prepare(double *out, const double *in, uint32_t n, bool ranks)
{
	const double far = 3, least = 0.01;
	struct cycle_moments m;
	double last = NAN;
	uint32_t known = 0;

	for (uint32_t i = 0; i < n; i++) {
		last = isfinite(in[i]) ? in[i] : last;
		known += isfinite(in[i]) ? 1 : 0;
		out[i] = last;
	}
	if (known < CYCLE_LEAST)
		return 0;
	for (uint32_t i = n; i-- > 0;)
		out[i] = last = isfinite(out[i]) ? out[i] : last;
	m = cycle_moments(out, n);
	if (!(m.sd > least * fabs(m.mean)))
		return 0;
	if (ranks && !rank(out, n))
		return -ENOMEM;
	for (int pass = 0; pass < 4; pass++) {
		m = cycle_moments(out, n);
		if (!(m.sd > 0))
			return 0;
		for (uint32_t i = 0; i < n; i++) {
			double v = (out[i] - m.mean) / m.sd;

			out[i] = v > far ? far : v < -far ? -far : v;
		}
	}
	return 1;
}

/* Two values become one. */
uint32_t cycle_halve(double *x, uint32_t n)
{
	for (uint32_t i = 0; i < n / 2; i++)
		x[i] = (x[2 * i] + x[2 * i + 1]) / 2;
	return n / 2;
}

/* So many values for each, on the line from one to the next: that a step of few values need not be
 * a whole number of them. */
void cycle_spread(double *out, const double *in, uint32_t n, uint32_t each)
{
	for (uint32_t k = 0; k < n * each; k++) {
		double at = fmin(n - 1, fmax(0, (k + 0.5) / each - 0.5)), part = at - floor(at);
		uint32_t i = (uint32_t)at, next = i + 1 < n ? i + 1 : i;

		if (isfinite(in[i]) && isfinite(in[next]))
			out[k] = in[i] + part * (in[next] - in[i]);
		else
			out[k] = in[k / each];
	}
}

/* ---- periods that may be ---- */

/* Without what changes slowly: less the mean of what is around. */
static void sharpen(double *out, const struct cycle_scale *s)
{
	double sum = 0;
	uint32_t from = 0, to = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		for (; to < s->n && to <= i + LONG; to++)
			sum += s->x[to];
		for (; from + LONG < i; from++)
			sum -= s->x[from];
		out[i] = s->x[i] - sum / (to - from);
	}
}

/* How unlike values are that are so far apart, compared with those nearer: YIN's d'. */
static void unlike(const struct cycle_scale *s, double d[LAGS])
{
	double sum = 0;

	d[0] = 1;
	for (uint32_t lag = 1; lag < LAGS; lag++) {
		double squares = 0;

		for (uint32_t i = 0; i + lag < s->n; i++)
			squares += (s->x[i + lag] - s->x[i]) * (s->x[i + lag] - s->x[i]);
		d[lag] = squares / (s->n - lag);
		sum += d[lag];
		d[lag] = sum > 0 ? d[lag] * lag / sum : 1;
	}
}

/* Where repeats are short and their distances uneven, no lag stands out. */
static const double usual[PROPOSALS] = { 13.5, 17, 21.5 };

bool cycle_is_guessed(double period)
{
	for (int i = 0; i < PROPOSALS; i++)
		if (period <= usual[i] && period >= usual[i])
			return true;
	return false;
}

/* The lowest minima. */
uint32_t cycle_propose(double *room, const struct cycle_scale *given, uint32_t shortest,
		       double period[PROPOSALS])
{
	const double most = 0.95;
	struct cycle_scale sharp = { room, given->n }, *s = &sharp;
	double d[LAGS], low[PROPOSALS];
	uint32_t n = 0;

	sharpen(room, given);
	unlike(s, d);
	for (uint32_t lag = shortest; lag < LONG; lag++) {
		double bend = d[lag - 1] - 2 * d[lag] + d[lag + 1];
		uint32_t at = n < PROPOSALS ? n : PROPOSALS;

		if (d[lag] > d[lag - 1] || d[lag] > d[lag + 1] || d[lag] > most)
			continue;
		while (at && d[lag] < low[at - 1]) {
			if (at < PROPOSALS) {
				low[at] = low[at - 1];
				period[at] = period[at - 1];
			}
			at--;
		}
		if (at == PROPOSALS)
			continue;
		low[at] = d[lag];
		period[at] = lag + (bend > 0 ? (d[lag - 1] - d[lag + 1]) / bend / 2 : 0);
		n += n < PROPOSALS;
	}
	if (n || given->n > WINDOW / 2)
		return n;
	memcpy(period, usual, sizeof usual);
	return PROPOSALS;
}

/* ---- random order ---- */

/* Pieces of half a period to one and a half, in random order. */
void cycle_shuffle(double *out, const struct cycle_scale *s, double period, struct random *random)
{
	uint32_t from[WINDOW + 1], order[WINDOW], n = 0, at = 0;

	while (at < s->n && n < WINDOW) {
		from[n] = at;
		order[n] = n;
		at += (uint32_t)fmax(1, period * (0.5 + random_unit(random)));
		n++;
	}
	from[n] = s->n;
	for (uint32_t left = n, to = 0; left; left--) {
		uint32_t i = (uint32_t)(random_unit(random) * left), piece = order[i];
		uint32_t length = from[piece + 1] - from[piece];

		order[i] = order[left - 1];
		memcpy(out + to, s->x + from[piece], length * sizeof *out);
		to += length;
	}
}

/* How well a pattern fits each place of a series. */

/* Of a pattern's place that hardly changes: the variance that it counts as. */
static const double still = 0.05;

/* Mean 0, length 1. */
void cycle_normalise(struct cycle_pattern *p)
{
	int n = 2 * p->half + 1;
	struct cycle_moments m = cycle_moments(p->x, (uint32_t)n);
	double length = m.sd * sqrt(n);

	for (int i = 0; i < n; i++)
		p->x[i] = length > 0 ? (p->x[i] - m.mean) / length : 0;
}

double cycle_scatter(const double *x, int n, double *mean)
{
	struct cycle_moments m = cycle_moments(x, (uint32_t)n);

	*mean = m.mean;
	return sqrt((m.sd * m.sd + still) * n);
}

static double one_product(const double *x, const struct cycle_pattern *p)
{
	double sum = 0;

	for (int k = 0; k <= 2 * p->half; k++)
		sum += p->x[k] * x[k];
	return sum;
}

/* Four places next to each other at once: their sums do not wait for each other. */
static void products(const double *x, const struct cycle_pattern *p, double sum[4])
{
	double a = 0, b = 0, c = 0, d = 0;

	for (int k = 0; k <= 2 * p->half; k++) {
		a += p->x[k] * x[k];
		b += p->x[k] * x[k + 1];
		c += p->x[k] * x[k + 2];
		d += p->x[k] * x[k + 3];
	}
	sum[0] = a;
	sum[1] = b;
	sum[2] = c;
	sum[3] = d;
}

/* The correlation of the pattern with what is around each value; what hardly changes has none. */
void cycle_fit(double *fit, const struct cycle_scale *s, const struct cycle_pattern *p)
{
	uint32_t half = (uint32_t)p->half, n = 2 * half + 1;
	double sum = 0, squares = 0, product[4];

	for (uint32_t i = 0; i < s->n; i++)
		fit[i] = -1;
	for (uint32_t k = 0; k + 1 < n && k < s->n; k++) {
		sum += s->x[k];
		squares += s->x[k] * s->x[k];
	}
	for (uint32_t i = 0; i + n <= s->n; i++) {
		double last = s->x[i + n - 1];

		sum += last;
		squares += last * last;
		if (i / 4 * 4 + n + 3 > s->n)
			product[i % 4] = one_product(s->x + i, p);
		else if (i % 4 == 0)
			products(s->x + i, p, product);
		fit[i + half] = product[i % 4] / sqrt(fmax(0, squares - sum * sum / n) + still * n);
		sum -= s->x[i];
		squares -= s->x[i] * s->x[i];
	}
}

double cycle_between(const double *fit, const struct cycle_scale *s, uint32_t i)
{
	double a, b;

	if (!i || i + 1 >= s->n || fit[i - 1] < 0 || fit[i + 1] < 0)
		return i;
	a = fit[i - 1] - fit[i + 1];
	b = fit[i - 1] - 2 * fit[i] + fit[i + 1];
	return i + (b < 0 ? fmax(-0.5, fmin(0.5, a / b / 2)) : 0);
}

bool cycle_skips(const double *fit, const struct cycle_scale *s, const uint32_t *at, uint32_t n,
		 double period)
{
	const double few = 0.12, apart = 0.25, worse = 0.05, least = 0.5;
	uint32_t skipped = 0, enough = 2, k = 0;
	double last = -period;

	for (uint32_t i = 1; i + 1 < s->n && n; i++) {
		double away, near;
		uint32_t next;

		while (k + 1 < n && at[k + 1] <= i)
			k++;
		next = k + 1 < n && i > at[k] ? k + 1 : k;
		away = fmin(fabs((double)i - at[k]), fabs((double)i - at[next]));
		near = fmax(least, fmin(fit[at[k]], fit[at[next]]) - worse);
		if (away <= apart * period || i < last + period / 2 || fit[i] < near ||
		    fit[i] < fit[i - 1] || fit[i] <= fit[i + 1])
			continue;
		skipped++;
		last = i;
	}
	return skipped > enough + few * n;
}
