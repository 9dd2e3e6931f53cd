/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording.h - what `run` and `attach` have in common: options, names, the summary at the end.
 */
#ifndef SONDE_SESSION_RECORDING_H
#define SONDE_SESSION_RECORDING_H

#include "console/command.h"
#include "sampler/recorder.h"

#include <limits.h>

struct recording_options {
	int64_t interval_ns, sync_ns, watch_hang_ns;
	const char *output, *summary, *openmetrics, *procfs, *sysfs;
	const char *max_overhead;
	int64_t pss, process_events, tree; /* enum pss, enum process_events, enum tree_reader */
	const char *perf, *events, *perf_cpu, *stacks, *waits, *memory, *annotations;
	int64_t files;      /* enum files_by */
	int64_t perf_scope; /* enum perf_scope */
	bool force, quiet, json, progress, no_history, no_args, no_paths, no_addresses, peers;
};

/* Of perfmon, too. */
/* clang-format off */
#define STACKS_OPTION(type_, member_) \
	{ .name = "stacks", .type = ARG_TEXT, .value = "long|auto|HZ|off", .fallback = "long", .bare = "auto", \
	  .help = "Sample the stacks of the job's threads, to record which functions and lines used the " \
		  "CPU. long: only processes that have used half a second of CPU time, 49 times per " \
		  "second in all, within --max-overhead. HZ: all threads, this often per second of CPU time; auto, or --stacks alone: 99, less with more than two cores.", \
	  OPTION_OFFSET(type_, member_) }
#define WAITS_OPTION(type_, member_) \
	{ .name = "waits", .type = ARG_TEXT, .value = "auto|off|HZ", .fallback = "off", .bare = "auto", \
	  .help = "Look at the job's threads HZ times per second, to record how long they ran, how long they were ready without a CPU, what they waited for and in which functions; less often if that would take more than 0.5% of a core. auto, or " \
		  "--waits alone: 10.", \
	  OPTION_OFFSET(type_, member_) }
#define MEMORY_OPTION(type_, member_) \
	{ .name = "memory", .type = ARG_TEXT, .value = "auto|off|HZ", .fallback = "off", .bare = "auto", \
	  .help = "Sample the page faults of the job's threads, to record which functions and lines touched memory first, and how much of it stays; at most about HZ times per second. auto, or --memory alone: 200.", \
	  OPTION_OFFSET(type_, member_) }
#define FILES_OPTION(type_, member_) \
	{ .name = "files", .type = ARG_CHOICE, .value = "off|auto|positions", .fallback = "off", .bare = "auto", \
	  .help = "Record which files each process uses: bytes, calls, time, opens. auto, or --files " \
		  "alone: by tracing system calls, which costs the job about 1.5 us per call and " \
		  "other processes of the node about 45 ns; where tracing is not permitted, from file positions.", \
	  OPTION_OFFSET(type_, member_) }
/* clang-format on */

