/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits.c - when threads waited for a core.
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
 *
 * Programs of a fraction of a second, as of a build, are hardly ever looked at twice. Over many
 * looks, how many threads wanted a core, less what ran, is how many waited for one: what is
 * missing by that, less two standard errors, was waited where the node had no core left.
 */
#include "report/summary/parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const double summary_idle_cores = 0.05;
static const double starved_ratio = 0.25, full_ratio = 0.9;

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

/* What threads want in a window and neither have nor are known to wait for, though no core is left.
 */
static double unmet(double wanted, double had, double waited, double used, double present)
{
	double gap = used >= full_ratio * present ? wanted - had - waited : 0;

	return gap > 0 ? gap : 0; /* an unknown one, too */
}

/* The waits that ended with their threads. wanted[]: of the last look, in each window. */
static void add_missing(const struct summary *s, double *waited, const double *cores,
			const double *wanted, double spread)
{
	const struct timeline *t = &s->timeline;
	const struct timeline_row *node = timeline_find(t, summary_node_cores_metric);
	double missing = 0, gaps = 0;

	if (!node)
		return;
	for (uint32_t i = 0; i < t->nwindows; i++) {
		double beyond = wanted[i] - cores[i] - waited[i];

		missing += isnan(beyond) ? 0 : beyond - spread;
		gaps += unmet(wanted[i], cores[i], waited[i], node->value[i], s->cores_present);
	}
	if (!(missing > 0))
		return;
	for (uint32_t i = 0; i < t->nwindows; i++)
		waited[i] += fmin(1, missing / gaps) * unmet(wanted[i], cores[i], waited[i],
							     node->value[i], s->cores_present);
}

/* 0 or -ENOMEM. */
static int estimate_missing(const struct summary *s, double *waited, const double *cores,
			    const double *threads)
{
	enum { LEAST_LOOKS = 12 };
	double *wanted = calloc(s->timeline.nwindows + 1, sizeof *wanted);
	double last = NAN, sum = 0, squares = 0;
	uint32_t looks = 0;

	if (!wanted)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->timeline.nwindows; i++) {
		if (!isnan(threads[i])) {
			last = threads[i];
			sum += last;
			squares += last * last;
			looks++;
		}
		wanted[i] = last;
	}
	if (looks >= LEAST_LOOKS) {
		double mean = sum / looks, variance = fmax(0, squares / looks - mean * mean);

		/* Equal looks may be equal by chance: one that is not is added. */
		add_missing(s, waited, cores, wanted, 2 * sqrt((variance + 1.0 / looks) / looks));
	}
	free(wanted);
	return 0;
}

/* Whether threads were so many that none was looked at but in the first moments and the last. */
static bool is_rare(const struct timeline *t, const struct timeline_row *threads)
{
	enum { LEAST_WINDOWS = 8 };
	uint32_t edge = t->nwindows / 8 + 1;

	for (uint32_t i = edge; threads && i + edge < t->nwindows; i++)
		if (!isnan(threads->value[i]))
			return false;
	return threads && t->nwindows >= LEAST_WINDOWS;
}

/* How many threads of others were ready to run, as far as the moments before the job and after it
 * tell. */
static double others_ready(const struct summary *s)
{
	double most = NAN;

	for (uint32_t i = 0; i < s->nmetrics; i++)
		if (!strcmp(s->metrics[i].name, summary_ready_metric))
			most = fmax(s->metrics[i].stats.first, s->metrics[i].stats.last);
	return most;
}

/* How many of the job's threads wanted a core is then what was ready on the node, less others, and
 * no more than the job had. */
static void estimate(const struct summary *s, double *waited, const double *cores)
{
	const struct timeline *t = &s->timeline;
	const struct timeline_row *ready = timeline_find(t, summary_ready_metric);
	const struct timeline_row *threads = timeline_find(t, summary_count_metric);
	double others = others_ready(s), have = NAN;

	for (uint32_t i = 0; ready && threads && s->nnodes == 1 && i < t->nwindows; i++) {
		have = isnan(threads->value[i]) ? have : threads->value[i];
		if (isnan(ready->value[i] - others))
			continue; /* nothing is known of what waited, and nothing is made up */
		waited[i] = fmax(0, fmin(have, ready->value[i] - others) -
					    (isnan(cores[i]) ? 0 : cores[i]));
	}
}

