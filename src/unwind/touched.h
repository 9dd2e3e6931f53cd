/* SPDX-License-Identifier: Apache-2.0 */
/*
 * touched.h - which code touched memory first, by samples of page faults; and what of it is still
 * resident, by looks at the pages that were sampled.
 *
 * A sampled fault represents a number of faults, each of one page, or of a huge one. A page that
 * was given back and is used again looks as if it had stayed. So a page has to be seen many times
 * before it counts in full; what others have is bounded by what the process has. Nothing is known
 * of memory without a fault that was sampled: it is counted as such.
 */
#ifndef SONDE_UNWIND_TOUCHED_H
#define SONDE_UNWIND_TOUCHED_H

#include "unwind/gate.h"
#include "unwind/profile.h"
#include "unwind/records.h"

struct touched;

/* NULL: no memory. It goes with the process. */
struct touched *touched_make(struct stacks_page *page, struct spaces *spaces,
			     struct profile *profile, struct gate *gate);
/* A page fault, before which so many samples were lost. */
void touched_sample(struct touched *t, const struct record_sample *sample, uint32_t missed,
		    const struct stack *stack);
/* The process executes another program: it has none of its memory. */
void touched_exec(struct touched *t, pid_t pid);
/* Do samples have to be taken at once? Of Python they say which line it was only while the thread
 * is still there. */
bool touched_is_urgent(const struct touched *t);
/* When the next look is due, by the monotonic clock. */
int64_t touched_due_ns(const struct touched *t);
void touched_look(struct touched *t);
/* No more comes. */
void touched_finish(struct touched *t);

#endif
