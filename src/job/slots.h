/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots.h - lists that name a node once for each slot, or with their number: files and variables of
 * PBS, OAR, LSF and Grid Engine.
 *
 * The text is hostile. Nodes are in the order in which they are named first.
 */
#ifndef SONDE_JOB_SLOTS_H
#define SONDE_JOB_SLOTS_H

#include "job/scheduler/scheduler.h"

struct slot {
	const char *name;
	size_t len;
	int64_t n;
};

/* Take one from *p on. False at the end, or at what is none. */
typedef bool (*slot_next)(const char **p, struct slot *out);
bool slot_word(const char **p, struct slot *out); /* "a a b": one each */
bool slot_pair(const char **p, struct slot *out); /* "a 2 b 1" */
bool slot_row(const char **p, struct slot *out);  /* "a 2 rest of the line\nb 1 ..." */

/* Where they are: variables of one form, each with the text or the path of a file. */
struct slots_source {
	const char *variable[4];
	bool are_files;
	slot_next next;
};

struct slots {
	int64_t here, all; /* -1: not known */
};

/* The first that is set and can be read gives the job's nodes, this node's place and its slots. */
struct slots slots_read(struct batch_job *j, const struct slots_source *from,
			char *const *environment, const char *host);

#endif
