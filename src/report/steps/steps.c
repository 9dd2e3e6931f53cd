/* SPDX-License-Identifier: Apache-2.0 */
#include "report/steps/steps.h"
#include "core/statistics/cycle.h"
#include "core/statistics/stats.h"
#include "report/steps/steps_grid.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(const struct run *r, struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for the steps of %.300s", r->path);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The node with most samples. */
static uint32_t choose_node(const struct run *r)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < r->nnodes; i++)
		if (r->nodes[i].rows >= CYCLE_LEAST &&
		    (!best || r->nodes[i].rows > r->nodes[best].rows))
			best = i;
	return best;
}

/* How well most beginnings fit: a fit that is clearly worse may be one that there is not, within a
 * step that took long. NAN: out of memory. */
static double clear_fit(const struct cycle *c)
{
	const double worse = 0.3;
	double *fit = malloc((c->n + 1u) * sizeof *fit), middle;

	if (!fit)
		return NAN;
	for (uint32_t i = 0; i < c->n; i++)
		fit[i] = c->begin[i].fit;
	qsort(fit, c->n, sizeof *fit, by_value);
	middle = fit[c->n / 2];
	free(fit);
	return middle - worse;
}

/* Whether a step has as many readings of the measure as it takes: what is read less often than
 * others is read at even distances, and so repeats in the grid by itself. */
static bool is_read_enough(const struct steps *x, const struct step_grid *g, uint32_t measure)
{
	const double mean = CYCLE_VALUES - 0.3, most = 0.75;
	uint32_t all = 0, enough = 0;

	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t n = step_grid_read(g, measure, x->step[i].from_s, x->step[i].to_s);

		all += n;
		enough += n + 1 >= CYCLE_VALUES;
	}
	return all >= mean * x->n && enough >= most * x->n;
}

/* So few bytes a step are no data, but what a runtime asks again and again by its clock: how many
 * cores there are, who woke it. */
static bool reads_nothing(const struct steps *x, const struct step_grid *g)
{
	const double data = 256;
	double from_s = x->step[0].from_s, to_s = x->step[x->n - 1].to_s;

	return step_grid_mean(g, STEP_READ, from_s, to_s) * (to_s - from_s) < data * x->n;
}

/* Intervals from one reading of a measure to the next. */
static double reading_of(const struct step_grid *g, uint32_t measure)
{
	double to_s = g->from_s + (g->n + 1) * g->width_s;

	return g->n / fmax(1, step_grid_read(g, measure, g->from_s, to_s));
}

/* How far what was done in a step, on average, is from what would have been at an even pace: from
 * most behind it to most ahead, in intervals of the mean pace. */
static double swing_of(const struct steps *x, const struct step_grid *g, uint32_t measure)
{
	enum { PLACES = 32 };
	double sum[PLACES + 1] = { 0 }, all = 0, all_s = 0, low = 0, high = 0;

	for (uint32_t k = 0; k < x->n; k++) {
		double from_s = x->step[k].from_s, part_s = (x->step[k].to_s - from_s) / PLACES;
		double done[PLACES + 1] = { 0 };

		for (int i = 0; i < PLACES; i++) {
			double at_s = from_s + i * part_s;
			double v = step_grid_mean(g, measure, at_s, at_s + part_s);

			done[i + 1] = done[i] + (isfinite(v) ? v : 0) * part_s;
		}
		for (int i = 1; i <= PLACES; i++)
			sum[i] += (done[i] - done[PLACES] * i / PLACES) / x->n;
		all += done[PLACES];
		all_s += PLACES * part_s;
	}
	for (int i = 1; i <= PLACES; i++) {
		low = fmin(low, sum[i]);
		high = fmax(high, sum[i]);
	}
	return (high - low) / (all / all_s) / g->width_s;
}

/*
 * Whether it may be the beat of much shorter steps with the samples, as a wheel in a film turns
 * slowly. What is counted (CPU time, bytes, calls) is never lost between two samples, so that a
 * beat moves it by no more than one of those steps does, which take about a reading. Real steps
 * move it by a good part of what they do. Threads that do not rest that often have no such steps.
 */
