/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim.h - a job is recorded once into a directory on a node: who records all of it, beside it,
 * claims that, so that others that would count the same processes see it.
 *
 * A claim is a socket as of an election (job/election.h): it goes with the process.
 */
#ifndef SONDE_JOB_CLAIM_H
#define SONDE_JOB_CLAIM_H

#include "job/scheduler/scheduler.h"

#include <sys/types.h>

/* id: of the job, NULL: job's own. 0, and *fd holds the claim, or is 0 where
 * nobody can be met; or the pid of who holds it. */
pid_t claim_take(const struct batch_job *job, const char *id, const char *directory, int *fd);
/* The pid of who holds it; 0: nobody does. */
pid_t claim_holder(const struct batch_job *job, const char *directory);

#endif
