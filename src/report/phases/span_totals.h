/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span_totals.h - what a run's spans took in all, by kind of track and name; their tracks'
 * counters; how long each node was recorded.
 *
 * The kind of a track is its label "kind", else the domain of the instance. Texts are the run's,
 * hostile.
 */
#ifndef SONDE_REPORT_PHASES_SPAN_TOTALS_H
#define SONDE_REPORT_PHASES_SPAN_TOTALS_H

#include "core/frame/run.h"
#include "report/phases/span_shares.h"

#include <stdio.h>

struct span_total {
	const char *kind, *name;
	uint64_t count, open; /* open: of these, without an end; they took nothing */
	int64_t ns, longest_ns;
};

struct span_counter {
	const char *kind, *name;
	const struct metric *metric; /* NULL: a bare whole number */
	double value;                /* in base units */
	int64_t whole;               /* the same as it is stored */
};

struct span_totals {
	struct span_total *total; /* kinds in order of their first track, the longest first */
	uint32_t ntotals, total_cap;
	struct span_counter *counter; /* likewise, by coming */
	uint32_t ncounters, counter_cap;
	uint64_t spans;
	/* private */
	const char **kind; /* of each instance */
	const char **order;
	uint32_t norder, order_cap;
	uint32_t *slot, slots; /* a hash table of totals, + 1 */
};

/* 0 or -errno; free it in either case. */
int span_totals_make(struct span_totals *s, struct run *r, struct err *e);
void span_totals_free(struct span_totals *s);
void span_totals_print(const struct span_totals *s, const struct run *r, FILE *out);
/* Of all kinds together, most names; they are in that order thereafter. */
void span_totals_print_most(struct span_totals *s, FILE *out, uint32_t most);
/* Schema sonde/spans/1. 0 or -errno. */
int span_totals_json(const struct span_totals *s, const struct span_shares *shares,
		     const struct run *r, FILE *out);

#endif
