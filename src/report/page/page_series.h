/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_series.h - the values behind the page's charts: which metrics, and how finely they are read.
 *
 * Of many nodes there are fewer points each, so that the file stays one that can be mailed. In the
 * stretches that a verdict points at, and at the ends of the run, points are finer: who zooms in
 * there sees what happened.
 */
#ifndef SONDE_REPORT_PAGE_PAGE_SERIES_H
#define SONDE_REPORT_PAGE_PAGE_SERIES_H

#include "base/text/json.h"
#include "core/frame/run.h"
#include "report/phases/traces.h"
#include "report/summary/summary.h"

#include <stdbool.h>
#include <stddef.h>

struct page_drawn {
	const char *metric;             /* public name */
	const char *instance;           /* the one that a verdict is about; "": of the node */
	char key[2 * VERDICT_NAME + 3]; /* in the page's data: "metric", or "metric[instance]" */
};

struct page_series {
	const struct run *run;
	const struct traces *traces;
	struct page_drawn *drawn; /* each once; those of the charts, then of verdicts */
	uint32_t ndrawn;
};

/* What the charts, the maps and the verdicts of the summary (NULL: none) are about. */
void page_series_wish(struct traces *t, const struct run *r, const struct summary *s);
/* Of traces that were wished for so; borrowed. 0 or -ENOMEM; free in either case. */
int page_series_make(struct page_series *p, const struct run *r, const struct traces *t,
		     const struct summary *s);
void page_series_free(struct page_series *p);

/* Those of a node, which are one unless the metric cannot be combined and no instance was named;
 * NULL when there is no value at all. */
const struct trace *page_series_of(const struct page_series *p, uint32_t drawn, uint32_t node,
				   uint32_t *n);

/*
 * What a public name of a metric stands for in a run, and why it has no values.
 */
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

/*
 * Many numbers as a value of the page's JSON: what a chart needs of them, in as few
 * characters as possible. charts.js reads it.
 *
 * Numbers that are all the same are that number; none at all is null. Else an object: "values" are
 * base64 of 16 bits each, little-endian: an exponent of 5 bits and a fraction of 11, times
 * 2^"scale". That is right to 1 in 4,000, which is more than a chart shows. 0 is 0; all bits set is
 * absent. Numbers of which one is negative are base64 of floats instead.
 */
/* NAN is absent. */
void page_pack_numbers(struct json *j, const double *v, size_t n);
/* Bytes as base64. */
void page_pack_bytes(struct json *j, const void *data, size_t n);

#endif
