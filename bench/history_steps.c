/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history_steps SERIES [KEPT] - how often core/statistics/change.h finds steps in short series,
 * with fixed seeds: for each kind of series a line of what it is and two figures, in percent. KEPT:
 * with the half of the seeds that nobody looks at while the code is written.
 *
 * step KIND BEFORE+AFTER SIZE FOUND RANGE: a step of SIZE percent in noise of 1 %; found: a change
 * within 2 places; range: of these, those whose range has the true place.
 * none KIND LENGTH FLAGGED: no step at all.
 */
#include "base/random.h"
#include "core/statistics/change.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 100, NEAR = 2, SIGMA = 1 };

struct kind {
	const char *name;
	double rho;
	double (*draw)(struct random *r);
};

static double plain(struct random *r)
{
	return random_normal(r);
}

/* Student's with 3 degrees of freedom, of variance 1. */
static double heavy(struct random *r)
{
	double z = random_normal(r), squares = 0;

	for (int i = 0; i < 3; i++) {
		double x = random_normal(r);

		squares += x * x;
	}
	return z / sqrt(squares);
}

/* One in twelve took much longer. */
static double disturbed(struct random *r)
{
	double z = random_normal(r);

	return random_unit(r) < 1.0 / 12 ? z + 10 : z;
}

static const struct kind kinds[] = {
	{ "gaussian", 0, plain },
	{ "heavy-tailed", 0, heavy },
	{ "disturbed", 0, disturbed },
	{ "alike 0.3", 0.3, plain },
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void make(double *v, uint32_t n, const struct kind *k, struct random *r)
{
	double u = k->draw(r);

	for (uint32_t i = 0; i < n; i++) {
		u = i ? k->rho * u + sqrt(1 - k->rho * k->rho) * k->draw(r) : u;
		v[i] = 100 + SIGMA * u;
	}
}

static int step(const struct kind *k, uint32_t before, uint32_t after, double percent, int series,
		uint64_t seed)
{
	struct random r = { seed };
	int found = 0, held = 0;
	double v[LONGEST];

	for (int i = 0; i < series; i++) {
		struct changes c;
		uint32_t best = 0;

		make(v, before + after, k, &r);
		for (uint32_t x = before; x < before + after; x++)
			v[x] *= 1 + percent / 100;
		if (changes_find(&c, v, before + after))
			return 1;
		while (best < c.n && abs((int)c.change[best].at - (int)before) > NEAR)
			best++;
		found += best < c.n;
		held += best < c.n && c.change[best].low <= before && c.change[best].high >= before;
		changes_free(&c);
	}
	printf("step\t%s\t%u+%u\t%g\t%.1f\t%.1f\n", k->name, before, after, percent,
	       100.0 * found / series, 100.0 * held / fmax(found, 1));
	return 0;
}

static int none(const struct kind *k, uint32_t n, int series, uint64_t seed)
{
	struct random r = { seed };
	int flagged = 0;
	double v[LONGEST];

	for (int i = 0; i < series; i++) {
		struct changes c;

		make(v, n, k, &r);
		if (changes_find(&c, v, n))
			return 1;
		flagged += c.n > 0;
		changes_free(&c);
	}
	printf("none\t%s\t%u\t\t%.2f\n", k->name, n, 100.0 * flagged / series);
	return 0;
}

int main(int argc, char **argv)
{
	static const uint32_t sides[][2] = {
		{ 8, 8 }, { 10, 10 }, { 12, 12 }, { 5, 11 }, { 20, 6 }
	};
	static const double sizes[] = { 5, 10, 30, 200 };
	static const uint32_t lengths[] = { 10, 12, 16, 20, 24, 40, 60 };
	int series = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 500, rc = 0;
	uint64_t seed = argc > 2 && !strcmp(argv[2], "kept") ? 77000001 : 20261127;

	for (size_t k = 0; k < KINDS; k++)
		for (size_t s = 0; s < sizeof sides / sizeof sides[0]; s++)
			for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
				rc |= step(&kinds[k], sides[s][0], sides[s][1], sizes[i], series,
					   seed++);
	for (size_t k = 0; k < KINDS; k++)
		for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
			rc |= none(&kinds[k], lengths[i], 4 * series, seed++);
	return rc;
}
