/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patience.h - how long the launcher waits for a recorder at the job's end: for as long as it
 * works, and not for one that is stopped or hangs.
 *
 * Work is CPU time, or waiting for a CPU. What it writes may take a while to reach the disk. Who
 * may sleep, as a recorder that waits for other tasks, is waited for until the deadline.
 */
#ifndef SONDE_JOB_PATIENCE_H
#define SONDE_JOB_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct patience {
	pid_t pid; /* 0: not known, and taken to sleep */
	bool may_sleep;
	int64_t deadline_ns, cpu_ns, moved_ns;
};

struct patience patience_begin(pid_t pid, bool may_sleep, int most_ms);
/* How long to wait before asking again; 0: long enough. */
int patience_left_ms(struct patience *p);

/* What the launcher may want to know of a process: what it does just now.
 *
 * No file stays open; a process that is gone is {0}. */
struct glance {
	char state;  /* proc_pid_stat(5): R, S, D, ...; 0: it cannot be told */
	bool ending; /* it is within exit(2), or has ended and nobody has waited for it */
	int64_t cpu_ns;
};

struct glance glance_at(pid_t pid);

/* Of a child that has ended and that nobody has waited for: how it was with its own children. */
enum glance_children {
	CHILDREN_WAITED,       /* for one of them at least, or it cannot be told */
	CHILDREN_UNKNOWN,      /* it was given nothing of any: it had none, or waited for none */
	CHILDREN_IGNORED,      /* it ignored SIGCHLD, and was given nothing */
	CHILDREN_IGNORED_LAST, /* it ignored SIGCHLD at its end, and had waited for some before */
};
enum glance_children glance_children(pid_t pid);
/* The most memory that this process held since its exec (VmHWM), in bytes; 0: not known. */
int64_t glance_own_high_water(void);

/* Is it so of a child of the calling thread? Of more than some 500 children the first are asked. */
bool glance_any_child(bool (*is_so)(void *ctx, pid_t pid), void *ctx);

#endif
