/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aside.h - leaving a step of Slurm that keeps the job's own steps from starting.
 *
 * Since Slurm 20.11 steps share no CPUs unless they are started with --overlap. This is the one
 * place where Sonde runs commands of a scheduler: `scontrol show step`, when an srun of the job is
 * some seconds old, to learn whether it waits; and `srun --overlap`, for a step of perfmon's own in
 * which it goes on. Slurm ends a step with the srun that started it, which runs in the step that is
 * left; so that srun and its shepherd are killed once the new step runs, and it lives on.
 */
#ifndef SONDE_PERFMON_ASIDE_H
#define SONDE_PERFMON_ASIDE_H

#include "base/err.h"
#include "base/text/asking.h"
#include "sampler/tree/members.h"

/* Set in the environment of the new step: the id of the one that was left. */
#define ASIDE_VARIABLE "SONDE_PERFMON_LEFT_STEP"

enum { ASIDE_WAITERS = 16 };

/* {0} with the first ones set. */
struct aside {
	const struct batch_job *job;
	const struct members *members;
	const bool *saw;             /* was a process of the job seen that does not only wait? */
	int64_t alone_ns;            /* from then on (clock_mono_ns) it is due if none was */
	bool decides;                /* this copy does, for those of all nodes */
	bool due, blocked;           /* blocked: an srun waits, and for no other step than this */
	struct asking asked;         /* scontrol */
	pid_t waiter[ASIDE_WAITERS]; /* the sruns that it is asked for */
	size_t nwaiters;
	int64_t begun_ns, next_ns; /* of looking for them */
};

/* Once a second: is it time to leave? Never waits. */
bool aside_is_due(void *aside);
/* What `scontrol -o show step` says of the sruns of a->waiter: does one of them wait, and is this
 * step the only one that it may wait for? */
bool aside_blocks(const struct aside *a, const char *steps);
/* The same command goes on in a step that overlaps all others, on all nodes of the job. 0 once its
 * copies record there, or -errno with a sentence. This one has to end then. */
int aside_continue(const struct aside *a, struct err *e);
/* A copy in the new step tells that it records. */
void aside_say_ready(void);
void aside_close(struct aside *a);

#endif
