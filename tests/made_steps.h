/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made_steps.h - jobs that iterate, whose steps are known, and jobs that do not, as the counters
 * that a recorder would have read of them. Equal seeds give equal jobs.
 */
#ifndef TESTS_MADE_STEPS_H
#define TESTS_MADE_STEPS_H

#include "base/random.h"
#include "unit/synthetic_run.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum made_series { MADE_CPU, MADE_READ, MADE_WRITTEN, MADE_RESIDENT, MADE_SERIES };
enum { MADE_LOOPS = 7, MADE_OTHERS = 10, MADE_STEPS = 512, MADE_SAMPLES = 20000 };
enum made_what { MADE_PLAIN, MADE_WARM, MADE_SLOW, MADE_CHECKPOINT };

static const char *const made_loops[MADE_LOOPS] = {
	"computes, then writes", "two parts",   "a short exchange",    "smooth",
	"writes only",           "memory only", "three bursts a step",
};
static const char *const made_others[MADE_OTHERS] = {
	"random walk",         "bursts at random", "build",        "ramps",
	"noise about a level", "on and off",       "a few phases", "1/f noise",
	"tasks of any size",   "steady",
};

/* What the job did for a while. */
struct made_piece {
	double seconds, cores, read, written, resident;
};

struct made_job {
	const char *kind;
	double interval_s, jitter;
	double period_s, median_s; /* mean and median of its plain steps; NAN: it has none */
	uint32_t steps;
	double begin_s[MADE_STEPS], length_s[MADE_STEPS];
	enum made_what what[MADE_STEPS];
	struct made_piece *piece;
	uint32_t npieces, pieces_cap;
	uint32_t n; /* samples */
	double at_s[MADE_SAMPLES];
	int64_t value[MADE_SERIES][MADE_SAMPLES]; /* ns and bytes */
	double noise, drift, trend;               /* of the CPU's use */
	struct random random;
};

static inline double made_between(struct made_job *j, double from, double to)
{
	return from + (to - from) * random_unit(&j->random);
}

static inline double made_log_between(struct made_job *j, double from, double to)
{
	return exp(made_between(j, log(from), log(to)));
}

static inline double made_log_normal(struct made_job *j, double median, double sigma)
{
	return median * exp(sigma * random_normal(&j->random));
}

static inline double made_exponential(struct made_job *j, double mean)
{
	return -mean * log(1 - random_unit(&j->random));
}

static inline void made_put(struct made_job *j, struct made_piece p)
{
	if (j->npieces == j->pieces_cap) {
		j->pieces_cap = j->pieces_cap ? 2 * j->pieces_cap : 1024;
		j->piece = realloc(j->piece, j->pieces_cap * sizeof *j->piece);
		if (!j->piece)
			abort();
	}
	j->piece[j->npieces++] = p;
}

static inline double made_length(const struct made_job *j)
{
	double s = 0;

	for (uint32_t i = 0; i < j->npieces; i++)
		s += j->piece[i].seconds;
	return s;
}

/* ---- steps ---- */

struct made_loop {
	int kind;
	double period_s, cores, share, bytes;
};

static inline void made_step(struct made_job *j, const struct made_loop *l, double s)
{
	double c = l->cores, f = l->share, g = 2e9, b = l->bytes;

	switch (l->kind) {
	case 0:
		made_put(j, (struct made_piece){ s * f, c, 0, 0, g });
		made_put(j, (struct made_piece){ s * (1 - f), 0.2 * c, 0, b / s, g });
		break;
	case 1:
		made_put(j, (struct made_piece){ s * f, c, 0, 0, g });
		made_put(j, (struct made_piece){ s * (1 - f), 0.6 * c, 0, 0, g });
		break;
	case 2:
		made_put(j, (struct made_piece){ s * 0.92, c, 0, 0, g });
		made_put(j, (struct made_piece){ s * 0.08, 0.1 * c, 0, 0, g });
		break;
	case 3:
		for (int i = 0; i < 24; i++)
			made_put(j, (struct made_piece){ s / 24, c * (1 + 0.4 * sin(i * M_PI / 12)),
							 0, 0, g });
		break;
	case 4:
		made_put(j, (struct made_piece){ s * f, c, 0, 0, g });
		made_put(j, (struct made_piece){ s * (1 - f), c, 0, b / s, g });
		break;
	case 5:
		for (int i = 0; i < 12; i++)
			made_put(j, (struct made_piece){ s / 12, c, 0, 0, g * (1 + 0.05 * i) });
		break;
	default:
		made_put(j, (struct made_piece){ s * 0.30, c, 0, 0, g });
		made_put(j, (struct made_piece){ s * 0.10, 0.3 * c, 0, 0, g });
		made_put(j, (struct made_piece){ s * 0.20, c, 0, 0, g });
		made_put(j, (struct made_piece){ s * 0.15, 0.3 * c, 0, 0, g });
		made_put(j, (struct made_piece){ s * 0.15, 0.7 * c, 0, 0, g });
		made_put(j, (struct made_piece){ s * 0.10, 0.1 * c, 0, 0, g });
	}
}

