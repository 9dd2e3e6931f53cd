/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object.h - what a thread that is blocked waits for, by its system call, and who could end that.
 *
 * Reads /proc and the process's memory: in a helper, since both may block.
 */
#ifndef SONDE_WAITS_OBJECT_H
#define SONDE_WAITS_OBJECT_H

#include "waits/ends.h"
#include "waits/wait.h"

/* As /proc/PID/task/TID/syscall tells. */
struct object_call {
	long number; /* -1: in no system call: it waits for a page */
	uint64_t arg[6], sp, pc;
};
/* False: "running", or it makes no sense. */
bool object_call_parse(struct object_call *c, const char *text);

/* A process and its parent. */
struct object_child {
	pid_t pid, parent;
	char process[WAIT_NAME];
};

struct object_world {
	const struct root *proc;
	const struct ends *ends;
	const struct object_child *child;
	uint32_t nchildren;
};

/* t: with its names, its kernel function, its state and its frames. */
void object_name(struct wait_thread *t, const struct object_call *c, char state,
		 const struct object_world *w);

#endif
