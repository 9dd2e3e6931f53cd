/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.h - every signal that a process can take, those that the C library keeps for itself
 * included: its own functions leave them out of each set and mask.
 *
 * The launcher takes them in the command's place and hands them on.
 */
#ifndef SONDE_JOB_SIGNALS_H
#define SONDE_JOB_SIGNALS_H

#include <signal.h>
#include <sys/types.h>

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
