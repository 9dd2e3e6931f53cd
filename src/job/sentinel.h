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

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct sentinel {
	int fd;    /* -1: none; then every signal is taken as sent to the launcher alone */
	pid_t pid; /* 0: none */
	int64_t group_ns[65]; /* when each signal last came for the group */
};

/* Forked twice, so that it is nobody's child. Must come before the launcher becomes a sub-reaper.
 */
void sentinel_start(struct sentinel *s);
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

#endif