/* Rows for a command whose options struct begins with struct recording_options. */
/* clang-format off */
#define RECORDING_OPTIONS \
	{ .name = "interval", .letter = 'i', .type = ARG_DURATION, .value = "TIME", \
	  .min = 1000000, .max = INT64_C(3600000000000), \
	  .help = "Time between samples. Default: start at 50ms and slow down to 1s over the " \
		  "first ten seconds, within --max-overhead.", \
	  OPTION_OFFSET(struct recording_options, interval_ns) }, \
	{ .name = "output", .letter = 'o', .type = ARG_TEXT, .value = "DIR", \
	  .help = "Write the recording to DIR; created with its parents if missing. " \
		  "If DIR holds the recording of another job, run writes to a new directory " \
		  "beside it.", \
	  OPTION_OFFSET(struct recording_options, output) }, \
	{ .name = "force", .type = ARG_FLAG, \
	  .help = "Write to the directory of -o even if it holds the recording of another job: " \
		  "the two are then shown as one job.", \
	  OPTION_OFFSET(struct recording_options, force) }, \
	{ .name = "quiet", .letter = 'q', .type = ARG_FLAG, \
	  .help = "Print no summary on standard error.", \
	  OPTION_OFFSET(struct recording_options, quiet) }, \
	{ .name = "summary", .type = ARG_TEXT, .value = "FILE", \
	  .help = "Write the full summary to FILE instead of standard error.", \
	  OPTION_OFFSET(struct recording_options, summary) }, \
	{ .name = "json", .type = ARG_FLAG, \
	  .help = "Print the summary as JSON, in the format of `sonde show --json`.", \
	  OPTION_OFFSET(struct recording_options, json) }, \
	{ .name = "no-history", .type = ARG_FLAG, \
	  .help = "Do not add the run to the history that `sonde ls --history` and `sonde usage` " \
		  "read; same as SONDE_HISTORY=off in the environment.", \
	  OPTION_OFFSET(struct recording_options, no_history) }, \
	{ .name = "progress", .type = ARG_FLAG, \
	  .help = "Show current usage on one line of standard error while the job runs, if it is " \
		  "a terminal. Suits jobs that print little.", \
	  OPTION_OFFSET(struct recording_options, progress) }, \
	{ .name = "openmetrics", .type = ARG_TEXT, .value = "FILE", \
	  .help = "Keep the latest sample in FILE, for a textfile collector, until the recording " \
		  "ends. An existing FILE keeps its mode; a new one is private.", \
	  OPTION_OFFSET(struct recording_options, openmetrics) }, \
	{ .name = "sync", .type = ARG_DURATION, .value = "TIME", \
	  .fallback = "10s", .max = INT64_C(3600000000000), \
	  .help = "Write data to disk at least this often, to limit what a node failure can " \
	  	"lose. 0 leaves it to the kernel.", \
	  OPTION_OFFSET(struct recording_options, sync_ns) }, \
	{ .name = "process-events", .type = ARG_CHOICE, .value = "auto|perf|connector|polling", \
	  .fallback = "auto", \
	  .help = "How to detect process starts and exits: perf events, the proc connector, or " \
		  "polling for new pids at each sample, which misses short-lived processes. " \
		  "auto: the best that is permitted.", \
	  OPTION_OFFSET(struct recording_options, process_events) }, \
	{ .name = "tree", .type = ARG_CHOICE, .value = "auto|proc|bpf", \
	  .fallback = "auto", \
	  .help = "How to read processes: the files of /proc, or a BPF task iterator, which " \
		  "needs CAP_BPF and CAP_PERFMON (root) and reads every task of the machine. " \
		  "auto: the iterator where it is permitted and cheaper, as with a thousand " \
		  "active processes.", \
	  OPTION_OFFSET(struct recording_options, tree) }, \
	{ .name = "pss", .type = ARG_CHOICE, .value = "budget|always|off", \
	  .fallback = "budget", \
	  .help = "When to read PSS and USS, which takes a lock on the job's memory: within the " \
		  "overhead budget, in every sample, or never.", \
	  OPTION_OFFSET(struct recording_options, pss) }, \
	{ .name = "no-args", .type = ARG_FLAG, \
	  .help = "Do not record the command lines of the job's processes. By default they are " \
		  "shortened, and secrets are masked.", \
	  OPTION_OFFSET(struct recording_options, no_args) }, \
	{ .name = "max-overhead", .type = ARG_TEXT, .value = "PERCENT|off", \
	  .help = "Limit Sonde's CPU use to this share of one core. Sonde first takes expensive " \
		  "readings less often, then lowers the sampling rate; the recording notes it. " \
		  "Default: 0.5% at one sample per second or slower; at higher rates the same " \
		  "cost per sample, up to 20%.", \
	  OPTION_OFFSET(struct recording_options, max_overhead) }, \
	{ .name = "watch-hang", .type = ARG_DURATION, .value = "TIME", \
	  .fallback = "5m", .bare = "60s", .follows = true, \
	  .max = INT64_C(86400000000000), \
	  .help = "If the job uses less than 1% of a core for TIME, record what its processes " \
		  "wait for; verdicts use it. The job is not touched. Busy-waiting jobs are not " \
		  "detected. 0 turns it off.", \
	  OPTION_OFFSET(struct recording_options, watch_hang_ns) }, \
	{ .name = "perf", .type = ARG_TEXT, .value = "GROUP,...", .fallback = "auto", \
	  .help = "Perf events to count: auto (cycles and instructions), off, all, or groups " \
		  "such as l2cache, l3, flops_dp, memory, topdown. Too many groups are " \
		  "multiplexed, and the recording notes it.", \
	  OPTION_OFFSET(struct recording_options, perf) }, \
	{ .name = "perf-scope", .type = ARG_CHOICE, .value = "job|cgroup|node", .fallback = "job", \
	  .help = "Count perf events of the job's processes, its whole cgroup, or the node. The " \
		  "last two need kernel.perf_event_paranoid=0 or less, or CAP_PERFMON.", \
	  OPTION_OFFSET(struct recording_options, perf_scope) }, \
	{ .name = "perf-cpu", .type = ARG_TEXT, .value = "NAME", \
	  .help = "Use the perf events of this CPU, where the machine does not identify its own. " \
		  "NAME is that of an events file or of archspec.", \
	  OPTION_OFFSET(struct recording_options, perf_cpu) }, \
	STACKS_OPTION(struct recording_options, stacks), \
	{ .name = "no-paths", .type = ARG_FLAG, \
	  .help = "Record the programs, libraries and source files of stacks, and what was " \
		  "waited for, without their directories.", \
	  OPTION_OFFSET(struct recording_options, no_paths) }, \
	WAITS_OPTION(struct recording_options, waits), \
	MEMORY_OPTION(struct recording_options, memory), \
	FILES_OPTION(struct recording_options, files), \
	{ .name = "peers", .type = ARG_FLAG, \
	  .help = "Record with whom each process talks by TCP: bytes, retransmissions, round trip, and " \
		  "whether the reader, the send buffer or the network limited it. Once a second, " \
		  "within 0.25% of a core.", \
	  OPTION_OFFSET(struct recording_options, peers) }, \
	{ .name = "no-addresses", .type = ARG_FLAG, \
	  .help = "Record no IP addresses: in connections, waits, command lines and the " \
		  "environment each goes by a name such as address-1f9c2a3b, by a key that is " \
		  "not recorded. Host names stay.", \
	  OPTION_OFFSET(struct recording_options, no_addresses) }, \
	{ .name = "events", .type = ARG_TEXT, .value = "FILE", \
	  .help = "Read more groups of perf events from FILE. They replace built-in groups of " \
		  "the same name.", \
	  OPTION_OFFSET(struct recording_options, events) }, \
	{ .name = "procfs", .type = ARG_TEXT, .value = "DIR", \
	  .help = "Read DIR instead of /proc.", \
	  OPTION_OFFSET(struct recording_options, procfs) }, \
	{ .name = "sysfs", .type = ARG_TEXT, .value = "DIR", \
	  .help = "Read DIR instead of /sys.", \
	  OPTION_OFFSET(struct recording_options, sysfs) }
