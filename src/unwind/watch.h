/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - the wall time of the job's threads: on a CPU, ready while others had it, and waiting,
 * by what was waited for.
 *
 * The first two are the kernel's counts; the rest of the time between two looks is waiting. A look
 * finds where a thread is blocked that ran since the look before, once for each wait: as long as it
 * does not run it stays there. Time of waits that ended before a look is given to where the next
 * look finds the thread. So the parts of a thread's time add up to it, whatever a look missed.
 *
 * Looks take at most a share of a core: the more there is to look at, the rarer they are.
 */
#ifndef SONDE_UNWIND_WATCH_H
#define SONDE_UNWIND_WATCH_H

#include "unwind/watch_place.h"

enum { WATCH_PROCESSES_MAX = STACKS_PIDS_MAX, WATCH_THREADS_MAX = 65536 };

struct watch;

/* NULL: no memory, or no /proc. */
struct watch *watch_make(struct stacks_page *page, struct spaces *spaces, struct rows *rows,
			 struct profile *profile);
/* These processes are the job's from now on; the page's list is copied. */
void watch_hear(struct watch *w);
/* When the next look is due, by the monotonic clock. */
int64_t watch_due_ns(const struct watch *w);
void watch_look(struct watch *w);
/* Put all that is known of the time up to the last look into the profile. all: also of processes
 * that rest, which is otherwise put less often. */
void watch_flush(struct watch *w, bool all);

#endif