static bool may_be_beat(const struct steps *x, const struct step_grid *g, uint32_t measure)
{
	const double most = 1, part = 0.043, shortest = 2.2;
	double from_s = x->step[0].from_s, to_s = x->step[x->n - 1].to_s;
	double reading = reading_of(g, measure), swing;
	enum unit u = step_measures[measure].unit;

	if (u == UNIT_BYTES || u == UNIT_RATIO) /* of one instant, not counted */
		return false;
	if (measure == STEP_CPU && g->rests < g->n / (shortest * reading))
		return false;
	swing = swing_of(x, g, measure);
	return swing < most * reading && swing < part * (to_s - from_s) / x->n / g->width_s;
}

/* Threads that never give up a CPU have no rests in which they use less of it. */
bool steps_are_of_job(const struct steps *x, const struct step_grid *g, uint32_t measure)
{
	if (measure == STEP_CPU && g->rests < x->n)
		return false;
	if ((measure == STEP_READ || measure == STEP_READ_CALLS) && reads_nothing(x, g))
		return false;
	return is_read_enough(x, g, measure) && !may_be_beat(x, g, measure);
}

/* In the measures that are left. */
static int find_in(struct steps *x, const struct step_grid *g, const uint32_t *measure,
		   uint32_t nmeasures, uint32_t *shown_by, double *worth)
{
	const double *signal[STEP_SIGNALS] = { 0 };
	struct cycle c;
	double clear = NAN;
	int rc;

	for (uint32_t i = 0; i < nmeasures; i++)
		signal[i] = g->value[measure[i]];
	rc = cycle_find(&c, signal, nmeasures, g->n);
	if (!rc && c.n > 1) {
		x->step = calloc(c.n - 1, sizeof *x->step);
		rc = x->step ? 0 : -ENOMEM;
		x->n = rc ? 0 : c.n - 1;
		*shown_by = c.signal;
		*worth = c.worth;
		x->metric = step_measures[measure[c.signal]].metric;
		x->grain_s = fmax(reading_of(g, measure[c.signal]), c.grain) * g->width_s;
	}
	if (x->n)
		clear = clear_fit(&c);
	for (uint32_t i = 0; i < x->n; i++) {
		x->step[i].from_s = g->from_s + c.begin[i].at * g->width_s;
		x->step[i].to_s = g->from_s + c.begin[i + 1].at * g->width_s;
		x->step[i].vague = fmin(c.begin[i].fit, c.begin[i + 1].fit) < clear;
	}
	cycle_free(&c);
	return rc;
}

/* Without those measures that show something which their readings made. worth: how clear they are.
 */
static int find_in_samples(struct steps *x, const struct step_grid *g, double *worth)
{
	uint32_t measure[STEP_SIGNALS], n = STEP_SIGNALS, by = 0;

	for (uint32_t i = 0; i < STEP_SIGNALS; i++)
		measure[i] = i;
	while (n) {
		int rc = find_in(x, g, measure, n, &by, worth);

		if (rc || !x->n || steps_are_of_job(x, g, measure[by]))
			return rc;
		free(x->step);
		x->step = NULL;
		x->n = 0;
		x->metric = NULL;
		n--;
		for (uint32_t i = by; i < n; i++)
			measure[i] = measure[i + 1];
	}
	return 0;
}

/* The time in steps that are about as long as usual: of others, some are missed or invented. */
static double regular(const struct steps *x, double *room, double *median_s)
{
	const double about = 1.5;
	double sum = 0;

	for (uint32_t i = 0; i < x->n; i++)
		room[i] = x->step[i].to_s - x->step[i].from_s;
	qsort(room, x->n, sizeof *room, by_value);
	*median_s = x->n ? room[x->n / 2] : (double)NAN;
	for (uint32_t i = 0; i < x->n; i++)
		if (room[i] <= about * *median_s && *median_s <= about * room[i])
			sum += room[i];
	return sum;
}

