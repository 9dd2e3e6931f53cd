/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_charts.h - which metrics the report page draws, and how: one table.
 *
 * The only place where the page names metrics. A metric that a run has not is left out of its chart
 * with the reason; a chart without any says why.
 */
#ifndef SONDE_REPORT_PAGE_PAGE_CHARTS_H
#define SONDE_REPORT_PAGE_PAGE_CHARTS_H

#include "base/text/json.h"
#include "core/metric.h"

enum { PAGE_LINES = 10 };

enum page_role {
	PAGE_STACK = 0, /* a layer on the layers before it */
	PAGE_LINE,
	PAGE_AREA, /* a line with the space below it tinted */
};

struct page_line {
	const char *metric; /* public name, of a rate where it is a counter; NULL ends the lines */
	const char *label;
	enum page_role role;
	const char *colour; /* a token of page.css */
};

struct page_chart {
	const char *id, *title, *note; /* note: what a reader must know, or "" */
	const char *source; /* what reads most of its metrics: its failure is their reason */
	enum unit unit;
	bool own; /* the program's own numbers, in whatever unit */
	int height;
	bool optional;        /* left out of the page when no node has any of its metrics */
	const char *limit_of; /* "cores" or "memory" of the node as a dashed line; NULL = none */
	const char *limit_label;
	struct page_line lines[PAGE_LINES];
};

extern const struct page_chart page_charts[];
extern const size_t npage_charts;

/* The specification for the page's script, in the array "charts" that is open. */
void page_chart_json(struct json *j, const struct page_chart *c);

/* The source behind a metric that is drawn. */
const char *page_source_of(const char *metric);

#endif
