/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase_total.h - phases of one name added up: all of them, by key, by node, by both.
 *
 * Where phases overlap, their durations add up to more than the time there was; covered_s is that.
 * What did not end counts in `unfinished` and in the starts.
 */
#ifndef SONDE_CORE_PHASE_PHASE_TOTAL_H
#define SONDE_CORE_PHASE_PHASE_TOTAL_H

#include "core/phase/phase.h"

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
