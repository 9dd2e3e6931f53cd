/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - ending a child process that may hang in the kernel.
 *
 * Nobody is ever waited for long: who does not end within 20 ms is left behind and goes when the
 * kernel lets it go.
 */
#ifndef SONDE_BASE_PROCESS_H
#define SONDE_BASE_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* Kill and reap it. Does nothing for a pid that is no child, or was reaped. False: it was left
 * behind. */
bool child_end(pid_t pid);

/*
 * Letting go of what was inherited: a process of our own that lives beside the job
 * must not hold the job's pipes and locks.
 */
/* Close every descriptor from `first` on, but `keep`. */
void descriptors_close(int first, int keep);
/* Below `end` there is nothing to read from then on, and what is written goes nowhere. */
void descriptors_null(int end);
/* The same below standard error; and close what else was inherited: all that would stay open when
 * something is executed, as no file of Sonde's own does, but `keep`; -1: all. */
void descriptors_let_go(int keep);

/*
 * Forks a process that is nobody's child here, so that it is never among the children
 * that the launcher waits for and adds up.
 */
/* 0 in the new process, its pid in the caller, or -errno. Not for programs with threads. */
int orphan_fork(void);

#endif
