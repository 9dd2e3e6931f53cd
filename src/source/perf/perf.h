/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf.h - what may be asked of the perf events: which, and of how much of the machine.
 *
 * {0} is: what is cheap, of the process tree.
 */
#ifndef SONDE_SOURCE_PERF_PERF_H
#define SONDE_SOURCE_PERF_PERF_H

#include "base/err.h"
#include "core/metric.h"

enum perf_scope { PERF_SCOPE_JOB, PERF_SCOPE_CGROUP, PERF_SCOPE_NODE };

/* Everything is borrowed. */
struct perf_options {
	const char *groups; /* "auto", "off", "all", or names with commas; NULL: auto */
	const char *file;   /* an events file beside the built-in ones; NULL: none */
	const char *cpu;    /* its events file's or archspec's name; NULL: as /proc/cpuinfo says */
	enum perf_scope scope;
};

/* Whether the file can be read and the groups and the CPU are known to some events file. 0, or
 * -errno with a sentence. */
int perf_options_check(const struct perf_options *o, struct err *e);

/* Of the catalogue of perf events in perf.c, every metric that events files name: it holds no codes
 * and no formulas of CPUs. Which of them a recording has depends on the CPU and on what was asked
 * for: perf_plan.h makes its rows from these. NULL when no metric has this name. */
const struct metric *perf_metric(const char *name);

#endif
