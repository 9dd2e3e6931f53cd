/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment.h - the job's environment as metadata job.environment.NAME, without its secrets.
 *
 * A variable named like a secret is there with its value masked; in the others what looks like a
 * secret is (job/secret/secret.h). What only a terminal needs is left out. Long values are cut, and
 * what is beyond the limits is counted as job.environment_left_out.
 */
#ifndef SONDE_JOB_ENVIRONMENT_H
#define SONDE_JOB_ENVIRONMENT_H

#include "core/sample.h"
#include "job/secret/secret_list.h"

enum { ENVIRONMENT_VARIABLES = 512, ENVIRONMENT_VALUE = 1024, ENVIRONMENT_BYTES = 32 * 1024 };

void environment_say(struct sample *s, const struct secret_list *l, char *const *environment);

#endif
