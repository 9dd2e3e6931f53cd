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

#include "base/hash.h"
#include "bench/trial.h"
#include "source/cpulist.h"
#include "trial/evidence.h"
#include "trial/scripted.h"

#include <limits.h>

/* One trial of a benchmark from its start to its row in the store, as `bench run` and `bench
 * sweep` have it. */

/* What the trials of a batch have in common; all is borrowed. */
struct trial_run {
	const char *verb; /* in what is said: "bench run" */
	char *const *argv;
	const struct option_list *environment;
	const char *in;   /* the directory they run in; NULL: this one */
	int64_t limit_ns; /* 0: none */
	struct recording_options recording;
	const struct bench_facts *software;
	const struct bench_facts *varied; /* further ones; NULL: none */
	const struct bench_facts *place;  /* of where it runs beside others; NULL: it runs alone */
	const struct cpulist *cpus;       /* on which it runs; NULL: on all */
	const int *foreign;               /* as scripted.h has it */
	uint32_t nforeign;
	const struct trial_batch *batch;
	struct trial_store *store;
	const char *host;
	int64_t of; /* how many there are */
	bool plain; /* it may print what it likes: a result is taken, but none is no failure */
	bool quiet;
	int64_t failed; /* counted */
};

/* What an own table of RECORDING_OPTIONS gives without any word, for trials. */
int trial_run_defaults(struct recording_options *r, int64_t interval_ns, struct err *e);
/* "" when there is none. */
void trial_run_host(char *out, size_t size);
const char *trial_run_user(void); /* NULL: not known */
/* Of a script's content; false: it cannot be read. */
bool trial_run_digest(const char *script, char out[SHA256_HEX]);

/* A trial that is under way, or a run before it that does not count. */
struct trial_going {
	struct scripted scripted;
	int64_t number, warmups;  /* warmups: runs that are left before it */
	char directory[PATH_MAX]; /* of its recording */
};

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
