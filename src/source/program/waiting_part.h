/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiting_part.h - a thread that waits, while it is looked at: by its system call (waiting.c), and
 * what it polls (polled.c). Private to these.
 */
#ifndef SONDE_SOURCE_PROGRAM_WAITING_PART_H
#define SONDE_SOURCE_PROGRAM_WAITING_PART_H

#include "source/program/waiting.h"

enum { THREAD_TARGET = 160 };

struct thread {
	const struct root *proc;
	struct connections *known; /* or NULL */
	struct filelocks *locks;
	pid_t pid;
	char dir[48]; /* "12/task/13", or "12" of the only one */
	char state;
	long call; /* -1: not told */
	uint64_t arg[6];
	char function[48];          /* of the kernel; "": not told */
	char target[THREAD_TARGET]; /* what it waits for, for people */
	bool passes;                /* as struct waiting has it */
};

/* What descriptor fd is: "socket:[123]", "pipe:[9]", a path. False: it is not told. */
bool thread_file(const struct thread *t, uint64_t fd, char *out, size_t size);
/* What a thread in poll, select or epoll waits for; sets its target, and whether that passes. */
enum stall thread_polls(struct thread *t);

#endif
