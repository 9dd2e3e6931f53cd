/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rounds.h - samples of a bounded number of threads at a time, the most deserving first, by events
 * that nothing inherits: a process start costs nothing then, however many CPUs there are.
 *
 * A turn of a thread lasts about a second. Its samples represent all user time that it used since
 * its last turn, each the same part, so that their sum is right whoever else had his turn. A thread
 * that has ended and never had a sample is counted, and its time is given to none.
 */
#ifndef SONDE_UNWIND_ROUNDS_H
#define SONDE_UNWIND_ROUNDS_H

#include "unwind/profile.h"
#include "unwind/records.h"

#include <poll.h>

struct rounds;

/* NULL: no memory, or no /proc. It goes with the process. */
struct rounds *rounds_make(struct stacks_page *page, struct spaces *spaces,
			   struct profile *profile);
/* The rings of all slots, of which `page` is NULL where there is none; *n of them. */
const struct record_ring *rounds_rings(const struct rounds *r, uint32_t *n);
/* Put what is to be waited for into wait[STACKS_SLOTS_MAX]; returns how many. Hand it back. */
uint32_t rounds_poll(const struct rounds *r, struct pollfd *wait);
void rounds_polled(struct rounds *r, const struct pollfd *wait);

/* These are the job's processes from now on; the page's list is copied. */
void rounds_hear(struct rounds *r);
/* When the next look is due, by the monotonic clock. */
int64_t rounds_due_ns(const struct rounds *r);
/* The rings were drained: end turns, begin others. */
void rounds_look(struct rounds *r);
/* No more comes: all that is owed is put. */
void rounds_finish(struct rounds *r);

/* A sample of the thread of that slot. */
void rounds_sample(struct rounds *r, uint32_t slot, const struct stack *stack);
/* What a sample of the kernel's work in that slot stands for, a few different ones; 0: it does not
 * count. */
int64_t rounds_period_ns(struct rounds *r, uint32_t slot);
/* The ring of that slot had no room for so many records. */
void rounds_lost(struct rounds *r, uint32_t slot, uint64_t n);
/* It executes another program; what was sampled is put first. */
void rounds_exec(struct rounds *r, uint32_t slot);

#endif
