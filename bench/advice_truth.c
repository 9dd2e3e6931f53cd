/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice_truth CAMPAIGNS [kept] - what advice is worth, on made trials with known truth and fixed
 * seeds: 2 to 6 candidates with 1 to 12 trials each, from 0 to 300 % apart, in noise of 1 to 60 %.
 * A line for each kind of noise and order, in percent of campaigns: a winner is named; it is not
 * the best; and, of all comparisons, how many contradict themselves: a change whose sign is not
 * that of the difference of medians although its interval is on one side of 0, an interval without
 * its change, or that ends below -100 %; candidates called worse whose median is better; leaders
 * with fewer than three trials; more than 1,000 trials proposed. kept: with the half of the seeds
 * that nobody looks at while the code is written.
 */
#include "base/random.h"
#include "bench/advice.h"

#include "core/describe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 6, REPEATS = 12, TRIALS = CANDIDATES * REPEATS };
enum { GAUSSIAN = 0, HEAVY, DISTURBED, NOISES };
enum { SHUFFLED = 0, IN_TURN, DRIFTING, ORDERS };
static const char *const noise_names[] = { "gaussian", "heavy-tailed", "disturbed" };
static const char *const order_names[] = { "shuffled", "one after the other",
					   "one after the other, drifting by 20 %" };

struct made {
	struct campaign c;
	struct bench_row row[TRIALS];
	double value[TRIALS];
	bool left_out[TRIALS];
	struct campaign_group group[CANDIDATES];
	uint32_t trial[CANDIDATES][REPEATS];
	uint32_t n, best;
};

struct count {
	int winners, wrong, compared, contradicting, few, many;
};

static double draw(int noise, struct random *r)
{
	double z = random_normal(r), squares = 0;

	if (noise == DISTURBED)
		return random_unit(r) < 0.1 ? z + 8 : z;
	if (noise != HEAVY)
		return z;
	for (int i = 0; i < 3; i++) {
		double x = random_normal(r);

		squares += x * x;
	}
	return z / sqrt(squares);
}

static void make(struct made *m, int noise, int order, struct random *r)
{
	double sd = exp(log(0.01) + random_unit(r) * log(60)), level[CANDIDATES];
	uint32_t of[TRIALS], n = 0;

	memset(m, 0, sizeof *m);
	m->n = 2 + (uint32_t)(random_u64(r) % (CANDIDATES - 1));
	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t repeats = 1 + (uint32_t)(random_u64(r) % REPEATS);
		double apart = random_u64(r) % 3 ? exp(log(0.005) + random_unit(r) * log(600)) : 0;

		level[i] = 50 * (1 + apart);
		m->best = level[i] < level[m->best] ? i : m->best;
		m->group[i] = (struct campaign_group){ .label = "x", .trial = m->trial[i] };
		for (uint32_t k = 0; k < repeats; k++)
			of[n++] = i;
	}
	for (uint32_t i = n; i > 1 && order == SHUFFLED; i--) {
		uint32_t k = (uint32_t)(random_u64(r) % i), last = of[i - 1];

		of[i - 1] = of[k];
		of[k] = last;
	}
	for (uint32_t i = 0; i < n; i++) {
		double drift = order == DRIFTING ? 1 + 0.2 * i / n : 1;

		m->row[i] = (struct bench_row){ .start_ns = 1000000000 * (int64_t)(i + 1) };
		m->value[i] = level[of[i]] * drift * exp(sd * draw(noise, r));
		m->trial[of[i]][m->group[of[i]].n++] = i;
	}
	m->c = (struct campaign){ .g = { .row = m->row, .ntrials = n }, .left_out = m->left_out };
}

static double median_of(const struct made *m, const struct campaign_group *g)
{
	double v[REPEATS];

	for (uint32_t i = 0; i < g->n; i++)
		v[i] = m->value[g->trial[i]];
	sort_values(v, g->n);
	return quantile_of(v, g->n, 0.5);
}

static bool contradicts(const struct made *m, const struct candidate *lead,
			const struct candidate *x)
{
	double medians = median_of(m, x->group) - median_of(m, lead->group);
	bool one_side = x->low > 0 || x->high < 0;

	if (x->standing == STANDING_WORSE && medians <= 0)
		return true;
	if (isnan(x->low))
		return false;
	return x->low < -1 || x->change < x->low || x->change > x->high ||
	       (one_side && medians != 0 && (x->change > 0) != (medians > 0));
}

static void ask(struct count *n, struct made *m)
{
	struct campaign_groups groups = { .group = m->group, .n = m->n };
	const struct bench_figure f = { .name = "elapsed", .value = m->value };
	const struct advice_wish wish = { .margin = 0.05 };
	struct advice a;
	struct err e;

	if (advice_make(&a, &m->c, &groups, &f, &wish, &e))
		exit(2);
	n->winners += a.verdict == ADVICE_WINNER;
	n->wrong += a.verdict == ADVICE_WINNER && a.candidate[0].group != &m->group[m->best];
	for (uint32_t i = 0; i < a.ntaken; i++) {
		const struct candidate *x = &a.candidate[i];

		n->few += x->standing == STANDING_LEADS && x->n < ADVICE_LEAST;
		n->many += x->more > 1000;
		if (i && a.candidate[0].standing == STANDING_LEADS) {
			n->compared++;
			n->contradicting += contradicts(m, &a.candidate[0], x);
		}
	}
	advice_free(&a);
}

int main(int argc, char **argv)
{
	int campaigns = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1000;
	uint64_t seed = argc > 2 && !strcmp(argv[2], "kept") ? 77000003 : 20261129;

	for (int noise = 0; noise < NOISES; noise++)
		for (int order = 0; order < ORDERS; order++) {
			struct random r = { seed++ };
			struct count n = { 0 };
			struct made m;

			for (int i = 0; i < campaigns; i++) {
				make(&m, noise, order, &r);
				ask(&n, &m);
			}
			printf("%s\t%s\t%.1f\t%.1f\t%.2f\t%d\t%d\n", noise_names[noise],
			       order_names[order], 100.0 * n.winners / campaigns,
			       100.0 * n.wrong / campaigns,
			       100.0 * n.contradicting / fmax(n.compared, 1), n.few, n.many);
		}
	return 0;
}
