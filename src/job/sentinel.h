/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentinel.h - tells a signal that was sent to the whole process group from one for the launcher
 * alone.
 *
 * The kernel does not say. So one more member of the group does nothing but take signals and tell
 * which: what it got, the command got, too, and must not be sent twice. timeout(1) and schedulers
 * signal groups or every process; a person's kill signals one. It ends with the launcher.
 */
#ifndef SONDE_JOB_SENTINEL_H
#define SONDE_JOB_SENTINEL_H

#include "base/process.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct sentinel {
	int fd;    /* -1: none; then every signal is taken as sent to the launcher alone */
	int its;   /* the other end, until it is made */
	pid_t pid; /* 0: none */
	int64_t group_ns[65]; /* when each signal last came for the group */
};

/* Forked twice, so that it is nobody's child. Must come before the launcher becomes a sub-reaper.
 */
void sentinel_start(struct sentinel *s);
/* The same beside another process: what is to be made, and then, that it was tried. False: none can
 * be. */
bool sentinel_plan(struct sentinel *s, struct orphan *o);
void sentinel_take(struct sentinel *s, const struct orphan *o);
/* Was this signal, that has just arrived here, for the whole group, and sent since the command is a
 * member of it? Waits a moment for the answer. */
bool sentinel_got(struct sentinel *s, int signal, int64_t since_ns);

/* Every signal that a process can take, those that the C library keeps for itself
 * included: its own functions leave them out of each set and mask.
 *
 * The launcher takes them in the command's place and hands them on. */
enum { SIGNALS = 64 }; /* numbered from 1 */

void signals_all(sigset_t *set);
void signals_one(sigset_t *set, int signal);
/* As sigprocmask(2), of any signal. 0, or -1 with errno. */
int signals_mask(int how, const sigset_t *set, sigset_t *old);
/* Give it its default action, also where the C library keeps it for its threads. 0, or -1 with
 * errno. */
int signals_default(int signal);
/* Send it on as it came: with its value, where the kernel lets it be sent so. */
void signals_send(pid_t pid, siginfo_t *info);

/*
 * How long the launcher waits for a recorder at the job's end: for as long as it
 * works, and not for one that is stopped or hangs.
 *
 * Work is CPU time, or waiting for a CPU. What it writes may take a while to reach the disk. Who
 * may sleep, as a recorder that waits for other tasks, is waited for until the deadline.
 */
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
