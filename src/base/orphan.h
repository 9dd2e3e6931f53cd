/* SPDX-License-Identifier: Apache-2.0 */
/*
 * orphan.h - forks a process that is nobody's child here, so that it is never among the children
 * that the launcher waits for and adds up.
 */
#ifndef SONDE_BASE_ORPHAN_H
#define SONDE_BASE_ORPHAN_H

/* 0 in the new process, its pid in the caller, or -errno. Not for programs with threads. */
int orphan_fork(void);

#endif
