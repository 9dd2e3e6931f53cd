/* SPDX-License-Identifier: Apache-2.0 */
/*
 * members.h - which processes of this node are the batch job's, of all its steps, and which came
 * since.
 *
 * Told by the first of these that is there: the control group that the scheduler made for the job;
 * descent from its slurmstepd; a variable of the batch system in the process's environment; else
 * every process of this user (and that is said). Sonde's own are never among them.
 * A process is judged soon after its pid was given out, and once more at the next look; nothing is
 * allocated by members_next.
 */
#ifndef SONDE_SAMPLER_TREE_MEMBERS_H
#define SONDE_SAMPLER_TREE_MEMBERS_H

#include "base/err.h"
#include "base/root.h"
#include "job/scheduler/scheduler.h"
#include "source/procfile.h"

enum members_by { MEMBERS_CGROUP, MEMBERS_STEPD, MEMBERS_VARIABLE, MEMBERS_USER };

enum { MEMBERS_PATH = 1024, MEMBERS_PENDING = 256, MEMBERS_WAITERS = 64, MEMBERS_AT_ONCE = 4096 };

struct members {
	const struct root *proc;
	enum members_by by;
	char mark[MEMBERS_PATH]; /* the group's path; "slurmstepd: [4."; "PBS_JOBID=0.phead" */
	char node[HOSTLIST_NAME +
		  32];    /* "SLURMD_NODENAME=n2" where others are on this host; else "" */
	char element[96]; /* "SGE_TASK_ID=3" where all of an array have one id; else "" */
	char how[MEMBERS_PATH + 128]; /* the same in words */
	uid_t user;
	pid_t self, last_pid;           /* last_pid 0: all are to be judged */
	uint64_t exe_dev, exe_ino;      /* of this program */
	pid_t pending[MEMBERS_PENDING]; /* not the job's so far: exec may make it so */
	size_t npending;
	pid_t waiter[MEMBERS_WAITERS]; /* members that only wait for others, perhaps for Sonde */
	size_t nwaiters;
};

/* id: of the job that is meant, NULL: this process's. proc is borrowed. 0, or -errno with a
 * sentence: -ESRCH when no process of that job is here. */
int members_open(struct members *m, const struct root *proc, const struct batch_job *job,
		 const char *id, struct err *e);

/* The members among those whose pids were given out since the last time, at first of all; at most
 * cap. Some may be known, and some be descendants of others. */
size_t members_next(struct members *m, pid_t *out, size_t cap);

/* Is it Sonde's: the program itself or its helper? */
bool members_is_own(const struct members *m, pid_t pid);
/* Is it on this node? Of simulated clusters, several nodes are on one host. */
bool members_is_here(const struct members *m, pid_t pid);
/* Of all processes, as they are now, at most cap: its children; members of this name. */
size_t members_named(const struct members *m, const char *comm, pid_t *out, size_t cap);
size_t members_children(const struct members *m, pid_t pid, pid_t *out, size_t cap);
/* Does it only wait: the batch script, srun, what Sonde was started by? */
bool members_waits(const struct members *m, pid_t pid);

/*
 * What the files of members share; nobody else includes it.
 *
 * members.c: judging processes. members_find.c: by what the job's processes are told.
 */

bool members_stat(const struct members *m, pid_t pid, struct proc_stat *st);
#endif
