/* SPDX-License-Identifier: Apache-2.0 */
/*
 * benchprint.h - what the verbs of `bench` print of trials and batches.
 */
#ifndef SONDE_TRIAL_BENCHPRINT_H
#define SONDE_TRIAL_BENCHPRINT_H

#include "base/text/args.h"
#include "bench/group.h"

/* What a verb that only reads is told: where, and in which form. */
struct benchprint_options {
	const char *store;
	bool json;
};
#define BENCHTELL_OPTIONS(schema)                                                                  \
	{ .name = "store",                                                                         \
	  .type = ARG_TEXT,                                                                        \
	  .value = "WHERE",                                                                        \
	  .help = "Read this store. Default: SONDE_STORE, else your own store.",                   \
	  OPTION_OFFSET(struct benchprint_options, store) },                                       \
	{                                                                                          \
		.name = "json", .type = ARG_FLAG, .help = "Print JSON, schema " schema ".",        \
		OPTION_OFFSET(struct benchprint_options, json)                                     \
	}

/* A line on standard error: how the trial went. */
void benchprint_trial(const struct trial *t, int64_t of);
/* The statistics of batches to standard output. EXIT_OK, or another code, and it has said why. */
int benchprint_stats(struct database *s, const int64_t *batch, uint32_t n, bool json);
/* What its trials do not keep of their model's checks: a line on standard error for each check;
 * left_out may be NULL. */
void benchprint_say_doubts(const struct bench_group *g, const bool *left_out, const char *verb);
/* What disturbed its trials, and whether it is worth much: a line on standard error. 0 or -errno.
 */
/* Says how many trials have another kind of peak memory. */
void benchprint_say_memory(const struct bench_group *g, const char *verb);
int benchprint_say_noise(const struct bench_group *g, const char *verb, struct err *e);
/* "bench:7 PiMatmul (tensorflow): 10 trials, 1 failed" */
void benchprint_head(struct bytes *b, const struct bench_group *g);

#endif
