/* SPDX-License-Identifier: Apache-2.0 */
/* steps_bursts.c - steps that bursts show: of CPU time, of calls that read or write, of GPUs' work,
 * with rests between them. Their beginnings, or their ends, must be at even distances: in time or,
 * as others may take the cores, in the CPU time that the job got and the time that it rested. */
#include "report/steps/steps_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Steps that are enough; bursts of a step, at most; rests that are closed: up to 2 ^ this. */
enum { LEAST = 8, PARTS = 4, CLOSINGS = 5 };

static const uint32_t shown_in[] = { STEP_CPU, STEP_WRITE_CALLS, STEP_READ_CALLS, STEP_GPU };

/* In intervals of the grid; amount: of CPU time, calls. */
struct burst {
	double from, to, amount;
};

/* Room for one measure: [n + 1] each. */
struct bursts {
	const struct step_grid *g;
	double *y, *work; /* the measure, on its scale; what the job got and rested until then */
	struct burst *all, *now;
	uint32_t nall, nnow;
	double *at, *d, *sorted; /* of those that are looked at */
	double *best;            /* beginnings, in intervals */
	uint32_t nbest, measure;
	double score, every, reading; /* reading: intervals that a reading takes */
	double nothing;               /* cores that are next to none */
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* ---- bursts ---- */

/* Calls differ by powers of ten; what is not known is as before. False: it is the same all over. */
static bool prepare(struct bursts *b, uint32_t measure)
{
	const double *v = b->g->value[measure];
	double last = 0, low = INFINITY, high = -INFINITY, readings = 0;

	for (uint32_t i = 0; i < b->g->n; i++) {
		last = isfinite(v[i]) ? fmax(0, v[i]) : last;
		b->y[i] = step_measures[measure].unit == UNIT_PER_SECOND ? log1p(last) : last;
		low = fmin(low, b->y[i]);
		high = fmax(high, b->y[i]);
		readings += b->g->read[(size_t)measure * b->g->n + i];
	}
	b->reading = readings > 0 ? fmax(1, b->g->n / readings) : INFINITY;
	b->measure = measure;
	return high > low && isfinite(b->reading);
}

/* Between rest and burst: the middle of the means of what is below and above. */
static double middle_of(const struct bursts *b, double *rest)
{
	double t = 0, sum = 0;

	for (uint32_t i = 0; i < b->g->n; i++)
		sum += b->y[i];
	t = sum / b->g->n;
	for (int pass = 0; pass < 16; pass++) {
		double below = 0, above = 0;
		uint32_t n = 0;

		for (uint32_t i = 0; i < b->g->n; i++) {
			n += b->y[i] > t;
			*(b->y[i] > t ? &above : &below) += b->y[i];
		}
		if (!n || n == b->g->n)
			break;
		*rest = below / (b->g->n - n);
		t = (*rest + above / n) / 2;
	}
	return t;
}

/* Where in its first interval a burst of CPU time began: that was used of it as of the next. */
static double begin_of(const struct bursts *b, uint32_t i)
{
	double next = 0;

	for (uint32_t k = i + 1; k < i + 3 && k < b->g->n; k++)
		next = fmax(next, b->y[k]);
	if (b->measure != STEP_CPU || !(next > b->y[i]))
		return i;
	return i + 1 - b->y[i] / next;
}

/* idle: only what is next to nothing is a rest; else also what is much less. */
static void find_bursts(struct bursts *b, bool idle)
{
	double rest = 0, enter = middle_of(b, &rest), leave = rest + (enter - rest) / 2;
	bool in = false;

	if (idle) {
		enter = 2 * b->nothing;
		leave = b->nothing;
	}
	b->nall = 0;
	for (uint32_t i = 0; i < b->g->n; i++) {
		if (!in && b->y[i] > enter)
			b->all[b->nall++] = (struct burst){ begin_of(b, i), i, 0 };
		in = in ? b->y[i] > leave : b->y[i] > enter;
		if (in) {
			b->all[b->nall - 1].to = i + 1;
			b->all[b->nall - 1].amount += b->y[i];
		}
	}
}

/* Short rests are none. */
static void close_rests(struct bursts *b, double upto)
{
	b->nnow = 0;
	for (uint32_t i = 0; i < b->nall; i++) {
		struct burst *last = b->now + b->nnow - 1;

		if (!b->nnow || b->all[i].from - last->to > upto) {
			b->now[b->nnow++] = b->all[i];
			continue;
		}
		last->to = b->all[i].to;
		last->amount += b->all[i].amount;
	}
}

/* ---- whether they are at even distances ---- */

static double work_until(const struct bursts *b, double at)
{
	uint32_t i = (uint32_t)at;

	return i < b->g->n ? b->work[i] + (at - i) * (b->work[i + 1] - b->work[i])
			   : b->work[b->g->n];
}

static double distance(const struct bursts *b, uint32_t from, uint32_t to, bool work)
{
	return work ? work_until(b, b->at[to]) - work_until(b, b->at[from])
		    : b->at[to] - b->at[from];
}

/* How much of the variance of v is between places, of every m one; what chance gives is taken off.
 */
static double apart(const double *v, uint32_t n, uint32_t m)
{
	double sum[PARTS] = { 0 }, all = 0, squares = 0, between = 0;
	uint32_t of[PARTS] = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		double x = log(fmax(v[i], 1e-9));

		sum[i % m] += x;
		of[i % m]++;
		all += x;
		squares += x * x;
	}
	squares -= all * all / n;
	for (uint32_t k = 0; k < m; k++)
		between += sum[k] * sum[k] / of[k];
	between -= all * all / n;
	if (n <= m || !(squares > 1e-9))
		return 0;
	between /= squares;
	return between - (m - 1) * (1 - between) / (n - m);
}