static inline void made_keep(struct made_job *j, enum made_what what, double begin_s, double s)
{
	j->begin_s[j->steps] = begin_s;
	j->length_s[j->steps] = s;
	j->what[j->steps++] = what;
}

static inline int made_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline double made_median(const struct made_job *j)
{
	double s[MADE_STEPS];
	uint32_t n = 0;

	for (uint32_t i = 0; i < j->steps; i++)
		if (j->what[i] == MADE_PLAIN)
			s[n++] = j->length_s[i];
	qsort(s, n, sizeof *s, made_compare);
	return n ? (s[(n - 1) / 2] + s[n / 2]) / 2 : NAN;
}

static inline double made_mean(const struct made_job *j)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < j->steps; i++)
		if (j->what[i] == MADE_PLAIN) {
			sum += j->length_s[i];
			n++;
		}
	return n ? sum / n : NAN;
}

/* One step in so many has a checkpoint after it; 0: none has. */
static inline void made_iterate(struct made_job *j, const struct made_loop *l, uint32_t steps,
				uint32_t every)
{
	uint32_t warm = (uint32_t)made_between(j, 0, 4);
	double warmer = made_between(j, 1.3, 3), slow = random_unit(&j->random) < 0.3 ? 0.03 : 0;
	double now = made_length(j), extra = made_between(j, 0.3, 3);

	for (uint32_t i = 0; i < steps; i++) {
		double z = fmax(-2.5, fmin(2.5, random_normal(&j->random)));
		double s = l->period_s * (1 + j->jitter * z);
		enum made_what what = MADE_PLAIN;

		if (i < warm) {
			what = MADE_WARM;
			s *= warmer;
		} else if (random_unit(&j->random) < slow) {
			what = MADE_SLOW;
			s *= made_between(j, 1.6, 3);
		}
		made_step(j, l, s);
		if (every && i % every == every - 1) {
			what = MADE_CHECKPOINT;
			made_put(j, (struct made_piece){ extra * l->period_s, 0.2, 0, 5e8, 2e9 });
		}
		made_keep(j, what, now, s);
		now += s + (what == MADE_CHECKPOINT ? extra * l->period_s : 0);
	}
}

/* An interval that someone would have chosen, with 4.5 to 60 samples a step. */
static inline double made_interval(struct made_job *j, double period_s)
{
	static const double choices[] = { 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2 };
	double fit[8];
	int n = 0;

	for (int i = 0; i < 8; i++)
		if (period_s / choices[i] >= 4.5 && period_s / choices[i] <= 60)
			fit[n++] = choices[i];
	return fit[(int)made_between(j, 0, n)];
}

static inline void made_sample(struct made_job *j);

