/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span_shares.h - what spans of one name took in each rank, or, where nobody has a rank, in each
 * thread: without what others took within them.
 *
 * Of spans of programs alone, which come by their ends; those of imports, stored in bulk, are left
 * out. Memory is bounded by tracks, and by names times ranks. {0} is empty.
 */
#ifndef SONDE_REPORT_PHASES_SPAN_SHARES_H
#define SONDE_REPORT_PHASES_SPAN_SHARES_H

#include "base/text/json.h"
#include "core/frame/run.h"

#include <stdio.h>

struct span_share {
	const char *name;
	uint32_t n; /* ranks or threads that have it: two or more */
	double least_s, median_s, most_s, mean_s;
	const char *most_of; /* the rank, or the thread's name */
};

struct span_shares {
	struct span_share *share; /* those first that have most to gain: (most - mean) * n */
	uint32_t n;
	bool of_ranks;
	bool too_many; /* names times ranks: there are none */
};

/* 0 or -errno; free it in either case. */
int span_shares_make(struct span_shares *x, const struct run *r, struct err *e);
void span_shares_free(struct span_shares *x);
/* Nothing where there is one rank or thread. */
void span_shares_print(const struct span_shares *x, FILE *out, uint32_t most);
/* Key "shares" of the object that is open. */
void span_shares_json(struct json *j, const struct span_shares *x);

#endif