double *summary_waits_make(const struct summary *s)
{
	const struct timeline *t = &s->timeline;
	const struct timeline_row *cores = timeline_find(t, summary_cores_metric);
	const struct timeline_row *known = timeline_find(t, summary_waited_metric);
	const struct timeline_row *threads = timeline_find(t, summary_threads_metric);
	double *waited = calloc(t->nwindows + 1, sizeof *waited);

	if (waited && cores && is_rare(t, threads)) {
		estimate(s, waited, cores->value);
		return waited;
	}
	for (uint32_t i = 0; waited && known && i < t->nwindows; i++)
		waited[i] = isnan(known->value[i]) ? 0 : known->value[i];
	/* Rounds of several nodes are not at the same time. */
	if (!waited || !cores || !threads || s->nnodes != 1)
		return waited;
	place(waited, cores->value, threads->value, t->nwindows);
	if (!estimate_missing(s, waited, cores->value, threads->value))
		return waited;
	free(waited);
	return NULL;
}

void summary_waits_correct(struct summary *s, const double *waited)
{
	const struct timeline *t = &s->timeline;
	const struct timeline_row *cores = timeline_find(t, summary_cores_metric);
	double peak = NAN, all = 0;

	if (!cores || !is_rare(t, timeline_find(t, summary_threads_metric)))
		return;
	for (uint32_t i = 0; i < t->nwindows; i++) {
		if (!(waited[i] > 0))
			continue;
		all += waited[i] * t->width_s;
		peak = fmax(peak,
			    floor(waited[i] + (isnan(cores->value[i]) ? 0 : cores->value[i])));
	}
	s->host_threads_running_peak = peak;
	for (uint32_t i = 0; i < s->ngrowth; i++)
		if (!strcmp(s->growth[i].metric, "job.run_queue_seconds"))
			s->growth[i].grown = peak > 0 ? all : NAN;
}

/* For how long nobody looked at the threads around a window. */
static double unseen_s(const struct timeline *t, const struct timeline_row *threads,
		       uint32_t window)
{
	uint32_t begin = window, end = window;

	while (begin > 0 && isnan(threads->value[begin]))
		begin--;
	while (end < t->nwindows && isnan(threads->value[end]))
		end++;
	return (end - begin) * t->width_s;
}

static double last_known(const struct timeline_row *row, uint32_t window)
{
	while (window > 0 && isnan(row->value[window]))
		window--;
	return row->value[window];
}

static double next_known(const struct timeline_row *row, uint32_t window, uint32_t nwindows)
{
	while (window + 1 < nwindows && isnan(row->value[window]))
		window++;
	return row->value[window];
}

bool summary_waits_unseen(const struct summary *s, uint32_t window)
{
	static const double long_s = 3, many_threads = 16;
	const struct timeline *t = &s->timeline;
	const struct timeline_row *count = timeline_find(t, summary_count_metric);
	const struct timeline_row *ready = timeline_find(t, summary_ready_metric);
	const struct timeline_row *threads = timeline_find(t, summary_threads_metric);
	const struct timeline_row *node = timeline_find(t, summary_node_cores_metric);

	if (!ready || !threads || s->nnodes != 1)
		return false;
	if (node && last_known(node, window) < full_ratio * s->cores_present)
		return false;
	/* The kernel counts a wait when it is over, or never, where the process was not looked at
	 * again. */
	if (node && last_known(threads, window) >= 2 &&
	    next_known(threads, window, t->nwindows) >= 2)
		return true;
	if (unseen_s(t, threads, window) < long_s)
		return false;
	/* Others may have become fewer since: of so many threads nothing is known then. */
	return last_known(ready, window) - others_ready(s) >= 2 ||
	       (count && last_known(count, window) >= many_threads);
}
