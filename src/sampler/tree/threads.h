/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads.h - the threads of the job's processes as they were looked at last, by thread id.
 *
 * The kernel forgets a thread's counts when it ends: what was seen of it stays in its process's
 * sums, which never go back. Address space for `cap` rows is reserved once, memory is used as rows
 * are. Nothing is read here.
 */
#ifndef SONDE_SAMPLER_TREE_THREADS_H
#define SONDE_SAMPLER_TREE_THREADS_H

#include "sampler/tree/table.h"

struct tree;

enum { THREADS_CAP = 65536 };

struct thread {
	pid_t tid;
	uint32_t owner; /* row of its process */
	uint32_t bucket_next, next;
	uint32_t pass;  /* in which it was listed last */
	uint8_t state;  /* enum thread_state; THREAD_STATES: none yet, or ended */
	uint8_t placed; /* its entry in struct affinity; 0: none */
	int64_t use[USE_NUMBER_OF];
	int64_t looked_ns; /* 0: never */
};

struct threads {
	struct thread *row; /* row 0 is never used */
	uint32_t *bucket;
	uint32_t cap;
	uint32_t used, spare; /* spare: first of a chain through `next` */
	uint32_t pass;
	uint64_t refused; /* threads that found no room */
};

/* What one reading of a thread gave. use: -1, not known. */
struct thread_reading {
	int64_t use[USE_NUMBER_OF];
	enum thread_state state;
};

struct affinity;

/* A round looks at the threads of every process that ran since the last one, some of them in each
 * sample. */
struct looks {
	struct threads threads;
	struct affinity *affinity;
	bool open, complete;             /* complete: in this sample the last one was looked at */
	bool unsupported[USE_NUMBER_OF]; /* this kernel does not tell */
	uint64_t rounds;                 /* that began */
	int64_t began_ns, again_ns;      /* the round; when the next one may begin */
	int64_t budget_ns, paid_ns;      /* left; until when it was given */
	int64_t thread_ns;               /* what one took of late */
	uint32_t left;                   /* of live[], those below it have not had their turn */
	uint32_t process, thread;        /* whose turn it is; 0: nobody's */
	uint64_t looked, looked_before;  /* threads so far; when the round began */
	int said;                        /* how often what they may run on was said */
	int64_t departed[USE_NUMBER_OF]; /* of processes that are gone */
};

int looks_open(struct tree *t); /* 0 or -ENOMEM */
void looks_close(struct tree *t);
void looks_step(struct tree *t, bool last);
/* A process is gone. heir: who its counts go to, NULL when that is not seen. */
void looks_leave(struct tree *t, struct process *p, struct process *heir);

#endif
