/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_count.h - one set of events, opened everywhere it shall count, and read.
 *
 * A seat is a task, or a CPU; what is counted on all of them is summed. The kernel adds what the
 * inherited events of descendants counted, the ended ones included (perf_event_open(2)). The value
 * is what was counted: nothing is scaled here.
 */
#ifndef SONDE_SOURCE_PERF_PERF_COUNT_H
#define SONDE_SOURCE_PERF_PERF_COUNT_H

#include "base/err.h"
#include "base/root.h"
#include "source/perf/perf_plan.h"
#include "source/source.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * What this machine lets this user count, and why not.
 *
 * Asks the kernel by trying on this process.
 */

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

struct perf_seat {
	pid_t pid;        /* or the descriptor of a cgroup; -1: whatever runs */
	int cpu;          /* -1: wherever it runs */
	uint32_t type;    /* of the PMU; 0: as the event says */
	const char *kind; /* the PMU's name, on a hybrid CPU; NULL: there is but one */
	bool again;       /* the same task on another PMU: its time is counted already */
};

struct perf_where {
	struct perf_seat *seat;
	size_t n, cap;
	bool cgroup;    /* pid is a descriptor */
	bool inherit;   /* and what the task starts from now on */
	bool at_exec;   /* begin when the task's child executes a program */
	bool together;  /* read a set in one call; no task of it may have started another before */
	bool user_only; /* leave the kernel out */
	bool probe;     /* a seat only shows which events there are: nothing is counted there */
};

struct perf_count {
	int *fd; /* of event i at seat k: k * n + i */
	bool *again;
	size_t nseats, reads;
	uint32_t n;
	bool together, at_exec;
	size_t refused; /* tasks that may not be counted, while others are */
	int refusal;    /* -errno of one of them */
};

struct perf_counted {
	uint64_t value[PERF_GROUP_EVENTS_MAX];
	uint64_t enabled_ns, running_ns;
};

/* Open the set's events. Those that this machine does not have are taken out of the set, those that
 * do not fit beside the others are moved to *rest (n 0: none). Tasks that have ended
 * are passed over, those that are refused are told. 0, or -errno of the first event when none can
 * be opened; the set is whole then. */
int perf_count_open(struct perf_count *c, struct perf_set *s, struct perf_set *rest,
		    const struct perf_where *w);
/* The same events at more seats. Of tasks that run already, those that have ended are passed over,
 * and those that are refused are told. 0 or -errno, and then none of them is counted there. */
int perf_count_more(struct perf_count *c, const struct perf_set *s, const struct perf_where *w);
void perf_count_close(struct perf_count *c);
/* The kernel swaps the equal events of a task and of its child when it switches between them: then
 * what was to begin with a child's program is spent by the first. An event that is not inherited
 * keeps the others in their place. Its descriptor, or 0. */
int perf_count_pin(pid_t pid);
/* Begin to count at the seats from this one on. */
int perf_count_enable(const struct perf_count *c, size_t first);
/* 0 or -errno. Nothing is allocated. */
int perf_count_read(const struct perf_count *c, struct perf_counted *out);

#endif
