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
#include "job/secret/secret_list.h"

void words_join(const struct secret_list *l, struct bytes *out, char *const *argv);
/* The same, which allocates nothing where both are fixed; scratch is for one word. */
void words_join_with(const struct secret_list *l, struct bytes *out, struct bytes *scratch,
		     char *const *argv);

#endif
