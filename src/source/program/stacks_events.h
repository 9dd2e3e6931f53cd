/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks_events.h - the perf events that sample the stacks of the job's tasks.
 *
 * One event of the CPU clock a CPU on each given task; all it starts inherits them. Samples are
 * taken in user mode only. They go into one ring a CPU, which is mapped here and by the helper, and
 * is there until the events are closed. No privilege is needed while perf_event_paranoid <= 2.
 */
#ifndef SONDE_SOURCE_PROGRAM_STACKS_EVENTS_H
#define SONDE_SOURCE_PROGRAM_STACKS_EVENTS_H

#include "base/err.h"
#include "source/program/stacks_page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	STACKS_CPUS_MAX = 16,
	STACKS_HZ_MOST = 99,     /* of a busy CPU */
	STACKS_HZ_OF_NODE = 250, /* of all of them together */
	FAULTS_HZ = 200,         /* likewise, of page faults */
};

enum rings_what { RINGS_BOTH, RINGS_SAMPLES, RINGS_TASKS };

struct stacks_rings {
	int fd[STACKS_RINGS_MAX]; /* what holds each ring; it samples nothing */
	int cpu[STACKS_RINGS_MAX];
	void *map[STACKS_RINGS_MAX];
	size_t n;
	uint32_t bytes, stack_bytes; /* of a ring; of a copy of a stack */
	int64_t period_ns;           /* of CPU time; 0: samples are of page faults */
	uint32_t faults_hz;          /* samples a second, at most */
	uint32_t step;               /* of faults_periods */
	bool in_kernel;              /* what happens in system calls, too */
	enum rings_what what;        /* of page faults: without what is told of tasks, or only that
				      */
	int *event;                  /* of tasks */
	size_t nevents, events_cap;
	int64_t lost; /* records of events that are closed */
};

/* hz: samples a second of a busy CPU; 0: as many as seem right for so many CPUs. lock_kb: what the
 * kernel lets a user lock for each CPU's rings. 0, or -errno with a sentence. */
int stacks_rings_open(struct stacks_rings *r, int64_t hz, int64_t lock_kb, struct err *e);
/* Of page faults instead, each with its address. Those within system calls only where the kernel
 * permits it. */
int stacks_rings_open_faults(struct stacks_rings *r, int64_t hz, struct err *e);
/* The events of tasks, with another period, into the same rings: the old ones go once `add` has
 * added the tasks again. False: it could not add all; the old ones stay. */
bool stacks_rings_again(struct stacks_rings *r, uint32_t step, bool (*add)(void *of), void *of);
void stacks_rings_close(struct stacks_rings *r);
/* One more task, and what it starts. 0, or -errno; -ESRCH: it has gone. */
int stacks_rings_add(struct stacks_rings *r, pid_t tid);
/* Records that had no room so far, as the events count them: a ring's own records tell of those
 * only that came before them. 0 before Linux 6.0. */
int64_t stacks_rings_lost(const struct stacks_rings *r);

/* In rounds: an event on one thread alone, wherever it runs, that nothing
 * inherits; 0: on the caller. It will have a ring of so many bytes. Its descriptor, or -errno. */
int stacks_event_open(pid_t tid, int64_t period_ns, size_t ring);
size_t stacks_ring_least(void); /* bytes of such a ring */
/* What an event has counted, and how many of its records had no room (NULL: not asked); -1: the
 * kernel does not count them. */
int64_t stacks_event_read(int fd, int64_t *lost);

/*
 * How stacks are sampled on machines with many CPUs: in rounds, some threads at a
 * time, by events of the helper (unwind/rounds.h). Inherited events would cost each process start
 * more with every CPU.
 */

struct stacks_turns {
	uint32_t threads;        /* at a time; 0: no rounds */
	uint32_t bytes;          /* of memory that may be locked for their rings */
	uint32_t hz, hz_of_node; /* samples a second of CPU time, and of all threads together */
	int64_t after_ns;        /* of processes that have used so much CPU time; 0: of all */
};

/* Are there too many CPUs for events that are inherited? SONDE_STACKS_THREADS, how many threads at
 * a time, says so, too. */
bool stacks_rounds_needed(void);
/* How many threads at a time; lock_kb: as of stacks_rings_open. 0, or -errno with a sentence; such
 * an event was tried. */
int stacks_rounds_plan(struct stacks_turns *t, int64_t lock_kb, struct err *e);
/* How often; hz: as of stacks_rings_open. */
void stacks_rounds_rate(struct stacks_turns *t, int64_t hz);

#endif
