/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep_winners SWEEPS [kept] - how often a sweep names the right winner, with fixed seeds: three
 * candidates 5 % apart, 8 trials of each, in noise of 2 % with drift. A line for each kind of drift
 * and order of trials: named, wrongly named, in percent. kept: with the half of the seeds that
 * nobody looks at while the code is written.
 *
 * The order is that of bench/sweep/sweepspace.h, the answer that of bench/advice.h.
 */
#include "base/random.h"
#include "bench/advice.h"
#include "bench/sweep/sweepspace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 3, REPEATS = 8, TRIALS = CANDIDATES * REPEATS };
static const double apart = 0.05, noise = 0.02;

enum drift { NONE, RISING, WANDERING, STEP, DRIFTS };
static const char *const drift_names[] = { "none", "rising by 4 %", "wandering by 2 %",
					   "3 % more from somewhere on" };

static double drift_of(enum drift d, double *walk, int i, double where, struct random *r)
{
	switch (d) {
	case RISING:
		return 0.04 * i / (TRIALS - 1);
	case WANDERING:
		*walk += 0.02 / sqrt(TRIALS) * random_normal(r);
		return *walk;
	case STEP:
		return i > where ? 0.03 : 0;
	default:
		return 0;
	}
}

/* What a sweep measures, in the order of its turns; the first candidate is the best. */
static void measure(double value[TRIALS], struct bench_row row[TRIALS], uint32_t of[TRIALS],
		    const struct sweep_spec *spec, enum drift d, struct random *r)
{
	struct sweep_turn turn[TRIALS];
	double walk = 0, where = TRIALS * random_unit(r);

	sweepspace_turns(spec, CANDIDATES, turn);
	for (int i = 0; i < TRIALS; i++) {
		double level = 100 * (1 + apart * turn[i].chosen);

		row[i] = (struct bench_row){ .number = turn[i].number,
					     .start_ns = 1000000000 * (int64_t)(i + 1) };
		value[i] = level * (1 + drift_of(d, &walk, i, where, r) + noise * random_normal(r));
		of[i] = turn[i].chosen;
	}
}

/* 1: the right one is named, -1: another, 0: none. */
static int ask(double value[TRIALS], struct bench_row row[TRIALS], const uint32_t of[TRIALS])
{
	static const char *const names[] = { "0", "1", "2" };
	bool left_out[TRIALS] = { false };
	uint32_t trial[CANDIDATES][REPEATS];
	struct campaign_group group[CANDIDATES] = { 0 };
	struct campaign_groups groups = { .group = group, .n = CANDIDATES };
	struct campaign c = { .g = { .row = row, .ntrials = TRIALS }, .left_out = left_out };
	const struct bench_figure f = { .name = "elapsed", .value = value };
	const struct advice_wish wish = { .margin = 0.05 };
	struct advice a;
	struct err e;
	int answer = 0;

	for (uint32_t i = 0; i < CANDIDATES; i++)
		group[i] = (struct campaign_group){ .label = names[i], .trial = trial[i] };
	for (uint32_t i = 0; i < TRIALS; i++)
		trial[of[i]][group[of[i]].n++] = i;
	if (advice_make(&a, &c, &groups, &f, &wish, &e))
		exit(2);
	if (a.verdict == ADVICE_WINNER)
		answer = a.candidate[0].group == &group[0] ? 1 : -1;
	advice_free(&a);
	return answer;
}

int main(int argc, char **argv)
{
	int sweeps = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 500;
	uint64_t seed = argc > 2 && !strcmp(argv[2], "kept") ? 77000002 : 20261128;

	for (int order = 0; order < SWEEP_ORDERS; order++)
		for (int d = 0; d < DRIFTS; d++) {
			struct random r = { seed++ };
			int count[3] = { 0 };

			for (int i = 0; i < sweeps; i++) {
				const struct sweep_spec spec = { .batch_size = REPEATS,
								 .seed = i,
								 .order = (enum sweep_order)order };
				struct bench_row row[TRIALS];
				double value[TRIALS];
				uint32_t of[TRIALS];

				measure(value, row, of, &spec, (enum drift)d, &r);
				count[ask(value, row, of) + 1]++;
			}
			printf("%s\t%s\t%.1f\t%.1f\n", sweep_order_names[order], drift_names[d],
			       100.0 * count[2] / sweeps, 100.0 * count[0] / sweeps);
		}
	return 0;
}
