/* SPDX-License-Identifier: Apache-2.0 */
/*
 * benchask.h - what the questions about an indicator (history, advise, report) begin with.
 */
#ifndef SONDE_TRIAL_BENCHASK_H
#define SONDE_TRIAL_BENCHASK_H

#include "base/text/args.h"
#include "bench/campaign/campaign.h"

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
	{ .name = "store", .type = ARG_TEXT, .value = "WHERE", \
	  .help = "Read this store. Default: SONDE_STORE, else your own store.", \
	  OPTION_OFFSET(options, ask.store) }
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