static inline void made_loop(struct made_job *j, uint64_t seed)
{
	struct made_loop l;
	uint32_t steps, every;

	*j = (struct made_job){ .random.state = seed };
	l.kind = (int)(seed % MADE_LOOPS);
	l.period_s = made_log_between(j, 0.2, 20);
	l.cores = made_log_between(j, 0.5, 3.8);
	l.share = made_between(j, 0.5, 0.85);
	l.bytes = made_log_between(j, 1e6, 1e9);
	j->kind = made_loops[l.kind];
	j->jitter = made_between(j, 0, 0.15);
	j->interval_s = made_interval(j, l.period_s);
	j->noise = made_between(j, 0.005, 0.06);
	j->drift = made_between(j, 0, 0.08);
	j->trend = made_between(j, -0.2, 0.2);
	steps = (uint32_t)made_log_between(j, 20, 120);
	every = random_unit(&j->random) < 0.5 ? (uint32_t)made_between(j, 5, 50) : 0;
	made_put(j, (struct made_piece){ made_between(j, 0.2, 6) * l.period_s,
					 made_between(j, 0.1, 1), 2e7, 0, 1e9 });
	made_iterate(j, &l, steps, every);
	made_put(j, (struct made_piece){ made_between(j, 0.2, 3) * l.period_s, 0.3, 0, 1e8, 1e9 });
	j->period_s = made_mean(j);
	j->median_s = made_median(j);
	made_sample(j);
}

enum { MADE_MEMORY_ONLY = 5 }; /* of made_loops */

/* Even steps of half an interval between samples to twice it, which may beat with these. */
static inline void made_beat(struct made_job *j, uint64_t seed)
{
	struct made_loop l;

	*j = (struct made_job){ .random.state = seed * 31 + 5, .interval_s = 0.05 };
	l.kind = (int)(seed % MADE_LOOPS);
	l.period_s = j->interval_s * made_log_between(j, 0.45, 2.2);
	l.cores = made_log_between(j, 0.5, 3.8);
	l.share = made_between(j, 0.05, 0.85);
	l.bytes = l.period_s * made_log_between(j, 1e6, 1e9);
	j->kind = made_loops[l.kind];
	j->jitter = made_log_between(j, 0.001, 0.03);
	j->noise = made_between(j, 0.005, 0.03);
	j->drift = made_between(j, 0, 0.04);
	made_put(j, (struct made_piece){ made_between(j, 0.5, 1), 0.3, 0, 0, 1e9 });
	made_iterate(j, &l, (uint32_t)fmin(500, 30 / l.period_s), 0);
	j->period_s = made_mean(j);
	j->median_s = made_median(j);
	made_sample(j);
}

/* ---- no steps ---- */

static inline void made_walk(struct made_job *j, double s, double dt)
{
	double c = 2, by = made_between(j, 0.02, 0.3);

	for (double t = 0; t < s; t += dt) {
		c += by * random_normal(&j->random);
		c = c < 0 ? -c : c > 4 ? 8 - c : c;
		made_put(j, (struct made_piece){ dt, fmax(0, c), 0, 0, 1e9 });
	}
}

static inline void made_bursts(struct made_job *j, double s, double dt)
{
	double gap = made_log_between(j, 4, 60) * dt, length = made_log_between(j, 1, 20) * dt;

	for (double t = 0; t < s;) {
		double off = made_exponential(j, gap), on = made_log_normal(j, length, 0.7);

		made_put(j, (struct made_piece){ off, 0.1, 0, 0, 1e9 });
		made_put(j, (struct made_piece){ on, made_between(j, 0.5, 4), 0, 1e7, 1e9 });
		t += off + on;
	}
}

/* make -j: tasks of many lengths on a few cores, each of which writes a file at its end. */
static inline void made_build(struct made_job *j, double s, double dt)
{
	double end[8], length = made_log_between(j, 2, 40) * dt, t = 0;
	int tasks = (int)made_between(j, 1, 5);

	for (int i = 0; i < tasks; i++)
		end[i] = made_log_normal(j, length, 0.8);
	while (t < s) {
		int first = 0;

		for (int i = 1; i < tasks; i++)
			first = end[i] < end[first] ? i : first;
		made_put(j, (struct made_piece){ end[first] - t, tasks * 0.97, 1e6, 0, 1e9 });
		t = end[first];
		made_put(j, (struct made_piece){ 0.3 * dt, tasks - 0.5, 0, 3e6, 1e9 });
		t += 0.3 * dt;
		end[first] = t + made_log_normal(j, length, 0.8);
		for (int i = 0; i < tasks; i++)
			end[i] = fmax(end[i], t);
	}
	made_put(j, (struct made_piece){ s / 10, 1, 5e7, 5e7, 2e9 });
}

