/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attached_script.h - how the batch script was laid out, for a recorder that is a step beside it: a
 * step's own variables are of that step, and not what the job asked for.
 */
#ifndef SONDE_SESSION_ATTACHED_SCRIPT_H
#define SONDE_SESSION_ATTACHED_SCRIPT_H

#include "base/root.h"
#include "job/scheduler/scheduler.h"

/* Takes the number of tasks from the first of these processes that has the script's environment;
 * leaves the job as it is where it is known, or none has it. */
void attached_script_tasks(struct batch_job *job, const struct root *proc, const pid_t *pids,
			   size_t n);

#endif
