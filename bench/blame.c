/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame RUNS PAIRS [kept] - how often compare blames the right function, with fixed seeds: RUNS
 * runs each of a program of 20 functions in 4 classes, about 10 s at 99 samples a second, with
 * noise of 2 %; one function is slowed by 5 % of the whole, or none is. A line for each kind of
 * noise: how often the slowed one is named first; another one is named at all; nothing is named
 * when nothing changed; the parts of each level add up to the whole; the whole's interval has the
 * true difference, and all intervals of functions have theirs; in percent of PAIRS. kept: with the
 * half of the seeds that nobody looks at while the code is written.
 *
 * Samples are counted, so that a function's time has their error, too. report/comparison/blame.h
 * judges.
 */
#include "report/comparison/blame.h"
#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 20, CLASSES = 4 };
static const double whole_s = 10, kernel_s = 0.4, slower = 0.05, noise = 0.02, period_s = 1 / 99.0;

enum kind { COMMON, EACH, HEAVY, DRIFT, AFTER, KINDS };
static const char *const kind_names[] = {
	[COMMON] = "whole runs vary",
	[EACH] = "each function varies",
	[HEAVY] = "heavy-tailed",
	[DRIFT] = "drift of 2 sd",
	[AFTER] = "drift of 2 sd, one after the other",
};

struct program {
	double part[FUNCTIONS]; /* seconds */
	int slowed;             /* -1: none */
};

struct scene {
	enum kind kind;
	int runs; /* of each side */
	bool changed;
};

struct tally {
	unsigned named, wrong, quiet, sums, whole, parts;
};

static void program_make(struct program *p, struct random *r)
{
	double sum = 0;

	for (int i = 0; i < FUNCTIONS; i++)
		sum += p->part[i] = 1 / (i + 2.0) * (0.5 + random_unit(r));
	for (int i = 0; i < FUNCTIONS; i++)
		p->part[i] *= (whole_s - kernel_s) / sum;
	p->slowed = (int)(random_unit(r) * FUNCTIONS);
}

/* Student's t with 3 degrees of freedom, of variance 1. */
static double heavy(struct random *r)
{
	double z = random_normal(r), squares = 0;

	for (int i = 0; i < 3; i++)
		squares += pow(random_normal(r), 2);
	return z / sqrt(squares / 3) / sqrt(3);
}

/* How many of so many are seen. */
static double counted(double expected, struct random *r)
{
	return fmax(0, round(expected + sqrt(expected) * random_normal(r)));
}

static double run_factor(enum kind kind, double place, struct random *r)
{
	double z = kind == HEAVY ? heavy(r) : random_normal(r);

	if (kind == EACH)
		return 1;
	return 1 + noise * (z + (kind == DRIFT || kind == AFTER ? 2 * place : 0));
}

static void run_make(struct blame *b, const struct program *p, const struct scene *s, int at,
		     struct random *r)
{
	int side = s->kind == AFTER ? at >= s->runs : at % 2;
	double factor = run_factor(s->kind, at / (2.0 * s->runs - 1), r), user = 0, sampled = 0;
	double system = kernel_s * factor, seen[FUNCTIONS];
	char name[32];

	for (int i = 0; i < FUNCTIONS; i++) {
		double seconds = p->part[i] + (side && i == p->slowed ? slower * whole_s : 0);

		seconds *= s->kind == EACH ? 1 + 3 * noise * random_normal(r) : factor;
		seen[i] = counted(seconds / period_s, r) * period_s;
		user += seconds;
		sampled += seen[i];
	}
	blame_add_run(b, &(struct blame_run){ .side = side,
					      .at = 1000000000LL * (at + 1),
					      .whole_s = user + system,
					      .exact = true,
					      .sampled_s = sampled,
					      .period_s = period_s,
					      .period_ns = period_s * 1e9 });
	for (int i = 0; i < FUNCTIONS; i++) {
		snprintf(name, sizeof name, "f%d", i);
		blame_put(b, BLAME_FUNCTION, BLAME_NAMED, name, "app", seen[i]);
		snprintf(name, sizeof name, "c%d", i % CLASSES);
		blame_put(b, BLAME_CLASS, BLAME_NAMED, name, "", seen[i]);
	}
	for (enum blame_level level = BLAME_CLASS; level <= BLAME_FUNCTION; level++) {
		blame_put(b, level, BLAME_KERNEL, "kernel", "", system);
		blame_put(b, level, BLAME_UNSAMPLED, "not sampled", "", user - sampled);
	}
}

