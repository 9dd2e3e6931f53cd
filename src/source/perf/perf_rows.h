/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_rows.h - the catalogue rows of what is counted here: two times and the events of each set,
 * and the formulas of what follows from them.
 *
 * In an events file a formula names events of its group; here each becomes its rate, divided by the
 * share of the time in which its set was counted. A formula whose events are not counted is left
 * out.
 */
#ifndef SONDE_SOURCE_PERF_PERF_ROWS_H
#define SONDE_SOURCE_PERF_PERF_ROWS_H

#include "base/pool.h"
#include "core/metric.h"
#include "source/perf/perf_plan.h"

enum { PERF_SET_ENABLED, PERF_SET_RUNNING, PERF_SET_EVENTS }; /* rows of a set, in this order */

struct perf_rows {
	struct pool pool;
	struct metric *row;
	uint32_t n, cap;
	uint32_t first[PERF_SETS_MAX]; /* of each set: PERF_SET_EVENTS + its n rows */
	uint32_t derived;              /* from here on rows have formulas */
};

/* 0 or -ENOMEM. whose is a sentence: "Counted for the job's processes." Free in either case. */
int perf_rows_make(struct perf_rows *r, const struct perf_plan *plan, const char *whose);
void perf_rows_free(struct perf_rows *r);

#endif
