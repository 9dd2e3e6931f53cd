/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owners.h - memory by the function that it was first touched for: the innermost one of a stack
 * that is the program's own. So what memset or a reader of NumPy touches is its caller's.
 *
 * In bytes: at moments at which resident memory was looked at, one for each node, and in all.
 */
#ifndef SONDE_CORE_STACKS_OWNERS_H
#define SONDE_CORE_STACKS_OWNERS_H

#include "core/stacks/stacks.h"

enum { OWNERS_PEAK, OWNERS_FIRST, OWNERS_MOMENTS = 6 }; /* the peak; then the least of each fifth */

struct owner {
	const struct stacks_function *function;
	const char *file; /* the line that most of it at the peak was touched from; or NULL */
	uint32_t line;
	double resident[OWNERS_MOMENTS];
	double touched; /* in all */
};

struct owners {
	struct owner *row; /* most at the peak first; then by what was touched */
	uint32_t n;
	double resident[OWNERS_MOMENTS],
		unseen[OWNERS_MOMENTS]; /* unseen: of that, without samples */
	double touched;
	int64_t *at_ns[OWNERS_MOMENTS];  /* by node; 0: it has none */
	double moment_s[OWNERS_MOMENTS]; /* since the run began, of the node with the most */
};

static inline double owner_growth(const double *resident)
{
	return resident[OWNERS_MOMENTS - 1] - resident[OWNERS_FIRST];
}

/* s: of the run, whatever was selected. 0 or -errno with a sentence; free it in either case. */
int owners_make(struct owners *o, const struct stacks *s, struct err *e);
void owners_free(struct owners *o);

#endif
