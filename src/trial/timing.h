/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timing.h - commands measured in rounds, each once in each round in an order that is shuffled, and
 * compared with the fastest. Nothing is recorded or stored.
 *
 * Names of options that hyperfine has, too, mean the same. Times are without what the start of the
 * shell takes, which is measured in each round.
 */
#ifndef SONDE_TRIAL_TIMING_H
#define SONDE_TRIAL_TIMING_H

#include "base/pool.h"
#include "base/text/args.h"
#include "core/describe.h"
#include "core/statistics/compare.h"

enum { TIMING_COMMANDS = 64, TIMING_PARAMETERS = 8, TIMING_RUNS = 100000 };

struct timing_options {
	int64_t runs, warmup, most; /* runs 0: not given */
	const char *until, *setup, *prepare, *cleanup, *shell;
	struct option_list scan, list;
	double step;
	const char *json, *csv, *markdown; /* files */
	bool no_shell, ignore_failure;
};

/* Rows for a command whose options struct has a member `timing`. */
/* clang-format off */
#define TIMING_ROWS(options) \
	{ .name = "runs", .letter = 'n', .type = ARG_COUNT, .value = "N", .min = 2, \
	  .max = TIMING_RUNS, \
	  .help = "Run the operands, which are commands, this many times each, in shuffled rounds, and " \
		  "compare their times.", \
	  OPTION_OFFSET(options, timing.runs) }, \
	{ .name = "until", .type = ARG_TEXT, .value = "PERCENT", \
	  .help = "Commands: run at least 10 rounds (or --runs) and continue until each interval of a ratio is within this of it, at most --max-runs.", \
	  OPTION_OFFSET(options, timing.until) }, \
	{ .name = "max-runs", .letter = 'M', .type = ARG_COUNT, .value = "N", .fallback = "1000", \
	  .min = 2, .max = TIMING_RUNS, .help = "Commands: run at most this many rounds with --until.", \
	  OPTION_OFFSET(options, timing.most) }, \
	{ .name = "warmup", .letter = 'w', .type = ARG_COUNT, .value = "N", .fallback = "0", \
	  .max = 1000, .help = "Commands: run each this many times first, and discard the results.", \
	  OPTION_OFFSET(options, timing.warmup) }, \
	{ .name = "setup", .letter = 's', .type = ARG_TEXT, .value = "CMD", \
	  .help = "Commands: run CMD once before the runs of each.", \
	  OPTION_OFFSET(options, timing.setup) }, \
	{ .name = "prepare", .letter = 'p', .type = ARG_TEXT, .value = "CMD", \
	  .help = "Commands: run CMD before each run.", \
	  OPTION_OFFSET(options, timing.prepare) }, \
	{ .name = "cleanup", .letter = 'c', .type = ARG_TEXT, .value = "CMD", \
	  .help = "Commands: run CMD once after the runs of each.", \
	  OPTION_OFFSET(options, timing.cleanup) }, \
	{ .name = "parameter-scan", .letter = 'P', .type = ARG_LIST, .value = "VAR MIN MAX", \
	  .help = "Commands: make one for each number from MIN to MAX, which replaces {VAR}.", \
	  OPTION_OFFSET(options, timing.scan) }, \
	{ .name = "parameter-step-size", .letter = 'D', .type = ARG_REAL, .value = "STEP", \
	  .fallback = "1", .help = "Commands: the step of -P.", \
	  OPTION_OFFSET(options, timing.step) }, \
	{ .name = "parameter-list", .letter = 'L', .type = ARG_LIST, .value = "VAR VALUES", \
	  .help = "Commands: make one for each of these values, separated by commas.", \
	  OPTION_OFFSET(options, timing.list) }, \
	{ .name = "shell", .letter = 'S', .type = ARG_TEXT, .value = "SHELL", .fallback = "sh", \
	  .help = "Commands: run them with this shell.", \
	  OPTION_OFFSET(options, timing.shell) }, \
	{ .name = "no-shell", .letter = 'N', .type = ARG_FLAG, \
	  .help = "Commands: run them without a shell; words are separated by blanks.", \
	  OPTION_OFFSET(options, timing.no_shell) }, \
	{ .name = "ignore-failure", .letter = 'i', .type = ARG_FLAG, \
	  .help = "Commands: continue if one ends with an exit code other than 0.", \
	  OPTION_OFFSET(options, timing.ignore_failure) }, \
	{ .name = "export-json", .type = ARG_TEXT, .value = "FILE", \
	  .help = "Commands: write the results to FILE in the form of hyperfine's JSON.", \
	  OPTION_OFFSET(options, timing.json) }, \
	{ .name = "export-csv", .type = ARG_TEXT, .value = "FILE", \
	  .help = "Commands: write the results to FILE as CSV.", \
	  OPTION_OFFSET(options, timing.csv) }, \
	{ .name = "export-markdown", .type = ARG_TEXT, .value = "FILE", \
	  .help = "Commands: write the results to FILE as a table in Markdown.", \
	  OPTION_OFFSET(options, timing.markdown) }
/* clang-format on */

struct timed {
	const char *command;                      /* hostile */
	const char *parameter[TIMING_PARAMETERS]; /* values, in the order of timing.name */
	double *wall, *user, *system, *memory;    /* [n] seconds without the shell; bytes */
	int64_t *at, *code;                       /* [n] when; exit code */
	uint32_t n, noutliers;
	struct description d;
	struct compared against; /* logarithms, a: the fastest; of that itself not set */
	double ratio, low, high; /* NAN: not known */
};

struct timing {
	const struct timing_options *o;
	struct timed command[TIMING_COMMANDS];
	const char *name[TIMING_PARAMETERS];
	uint32_t n, nparameters, fastest;
	uint32_t rounds;
	double margin, until; /* shares; until 0: not given */
	double shell_s;       /* what the shell's start takes; 0: there is none */
	double estimate_s;    /* how long all rounds take; NAN: not known yet */
	bool too_short;       /* some take no longer than the shell: times are with it */
	double *shell;        /* [rounds] */
	struct pool pool;
};

/* Is that asked for? */
bool timing_is_asked(const struct timing_options *o);
/* What the operands are: the numbers of -P and the lists of -L first, then commands. 0 or -EINVAL
 * with a sentence. */
int timing_read(struct timing *t, const struct timing_options *o, double margin, int noperands,
		char **operands, struct err *e);
/* Runs all of them and compares. 0; -ECANCELED: a command failed; -errno; with a sentence. */
int timing_run(struct timing *t, struct err *e);
void timing_free(struct timing *t);
/* A time without what the shell takes. */
double timing_seconds(const struct timing *t, double wall);

/* "A", "B", ..., "Z", "AA". */
const char *timing_letter(uint32_t i, char out[8]);

#endif
