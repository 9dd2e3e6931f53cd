/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiting.h - what a process waits for, as /proc tells without stopping it: its threads' states,
 * system calls and the kernel functions they wait in, its open files, its connections.
 *
 * What is refused (a system call needs more rights than a state) makes the answer less precise,
 * never wrong: "sleeps" at the least. No file of the process is opened.
 */
#ifndef SONDE_SOURCE_PROGRAM_WAITING_H
#define SONDE_SOURCE_PROGRAM_WAITING_H

#include "base/root.h"
#include "core/stacks/waitkind.h"
#include "source/program/connections.h"

enum { WAITING_TEXT = 200, WAITING_THREADS = 16 /* of a process that are looked at */ };

struct waiting {
	enum stall kind;         /* STALL_NONE: a thread of it runs, or wants to */
	bool is_named;           /* the text has what it waits for */
	char text[WAITING_TEXT]; /* "solver (pid 12, 16 threads) waits for a child" */
};

/* known: of the looks before; NULL: none. 0, or -errno when it is gone. */
int waiting_look(const struct root *proc, struct connections *known, pid_t pid,
		 struct waiting *out);

#endif
