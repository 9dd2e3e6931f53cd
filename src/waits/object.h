/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object.h - what a thread that is blocked waits for, by its system call, and who could end that.
 *
 * Reads /proc and the process's memory: in a helper, since both may block.
 */
#ifndef SONDE_WAITS_OBJECT_H
#define SONDE_WAITS_OBJECT_H

#include "base/root.h"
#include "waits/ends.h"
#include "waits/wait.h"

#include <limits.h>

/* As /proc/PID/task/TID/syscall tells. */
struct object_call {
	long number; /* -1: in no system call: it waits for a page; CALL_32: a program's of 32 bits
		      */
	uint64_t arg[6], sp, pc;
};
/* Numbers of 32-bit programs are others than those of 64 bits: both of their addresses are low. */
enum { CALL_32 = INT_MAX };
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
	bool lasting; /* only what is the same at each wait: how long a sleep is is not read */
};

/* What of the world naming it asks for: the files of all processes, all processes. */
enum { OBJECT_ENDS = 1, OBJECT_CHILDREN = 2 };
unsigned object_needs(const struct wait_thread *t, const struct object_call *c);
/* t: with its names, its kernel function, its state and its frames. */
void object_name(struct wait_thread *t, const struct object_call *c, char state,
		 const struct object_world *w);

/*
 * What kind of lock a thread waits for in futex(2), and who holds it.
 *
 * The functions that it is in tell the kind; the lock's own words tell the holder, as glibc lays
 * them out (2.25 and later). A holder counts only if there is such a thread.
 */

struct futex_call {
	uint64_t address;
	int op;
	uint32_t value;
	bool timed;
};

/* What the thread has of frames is used; kind, object, holders and closed are set. */
void futex_name(struct wait_thread *t, const struct futex_call *f, const struct root *proc);

/* What a function of a library waits for; WAIT_UNKNOWN: it says nothing. */
enum wait_kind futex_kind_of(const char *function);

#endif
