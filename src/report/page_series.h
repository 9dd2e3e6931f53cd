/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_series.h - the values behind the charts: for each node its points in time, for each metric
 * of page_charts.h a mean and a maximum at each of them.
 *
 * A long run is thinned: several samples become one point, its mean weighted by the time that each
 * stood. Memory grows with nodes, not with the length of the run. It draws nothing.
 */
#ifndef SONDE_REPORT_PAGE_SERIES_H
#define SONDE_REPORT_PAGE_SERIES_H

#include "core/run.h"

struct page_point {
	double sum, weight; /* values x seconds; weight 0 = absent */
	double max;
};

struct page_node {
	uint32_t nrows, npoints;
	uint32_t cap;               /* room for points */
	uint32_t thinned;           /* samples in a point; 1 = every sample is there */
	double *at;                 /* [npoints] of the last sample of each */
	struct page_point **points; /* [nmetrics], each [cap]; NULL = no value at all */
	double last_at, stood;      /* of the row that was read last */
};

struct page_data {
	struct page_node *nodes; /* indexed as run.nodes */
	uint32_t nnodes;
	const char **metrics; /* public names, each once */
	uint32_t nmetrics;
};

/* 0, or -errno with a sentence. Free in either case. */
int page_data_read(struct page_data *d, struct run *r, struct err *e);
void page_data_free(struct page_data *d);

#endif
