/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot.h - the one place of the program's own code that most of the time was spent in or for, with
 * what it calls there and who calls it.
 *
 * Time belongs to the innermost function of a stack that is the program's own: what qsort or a
 * module of Python uses is its caller's. Of a stack without such a function it is the innermost.
 */
#ifndef SONDE_CORE_STACKS_HOT_H
#define SONDE_CORE_STACKS_HOT_H

#include "core/stacks/stacks.h"

struct hot_place {
	const struct stacks_function *function; /* NULL: none */
	const char *file;                       /* NULL: not known */
	uint32_t line;
	double seconds;
};

struct hot {
	struct hot_place place; /* its line: the one with most of its time */
	double line_s;          /* of place.seconds, at that line alone */
	bool own;               /* it is the program's own */
	struct hot_place
		calls; /* what it calls, where that has most of its time; seconds 0: nothing */
	struct hot_place by; /* own code that calls it, where most of its time comes from there */
};

/* The function that each of run.stacks belongs to; 0: nothing of it was selected. The caller frees
 * it. 0 or -ENOMEM. */
int hot_owners(uint32_t **owner, const struct stacks *s);
/* 0 or -ENOMEM; without samples nothing is found. */
int hot_make(struct hot *h, const struct stacks *s);
/* The same of the samples that count for one of these classes; all_s: the time of all those. */
int hot_make_of(struct hot *h, double *all_s, const struct stacks *s, const uint32_t *classes,
		size_t n);

/* Where the tree of calls branches: the function that calls others, none of which has most of the
 * time, and the heaviest of these. n 0: it does not, or in nothing that is one program. */
enum { HOT_PARTS = 3 };
struct hot_branch {
	struct hot_place from, part[HOT_PARTS]; /* most first; seconds: with what they call */
	uint32_t n;
	double seconds; /* of these parts */
};
void hot_branch_find(struct hot_branch *b, const struct stacks *s);

/* Without samples of one class: the program's own functions by the rest, as hot_make() divides it.
 */
struct hot_rest {
	struct hot_place part[HOT_PARTS];  /* most first */
	struct hot_place calls[HOT_PARTS]; /* as of struct hot */
	uint32_t n;
	double seconds; /* of all of the rest */
};
int hot_rest_find(struct hot_rest *r, const struct stacks *s, uint32_t without);

/* Of the time in Python's interpreter, what C functions its loop calls: the one with most of it,
 * with what that calls; function NULL: none with a name has half of it. Before that, one function
 * of a library that has nearly all samples, whoever called it. */
int hot_python_calls(struct hot_place *out, const struct stacks *s);

/* What stacks give away: one of these functions in or below the place (of Python's interpreter,
 * below its innermost loop), and further out one of those above. Both are globs, separated by
 * commas: NAME, NAME@FILE or NAME!, as src/report/judging/slowness.def explains; above "": any. */
struct hot_pattern {
	const char *functions, *above;
};
enum { HOT_PATTERNS = 192 };
struct hot_match {
	double seconds;
	struct hot_place function; /* the outermost that matched, of those the one with most */
};
/* match [n], n up to HOT_PATTERNS; place NULL: of all samples. 0 or -ENOMEM. */
int hot_match(struct hot_match *match, const struct stacks *s, const struct hot *place,
	      const struct hot_pattern *pattern, size_t n);
/* Whether a function is of such globs, by its short name and the path of its file. */
bool hot_is_of(const char *globs, const char *name, const char *path, bool innermost);

#endif
