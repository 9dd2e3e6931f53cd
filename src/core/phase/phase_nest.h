/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase_nest.h - how the phases of a node lie in each other: how deep, and which is the innermost
 * at a time.
 *
 * Innermost is the deepest of those that have begun and not ended; of equally deep ones the last
 * in order of phases.phase. {0} is empty and safe to free.
 */
#ifndef SONDE_CORE_PHASE_PHASE_NEST_H
#define SONDE_CORE_PHASE_PHASE_NEST_H

#include "core/phase/phase.h"

/* How deep each one lies, and whether it crosses: for phases_make. 0 or -ENOMEM. */
int phases_nest(struct phases *p, const struct run *r);

struct phase_inner {
	struct phase_step *step; /* a node's are side by side, in order of time */
	uint32_t *first, *n;     /* [nnodes] in step */
	uint32_t nnodes;
};

/* The phases are borrowed. 0 or -ENOMEM; free in either case. */
int phase_inner_make(struct phase_inner *x, const struct phases *p, const struct run *r);
void phase_inner_free(struct phase_inner *x);
/* NULL: none of the node's. */
const struct phase *phase_inner_at(const struct phase_inner *x, uint32_t node, double at_s);

/*
 * Phases of one name added up: all of them, by key, by node, by both.
 *
 * Where phases overlap, their durations add up to more than the time there was; covered_s is that.
 * What did not end counts in `unfinished` and in the starts.
 */
enum { PHASE_BY_KEY = 1, PHASE_BY_NODE = 2, PHASE_LEVELS = 4 };

struct phase_total {
	const char *name;
	const char *key; /* NULL: of all keys */
	uint32_t node;   /* 0: of all nodes */
	uint32_t n, unfinished;
	uint32_t nodes;                       /* that have any */
	double total_s, mean_s, min_s, max_s; /* of those that ended; NAN: none did */
	double times_s;                       /* from begin to end, added up */
	double uncertain_s;                   /* the most of one of them */
	double covered_s;                     /* on each node, at least one went on; added up */
	double first_begin_s, last_begin_s, last_end_s;
	double starts_apart_s;    /* from the first node's first start to the last node's; NAN: of
				     one node */
	double size_bytes;        /* NAN: none was said */
	double bytes_per_second;  /* of those whose size was said; NAN: of none */
	uint32_t first, nmembers; /* in phase_totals.member */
};

struct phase_totals {
	struct phase_total *total; /* by level, then by first begin */
	uint32_t n;
	uint32_t first[PHASE_LEVELS + 1]; /* total[first[level]..first[level + 1]) */
	const struct phase **member;      /* by node, then by begin */
};

/* Levels that say nothing new are left out: by key where there is none, by node where there is one.
 * The phases are borrowed. 0 or -ENOMEM. {0} is empty and safe to free. */
int phase_totals_make(struct phase_totals *t, const struct phases *p);
void phase_totals_free(struct phase_totals *t);

#endif