/* How many bursts are a step: those that are told apart by their place in it. */
static uint32_t parts_of(struct bursts *b, uint32_t n, bool work)
{
	const double enough = 0.5, more = 0.15;
	double most = enough - more;
	uint32_t parts = 1;

	for (uint32_t m = 2; m <= PARTS && n / m >= LEAST; m++) {
		double by;

		for (uint32_t i = 0; i + 1 < n; i++)
			b->d[i] = distance(b, i, i + 1, work);
		by = apart(b->d, n - 1, m);
		for (uint32_t i = 0; i < n; i++)
			b->d[i] = b->now[i].amount;
		by = fmax(by, apart(b->d, n, m));
		if (by <= most + more)
			continue;
		most = by;
		parts = m;
	}
	return parts;
}

/* A step begins after the longest of its rests. */
static uint32_t first_of(const struct bursts *b, uint32_t parts)
{
	double rest[PARTS] = { 0 };
	uint32_t first = 0;

	for (uint32_t i = 1; i < b->nnow; i++)
		rest[i % parts] += (b->now[i].from - b->now[i - 1].to) / b->nnow;
	for (uint32_t k = 1; k < parts; k++)
		first = rest[k] > rest[first] ? k : first;
	return first;
}

/* Whether rests are long enough to be seen, all of them: two readings, mostly. d: room. */
static bool rests_are_seen(const struct bursts *b, double *d)
{
	const double enough = 1.9;
	uint32_t n = 0;

	if (b->measure != STEP_CPU)
		return true;
	for (uint32_t i = 1; i < b->nnow; i++)
		d[n++] = b->now[i].from - b->now[i - 1].to;
	qsort(d, n, sizeof *d, by_value);
	return d[n / 4] >= enough * b->reading;
}

/* Distances of twice the usual one are those of which the middle was missed. d: sorted. */
static bool is_missed(const double *d, uint32_t n)
{
	const double near = 0.25, few = 0.15;
	uint32_t twice = 0;

	for (uint32_t i = 0; i < n; i++)
		twice += fabs(d[i] / d[n / 2] - 2) <= near;
	return twice > few * n;
}