static inline void made_ramps(struct made_job *j, double s, double dt)
{
	double c = 0.1;

	for (double t = 0; t < s;) {
		double part = made_between(j, 0.1, 0.5) * s, to = made_between(j, 0.1, 4), at = c;

		for (double u = 0; u < part; u += dt)
			made_put(j, (struct made_piece){ dt, at + (to - at) * u / part, 0, 0,
							 1e9 * (1 + t / s) });
		t += part;
		c = to;
	}
}

static inline void made_noise(struct made_job *j, double s, double dt)
{
	double likeness = made_between(j, 0, 0.97), z = 0, by = made_between(j, 0.02, 0.5);

	for (double t = 0; t < s; t += dt) {
		z = likeness * z + sqrt(1 - likeness * likeness) * random_normal(&j->random);
		made_put(j, (struct made_piece){ dt, fmax(0, 2 * (1 + by * z)), 0,
						 fmax(0, 1e7 * (1 + random_normal(&j->random))),
						 1e9 });
	}
}

static inline void made_switching(struct made_job *j, double s, double dt)
{
	double on = made_log_between(j, 3, 50) * dt, off = made_log_between(j, 3, 50) * dt;

	for (double t = 0; t < s;) {
		double a = made_exponential(j, on), b = made_exponential(j, off);

		made_put(j, (struct made_piece){ a, 3.5, 0, 0, 1e9 });
		made_put(j, (struct made_piece){ b, 0.2, 1e7, 0, 1e9 });
		t += a + b;
	}
}

static inline void made_phases(struct made_job *j, double s, double dt)
{
	int n = (int)made_between(j, 2, 8);

	for (int i = 0; i < n; i++) {
		double c = made_between(j, 0.1, 4), m = made_between(j, 1e9, 4e9);
		double part = made_log_normal(j, s / n, 0.8);

		for (double u = 0; u < part; u += dt)
			made_put(j, (struct made_piece){
					    dt, fmax(0, c + 0.1 * random_normal(&j->random)),
					    i % 2 ? 1e7 : 0, i % 3 ? 0 : 2e7, m });
	}
}

static inline void made_pink(struct made_job *j, double s, double dt)
{
	double z[8] = { 0 };

	for (double t = 0; t < s; t += dt) {
		double sum = 0;

		for (int i = 0; i < 8; i++) {
			double a = exp(-1 / pow(2.5, i));

			z[i] = a * z[i] + sqrt(1 - a * a) * random_normal(&j->random);
			sum += z[i];
		}
		made_put(j, (struct made_piece){ dt, fmax(0, 2 + 0.25 * sum), 0, 0, 1e9 });
	}
}

/* One after the other: each reads its input and computes. */
static inline void made_tasks(struct made_job *j, double s, double dt)
{
	double length = made_log_between(j, 5, 50) * dt, sigma = made_between(j, 0.5, 1);

	for (double t = 0; t < s;) {
		double task = made_log_normal(j, length, sigma);

		made_put(j, (struct made_piece){ fmin(dt, 0.3 * task), 0.3, 1e8, 0, 1e9 });
		made_put(j, (struct made_piece){ task, 1, 0, 0, 1e9 });
		t += task;
	}
}

static inline void made_other(struct made_job *j, uint64_t seed)
{
	int kind = (int)(seed % MADE_OTHERS);
	double dt, s;

	*j = (struct made_job){ .random.state = seed };
	dt = j->interval_s = (double[]){ 0.01, 0.05, 0.2, 1 }[(int)made_between(j, 0, 4)];
	s = dt * made_log_between(j, 80, 4000);
	j->kind = made_others[kind];
	j->period_s = j->median_s = NAN;
	j->noise = made_between(j, 0.005, 0.06);
	j->drift = made_between(j, 0, 0.08);
	j->trend = made_between(j, -0.2, 0.2);
	switch (kind) {
	case 0:
		made_walk(j, s, dt);
		break;
	case 1:
		made_bursts(j, s, dt);
		break;
	case 2:
		made_build(j, s, dt);
		break;
	case 3:
		made_ramps(j, s, dt);
		break;
	case 4:
		made_noise(j, s, dt);
		break;
	case 5:
		made_switching(j, s, dt);
		break;
	case 6:
		made_phases(j, s, dt);
		break;
	case 7:
		made_pink(j, s, dt);
		break;
	case 8:
		made_tasks(j, s, dt);
		break;
	default:
		made_put(j, (struct made_piece){ s, 1, 0, 0, 1e9 });
	}
	made_sample(j);
}

