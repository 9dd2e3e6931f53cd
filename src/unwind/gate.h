/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - when there are events of page faults at all.
 *
 * The kernel calls what there is of events at each fault, however few are sampled. A job that
 * touches memory again and again would pay more for that than for all samples, and its memory
 * consists of nothing new. So as long as it touches much, and its memory does not grow, the
 * recorder closes its events but those of starts and ends of tasks, and the helper opens its own in
 * windows, whose samples stand for the time between, too. As soon as memory grows, or a process
 * starts, they are open until the recorder has opened its own again.
 */
#ifndef SONDE_UNWIND_GATE_H
#define SONDE_UNWIND_GATE_H

#include "base/random.h"
#include "source/program/stacks_events.h"

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
