/* SPDX-License-Identifier: Apache-2.0 */
/*
 * benchprint.h - what the verbs of `bench` print of trials and batches.
 */
#ifndef SONDE_TRIAL_BENCHPRINT_H
#define SONDE_TRIAL_BENCHPRINT_H

#include "base/clock.h"
#include "base/text/args.h"
#include "bench/campaign/campaign.h"
#include "bench/group.h"
#include "store/database.h"

/* The option --store of the verbs; what: what is done with it, a sentence. */
#define BENCH_STORE(options, member, what)                                                         \
	{                                                                                          \
		.name = "store", .type = ARG_TEXT, .value = "WHERE",                               \
		.help = what " " PLACE_DEFAULT, OPTION_OFFSET(options, member)                     \
	}

/* Options of the verbs that run scripts. */
#define BENCH_INTERVAL(options, member)                                                            \
	{                                                                                          \
		.name = "interval", .letter = 'i', .type = ARG_DURATION, .value = "TIME",          \
		.fallback = "1s", .min = NS_PER_MS, .max = 3600 * NS_PER_S,                        \
		.help = "Time between samples of each trial's recording.",                         \
		OPTION_OFFSET(options, member)                                                     \
	}
#define BENCH_TRIALS_STORE(options)                                                                \
	BENCH_STORE(options, store,                                                                \
		    "Store the trials here: a file, or postgres://user@host/database without a "   \
		    "password.")
#define BENCH_MODELS(options)                                                                      \
	{                                                                                          \
		.name = "model", .type = ARG_LIST, .value = "FILE",                                \
		.help = "Read more columns of indicators from FILE. Repeatable.",                  \
		OPTION_OFFSET(options, models)                                                     \
	}
#define BENCH_QUIET(options)                                                                       \
	{                                                                                          \
		.name = "quiet", .letter = 'q', .type = ARG_FLAG,                                  \
		.help = "Print no line per trial.", OPTION_OFFSET(options, quiet)                  \
	}
#define BENCH_ENVIRONMENT(options)                                                                 \
	{                                                                                          \
		.name = "env", .type = ARG_LIST, .value = "NAME=VALUE",                            \
		.help = "Set this variable in the script's environment. Repeatable.",              \
		OPTION_OFFSET(options, environment)                                                \
	}

/* What a verb that only reads is told: where, and in which form. */
struct benchprint_options {
	const char *store;
	bool json;
};
#define BENCHTELL_OPTIONS(schema)                                                                  \
	BENCH_STORE(struct benchprint_options, store, "Read this store."),                         \
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

/*
 * What the questions about an indicator (history, advise, report) begin with.
 */

/* Rows for a command whose options struct begins with struct benchask. */
/* clang-format off */
#define BENCHASK_ROWS(options) \
	{ .name = "column", .letter = 'c', .type = ARG_TEXT, .value = "NAME", \
	  .help = "Evaluate this figure, named as in `sonde bench stats`. Default: the score, " \
		  "else the first result with a known better direction, else duration_seconds.", \
	  OPTION_OFFSET(options, ask.column) }, \
	{ .name = "where", .letter = 'w', .type = ARG_LIST, .value = "CONDITION", \
	  .help = "Use only trials that match: a parameter, figure, component, version, host, " \
		  "batch or environment fact, then = != < <= > >= and a value; = accepts a glob. " \
		  "Repeatable.", \
	  OPTION_OFFSET(options, ask.where) }, \
	BENCH_STORE(options, ask.store, "Read this store.")
/* clang-format on */

struct benchask {
	const char *column, *store;
	struct option_list where;
};

/* "PiMatmul" of "bench:PiMatmul" and of itself. */
const char *benchask_indicator(const char *word);
/* The trials of "PiMatmul", which is "bench:PiMatmul", too, of "sweep:NAME" or "bench:ID". 0 or
 * -errno with a sentence. Free the campaign in either case. */
int benchask_campaign(struct campaign *c, struct database *s, const char *word, struct err *e);
/* The trials that are asked about, and the figure; indicator: as above; NULL: none
 * was named, or several. 0;
 * -EINVAL: usage; -errno; each with a sentence. Free the campaign in either case. */
int benchask_read(struct campaign *c, const struct bench_figure **f, const struct benchask *ask,
		  const char *verb, const char *indicator, struct err *e);
/* Says how many trials failed before they said what they were, which are in no group. */
void benchask_say_silent(const struct campaign *c, const char *verb);

/* "20.1 ms", "3.1 GiB"; "-" of NAN. Not escaped. Returns out. */
const char *benchask_number(const struct bench_figure *f, double v, char *out, size_t size);
/* "bench:3/2" */
const char *benchask_trial(const struct campaign *c, uint32_t trial, char *out, size_t size);
/* "3 trials". */
const char *benchask_trials(uint32_t n, char *out, size_t size);
/* {"batch": 3, "trial": 2, "start": "..."} */
void benchask_trial_json(struct json *j, const struct campaign *c, uint32_t trial);
/* The member "parameters": what the script was asked. */
void benchask_parameters_json(struct json *j, const struct campaign *c, uint32_t trial);
/* "less", "more", or NULL: what of a figure is better. */
const char *benchask_better(const struct bench_figure *f);

#endif
