/* SPDX-License-Identifier: Apache-2.0 */
/*
 * halving.h - successive halving: all combinations get a few trials, the best of them more, and so
 * on until one is left (Jamieson and Talwalkar, AISTATS 2016).
 *
 * Each round has an equal share of the budget. A round is decided by the trials up to its own only,
 * so that a sweep that was cut off decides the same again, whatever it has run since.
 */
#ifndef SONDE_BENCH_SWEEP_HALVING_H
#define SONDE_BENCH_SWEEP_HALVING_H

#include "bench/sweep/sweepspace.h"

enum { HALVING_ROUNDS = 32 };

struct halving_round {
	uint32_t combinations;
	int64_t trials; /* of each of them when it is over, with those of the rounds before */
};

struct halving {
	uint32_t nrounds;
	struct halving_round round[HALVING_ROUNDS];
	int64_t trials; /* of all rounds */
	int64_t needed; /* budget at least */
};

/* Of n combinations to begin with, n > 0. False: the budget is less than what is needed for the
 * minimum; all but needed is then 0. */
bool halving_plan(struct halving *h, const struct sweep_spec *spec, uint32_t n);
/* Sorts chosen, places in score, so that the best come first, and equal ones by their place. How
 * many are in the next round. */
uint32_t halving_keep(uint32_t *chosen, uint32_t n, const struct sweep_score *score, int64_t eta);

#endif
