/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweepspace.h - the combinations of a sweep's matrix, and which of them are tried in which order.
 *
 * A combination is a number from 0: stacks vary slowest, then environments, then the parameters in
 * the order of the specification, the last one fastest. All is a function of the specification, the
 * seed and what was measured, so that a sweep that was cut off goes on with the same decisions.
 */
#ifndef SONDE_BENCH_SWEEP_SWEEPSPACE_H
#define SONDE_BENCH_SWEEP_SWEEPSPACE_H

#include "bench/sweep/sweepspec.h"

struct sweep_space {
	uint32_t size[SWEEP_AXES]; /* stacks, environments, parameters */
	uint32_t axes;
	uint32_t combinations;
	bool *excluded; /* [combinations] */
};

enum { SWEEP_AXIS_STACK = 0, SWEEP_AXIS_ENVIRONMENT, SWEEP_AXIS_PARAMETER };

/* 0 or -ENOMEM. Free in either case. */
int sweepspace_init(struct sweep_space *s, const struct sweep_spec *spec);
void sweepspace_free(struct sweep_space *s);

/* Which value of each axis a combination has. */
void sweepspace_at(const struct sweep_space *s, uint32_t combination, uint32_t at[SWEEP_AXES]);

/* A word for the script, ended by a NUL: "${NAME}" of a parameter stands for its value there. */
void sweepspace_word(struct bytes *out, const struct sweep_spec *spec,
		     const uint32_t at[SWEEP_AXES], const char *word);

/* All that are not excluded, in order, or those that chance takes of them, in the order drawn:
 * order[] has room for all combinations. How many, or -ENOMEM. */
int64_t sweepspace_choose(const struct sweep_space *s, const struct sweep_spec *spec,
			  uint32_t *order);

/* A trial of a plan: which of the combinations that were chosen, and its number from 1. */
struct sweep_turn {
	uint32_t chosen;
	int64_t number;
};

/* turn[n * spec->batch_size], in the order they are run: in rounds, one trial of each combination
 * in an order that seed and round shuffle; or combination by combination. */
void sweepspace_turns(const struct sweep_spec *spec, uint32_t n, struct sweep_turn *turn);

/* What is known of a combination: the more the better. */
struct sweep_score {
	enum { SWEEP_UNKNOWN = 0, SWEEP_FAILED, SWEEP_KNOWN } state;
	double value;
};

/* For those that look at results: the next combination to try, or -1: there is none. */
int64_t sweepspace_next(const struct sweep_space *s, const struct sweep_spec *spec,
			const struct sweep_score *score);

/* Hill climbing: the next combination to try, or -1: it is at a top, or has tried as many as it
 * may. From a combination that the seed takes, it goes a step along one axis at a time, on while
 * that is better, until no step is; axes are taken in an order of the seed's. */
int64_t sweepspace_climb(const struct sweep_space *s, const struct sweep_spec *spec,
			 const struct sweep_score *score);

/* Successive halving: all combinations get a few trials, the best of them more, and so on until
 * one is left (Jamieson and Talwalkar, AISTATS 2016).
 *
 * Each round has an equal share of the budget. A round is decided by the trials up to its own
 * only, so that a sweep that was cut off decides the same again, whatever it has run since. */

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
