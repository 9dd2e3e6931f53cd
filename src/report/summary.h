/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h - the figures people quote of a run, made once, read by `show`, the page and the end of `run`.
 *
 * Every figure that may be unknown is NAN (real) or -1 (integer), never 0. Text is hostile.
 */
#ifndef SONDE_REPORT_SUMMARY_H
#define SONDE_REPORT_SUMMARY_H

#include "core/run.h"
#include "core/stats.h"

#include <stdio.h>

enum { SUMMARY_TOP = 10, SUMMARY_VERDICTS = 32 };

struct summary_process {
	uint32_t instance;
	const char *name;
	double pid;
	double start_s, end_s;	/* since the run began; end NAN while it lives */
	double cpu_s, peak_rss_bytes, read_bytes, written_bytes; /* NAN: not known */
};

struct summary_command {
	const char *name;
	double processes, cpu_s, peak_rss_bytes, read_bytes, written_bytes;
};

enum severity { SEVERITY_NOTE = 0, SEVERITY_GOOD, SEVERITY_WARN, SEVERITY_BAD, SEVERITY_CANNOT_TELL };

struct summary_verdict {
	const char *rule;
	enum severity severity;
	char sentence[320];
	const char *metric; /* the proof: a public metric name */
	double from_s, to_s, threshold;
};

struct summary_node {
	uint32_t node;
	const char *host;
	uint64_t samples;
	double cores, memory_bytes;
	bool complete;
};

struct summary {
	/* job */
	const char *command, *job_id;
	double exit_code, signal; /* NAN: not known, or did not happen */
	double wall_s, cpu_s, cpu_user_s, cpu_system_s, attributed_ratio;
	double peak_memory_bytes;
	const char *peak_memory_kind; /* "cgroup" | "pss" | "rss" | NULL */
	double processes_started, processes_peak;
	double read_bytes, written_bytes;
	double cores_present, cores_used_mean, memory_present;
	const char *mechanisms; /* how processes were counted, in words */
	const char *survivors;	/* names of what outlived the command; NULL none */
	/* monitor */
	double monitor_cpu_s, monitor_rss_bytes, monitor_bytes, monitor_samples, monitor_late, monitor_skipped;
	int64_t start_utc_ns;
	struct summary_node *nodes;
	uint32_t nnodes;
	struct summary_process by_cpu[SUMMARY_TOP], by_memory[SUMMARY_TOP], by_io[SUMMARY_TOP];
	uint32_t nby_cpu, nby_memory, nby_io;
	struct summary_command *commands; /* by CPU, largest first */
	uint32_t ncommands;
	struct summary_verdict verdicts[SUMMARY_VERDICTS];
	uint32_t nverdicts;
	struct stats *metric_stats; /* [nmetric_stats], node-level metrics and rates, by public name */
	const char **metric_names;
	uint32_t nmetric_stats;
	uint32_t ndamages;
};

/* Reads the whole run once. Strings are borrowed from the run. 0 or -errno. */
int summary_make(struct summary *out, struct run *r, struct err *e);
void summary_free(struct summary *s);

/* The terminal summary: at most `lines` lines, every text escaped, colour if asked. */
void summary_print(const struct summary *s, FILE *out, bool colour, unsigned lines);
/* `sonde show --json`: schema "sonde/show/1". */
void summary_json(const struct summary *s, const struct run *r, FILE *out);

#endif
