/* SPDX-License-Identifier: Apache-2.0 */
/*
 * varied.h - what was chosen for trials, as facts: the variables and arguments they get, and the
 * git working tree that their script is from.
 *
 * env.NAME, script.arguments, script.git_commit, script.git_branch, script.git_dirty and, of a
 * dirty one, script.git_diff, a digest of what differs. Secrets are masked as in recordings; a long
 * text is cut and ends with its digest, so that two that differ stay two.
 */
#ifndef SONDE_TRIAL_VARIED_H
#define SONDE_TRIAL_VARIED_H

#include "job/secret/secret_list.h"
#include "trial/evidence.h"

/* "NAME=VALUE" each; of a name given twice the last counts. */
void varied_environment(struct bench_facts *f, const struct secret_list *l,
			const struct option_list *environment);
/* Of the words of a command, without its script, which is one of them or the first. */
void varied_arguments(struct bench_facts *f, const struct secret_list *l, char *const *argv,
		      const char *script);
/* Of the first of these files or directories that is in a working tree; NULL: none. The
 * repository's hooks and monitors are not run. */
void varied_tree(struct bench_facts *f, const char *script, const char *otherwise);

#endif