/* ---- samples ---- */

struct made_sampling {
	double cpu_s, read, written, slow;
	uint32_t piece;
	double into_s; /* of it */
};

/* What it did until then. */
static inline double made_go(const struct made_job *j, struct made_sampling *x, double s)
{
	double cpu = 0, resident = 0;

	while (s > 0 && x->piece < j->npieces) {
		const struct made_piece *p = &j->piece[x->piece];
		double part = fmin(s, p->seconds - x->into_s);

		cpu += part * p->cores;
		x->read += part * p->read;
		x->written += part * p->written;
		resident = p->resident;
		s -= part;
		x->into_s += part;
		if (x->into_s >= p->seconds * (1 - 1e-12)) {
			x->piece++;
			x->into_s = 0;
		}
	}
	x->cpu_s += cpu;
	return resident;
}

/* Samples are late by a little, and one in a hundred by up to an interval. */
static inline void made_sample(struct made_job *j)
{
	struct made_sampling x = { 0 };
	double whole = made_length(j), dt = j->interval_s, at = 0, cpu_s = 0;

	for (uint32_t i = 0; i < MADE_SAMPLES; i++) {
		double late = fabs(0.01 * random_normal(&j->random)) * dt, before = x.cpu_s;
		double now, resident;

		if (random_unit(&j->random) < 0.01)
			late += random_unit(&j->random) * dt;
		now = fmax(at, i * dt + late);
		resident = made_go(j, &x, now - at);
		x.slow += 0.02 * (random_normal(&j->random) * 7 - x.slow);
		cpu_s += fmax(0, (x.cpu_s - before) *
					 (1 + j->noise * random_normal(&j->random) +
					  j->drift * x.slow + j->trend * (now / whole - 0.5)));
		j->at_s[i] = at = now;
		j->value[MADE_CPU][i] = (int64_t)(cpu_s * 1e9);
		j->value[MADE_READ][i] = (int64_t)x.read;
		j->value[MADE_WRITTEN][i] = (int64_t)x.written;
		j->value[MADE_RESIDENT][i] =
			(int64_t)(resident * (1 + 0.002 * random_normal(&j->random)));
		j->n = i + 1;
		if (x.piece == j->npieces)
			break;
	}
	free(j->piece);
	j->piece = NULL;
	j->npieces = j->pieces_cap = 0;
}

/* ---- as a run ---- */

static const struct metric made_metrics[MADE_SERIES] = {
	[MADE_CPU] = { "job.cpu_seconds", .unit = UNIT_SECONDS, .kind = KIND_COUNTER, .mul = 1,
		       .div = 1000000000 },
	[MADE_READ] = { "job.read_bytes", .unit = UNIT_BYTES, .kind = KIND_COUNTER },
	[MADE_WRITTEN] = { "job.written_bytes", .unit = UNIT_BYTES, .kind = KIND_COUNTER },
	[MADE_RESIDENT] = { "job.resident_bytes", .unit = UNIT_BYTES, .kind = KIND_GAUGE },
};

/* Of node 1. To be freed with synth_free. */
static inline struct synth *made_run(const struct made_job *j)
{
	struct synth *s = synth_new(4096);

	for (int k = 0; k < MADE_SERIES; k++)
		synth_series(s, 1, synth_metric(s, made_metrics[k]), 0);
	for (uint32_t i = 0; i < j->n; i++) {
		synth_row(s, 1, j->at_s[i]);
		for (int k = 0; k < MADE_SERIES; k++)
			synth_put(s, (uint32_t)k + 1, j->value[k][i]);
	}
	s->nodes[1].first_ns = s->row[0].mono_ns;
	s->nodes[1].last_ns = s->row[s->nrows - 1].mono_ns;
	return s;
}

#endif
