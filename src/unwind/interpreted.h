/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpreted.h - Python's functions and lines: in native stacks, and of threads that run.
 */
#ifndef SONDE_UNWIND_INTERPRETED_H
#define SONDE_UNWIND_INTERPRETED_H

#include "unwind/names.h"
#include "unwind/profile.h"
#include "unwind/python.h"

/*
 * A native stack with Python's frames in the place of the calls of its
 * interpreter: "add < PyArray_Sum < total (model.py:12)".
 */

/* Where a thread of Python was. */
struct line_look {
	pid_t tid; /* 0: no look */
	int64_t at_ns;
	struct python_stack frames;
};

struct python_merge {
	struct lookup lookup;
	struct python_codes *codes;
	struct stack stack;       /* merged */
	struct line_look look[2]; /* the latest two */
	uint32_t latest;
};

/* 0, or -ENOMEM. Never freed: it goes with the process. */
int python_merge_init(struct python_merge *m, const struct modules *modules);
/* m->stack, and how many calls of the loop it has. What the frames have too much is its outer part.
 */
uint32_t python_merge(struct python_merge *m, const struct python_stack *frames,
		      const struct stack *native);
/* Of a thread that runs on, which had this stack at that time: a look at once, or the one before if
 * that is nearer, of the same number of calls of the loop. m->stack, or the native one where none
 * fits. */
const struct stack *python_merge_running(struct python_merge *m, struct python *python, pid_t tid,
					 int64_t at_ns, const struct stack *native);

/*
 * CPU time by Python's functions and lines, of threads that run.
 *
 * A sample tells which thread used CPU time, and its native stack, which is the interpreter's. Such
 * a thread is looked at from outside (unwind/python.h), unstopped, and gives all CPU time that it
 * has used since its last look to where it is, if it was on a CPU during the look. Else it
 * keeps the time for a later one: where a thread waits is not where it uses CPU time, and one that
 * waits for a core may be where it was woken. It counts where the CPU was taken from it, as the
 * kernel's records of its switches tell; on a busy machine that is at system calls more often than
 * elsewhere.
 */

enum standing {
	STANDS_UNKNOWN, /* it has not been switched since the ring was made */
	STANDS_RUNNING,
	STANDS_TAKEN,   /* it waits for a core where it lost one */
	STANDS_BLOCKED, /* it waits, or it was woken where it did and waits for a core */
};

/* By the last record of a ring of switches, which has a page of records behind its own. */
enum standing interpreted_standing(const void *ring, size_t page);

struct interpreted;

struct interpreted *interpreted_make(struct spaces *s, struct profile *p); /* NULL: no memory */
/* A thread has used so much CPU time; the space's mappings are known. */
void interpreted_sample(struct interpreted *i, struct space *x, const struct sampled *s);
/* When a look is due; INT64_MAX: there is nothing to look at. */
int64_t interpreted_due_ns(const struct interpreted *i);
void interpreted_look(struct interpreted *i);
/* How long until the next look, by what was used since the last one. */
int64_t interpreted_gap_ns(int64_t before_ns, int64_t cpu_ns, int64_t passed_ns);

#endif
