/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler_say.h - the batch job as metadata job.NAME, and in a sentence. Secrets are masked.
 */
#ifndef SONDE_JOB_SCHEDULER_SCHEDULER_SAY_H
#define SONDE_JOB_SCHEDULER_SCHEDULER_SAY_H

#include "core/sample.h"
#include "job/scheduler/scheduler.h"
#include "job/secret/secret_list.h"

void batch_job_say(const struct batch_job *j, const struct secret_list *l, struct sample *s);
/* "job 4, step batch, node n1 (1 of 3)"; "no batch job: ..." outside of one. */
void batch_job_sentence(const struct batch_job *j, char *out, size_t size);

#endif