/* clang-format on */

enum { RECORDING_WHY = 512 };

struct recording_plan {
	const struct recording_options *o;
	char *why; /* RECORDING_WHY bytes, shared with the recorder: what it said last; or NULL */
	struct identity identity;
	struct perf_options perf; /* without its processes */
	int64_t stacks_hz, stacks_after_ns, waits_hz,
		memory_hz;     /* as struct sampler_options has them */
	const char *directory; /* of -o, or named */
	const char *instead;   /* beside it, where another job has it (absolute); NULL: nowhere */
	bool *moved;           /* it is so; shared with the recorder, NULL: never */
	int64_t interval_ns;
	bool quickly;        /* it was not given: the first seconds have more samples */
	double max_overhead; /* share of one core; 0: no limit */
	char named[PATH_MAX], absolute[PATH_MAX], run_id[33];
};

/* Who and where. False when the options make no sense, and then it has said why. */
bool recording_plan(struct recording_plan *p, const struct recording_options *o);
/* Where it records, as it was named and as an absolute path. */
const char *recording_directory(const struct recording_plan *p);
const char *recording_absolute(const struct recording_plan *p);
/* The recorder's options, but command, launcher and tree. The plan is borrowed. */
struct recorder_options recording_recorder(const struct recording_plan *p);
/* The summary of what was recorded, to where the options say, and for the history. */
void recording_print(const struct recording_plan *p);
/* That prints nothing. */
bool recording_is_silent(const struct recording_plan *p);
/* Without a summary of its own: whoever looks at the history next looks at it, too. */
void recording_leave(const struct recording_plan *p);

#endif
