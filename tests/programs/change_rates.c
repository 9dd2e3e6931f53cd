/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change_rates SERIES - how often core/statistics/change.h is right, on made series with a fixed
 * seed: for each kind of series a line of tail, likeness of neighbours, length, share of SERIES
 * stable ones that have a change found in them, share of those with a step of 5 % in noise of 2 %
 * in which it is found within 5 values, share of these whose range holds the true place; in
 * percent.
 */
#include "base/random.h"
#include "core/statistics/change.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { LONGEST = 1000 };

struct kind {
	double rho;
	bool heavy;
	uint32_t n;
};

/* Student's with 3 degrees of freedom, of variance 1. */
static double far_out(struct random *r)
{
	double z = random_normal(r), squares = 0;

	for (int i = 0; i < 3; i++) {
		double x = random_normal(r);

		squares += x * x;
	}
	return z / sqrt(squares);
}

static void make(double *v, const struct kind *k, struct random *r)
{
	double u = random_normal(r);

	for (uint32_t i = 0; i < k->n; i++) {
		double fresh = k->heavy ? far_out(r) : random_normal(r);

		u = i ? k->rho * u + sqrt(1 - k->rho * k->rho) * fresh : u;
		v[i] = 100 + 2 * u;
	}
}

static int show(const struct kind *k, int series)
{
	struct random r = { k->n + (uint64_t)(100 * k->rho) + k->heavy };
	int flagged = 0, found = 0, held = 0;
	double v[LONGEST];
	struct changes c;

	for (int i = 0; i < series; i++) {
		uint32_t at = k->n / 5 +
			      (uint32_t)((uint64_t)i * (k->n - 2 * (k->n / 5)) / (uint64_t)series);
		uint32_t best = 0;

		make(v, k, &r);
		if (changes_find(&c, v, k->n))
			return 1;
		flagged += c.n > 0;
		changes_free(&c);
		for (uint32_t x = at; x < k->n; x++)
			v[x] += 5;
		if (changes_find(&c, v, k->n))
			return 1;
		while (best < c.n && abs((int)c.change[best].at - (int)at) > 5)
			best++;
		found += best < c.n;
		held += best < c.n && c.change[best].low <= at && c.change[best].high >= at;
		changes_free(&c);
	}
	printf("%s\t%.1f\t%u\t%.1f\t%.1f\t%.1f\n", k->heavy ? "heavy" : "gaussian", k->rho, k->n,
	       100.0 * flagged / series, 100.0 * found / series, 100.0 * held / fmax(found, 1));
	return 0;
}

int main(int argc, char **argv)
{
	static const double rhos[] = { 0, 0.3, 0.6, 0.8 };
	static const uint32_t lengths[] = { 20, 50, 200, 1000 };
	int series = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 100, rc = 0;

	for (int heavy = 0; heavy < 2; heavy++)
		for (size_t i = 0; i < sizeof rhos / sizeof rhos[0]; i++)
			for (size_t n = 0; n < sizeof lengths / sizeof lengths[0]; n++)
				rc |= show(&(struct kind){ rhos[i], heavy, lengths[n] }, series);
	return rc;
}
