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

#include "base/random.h"
#include "source/program/stacks_events.h"
#include "unwind/profile.h"
#include "unwind/records.h"

struct touched;
struct gate;

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

/*
 * gate.c: when there are events of page faults at all.
 *
 * The kernel calls what there is of events at each fault, however few are sampled. A job that
 * touches memory again and again would pay more for that than for all samples, and its memory
 * consists of nothing new. So as long as it touches much, and its memory does not grow, the
 * recorder closes its events but those of starts and ends of tasks, and the helper opens its own in
 * windows, whose samples stand for the time between, too. As soon as memory grows, or a process
 * starts, they are open until the recorder has opened its own again.
 */

enum { GATE_PIDS_MAX = 32 };
enum gate_state { GATE_WHOLE, GATE_ASKED, GATE_WINDOWS, GATE_LEAVING };

/* {0} but for page, which is NULL for a gate without events. */
struct gate {
	struct stacks_page *page;
	struct stacks_rings own; /* events are open where it has any, */
	bool off;                /* and are none at all */
	bool never;              /* it does not pay, or cannot be done */
	enum gate_state state;
	pid_t pid[GATE_PIDS_MAX]; /* with samples */
	uint32_t npids;
	double scale; /* samples that one of a window stands for */
	uint64_t faults, faults_then, faults_at_most;
	uint64_t most, high; /* resident pages: when they had grown last, and at most lately */
	uint64_t unseen, unseen_least; /* pages that the next samples stand for, too; without any
					  sample, at least, while there were windows */
	bool is_blind;                 /* memory has grown while there were windows: */
	uint64_t blind, first; /* pages by which it has since the first look; and that, and 1 */
	uint32_t low_looks;
	int64_t changed_ns, due_ns;
	int64_t on_ns, owed_ns; /* on: since `then`; owed: time to be off */
	int64_t cost_ns;        /* of opening and closing all */
	struct random random;
};

void gate_init(struct gate *g, struct stacks_page *page);
/* A sample of so many faults: pages that it stands for besides. fresh: of a process that has others
 * none so far. */
uint64_t gate_sample(struct gate *g, pid_t pid, uint64_t faults, bool fresh, int64_t now_ns);
/* A process that starts, or executes another program. */
void gate_started(struct gate *g, pid_t pid, int64_t now_ns);
/* What the job's processes have resident, in pages; and, of windows, how much of it no sample is
 * of.
 */
void gate_look(struct gate *g, uint64_t resident, uint64_t unseen, int64_t now_ns);
int64_t gate_due_ns(const struct gate *g); /* INT64_MAX: never */
void gate_step(struct gate *g, int64_t now_ns);

#endif