/* Bursts, where they show steps in clearly more of the time; the same ones, in more of it or more
 * exactly: their distances may change more than those of a pattern. by_work: as those do. */
static int look_for_bursts(struct steps *x, const struct step_grid *g, bool by_work)
{
	const double more = 1.3, alike = 1.25, same_more = 1.1, as_much = 0.97, finer = 0.75;
	struct steps found = { 0 };
	double *room, median_s, found_median_s, covers, found_covers, least;
	int rc = steps_of_bursts(&found, g);

	room = malloc((x->n + found.n + 1u) * sizeof *room);
	rc = room ? rc : -ENOMEM;
	if (rc || !found.n)
		goto out;
	covers = regular(x, room, &median_s);
	found_covers = regular(&found, room, &found_median_s);
	least = more;
	if (found_median_s < alike * median_s && median_s < alike * found_median_s)
		least = by_work || found.grain_s < finer * x->grain_s ? as_much : same_more;
	if (x->n && found_covers < least * covers)
		goto out;
	free(x->step);
	x->step = found.step;
	x->n = found.n;
	x->metric = found.metric;
	x->grain_s = found.grain_s;
	found.step = NULL;
out:
	free(found.step);
	free(room);
	return rc;
}

/* Where others take the cores, they change how long steps are, but not what is done in them: then
 * they are at even distances in that, if this shows them more clearly. */
static int find_by_work(struct steps *x, const struct step_grid *g, double worth, bool *taken)
{
	const double waits = 0.2;
	struct steps found = { 0 };
	double by_work = 0, to_s = g->from_s + g->n * g->width_s;
	double *work = malloc((g->n + 1u) * sizeof *work);
	struct step_grid by = { 0 };
	int rc = work ? 0 : -ENOMEM;

	if (rc || !(step_grid_mean(g, STEP_READY, g->from_s, to_s) >
		    waits * step_grid_mean(g, STEP_CPU, g->from_s, to_s)))
		goto out;
	step_grid_work(g, work);
	rc = step_grid_by_work(&by, g, work);
	if (!rc && by.n)
		rc = find_in_samples(&found, &by, &by_work);
	*taken = !rc && found.n && (!x->n || by_work > worth);
	if (!*taken)
		goto out;
	free(x->step);
	x->step = found.step;
	x->n = found.n;
	x->metric = found.metric;
	x->grain_s = found.grain_s * g->width_s / by.width_s;
	found.step = NULL;
	for (uint32_t i = 0; i < x->n; i++) {
		x->step[i].from_s = step_grid_time(g, work, x->step[i].from_s);
		x->step[i].to_s = step_grid_time(g, work, x->step[i].to_s);
	}
out:
	free(found.step);
	step_grid_free(&by);
	free(work);
	return rc;
}

/* Where samples came at uneven distances, as they do while a job begins, at even ones. */
static int look_in_samples(struct steps *x, struct step_grid *g)
{
	double worth = 0;
	bool by_work = false;
	int rc = find_in_samples(x, g, &worth), coarser = 0;

	if (!rc && !x->n)
		coarser = step_grid_coarsen(g);
	if (coarser > 0)
		rc = find_in_samples(x, g, &worth);
	if (!rc && coarser >= 0)
		rc = find_by_work(x, g, worth, &by_work);
	return coarser < 0 ? coarser : rc || look_for_bursts(x, g, by_work) ? -ENOMEM : 0;
}

/* ---- what was different ---- */

struct usual {
	double mean, sd;
};

static struct usual usual_of(const struct steps *x, const struct step_grid *g, uint32_t measure)
{
	double n = 0, sum = 0, squares = 0, mean;

	for (uint32_t i = 0; i < x->n; i++) {
		double v = x->step[i].kind == STEP_PLAIN
				   ? step_grid_mean(g, measure, x->step[i].from_s, x->step[i].to_s)
				   : (double)NAN;

		if (isnan(v))
			continue;
		n++;
		sum += v;
		squares += v * v;
	}
	mean = n > 1 ? sum / n : NAN;
	return (struct usual){ mean, sqrt(fmax(0, squares / n - mean * mean)) };
}

