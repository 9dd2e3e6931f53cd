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
#include "source/procfile.h"
#include "source/program/connections.h"
#include "source/program/filelocks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The descriptors that a thread waits for in poll, select or epoll.
 *
 * Where its system call points to is read from /proc/PID/mem, which stops nobody; what an epoll
 * descriptor watches is in its fdinfo. Both need the rights that /proc/PID/syscall needs. The bytes
 * are hostile.
 */

enum { POLLED_MAX = 64 };

struct polled {
	int fd[POLLED_MAX]; /* in their order; more are passed over */
	size_t n;
	bool by_epoll;   /* an event loop's: it watches pipes and sockets of its own as well */
	int64_t wait_ms; /* at most, as that says; below 0: for ever, or by another call */
};

/* Of a system call with these arguments: 0, or -errno when it is none of them or is not readable.
 */
int polled_read(const struct root *proc, pid_t pid, long call, const uint64_t *arg,
		struct polled *out);

/* What is there in a process's memory: 0 or -errno. */
int waiting_memory(const struct root *proc, pid_t pid, uint64_t at, void *out, size_t size);

enum { WAITING_TEXT = 240, WAITING_THREADS = 16 /* of a process that are looked at */ };

struct waiting {
	enum stall kind; /* STALL_NONE: a thread of it runs, or wants to */
	bool is_named;   /* the text has what it waits for */
	bool passes;     /* it may be told otherwise later, though the process did not run */
	uint32_t takers; /* while one of its threads runs, or wants to, so many wait for one mutex;
			    0: less than two */
	char text[WAITING_TEXT]; /* "solver (pid 12, 16 threads) waits for a child" */
};

/* What looks share; {0}: nothing yet. Whoever looks at all processes again forgets the locks. */
struct waiting_known {
	struct connections connections;
	struct filelocks locks;
};

/* known: NULL: of no other look. stat: what its file says, or NULL: it is read. 0, or -errno when
 * it is gone. */
int waiting_look(const struct root *proc, struct waiting_known *known, pid_t pid,
		 const struct proc_stat *stat, struct waiting *out);

#endif
