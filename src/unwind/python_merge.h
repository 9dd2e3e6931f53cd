/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_merge.h - a native stack with Python's frames in the place of the calls of its
 * interpreter: "add < PyArray_Sum < total (model.py:12)".
 */
#ifndef SONDE_UNWIND_PYTHON_MERGE_H
#define SONDE_UNWIND_PYTHON_MERGE_H

#include "unwind/names.h"
#include "unwind/profile.h"
#include "unwind/python.h"

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

#endif