/* Less than this is none. */
static double least_of(enum unit u)
{
	switch (u) {
	case UNIT_CORES:
		return 0.05;
	case UNIT_RATIO:
		return 0.03;
	case UNIT_BYTES:
		return 16 << 20;
	case UNIT_BYTES_PER_SECOND:
		return 1 << 18;
	default:
		return 10;
	}
}

/* Keeps those that are farthest. */
static void differ(struct step *p, double *far, const struct step_difference *d, double by)
{
	uint32_t at = p->ndifferent;

	while (at && by > far[at - 1])
		at--;
	if (at == STEP_DIFFERENCES)
		return;
	p->ndifferent += p->ndifferent < STEP_DIFFERENCES;
	for (uint32_t i = p->ndifferent - 1; i > at; i--) {
		p->different[i] = p->different[i - 1];
		far[i] = far[i - 1];
	}
	p->different[at] = *d;
	far[at] = by;
}

static void find_differences(struct steps *x, const struct step_grid *g)
{
	const double far_least = 3, share = 0.05;
	struct usual usual[STEP_TELLS];

	for (uint32_t k = 0; k < STEP_TELLS; k++)
		usual[k] = usual_of(x, g, k);
	for (uint32_t i = 0; i < x->n; i++) {
		struct step *p = &x->step[i];
		double far[STEP_DIFFERENCES] = { 0 };

		for (uint32_t k = 0; k < STEP_TELLS && p->kind != STEP_PLAIN; k++) {
			double v = step_grid_mean(g, k, p->from_s, p->to_s), u = usual[k].mean;
			double by = fabs(v - u) / fmax(fmax(usual[k].sd, share * fabs(u)),
						       least_of(step_measures[k].unit));

			if (by > far_least)
				differ(p, far, &(struct step_difference){ k, v, u }, by);
		}
	}
}

/* ---- all of it ---- */

int steps_make(struct steps *x, const struct summary *s, struct run *r, struct err *e)
{
	struct step_grid g = { 0 };
	int rc;

	*x = (struct steps){ .mean_s = NAN,
			     .median_s = NAN,
			     .error_s = NAN,
			     .low_s = NAN,
			     .high_s = NAN,
			     .spread_ratio = NAN,
			     .before_s = NAN,
			     .every = NAN,
			     .checkpoint_s = NAN,
			     .interval_s = NAN };
	rc = steps_of_names(x, s, r) || (!x->n && steps_of_events(x, s, r)) ? no_memory(r, e) : 0;
	if (!rc && !x->n)
		x->node = choose_node(r);
	if (!rc && x->node && r->nodes[x->node].rows) {
		rc = step_grid_make(&g, r, x->node, e);
		if (!rc && g.n && !x->n && look_in_samples(x, &g))
			rc = no_memory(r, e);
		x->interval_s = g.n ? g.width_s : (double)NAN;
	}
	if (!rc && x->n) {
		rc = steps_measure(x, &g) ? no_memory(r, e) : 0;
		x->before_s = fmax(0, x->step[0].from_s);
		if (g.n)
			find_differences(x, &g);
	}
	step_grid_free(&g);
	return rc;
}

void steps_free(struct steps *x)
{
	free(x->step);
	*x = (struct steps){ 0 };
}

int summary_steps_make(struct summary *s, struct run *r, struct err *e)
{
	struct steps *x;
	int rc;

	s->iterations = x = calloc(1, sizeof *x);
	if (!x)
		return no_memory(r, e);
	rc = steps_make(x, s, r, e);
	if (!rc)
		rc = steps_code_make(x, s, e);
	s->steps_found = s->step_s = s->step_spread = s->steps_slow = NAN;
	if (rc || !x->n)
		return rc;
	s->steps_found = x->n;
	s->step_s = x->mean_s;
	s->step_spread = x->spread_ratio;
	s->steps_slow = x->count[STEP_SLOW];
	return 0;
}
