/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trialrun.h - one trial of a benchmark from its start to its row in the store, as `bench run` and
 * `bench sweep` have it.
 */
#ifndef SONDE_CMD_TRIALRUN_H
#define SONDE_CMD_TRIALRUN_H

#include "base/sha256.h"
#include "bench/trial.h"
#include "cmd/evidence.h"

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

/* Run it, with its recording in that directory, and keep it. One that the store has by then is
 * dropped, and said. 0, also when the trial failed, or -errno with a sentence. */
int trial_run(struct trial_run *x, int64_t number, const char *directory, struct err *e);
/* Run it n times and keep nothing. */
int trial_run_warmup(const struct trial_run *x, int64_t n, struct err *e);

#endif
