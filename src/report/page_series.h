/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_series.h - the values behind the charts: for each node its points in time, for each metric
 * of page_charts.h a mean and a maximum at each of them.
 *
 * A long run is thinned: several samples become one point, its mean weighted by the time that each
 * stood. In the stretches that a verdict points at, and at the ends of the run, points are finer:
 * who zooms in there sees what happened. Memory grows with nodes, not with the length of the run.
 * It draws nothing.
 */
#ifndef SONDE_REPORT_PAGE_SERIES_H
#define SONDE_REPORT_PAGE_SERIES_H

#include "report/page_maps.h"
#include "report/summary.h"

enum { PAGE_FOCUSES = 12 };

struct page_focus {
	double from_s, to_s;
};

struct page_point {
	double sum, weight; /* values x seconds; weight 0 = absent */
	double max;
};

struct page_node {
	uint32_t nrows, npoints;
	uint32_t cap;               /* room for points */
	uint32_t thinned;           /* samples in a point; 1 = every sample is there */
	uint32_t fine;              /* the same where there is a focus */
	uint32_t in_point;          /* samples in the last point, so far */
	bool focused;               /* the last point is one of a focus */
	double *at;                 /* [npoints] of the last sample of each */
	struct page_point **points; /* [nmetrics], each [cap]; NULL = no value at all */
	double last_at, stood;      /* of the row that was read last */
};

struct page_data {
	struct page_node *nodes; /* indexed as run.nodes */
	uint32_t nnodes;
	const char **metrics; /* public names, each once; those of the charts, then of verdicts */
	uint32_t nmetrics;
	struct page_focus focus[PAGE_FOCUSES]; /* of a run that is thinned */
	uint32_t nfocuses;
	struct page_maps maps;
};

/* What the charts and the verdicts of the summary (NULL: none) are about. 0, or -errno with a
 * sentence. Free in either case. */
int page_data_read(struct page_data *d, struct run *r, const struct summary *s, struct err *e);
void page_data_free(struct page_data *d);

#endif
