/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd.h - the job's threads, and how much CPU time each has used, for those who sample them in
 * rounds (rounds.h).
 *
 * A process whose CPU clock stood still is not read, nor one whose sampled threads used all that
 * its clock went on. A thread that was there before the recording began counts from then on.
 * Nothing is sampled here.
 */
#ifndef SONDE_UNWIND_CROWD_H
#define SONDE_UNWIND_CROWD_H

#include "source/program/stacks_page.h"
#include "unwind/space.h"

#include <stdbool.h>
#include <sys/types.h>

enum {
	CROWD_PROCESSES_MAX = STACKS_PIDS_MAX,
	CROWD_THREADS_MAX = 65536,
	CROWD_STACKS = 8, /* that are kept of a thread's last samples */
};

struct crowd_thread {
	pid_t pid, tid;   /* tid 0: a free row */
	uint32_t next;    /* of its process */
	uint32_t round;   /* in which it was listed last */
	uint32_t slot;    /* that samples it; 0: none */
	int64_t cpu_ns;   /* that it has used */
	int64_t was_ns;   /* that it had used one look before */
	int64_t told_ns;  /* of its user time, for which samples were put */
	int64_t since_ns; /* from when on samples are owed */
	double user_part; /* of its CPU time; < 0: not known yet */
	bool refused;     /* it must not be sampled */
	bool restless;    /* it gets a CPU so often that an event of it would slow it */
	bool counted;     /* as such */
	uint32_t rests;   /* less often: so many turns long it is not sampled after one */
	int64_t rests_until_ns;
	int64_t turns, turns_ns; /* how often it got one, when it had used so much CPU time */
	uint32_t nstacks;        /* of its last samples; 0: it had none */
	uint32_t stack[CROWD_STACKS];
};

struct crowd_process {
	pid_t pid; /* 0: a free row */
	uint32_t threads, nthreads, round;
	int64_t cpu_ns;       /* of its clock; -1: not read */
	int64_t rest_ns;      /* of threads that have ended, and what is not known of those alive */
	int64_t start, stack; /* stack: another one after exec */
};

/* Whoever samples. */
struct crowd_user {
	void *of;
	/* What a thread that has a slot has used so far. */
	int64_t (*used_ns)(void *of, const struct crowd_thread *t);
	/* It has ended, all that is known of its CPU time is in it. */
	void (*ended)(void *of, struct crowd_thread *t);
	/* The process is another one of its number, or executes another program; or it has ended.
	 */
	void (*replaced)(void *of, pid_t pid, bool ended);
};

struct crowd {
	struct root proc;
	struct crowd_user user;
	struct pids pids;
	struct crowd_process *process; /* by row of pids */
	struct crowd_thread *thread;   /* from 1 to nthreads */
	uint32_t nthreads, spare_threads;
	pid_t pid[STACKS_PIDS_MAX];
	uint32_t npids, round;
	int64_t began_ns, now_ns, before_ns, tick_ns, boot_ns;
	bool late; /* what a process used before it was heard of does not count */
};

/* NULL: no memory, or no /proc. It goes with the process. */
struct crowd *crowd_make(const struct crowd_user *user, int64_t began_ns, bool late);
/* These are the job's processes from now on. Is there one that was not looked at yet? What it owes
 * is known from the second look on. */
bool crowd_hear(struct crowd *c, const pid_t *pids, uint32_t n);
/* One look at all of them. */
void crowd_look(struct crowd *c);
/* Read what a thread has used, also how much in user mode. False: it has ended. */
bool crowd_measure(struct crowd *c, struct crowd_thread *t);
/* Its user time for which no samples were put yet; below 0, for which too many were. */
int64_t crowd_owed_ns(const struct crowd_thread *t);

#endif
