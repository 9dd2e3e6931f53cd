/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording.h - what `run` and `attach` have in common: options, names, the summary at the end.
 */
#ifndef SONDE_CMD_RECORDING_H
#define SONDE_CMD_RECORDING_H

#include "cmd/command.h"
#include "sampler/recorder.h"

#include <limits.h>

struct recording_options {
	int64_t interval_ns, sync_ns, watch_hang_ns;
	const char *output, *summary, *openmetrics, *procfs, *sysfs;
	const char *max_overhead;
	int64_t pss, births; /* enum pss, enum births */
	const char *perf, *events, *perf_cpu;
	int64_t perf_scope; /* enum perf_scope */
	bool force, quiet, json, progress, no_history, no_args;
};

/* Rows for a command whose options struct begins with struct recording_options. */
/* clang-format off */
#define RECORDING_OPTIONS \
	{ .name = "interval", .letter = 'i', .type = ARG_DURATION, .value = "TIME", \
	  .min = 1000000, .max = INT64_C(3600000000000), \
	  .help = "Time between samples; without it 1s, after ten seconds in which it grows from " \
		  "50ms as far as --max-overhead allows.", \
	  OPTION_OFFSET(struct recording_options, interval_ns) }, \
	{ .name = "output", .letter = 'o', .type = ARG_TEXT, .value = "DIR", \
	  .help = "Directory of the recording, created with its parents if missing.", \
	  OPTION_OFFSET(struct recording_options, output) }, \
	{ .name = "force", .type = ARG_FLAG, \
	  .help = "Add to the directory of -o even when it holds another job's recording.", \
	  OPTION_OFFSET(struct recording_options, force) }, \
	{ .name = "quiet", .letter = 'q', .type = ARG_FLAG, \
	  .help = "No summary on standard error.", \
	  OPTION_OFFSET(struct recording_options, quiet) }, \
	{ .name = "summary", .type = ARG_TEXT, .value = "FILE", \
	  .help = "Write the summary, with all its figures, to FILE instead of standard error.", \
	  OPTION_OFFSET(struct recording_options, summary) }, \
	{ .name = "json", .type = ARG_FLAG, \
	  .help = "The summary as JSON, as `sonde show --json` gives it.", \
	  OPTION_OFFSET(struct recording_options, json) }, \
	{ .name = "no-history", .type = ARG_FLAG, \
	  .help = "Leave the run out of the history that `sonde ls --history` and `sonde usage` " \
		  "tell of; SONDE_HISTORY=off in the environment does so, too.", \
	  OPTION_OFFSET(struct recording_options, no_history) }, \
	{ .name = "progress", .type = ARG_FLAG, \
	  .help = "While it runs, one line on standard error of what is in use now, when that is " \
		  "a terminal; for jobs that write little there themselves.", \
	  OPTION_OFFSET(struct recording_options, progress) }, \
	{ .name = "openmetrics", .type = ARG_TEXT, .value = "FILE", \
	  .help = "Keep the newest sample in FILE, for a textfile collector, until the recording " \
		  "ends; an existing FILE keeps its mode, a new one is private.", \
	  OPTION_OFFSET(struct recording_options, openmetrics) }, \
	{ .name = "sync", .type = ARG_DURATION, .value = "TIME", \
	  .fallback = "10s", .max = INT64_C(3600000000000), \
	  .help = "The most a loss of the node may cost; 0 leaves syncing to the kernel.", \
	  OPTION_OFFSET(struct recording_options, sync_ns) }, \
	{ .name = "births", .type = ARG_CHOICE, .value = "auto|perf|connector|polling", \
	  .fallback = "auto", \
	  .help = "How it is known which processes start and end: the best that is permitted, " \
		  "perf events, the proc connector, or new pids at each sample, which misses the " \
		  "shorter ones.", \
	  OPTION_OFFSET(struct recording_options, births) }, \
	{ .name = "pss", .type = ARG_CHOICE, .value = "budget|always|off", \
	  .fallback = "budget", \
	  .help = "When PSS and USS are read, which holds a lock of the job's memory: within " \
		  "the budget, in every sample, never.", \
	  OPTION_OFFSET(struct recording_options, pss) }, \
	{ .name = "no-args", .type = ARG_FLAG, \
	  .help = "Do not read the command lines of the job's processes, which are kept " \
		  "shortened and without what looks like a secret.", \
	  OPTION_OFFSET(struct recording_options, no_args) }, \
	{ .name = "max-overhead", .type = ARG_TEXT, .value = "PERCENT|off", \
	  .help = "The most of one core that Sonde may use; costly readings are made more " \
		  "rarely first, the rate is lowered last, and the recording says so. " \
		  "Without it 0.5% at one sample a second or fewer, as much a sample at higher " \
		  "rates, but at most 20%.", \
	  OPTION_OFFSET(struct recording_options, max_overhead) }, \
	{ .name = "watch-hang", .type = ARG_DURATION, .value = "TIME", \
	  .fallback = "5m", .bare = "60s", .follows = true, \
	  .max = INT64_C(86400000000000), \
	  .help = "When the job uses less than 1% of a core for so long, keep what its processes " \
		  "wait for as a mark in the recording, for the verdicts. Nothing is done to the " \
		  "job; one that waits by spinning is not seen. 0: no watch.", \
	  OPTION_OFFSET(struct recording_options, watch_hang_ns) }, \
	{ .name = "perf", .type = ARG_TEXT, .value = "GROUP,...", .fallback = "auto", \
	  .help = "Perf events to count: auto (cycles and instructions), off, all, or groups as " \
		  "l2cache, l3, flops_dp, memory, topdown; many at once take turns, and say so.", \
	  OPTION_OFFSET(struct recording_options, perf) }, \
	{ .name = "perf-scope", .type = ARG_CHOICE, .value = "job|cgroup|node", .fallback = "job", \
	  .help = "Whose perf events: of the job's processes, of its whole cgroup, of the node; " \
		  "the last two need kernel.perf_event_paranoid=0 or less, or CAP_PERFMON.", \
	  OPTION_OFFSET(struct recording_options, perf_scope) }, \
	{ .name = "perf-cpu", .type = ARG_TEXT, .value = "NAME", \
	  .help = "Take the perf events of this CPU, by its events file's or archspec's name, " \
		  "where the machine does not tell its own.", \
	  OPTION_OFFSET(struct recording_options, perf_cpu) }, \
	{ .name = "events", .type = ARG_TEXT, .value = "FILE", \
	  .help = "Groups of perf events beside the built-in ones, or instead of those of the " \
		  "same name.", \
	  OPTION_OFFSET(struct recording_options, events) }, \
	{ .name = "procfs", .type = ARG_TEXT, .value = "DIR", \
	  .help = "Read below DIR instead of /proc.", \
	  OPTION_OFFSET(struct recording_options, procfs) }, \
	{ .name = "sysfs", .type = ARG_TEXT, .value = "DIR", \
	  .help = "Read below DIR instead of /sys.", \
	  OPTION_OFFSET(struct recording_options, sysfs) }
/* clang-format on */

enum { RECORDING_WHY = 512 };

struct recording_plan {
	const struct recording_options *o;
	char *why; /* RECORDING_WHY bytes, shared with the recorder: what it said last; or NULL */
	struct identity identity;
	struct perf_options perf; /* without its processes */
	const char *directory;    /* of -o, or named */
	int64_t interval_ns;
	bool quickly;        /* it was not given: the first seconds have more samples */
	double max_overhead; /* share of one core; 0: no limit */
	char named[PATH_MAX], absolute[PATH_MAX], run_id[33];
};

/* Who and where. False when the options make no sense, and then it has said why. */
bool recording_plan(struct recording_plan *p, const struct recording_options *o);
/* The recorder's options, but command, launcher and tree. The plan is borrowed. */
struct recorder_options recording_recorder(const struct recording_plan *p);
/* The summary of what was recorded, to where the options say, and for the history. */
void recording_tell(const struct recording_plan *p);
/* Without a summary of its own: whoever looks at the history next looks at it, too. */
void recording_leave(const struct recording_plan *p);

#endif
