/* SPDX-License-Identifier: Apache-2.0 */
/*
 * within.h - what was sampled of code and waits of one node within intervals of time, by group of
 * these.
 *
 * Of a set of samples, an interval gets the part of the set's time that lies in it. {0} is empty
 * and safe to free.
 */
#ifndef SONDE_CORE_STACKS_WITHIN_H
#define SONDE_CORE_STACKS_WITHIN_H

#include "core/stacks/waiting.h"

/* In order of time, none within another. */
struct within_interval {
	double from_s, to_s;
	uint32_t group;
};

/* Of CPU time: of a function itself (SAMPLE_PYTHON: of Python's, CPU time again). Of waits: what
 * kind of wait in which function of the program; 0: not known. */
struct within_cell {
	enum sample_kind kind;
	uint32_t function; /* of the stacks or of the waits' */
	enum waiting_part part;
	uint32_t group;
	double seconds;
};

struct within {
	struct within_cell *cell; /* by kind, function and part, then by group */
	uint32_t n;
	double set_s; /* time of a set of samples, on average; less than this cannot be told apart
		       */
};

struct within_wish {
	uint32_t node, n;
	const struct within_interval *interval; /* [n] */
};

/* s or w NULL: without CPU time, without waits. 0 or -errno with a sentence. Not between
 * next_ranges and values of the run. */
int within_make(struct within *x, const struct stacks *s, const struct waiting *w,
		const struct within_wish *wish, struct err *e);
void within_free(struct within *x);

#endif