/* The function that is named first: of those that are blamed, the one that differs most. */
static const struct blame_part *first_named(const struct blame *b)
{
	const struct blame_part *most = NULL;

	for (uint32_t i = 0; i < b->nparts; i++) {
		const struct blame_part *p = &b->part[i];

		if (p->level == BLAME_FUNCTION && p->blamed &&
		    (!most || fabs(p->result.difference) > fabs(most->result.difference)))
			most = p;
	}
	return most;
}

static bool is_part(const struct blame_part *p, int function)
{
	char name[32];

	snprintf(name, sizeof name, "f%d", function);
	return p->level == BLAME_FUNCTION && p->kind == BLAME_NAMED && !strcmp(p->name, name);
}

static bool adds_up(const struct blame *b)
{
	double left[BLAME_LEVELS] = { 0 };

	for (uint32_t i = 0; i < b->nparts; i++)
		left[b->part[i].level] += b->part[i].result.difference;
	return fabs(left[BLAME_FUNCTION] - b->whole.difference) < 1e-9 &&
	       fabs(left[BLAME_CLASS] - b->whole.difference) < 1e-9;
}

/* Of what did not change, the true difference is 0. */
static bool all_within(const struct blame *b, int slowed)
{
	for (uint32_t i = 0; i < b->nparts; i++) {
		const struct blame_part *p = &b->part[i];
		double truth = slowed >= 0 && is_part(p, slowed) ? slower * whole_s : 0;

		if (p->level == BLAME_FUNCTION && p->kind == BLAME_NAMED &&
		    !(p->result.low <= truth && truth <= p->result.high))
			return false;
	}
	return true;
}

static void judged(const struct blame *b, const struct program *p, struct tally *t)
{
	double truth = p->slowed >= 0 ? slower * whole_s : 0;
	const struct blame_part *first = first_named(b);
	unsigned others = 0, any = 0;

	for (uint32_t i = 0; i < b->nparts; i++) {
		any += b->part[i].blamed;
		others += b->part[i].blamed && b->part[i].level == BLAME_FUNCTION &&
			  !is_part(&b->part[i], p->slowed);
	}
	t->sums += adds_up(b);
	t->whole += b->whole.low <= truth && truth <= b->whole.high;
	t->parts += all_within(b, p->slowed);
	t->named += p->slowed >= 0 && first && is_part(first, p->slowed);
	t->wrong += p->slowed >= 0 && others;
	t->quiet += p->slowed < 0 && !any;
}

static void compared(const struct scene *s, struct random *r, struct tally *t)
{
	struct program p;
	struct blame b = { 0 };

	program_make(&p, r);
	if (!s->changed)
		p.slowed = -1;
	for (int at = 0; at < 2 * s->runs; at++)
		run_make(&b, &p, s, at, r);
	if (blame_judge(&b) || !b.judged)
		abort();
	judged(&b, &p, t);
	blame_free(&b);
}

int main(int argc, char **argv)
{
	int runs = argc > 2 ? (int)strtol(argv[1], NULL, 10) : 0;
	int pairs = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
	struct random r = { argc > 3 && !strcmp(argv[3], "kept") ? 77 : 11 };

	if (runs < 2 || pairs < 1) {
		fprintf(stderr, "blame: how many runs of each side, and how many pairs?\n");
		return 2;
	}
	for (enum kind kind = 0; kind < KINDS; kind++) {
		struct tally t = { 0 };
		double of = pairs / 100.0;

		for (int i = 0; i < pairs; i++) {
			compared(&(struct scene){ kind, runs, true }, &r, &t);
			compared(&(struct scene){ kind, runs, false }, &r, &t);
		}
		printf("%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\n", kind_names[kind], t.named / of,
		       t.wrong / of, t.quiet / of, t.sums / of / 2, t.whole / of / 2,
		       t.parts / of / 2);
	}
	return 0;
}