static void try(struct bursts *b, bool ends, bool work)
{
	const double covers = 0.4, sure = 4.2; /* many are tried */
	uint32_t n = b->nnow, parts, kept = 0, steps;
	double every, score;

	for (uint32_t i = 0; i < n; i++)
		b->at[i] = ends ? b->now[i].to : b->now[i].from;
	parts = parts_of(b, n, work);
	for (uint32_t i = parts > 1 ? first_of(b, parts) : 0; i < n; i += parts)
		b->at[kept++] = b->at[i];
	if (kept <= LEAST || b->at[kept - 1] - b->at[0] < covers * b->g->n)
		return;
	for (uint32_t i = 0; i + 1 < kept; i++)
		b->sorted[i] = distance(b, i, i + 1, work);
	every = steps_even(b->sorted, kept - 1, false, &steps, &score);
	if (!(every > 0) || score < sure || score <= b->score || is_missed(b->sorted, kept - 1))
		return;
	b->score = score;
	b->every = every;
	b->nbest = kept;
	memcpy(b->best, b->at, kept * sizeof *b->at);
}

/* Whether rests that were closed are as long as others that were not: no length is between those
 * within a step and those between steps, and which bursts were joined is chance. */
static bool is_cut_anywhere(const struct bursts *b, double upto)
{
	const double alike = 1.5, few = 0.1;
	uint32_t closed = 0, kept = 0;

	for (uint32_t i = 1; i < b->nall; i++) {
		double rest = b->all[i].from - b->all[i - 1].to;

		closed += rest <= upto && rest > upto / alike;
		kept += rest > upto && rest <= upto * alike;
	}
	return closed > few * b->nnow && kept > few * b->nnow;
}

static void look(struct bursts *b, bool idle)
{
	find_bursts(b, idle);
	for (int c = -1; c < CLOSINGS; c++) {
		uint32_t before = b->nnow;
		double upto = c < 0 ? 0 : b->reading * (1 << c) + 0.01;

		close_rests(b, upto);
		if (b->nnow <= LEAST)
			break;
		if (c >= 0 && (b->nnow == before || is_cut_anywhere(b, upto)))
			continue;
		if (!rests_are_seen(b, b->d))
			continue;
		for (int k = 0; k < 4; k++)
			try(b, k % 2, k >= 2);
	}
}

/* ---- all of it ---- */

static bool room(struct bursts *b, uint32_t n)
{
	double **all[] = { &b->y, &b->work, &b->at, &b->d, &b->sorted, &b->best };
	bool got = true;

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		*all[i] = malloc((n + 1u) * sizeof **all[i]);
		got = got && *all[i];
	}
	b->all = malloc((n + 1u) * sizeof *b->all);
	b->now = malloc((n + 1u) * sizeof *b->now);
	return got && b->all && b->now;
}

static void leave(struct bursts *b)
{
	free(b->y);
	free(b->work);
	free(b->at);
	free(b->d);
	free(b->sorted);
	free(b->best);
	free(b->all);
	free(b->now);
}

static int take(struct steps *x, const struct bursts *b, uint32_t measure, double reading)
{
	x->step = calloc(b->nbest, sizeof *x->step);
	if (!x->step)
		return -1;
	x->n = b->nbest - 1;
	for (uint32_t i = 0; i < x->n; i++)
		x->step[i] = (struct step){ .from_s = b->g->from_s + b->best[i] * b->g->width_s,
					    .to_s = b->g->from_s + b->best[i + 1] * b->g->width_s };
	x->metric = step_measures[measure].metric;
	x->grain_s = reading * b->g->width_s;
	return 0;
}

int steps_of_bursts(struct steps *x, const struct step_grid *g)
{
	struct bursts b = { .g = g };
	int rc = room(&b, g->n) ? 0 : -1;

	if (!rc)
		b.nothing = step_grid_work(g, b.work);
	for (size_t i = 0; i < sizeof shown_in / sizeof shown_in[0] && !rc; i++) {
		double before = b.score;
		struct steps one = { 0 };

		if (!prepare(&b, shown_in[i]))
			continue;
		look(&b, false);
		if (shown_in[i] == STEP_CPU)
			look(&b, true);
		if (b.score <= before)
			continue;
		rc = take(&one, &b, shown_in[i], b.reading);
		if (!rc && !steps_are_of_job(&one, g, shown_in[i])) {
			b.score = before;
			free(one.step);
			continue;
		}
		free(x->step);
		x->step = one.step;
		x->n = one.n;
		x->metric = one.metric;
		x->grain_s = one.grain_s;
	}
	leave(&b);
	return rc;
}
