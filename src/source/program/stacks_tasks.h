/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks_tasks.h - the job's tasks that events are opened on, which all they start inherits; and
 * why that is refused.
 */
#ifndef SONDE_SOURCE_PROGRAM_STACKS_TASKS_H
#define SONDE_SOURCE_PROGRAM_STACKS_TASKS_H

#include "source/program/stacks_events.h"
#include "source/source.h"

struct stacks_new {
	const pid_t *pids;
	size_t n;
	bool running; /* none of them is a launcher, whatever the environment says */
};

/* Every thread of these processes and of what they have started, or a launcher. 0, or -errno with a
 * sentence where none could be added; those that were refused are added to *missed. */
int stacks_tasks_add(struct stacks_rings *r, const struct source_env *env, struct stacks_new these,
		     int64_t *missed, struct err *e);
/* A refusal of perf events in words, with what helps against it; other errors stay as they are. */
int stacks_explain(const struct source_env *env, int bad, struct err *e);

#endif
