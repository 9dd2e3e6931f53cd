/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made_rounds.h - a second family of jobs that iterate and jobs that do not, written without
 * knowing how steps are found: other shapes, distributions of jitter, drift, spacing of checkpoints
 * and sampling than made_steps.h has. What it is good for is to tell what holds for loops from what
 * holds for the first family. Equal seeds give equal jobs.
 */
#ifndef TESTS_MADE_ROUNDS_H
#define TESTS_MADE_ROUNDS_H

#include "made_steps.h"

enum round_shape {
	ROUND_COMPUTE_WAIT,
	ROUND_LOAD_COMPUTE,
	ROUND_MIXED,
	ROUND_BARRIER,
	ROUND_WRITES,
	ROUND_MICRO,
	ROUND_LEVELS,
	ROUND_SAWTOOTH,
	ROUND_SHAPES
};
enum { ROUND_OTHERS = 10 };

static const char *const round_shapes[ROUND_SHAPES] = {
	"computes, then waits", "loads, then computes", "mixed",      "a barrier",
	"computes and writes",  "micro-batches",        "two levels", "memory"
};
static const char *const round_others[ROUND_OTHERS] = {
	"files of any size",     "a sweep that grows", "a pipeline's stages", "requests",
	"a level with outliers", "mean-reverting",     "nested bursts",       "downloads",
	"one long computation",  "a falling load"
};

struct round_loop {
	enum round_shape shape;
	double period_s, sigma, cores, low, share, bytes;
	int jitter, micro;
};

/* One length: normal, log-normal, uniform, or mostly equal with a long tail. */
static inline double round_length(struct made_job *j, const struct round_loop *l)
{
	double sigma = l->sigma;

	switch (l->jitter) {
	case 0:
		return fmax(0.4, 1 + sigma * random_normal(&j->random));
	case 1:
		return made_log_normal(j, 1, sigma);
	case 2:
		return 1 + 1.7 * sigma * made_between(j, -1, 1);
	default:
		return 1 - 0.3 * sigma + fmin(0.35, made_exponential(j, 0.6 * sigma));
	}
}

static inline void round_put(struct made_job *j, double seconds, double cores, double read,
			     double written, double resident)
{
	made_put(j, (struct made_piece){ seconds, cores, read, written, resident });
}

/* What one round does, in s seconds. Only its first part varies where the rest is fixed work. */
static inline void round_step(struct made_job *j, const struct round_loop *l, double s)
{
	double c = l->cores, low = l->low, f = l->share, b = l->bytes, g = 3e9;

	switch (l->shape) {
	case ROUND_COMPUTE_WAIT:
		round_put(j, s * f, c, 0, 0, g);
		round_put(j, s * (1 - f), low, 0, 0, g);
		break;
	case ROUND_LOAD_COMPUTE:
		round_put(j, s * (1 - f), 0.3 + low, b / s, 0, g);
		round_put(j, s * f, c, 0, 0, g);
		break;
	case ROUND_MIXED:
		round_put(j, s * 0.15, 0.5, b / s, 0, g);
		round_put(j, s * 0.7 * f, c, 0, 0, g);
		round_put(j, s * 0.7 * (1 - f), low, 0, 0, g);
		round_put(j, s * 0.15, 0.4 * c, 0, 0.3 * b / s, g);
		break;
	case ROUND_BARRIER:
		round_put(j, s * 0.88, c, 0, 0, g);
		round_put(j, s * 0.12, low, 0, 0, g);
		break;
	case ROUND_WRITES:
		round_put(j, s * 0.8, c, 0, 0, g);
		round_put(j, s * 0.2, 0.7 * c, 0, b / s, g);
		break;
	case ROUND_MICRO:
		for (int i = 0; i < l->micro; i++) {
			round_put(j, s * 0.55 / l->micro, c, 0, 0, g);
			round_put(j, s * 0.2 / l->micro, 0.5 * c, 0, 0, g);
		}
		round_put(j, s * 0.25, low, 0, 0, g);
		break;
	case ROUND_LEVELS:
		round_put(j, s * f, c, 0, 0, g);
		round_put(j, s * (1 - f), 0.55 * c, 0, 0, g);
		break;
	default:
		for (int i = 0; i < 10; i++)
			round_put(j, s / 10, c, 0, 0, g * (1 + 0.04 * i));
	}
}

static inline void round_one(struct made_job *j, const struct round_loop *l, double *at,
			     enum made_what what, double factor)
{
	double s = l->period_s * round_length(j, l) * factor;

	round_step(j, l, s);
	made_keep(j, what, *at, s);
	*at += s;
}

/* Every so many rounds something is written or evaluated, which takes so many rounds. */
struct round_checkpoint {
	uint32_t every, from;
	double rounds;
	bool evaluates;
};

