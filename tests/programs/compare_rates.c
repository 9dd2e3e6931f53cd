/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_rates PAIRS - how often core/statistics/compare.c answers rightly, for pairs of groups of
 * made measurements: a line of tab-separated figures for each kind of noise, order and number of
 * repeats.
 *
 * order noise repeats sd aa_worse aa_same three_worse five_worse, the last four in percent. The
 * seed is fixed, so that the figures are the same everywhere.
 */
#include "base/random.h"
#include "core/statistics/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPEATS_MOST = 32 };
static const double margin = 0.05, level = 0.95;

static struct random source = { 20261122 };

/* 0 < x <= 1: it has a logarithm. */
static double uniform(void)
{
	return random_unit(&source) + 0x1p-54;
}

static double gaussian(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* Each has a standard deviation of 1 beside its drift. */
static void independent(double *e, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		e[i] = gaussian();
}

/* Student's t with 3 degrees of freedom. */
static void heavy(double *e, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		double a = gaussian(), b = gaussian(), c = gaussian();

		e[i] = gaussian() / sqrt(a * a + b * b + c * c);
	}
}

/* One run in ten was disturbed and took longer. */
static void disturbed(double *e, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		e[i] = (0.5 * gaussian() + (uniform() < 0.1 ? 3 * -log(uniform()) : 0)) / 1.37;
}

static void alike(double *e, unsigned n, double rho)
{
	double last = gaussian();

	for (unsigned i = 0; i < n; i++) {
		e[i] = last;
		last = rho * last + sqrt(1 - rho * rho) * gaussian();
	}
}

static void alike_3(double *e, unsigned n)
{
	alike(e, n, 0.3);
}

static void alike_6(double *e, unsigned n)
{
	alike(e, n, 0.6);
}

static void drifting(double *e, unsigned n, double by)
{
	for (unsigned i = 0; i < n; i++)
		e[i] = gaussian() + by * i / (n - 1);
}

static void drifting_1(double *e, unsigned n)
{
	drifting(e, n, 1);
}

static void drifting_2(double *e, unsigned n)
{
	drifting(e, n, 2);
}

static void drifting_4(double *e, unsigned n)
{
	drifting(e, n, 4);
}

static const struct noise {
	const char *name;
	void (*make)(double *e, unsigned n); /* of n runs, in the order of time */
} noises[] = {
	{ "gaussian", independent },     { "heavy-tailed", heavy },
	{ "disturbed", disturbed },      { "alike 0.3", alike_3 },
	{ "alike 0.6", alike_6 },        { "drift of 1 sd", drifting_1 },
	{ "drift of 2 sd", drifting_2 }, { "drift of 4 sd", drifting_4 },
};

enum order { IN_TURNS, SHUFFLED, ONE_AFTER_THE_OTHER, ORDER_NUMBER_OF };
static const char *const order_names[] = { "in turns", "shuffled", "one after the other" };

/* Which places of the order are B's. */
static void deal(bool *is_b, unsigned each, enum order order)
{
	for (unsigned i = 0; i < 2 * each; i++)
		is_b[i] = order == IN_TURNS ? i % 2 : i >= each;
	for (unsigned i = 2 * each; order == SHUFFLED && i-- > 1;) {
		unsigned k = (unsigned)(uniform() * (i + 1));
		bool b = is_b[i];

		is_b[i] = is_b[k];
		is_b[k] = b;
	}
}

static enum finding_of_two one_pair(const struct noise *noise, enum order order, unsigned each,
				    double sd, double effect)
{
	const struct compare_wish wish = { .margin_ratio = margin, .level = level };
	double e[2 * REPEATS_MOST], value[2][REPEATS_MOST];
	int64_t at[2][REPEATS_MOST];
	bool is_b[2 * REPEATS_MOST];
	unsigned n[2] = { 0 };
	struct compared c;

	noise->make(e, 2 * each);
	deal(is_b, each, order);
	for (unsigned i = 0; i < 2 * each; i++) {
		unsigned g = is_b[i];

		value[g][n[g]] = 100 * (1 + g * effect) * (1 + sd * e[i]);
		at[g][n[g]++] = i;
	}
	if (compare_groups(&c, &(struct sample_group){ value[0], at[0], each },
			   &(struct sample_group){ value[1], at[1], each }, &wish))
		exit(1);
	return c.finding;
}

static void rates(const struct noise *noise, enum order order, unsigned each, double sd,
		  unsigned long pairs)
{
	static const double effects[] = { 0, 0.03, 0.05 };
	double found[3] = { 0 }, same = 0;

	for (unsigned k = 0; k < 3; k++)
		for (unsigned long i = 0; i < pairs; i++) {
			enum finding_of_two f = one_pair(noise, order, each, sd, effects[k]);

			found[k] += f == COMPARE_MORE;
			same += !k && f == COMPARE_SAME;
		}
	printf("%s\t%s\t%u\t%.0f\t%.2f\t%.1f\t%.1f\t%.1f\n", order_names[order], noise->name, each,
	       100 * sd, 100 * found[0] / (double)pairs, 100 * same / (double)pairs,
	       100 * found[1] / (double)pairs, 100 * found[2] / (double)pairs);
}

int main(int argc, char **argv)
{
	static const unsigned repeats[] = { 3, 5, 10, 20 };
	unsigned long pairs = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;

	if (!pairs) {
		fputs("usage: compare_rates PAIRS\n", stderr);
		return 2;
	}
	for (enum order order = IN_TURNS; order < ORDER_NUMBER_OF; order++)
		for (size_t i = 0; i < sizeof noises / sizeof noises[0]; i++)
			for (size_t n = 0; n < sizeof repeats / sizeof repeats[0]; n++)
				for (double sd = 0.02; sd < 0.06; sd += 0.03)
					rates(&noises[i], order, repeats[n], sd, pairs);
	return 0;
}
