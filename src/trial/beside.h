/* SPDX-License-Identifier: Apache-2.0 */
/*
 * beside.h - trials side by side, each on cores of its own, or one after another where there is one
 * place.
 *
 * Trials begin in the order in which the caller gives them. One process, which starts them all,
 * stores them as they end.
 */
#ifndef SONDE_TRIAL_BESIDE_H
#define SONDE_TRIAL_BESIDE_H

#include "source/cpulist.h"
#include "trial/trialrun.h"

/* Where a trial runs. */
struct trial_place {
	uint32_t index;
	struct trial_run run;     /* the caller fills both before beside_begin */
	struct trial_going going; /* its number, directory and warm-up runs */
	bool is_taken, is_warm;   /* is_warm is the caller's */
	int claim;                /* descriptor for the processes of this trial; -1: none */
	struct cpulist cpus;
	struct bench_facts facts; /* of the place: trial.jobs, trial.cpus */
};

struct beside {
	struct trial_place *place; /* [n] */
	uint32_t n;
	/* Called for each that was begun, when it has ended; rc as that of trial_end. */
	void (*ended)(void *ctx, struct trial_place *p, int rc);
	void *ctx;
};

/* jobs 1: one place, on all CPUs. -EINVAL with a sentence: there are fewer cores. Close in either
 * case. */
int beside_open(struct beside *b, int64_t jobs, struct err *e);
void beside_close(struct beside *b);

/* A place for the next trial: waits for one, and stores the trial that has ended there. NULL: that
 * failed, and *rc says how. */
struct trial_place *beside_take(struct beside *b, int *rc, struct err *e);
int beside_begin(struct beside *b, struct trial_place *p, struct err *e);
/* Waits for all; each is stored, also after a failure. rc is what went wrong so far, which stays;
 * it is returned, with its sentence in e. */
int beside_finish(struct beside *b, int rc, struct err *e);

#endif