static inline void round_checkpoint(struct made_job *j, const struct round_loop *l,
				    const struct round_checkpoint *c, double *at)
{
	double s = l->period_s * c->rounds * made_between(j, 0.85, 1.15);

	if (c->evaluates)
		round_put(j, s, 0.8 * l->cores, 2e6, 0, 3e9);
	else
		round_put(j, s, 0.3, 0, 3e8, 3e9);
	j->length_s[j->steps - 1] += s;
	j->what[j->steps - 1] = MADE_CHECKPOINT;
	*at += s;
}

static inline void round_loop(struct made_job *j, struct round_loop *l, uint32_t steps)
{
	double at = made_length(j), period_s = l->period_s, drift = 0, slow = 0;
	uint32_t warm = random_unit(&j->random) < 0.5 ? (uint32_t)made_between(j, 1, 6) : 0;
	struct round_checkpoint c = { .every = (uint32_t)made_log_between(j, 6, 60),
				      .rounds = made_log_between(j, 0.2, 4),
				      .evaluates = random_unit(&j->random) < 0.4 };

	if (random_unit(&j->random) < 0.35)
		c.every = 0;
	if (random_unit(&j->random) < 0.3)
		drift = made_between(j, -0.15, 0.15);
	if (random_unit(&j->random) < 0.5)
		slow = made_between(j, 0.005, 0.03);
	for (uint32_t i = 0; i < steps; i++) {
		l->period_s = period_s * (1 + drift * ((double)i / steps - 0.5));
		if (i < warm)
			round_one(j, l, &at, MADE_WARM, 1 + made_between(j, 0.3, 2.5) / (i + 1));
		else if (random_unit(&j->random) < slow)
			round_one(j, l, &at, MADE_SLOW, made_between(j, 1.6, 4));
		else
			round_one(j, l, &at, MADE_PLAIN, 1);
		if (c.every && (i + 1) % c.every == 0)
			round_checkpoint(j, l, &c, &at);
	}
}

/* Before and after the loop: reading, and a summary. */
static inline void round_around(struct made_job *j, double s, bool before)
{
	if (before) {
		round_put(j, 0.4 * s, 1, 2e8, 0, 1e9);
		round_put(j, 0.6 * s, 0.7, 1e7, 0, 2e9);
	} else {
		round_put(j, 0.5 * s, 1, 0, 0, 2e9);
		round_put(j, 0.5 * s, 0.2, 0, 1e8, 2e9);
	}
}

static inline void made_round(struct made_job *j, uint64_t seed)
{
	struct round_loop l = { .shape = (enum round_shape)(seed % ROUND_SHAPES) };
	uint32_t steps;

	*j = (struct made_job){ .random.state = seed * 7919 + 17 };
	j->kind = round_shapes[l.shape];
	l.period_s = made_log_between(j, 0.2, 20);
	l.sigma = j->jitter = made_between(j, 0, 0.15);
	l.jitter = (int)made_between(j, 0, 4);
	l.micro = (int)made_between(j, 2, 6);
	l.cores = made_log_between(j, 1, 32);
	l.low = made_between(j, 0, 0.25) * l.cores;
	l.share = made_between(j, 0.35, 0.85);
	l.bytes = made_log_between(j, 3e5, 3e9);
	j->interval_s = fmin(made_log_between(j, 0.05, 1), l.period_s / 4.2);
	if (l.shape == ROUND_MICRO || l.shape == ROUND_BARRIER)
		j->interval_s = fmin(j->interval_s, l.period_s / 8);
	steps = (uint32_t)made_log_between(j, 15, 300);
	steps = (uint32_t)fmin(steps, 13000 * j->interval_s / l.period_s);
	j->noise = made_between(j, 0.002, 0.04);
	j->drift = made_between(j, 0, 0.05);
	j->trend = made_between(j, -0.15, 0.15);
	if (random_unit(&j->random) < 0.8)
		round_around(j, l.period_s * made_between(j, 0.5, 8), true);
	round_loop(j, &l, steps);
	if (random_unit(&j->random) < 0.6)
		round_around(j, l.period_s * made_between(j, 0.3, 4), false);
	j->period_s = made_mean(j);
	j->median_s = made_median(j);
	made_sample(j);
}

/* ---- jobs that do not iterate ---- */

static inline void round_files(struct made_job *j, double s)
{
	for (double t = 0, one; t < s; t += one) {
		one = made_log_normal(j, s / 60, 0.8);
		round_put(j, 0.2 * one, 0.4, 5e7, 0, 1e9);
		round_put(j, 0.7 * one, 1, 0, 0, 1.1e9);
		round_put(j, 0.1 * one, 0.3, 0, 5e7, 1e9);
	}
}

