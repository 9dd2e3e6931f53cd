/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory.h - the directory a recording goes into: made with its parents, joined, or refused.
 *
 * A job may add nodes, steps and restarts to its own directory; a directory with the recording of
 * another job is refused unless forced. Nothing in it is ever overwritten.
 */
#ifndef SONDE_SAMPLER_TREE_DIRECTORY_H
#define SONDE_SAMPLER_TREE_DIRECTORY_H

#include "base/err.h"
#include "job/identity.h"

#include <stdbool.h>

struct directory_wish {
	const char *path;
	const struct identity *who;
	bool force; /* though it holds another job's recording */
	/* What a sentence tells to do: "name another with -o"; and where another job's is in the
	 * way, besides: ", or add --force", NULL: nothing. */
	const char *elsewhere, *anyway;
	const char *instead; /* taken where another job has path; or NULL */
};

/* An open directory, or -errno: -EEXIST when it is another job's, or this is neither a batch job
 * nor of the launch there; when several jobs begin at once, for all but one. *made: it was not
 * there. One recording there is looked into: nodes begin at the same time, and there may be
 * thousands. */
int directory_open(const struct directory_wish *w, bool *made, struct err *e);
/* The same; where another job has it, w->instead: then moved is set, said tells, and w->path is it.
 */
int directory_open_beside(struct directory_wish *w, bool *made, bool *moved, struct err *said,
			  struct err *e);
/* This recording stands in it, or never will: who comes now sees whether it is taken. */
void directory_settled(int fd, const struct identity *who);

#endif
