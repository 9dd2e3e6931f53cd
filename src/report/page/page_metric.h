/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_metric.h - what a public name of a metric stands for in a run, and why it has no values.
 */
#ifndef SONDE_REPORT_PAGE_PAGE_METRIC_H
#define SONDE_REPORT_PAGE_PAGE_METRIC_H

#include "core/frame/run_index.h"

#include <stdbool.h>
#include <stddef.h>

/* The metric row behind a public name (its own, or its rate's); NULL when the run has none.
 * *is_rate (may be NULL) says which. */
const struct metric *page_metric(const struct run *r, const char *public_name, bool *is_rate);

/* The unit of its values; UNIT_ONE when the run has none. */
enum unit page_unit(const struct run *r, const char *public_name);

struct page_index {
	struct run_index series, metas, instances;
};

/* 0 or -ENOMEM. Free in either case. */
int page_index_make(struct page_index *x, const struct run *r);
void page_index_free(struct page_index *x);

/* "forbidden: /proc/diskstats cannot be read", "not in this recording" ...: what the series says,
 * else what is said of the source that reads it. Returns out. */
struct page_question {
	uint32_t node;
	const char *public_name, *source;
};
const char *page_why_missing(const struct run *r, const struct page_index *x,
			     const struct page_question *q, char *out, size_t size);

#endif
