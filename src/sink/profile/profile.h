/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - a format of profiles: one const struct in its own file, one line in profiles.def.
 *
 * It gets the stacks of a run (core/stacks/stacks.h) by process name, and makes no self and no
 * total. It escapes every text for its own format.
 */
#ifndef SONDE_SINK_PROFILE_PROFILE_H
#define SONDE_SINK_PROFILE_PROFILE_H

#include "core/stacks/stacks.h"

#include <stdio.h>

/* What was sampled: of each command, each stack once. */
struct profile_data {
	struct stacks *stacks;
	struct stacks_fold tree;    /* all of it */
	struct stacks_cells nodes;  /* by command: place is a node of the tree */
	struct stacks_cells places; /* by command: place is a node of run.stacks */
};
/* 0 or -errno with a sentence; free in either case. */
int profile_data_make(struct profile_data *d, struct stacks *s, struct err *e);
void profile_data_free(struct profile_data *d);

/* The functions of a node of the tree, the outermost first: at most PROFILE_DEEP of them, the last
 * of which is PROFILE_CUT where there were more. */
enum { PROFILE_DEEP = 1000 };
#define PROFILE_CUT UINT32_MAX
uint32_t profile_path(const struct profile_data *d, uint32_t node, uint32_t path[PROFILE_DEEP]);

/* The whole name of a function, for a tree; of time that was waited, what was waited for in words.
 */
const char *profile_name(const struct stacks_function *f);

struct profile {
	const char *name;
	const char *file; /* what it writes is called */
	/* 0 or -errno with a sentence, which names no file. */
	int (*write)(const struct profile_data *d, FILE *out, struct err *e);
};

extern const struct profile *const profiles[];
extern const size_t nprofiles;

#endif
