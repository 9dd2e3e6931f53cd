/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_end.h - what a task used, for the recording, when it has ended: as its launcher tells.
 *
 * A task becomes an instance of its own, of domain "task", which has an end and no series.
 */
#ifndef SONDE_SAMPLER_TASK_END_H
#define SONDE_SAMPLER_TASK_END_H

#include "core/sample.h"
#include "job/message.h"

struct task_end {
	int64_t rank; /* -1: not told */
	char step[MESSAGE_STEP];
	int64_t started_ns; /* 0: not told */
};

/* m: its launcher's last word, or NULL when that was killed: then nothing is known but that. */
void task_end_say(struct sample *s, const struct task_end *t, const struct message *m,
		  int64_t now_ns);

#endif
