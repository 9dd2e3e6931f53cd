/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_permission.h - what this machine lets this user count, and why not.
 *
 * Asks the kernel by trying on this process.
 */
#ifndef SONDE_SOURCE_PERF_PERF_PERMISSION_H
#define SONDE_SOURCE_PERF_PERF_PERMISSION_H

#include "base/err.h"
#include "base/root.h"
#include "source/source.h"

#include <stdbool.h>

/* Else user mode alone, and nothing at all above kernel.perf_event_paranoid 2. */
bool perf_may_count_kernel(void);
/* Spins for a millisecond: a virtual machine may have counters that open and stand still. */
bool perf_cycles_advance(bool user_only);
/* This process alone, in user mode: the least that can be asked. */
bool perf_may_count_itself(void);

/* What was refused: of CPUs, in whichever way, or of tasks. */
struct perf_refusal {
	const struct root *proc, *sys;
	bool of_cpus, of_cgroup;
	bool itself_permitted; /* perf_may_count_itself() */
};

/* A refusal of perf_event_open in words: what an administrator set, which the errno alone does not
 * tell. Returns the errno that fits. */
int perf_explain(const struct perf_refusal *r, int bad, struct err *e);

/* What helps against the reasons that are given here and against these. */
extern const struct source_fix perf_fixes[];
extern const char perf_no_counters[];    /* where there should be some */
extern const char perf_user_mode_only[]; /* of an event that is 0 then */
extern const char perf_no_group[];
extern const char perf_no_directory[]; /* what is said of a cgroup behind its name */

#endif