static inline void round_sweep(struct made_job *j, double s)
{
	double factor = made_between(j, 1.15, 1.5), one = s / 200;

	for (double t = 0; t < s; t += one, one *= factor) {
		round_put(j, 0.85 * one, 4, 0, 0, 2e9);
		round_put(j, 0.15 * one, 0.5, 0, 1e7, 1e9);
	}
}

static inline void round_stages(struct made_job *j, double s)
{
	for (double t = 0, one; t < s; t += one) {
		one = s * made_between(j, 0.05, 0.3);
		round_put(j, one, made_log_between(j, 0.3, 16), made_log_between(j, 1e3, 1e8),
			  made_log_between(j, 1e3, 1e8), made_log_between(j, 1e8, 1e10));
	}
}

static inline void round_requests(struct made_job *j, double s, double dt)
{
	double rate_s = dt * made_log_between(j, 3, 30);

	for (double t = 0, idle, busy; t < s; t += idle + busy) {
		idle = made_exponential(j, rate_s);
		busy = made_log_normal(j, dt * 2, 1);
		round_put(j, idle, 0.05, 0, 0, 1e9);
		round_put(j, busy, 1, 1e6, 1e5, 1e9);
	}
}

static inline void round_outliers(struct made_job *j, double s, double dt)
{
	for (double t = 0; t < s; t += dt)
		round_put(j, dt, random_unit(&j->random) < 0.04 ? made_between(j, 0, 1) : 2, 0, 0,
			  1e9);
}

static inline void round_reverting(struct made_job *j, double s, double dt)
{
	double x = 0, back = made_log_between(j, 0.01, 0.5);

	for (double t = 0; t < s; t += dt) {
		x += -back * x + 0.4 * sqrt(back) * random_normal(&j->random);
		round_put(j, dt, fmax(0, 3 + x), 0, 0, 1e9 * (1 + 0.1 * x));
	}
}

/* Groups of any number of bursts of any length. */
static inline void round_nested(struct made_job *j, double s, double dt)
{
	double t = 0;

	while (t < s) {
		int bursts = (int)made_between(j, 1, 12);
		double gap = made_exponential(j, 40 * dt);

		for (int i = 0; i < bursts; i++) {
			double on = made_exponential(j, 4 * dt), off = made_exponential(j, 3 * dt);

			round_put(j, on, 2, 0, 0, 1e9);
			round_put(j, off, 0.2, 0, 0, 1e9);
			t += on + off;
		}
		round_put(j, gap, 0.1, 0, 1e5, 1e9);
		t += gap;
	}
}

static inline void round_downloads(struct made_job *j, double s, double dt)
{
	double rate = 1e7;

	for (double t = 0; t < s; t += dt) {
		if (random_unit(&j->random) < 0.02)
			rate = made_log_between(j, 1e5, 1e8);
		round_put(j, dt, 0.1 + rate / 3e8, 0, rate * made_log_normal(j, 1, 0.4),
			  1e9 + 1e6 * t / dt);
	}
}

static inline void round_falling(struct made_job *j, double s, double dt)
{
	double cores = 16;

	for (double t = 0; t < s; t += dt) {
		if (random_unit(&j->random) < 16 * dt / s)
			cores = fmax(1, cores - 1);
		round_put(j, dt, cores * (1 - fabs(0.02 * random_normal(&j->random))), 0, 0, 1e9);
	}
}

static inline void made_no_round(struct made_job *j, uint64_t seed)
{
	int kind = (int)(seed % ROUND_OTHERS);
	double s, dt;

	*j = (struct made_job){ .random.state = seed * 104729 + 3 };
	dt = j->interval_s = made_log_between(j, 0.05, 1);
	s = dt * made_log_between(j, 100, 6000);
	j->kind = round_others[kind];
	j->period_s = j->median_s = NAN;
	j->noise = made_between(j, 0.002, 0.05);
	j->drift = made_between(j, 0, 0.08);
	j->trend = made_between(j, -0.2, 0.2);
	switch (kind) {
	case 0:
		round_files(j, s);
		break;
	case 1:
		round_sweep(j, s);
		break;
	case 2:
		round_stages(j, s);
		break;
	case 3:
		round_requests(j, s, dt);
		break;
	case 4:
		round_outliers(j, s, dt);
		break;
	case 5:
		round_reverting(j, s, dt);
		break;
	case 6:
		round_nested(j, s, dt);
		break;
	case 7:
		round_downloads(j, s, dt);
		break;
	case 8:
		round_put(j, s, made_log_between(j, 1, 64), 0, 0, 1e9);
		break;
	default:
		round_falling(j, s, dt);
	}
	made_sample(j);
}

#endif
