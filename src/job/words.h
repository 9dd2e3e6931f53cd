/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.h - a command line as one text for the recording, without its secrets.
 *
 * Words are quoted for a POSIX shell. What follows a flag or variable that is named like a secret
 * (password, token, key, ...) is masked: --token=***, PASSWORD=***, --api-key ***.
 */
#ifndef SONDE_JOB_WORDS_H
#define SONDE_JOB_WORDS_H

#include "base/bytes.h"
#include "core/sample.h"
#include "job/secret/secret_list.h"

void words_join(const struct secret_list *l, struct bytes *out, char *const *argv);
/* The same, which allocates nothing where both are fixed; scratch is for one word. */
void words_join_with(const struct secret_list *l, struct bytes *out, struct bytes *scratch,
		     char *const *argv);

/* The job's environment as metadata job.environment.NAME, without its secrets.
 *
 * A variable named like a secret is there with its value masked; in the others what looks like a
 * secret is (job/secret/secret.h). What only a terminal needs is left out. Long values are cut, and
 * what is beyond the limits is counted as job.environment_left_out. */
enum { ENVIRONMENT_VARIABLES = 512, ENVIRONMENT_VALUE = 1024, ENVIRONMENT_BYTES = 32 * 1024 };

void environment_say(struct sample *s, const struct secret_list *l, char *const *environment);

#endif
