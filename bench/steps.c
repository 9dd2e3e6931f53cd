/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps SEED N [rounds | beats] [every] - how well steps are found in made jobs
 * (tests/made_steps.h; rounds: tests/made_rounds.h): N that iterate and N that do not, with seeds
 * from SEED on. Prints two columns, what and percent: loops whose mean step is found within 2 %,
 * whose median step is; loops of which nothing is found; jobs without steps in which some are
 * found; slow steps that are found. beats: N whose steps are too short for the samples, of which
 * steps many times too long are found; those that only memory shows by themselves. every: each loop
 * that was missed on standard error.
 */
#include "report/steps/steps.h"
#include "../tests/made_rounds.h"

#include <stdio.h>

struct tally {
	unsigned loops, mean, median, none, others, invented, slow, slow_found;
};

static struct made_job job;

static bool near(double found, double truth)
{
	return fabs(found / truth - 1) <= 0.02;
}

/* A step that is slow is found if one of these is in its middle. */
static void count_slow(struct tally *t, const struct steps *x)
{
	for (uint32_t i = 0; i < job.steps; i++) {
		double middle = job.begin_s[i] + job.length_s[i] / 2;

		if (job.what[i] != MADE_SLOW)
			continue;
		t->slow++;
		for (uint32_t k = 0; k < x->n; k++)
			if (x->step[k].from_s <= middle && middle < x->step[k].to_s) {
				t->slow_found += x->step[k].kind != STEP_PLAIN;
				break;
			}
	}
}

static void look(struct tally *t, uint64_t seed, bool every)
{
	const struct summary s = { 0 };
	struct synth *run = made_run(&job);
	struct steps x;
	struct err e;

	if (steps_make(&x, &s, &run->run, &e)) {
		fprintf(stderr, "%s\n", e.text);
		exit(2);
	}
	if (isnan(job.period_s)) {
		t->others++;
		t->invented += x.n > 0;
		if (every && x.n)
			fprintf(stderr, "%llu %s: %u of %.3f s invented\n",
				(unsigned long long)seed, job.kind, x.n, x.mean_s);
	} else {
		t->loops++;
		t->mean += near(x.mean_s, job.period_s);
		t->median += near(x.median_s, job.median_s);
		t->none += x.n == 0;
		count_slow(t, &x);
		if (every && !near(x.mean_s, job.period_s))
			fprintf(stderr,
				"%llu %s: %u of %.3f s each %.3f s, jitter %.2f: %u of %.3f s (%+.1f %%)\n",
				(unsigned long long)seed, job.kind, job.steps, job.period_s,
				job.interval_s, job.jitter, x.n, x.mean_s,
				100 * (x.mean_s / job.period_s - 1));
	}
	steps_free(&x);
	synth_free(run);
}

static double percent(unsigned n, unsigned of)
{
	return of ? 100.0 * n / of : NAN;
}

/* Of those that only memory shows, and of the others. */
static void look_at_beats(uint64_t from, uint64_t n, bool every)
{
	unsigned loops[2] = { 0 }, wrong[2] = { 0 };

	for (uint64_t seed = from; seed < from + n; seed++) {
		const struct summary s = { 0 };
		bool memory = seed % MADE_LOOPS == MADE_MEMORY_ONLY;
		struct synth *run;
		struct steps x;
		struct err e;

		made_beat(&job, seed);
		run = made_run(&job);
		if (steps_make(&x, &s, &run->run, &e)) {
			fprintf(stderr, "%s\n", e.text);
			exit(2);
		}
		loops[memory]++;
		wrong[memory] += x.n > 0;
		if (every && x.n)
			fprintf(stderr, "%llu %s: %.4f s each %.3f s, jitter %.3f: %u of %.4f s\n",
				(unsigned long long)seed, job.kind, job.period_s, job.interval_s,
				job.jitter, x.n, x.median_s);
		steps_free(&x);
		synth_free(run);
	}
	printf("beats\t%.1f\nmemory\t%.1f\n", percent(wrong[0], loops[0]),
	       percent(wrong[1], loops[1]));
}

int main(int argc, char **argv)
{
	bool rounds = argc > 3 && !strcmp(argv[3], "rounds");
	bool beats = argc > 3 && !strcmp(argv[3], "beats");
	bool every = argc > 3 + (rounds || beats);
	struct tally t = { 0 };
	uint64_t from = argc > 2 ? strtoull(argv[1], NULL, 10) : 1;
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 100;

	if (beats) {
		look_at_beats(from, n, every);
		return 0;
	}
	for (uint64_t seed = from; seed < from + n; seed++) {
		if (rounds)
			made_round(&job, seed);
		else
			made_loop(&job, seed);
		look(&t, seed, every);
		if (rounds)
			made_no_round(&job, seed);
		else
			made_other(&job, seed);
		look(&t, seed, every);
	}
	printf("mean\t%.1f\nmedian\t%.1f\nnone\t%.1f\ninvented\t%.1f\nslow\t%.1f\n",
	       percent(t.mean, t.loops), percent(t.median, t.loops), percent(t.none, t.loops),
	       percent(t.invented, t.others), percent(t.slow_found, t.slow));
	return 0;
}
