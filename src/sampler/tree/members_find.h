/* SPDX-License-Identifier: Apache-2.0 */
/*
 * members_find.h - what the files of members share; nobody else includes it.
 *
 * members.c: judging processes. members_find.c: by what the job's processes are told.
 */
#ifndef SONDE_SAMPLER_TREE_MEMBERS_FIND_H
#define SONDE_SAMPLER_TREE_MEMBERS_FIND_H

#include "sampler/tree/members.h"
#include "source/procfile.h"

bool members_stat(const struct members *m, pid_t pid, struct proc_stat *st);
/* Is it in the group m->mark, or below? */
bool members_in_group(const struct members *m, pid_t pid);
/* Is "NAME=value" in its environment? */
bool members_has_variable(const struct members *m, pid_t pid, const char *variable);
/* Is it an ancestor of this process? */
bool members_is_above(const struct members *m, pid_t pid);

#endif
