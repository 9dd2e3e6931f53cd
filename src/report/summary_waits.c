/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_waits.c - when threads waited for a core.
 *
 * Threads are looked at in rounds of two seconds and more: how long they waited in a round is
 * known, not when. Where the job ran for a part of a round they waited there, as long as so many
 * threads can have; only what is beyond that was waited while none of them ran at all. A wait is
 * known when it is over: what is more than all of them can have waited in a round was waited
 * before. And what ended before it was looked at again took its waits along: of threads that were
 * ready to run when a round began and when it ended, and ran for less than a quarter of it, it is
 * taken that they were all the time, as others were in their place. One that only sleeps now and
 * then is seen like that as well: being at work for a share p of the time, in p * p of the rounds,
 * so that what is taken for waiting is at most p * p * (1 - p) of a core, less than a twentieth.
 * When there were fewer at its end, or more, the sum tells when that changed.
 */
#include "report/summary_part.h"

#include <math.h>
#include <stdlib.h>

const double summary_idle_cores = 0.05;
static const double starved_ratio = 0.25;

/* Windows begin..end of the timeline; threads that wanted a core when it began and when it ended.
 */
struct round {
	uint32_t begin, end;
	double first, last;
};

/* As many threads as at first wanted a core until so many windows had gone by, then the others. In
 * all they waited no longer than known, though more ran in some window than wanted to. */
static void place_change(double *waited, const double *cores, const struct round *r, double until,
			 double all)
{
	double sum = 0;

	for (uint32_t i = r->begin; i < r->end; i++) {
		waited[i] = fmax(0, (i - r->begin < until ? r->first : r->last) - cores[i]);
		sum += waited[i];
	}
	for (uint32_t i = r->begin; sum > all && i < r->end; i++)
		waited[i] *= all / sum;
}

static void place_round(double *waited, const double *cores, const struct round *r)
{
	double ran = 0, ran_there = 0, all = 0, there, until;
	double least = fmin(r->first, r->last), most = fmax(r->first, r->last);
	uint32_t n = r->end - r->begin, busy = 0;

	for (uint32_t i = r->begin; i < r->end; i++) {
		all += waited[i];
		ran += isnan(cores[i]) ? 0 : cores[i];
		if (cores[i] > summary_idle_cores) {
			ran_there += cores[i];
			busy++;
		}
	}
	if (most > 0)
		all = fmin(all, fmax(0, n * most - ran));
	if (ran < starved_ratio * n * least)
		all = fmax(all, n * least - ran);
	until = (all + ran - n * r->last) / (r->first - r->last);
	if (least >= 1 && until >= 0 && until <= n) {
		place_change(waited, cores, r, until, all);
		return;
	}
	/* Who ran did not wait meanwhile. */
	there = fmin(all, fmax(0, busy * fmax(1, most) - ran_there));
	if (busy == n)
		there = all;
	for (uint32_t i = r->begin; i < r->end; i++)
		waited[i] =
			cores[i] > summary_idle_cores ? there / busy : (all - there) / (n - busy);
}

/* A round ends where the threads' states were put, and the next begins. What the last ones did
 * after that, nobody saw: one of them wanted what it wanted before. */
static void place(double *waited, const double *cores, const double *threads, uint32_t n)
{
	struct round r = { .first = n && !isnan(threads[0]) ? threads[0] : 0 };

	for (uint32_t i = 1; i <= n; i++) {
		if (i < n && isnan(threads[i]))
			continue;
		if (i < n && i == r.begin + 1 && threads[i] == r.first)
			continue; /* it stood until the next row, in the next window */
		r.end = i;
		r.last = i < n ? threads[i] : fmin(r.first, 1);
		place_round(waited, cores, &r);
		r.begin = r.end;
		r.first = r.last;
	}
}

double *summary_waits_make(const struct summary *s)
{
	const struct timeline *t = &s->timeline;
	const struct timeline_row *cores = timeline_find(t, summary_cores_metric);
	const struct timeline_row *known = timeline_find(t, summary_waited_metric);
	const struct timeline_row *threads = timeline_find(t, summary_threads_metric);
	double *waited = calloc(t->nwindows + 1, sizeof *waited);

	for (uint32_t i = 0; waited && known && i < t->nwindows; i++)
		waited[i] = isnan(known->value[i]) ? 0 : known->value[i];
	/* Rounds of several nodes are not at the same time. */
	if (waited && cores && threads && s->nnodes == 1)
		place(waited, cores->value, threads->value, t->nwindows);
	return waited;
}
