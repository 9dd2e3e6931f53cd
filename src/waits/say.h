/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say.h - threads and their waits as text for people: equal ones together, the most first, and who
 * waits for whom in a circle.
 *
 * Names are as they came: whoever shows them escapes them.
 */
#ifndef SONDE_WAITS_SAY_H
#define SONDE_WAITS_SAY_H

#include "core/stacks/rollcall.h"
#include "waits/wait.h"

/* "pthread_mutex_lock < work (lock.c:12) < main (lock.c:40)": from the function of the C library
 * that was called, to where the program's own code begins. At most that many; 0: all. */
void say_stack(struct bytes *out, const struct wait_thread *t, uint32_t most);
/* Where each rank is: what its first thread does, or the one of its threads that this one waits
 * for. False: no memory. */
bool say_ranks(struct rollcall *out, const struct waits *w);
/* Lines: the roll call of ranks, groups of threads, then cycles. */
void say_waits(struct bytes *out, const struct waits *w);
/* The first cycle as one sentence without a full stop; nothing when there is none. */
void say_cycle(struct bytes *out, const struct waits *w);
/* In one line: the first cycle, else the roll call of ranks, else the largest groups, and whom they
 * wait for. */
void say_where(struct bytes *out, const struct waits *w);

#endif
