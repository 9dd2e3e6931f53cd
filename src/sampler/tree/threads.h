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

int threads_init(struct threads *t); /* 0 or -ENOMEM */
void threads_free(struct threads *t);

/* Make anew which threads a process has: begin, each by its id, end. What was not listed has ended.
 * The owners' rows are those of `processes`: an id that moved to another process leaves the first.
 */
void threads_list_begin(struct threads *t);
void threads_list(struct threads *t, struct table *processes, struct process *p, pid_t tid);
void threads_list_end(struct threads *t, struct process *p);
void threads_forget(struct threads *t, struct process *p); /* all of its rows */

/* Add to the process's sums what the thread has done since it was looked at last. */
void threads_note(struct thread *row, struct process *p, const struct thread_reading *r);
/* It was gone when it was looked at. */
void threads_ended(struct thread *row, struct process *p);

#endif
