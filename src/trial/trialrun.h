/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trialrun.h - one trial of a benchmark from its start to its row in the store, as `bench run` and
 * `bench sweep` have it.
 */
#ifndef SONDE_TRIAL_TRIALRUN_H
#define SONDE_TRIAL_TRIALRUN_H

#include "base/sha256.h"
#include "bench/trial.h"
#include "trial/evidence.h"
#include "trial/scripted.h"

#include <limits.h>

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
	const struct batch *batch;
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

/* Begins the next run of it. 0, or -errno with a sentence. */
int trial_begin(struct trial_run *x, struct trial_going *g, struct err *e);
/* When g->scripted has ended. 1: it was a warm-up run, and trial_begin has to begin the next. 0:
 * the trial is stored, also when it failed; one that the store has by then is dropped, and said. Or
 * -errno with a sentence. */
int trial_end(struct trial_run *x, struct trial_going *g, struct err *e);

#endif
