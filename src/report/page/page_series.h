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

#include "report/phases/traces.h"
#include "report/summary/summary.h"

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

#endif
