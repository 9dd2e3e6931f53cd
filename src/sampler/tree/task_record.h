/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_record.h - what the recording has of a task, as an MPI rank: from when to when it ran, and
 * what it used.
 *
 * A task is an instance of its own, of domain "task", without series. While it runs, its CPU time
 * is written down whenever it has risen by a twentieth: what there is of a task that nobody tells
 * the end of. Its launcher's last word takes the place of that.
 */
#ifndef SONDE_SAMPLER_TREE_TASK_RECORD_H
#define SONDE_SAMPLER_TREE_TASK_RECORD_H

#include "core/sample.h"
#include "job/message.h"

struct task_record {
	int64_t rank; /* -1: not told */
	char step[MESSAGE_STEP];
	pid_t pid;         /* its command; 0: not known */
	bool goes_on;      /* an earlier recorder has its begin */
	uint32_t instance; /* 0: not begun, or there was no room for it */
	int64_t used_ns;   /* CPU time written down so far */
};

void task_record_begin(struct sample *s, struct task_record *t, int64_t at_ns);
/* m: its launcher's; of a command that has started the task begins, if it has not. */
void task_record_started(struct sample *s, struct task_record *t, const struct message *m);
/* cpu_ns: what the sample just taken has of it. */
void task_record_used(struct sample *s, struct task_record *t, int64_t cpu_ns);
/* m: its launcher's last word. */
void task_record_end(struct sample *s, struct task_record *t, const struct message *m);
/* Its launcher was killed, and says nothing any more. */
void task_record_lost(struct sample *s, struct task_record *t, int64_t cpu_ns, int64_t now_ns);

#endif
