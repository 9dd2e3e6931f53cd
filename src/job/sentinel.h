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

#endif
