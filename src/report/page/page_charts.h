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
#include "report/phases/traces.h"
#include "report/summary/own.h"

struct page_kinds;
struct page_series;

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

/*
 * Which charts the page has, for its script, and the values of those that are
 * not of page_series.h.
 *
 * The job's own numbers; those of the table, without the optional ones that no node has a value
 * of; then one for each metric that a verdict names and that is in no chart, so that each verdict
 * has its proof; and the heat maps of a node.
 */

/* Keys "charts" and "maps" of the object that is open. */
void page_charts_json(struct json *j, const struct page_series *d, const struct own *own,
		      const struct page_kinds *waits, const struct page_kinds *code,
		      const struct run *r);

/* The job's own numbers: keys in the object "series" that is open, of a node's n times; node 0: of
 * all together, from the least to the most of them. */
void page_own_series_json(struct json *j, const struct own *own, uint32_t node, const double *at_s,
			  uint32_t n);

/* Heat maps: a ratio of each core, or GPU, of a node over time. Each is a table of devices and
 * stretches of equal length; a cell is the mean of what was seen, weighted by time. Many devices
 * have fewer stretches, so that the file stays small; of very many devices there is no map. */
enum { PAGE_MAPS = 2 };

struct page_map {
	const char *id, *title, *metric;
};
extern const struct page_map page_maps[PAGE_MAPS];

/* How many stretches every map has; 0: there is none. */
uint32_t page_maps_columns(const struct traces *t);
/* Key "maps" of the object that is open: of each map that has rows on this node the names of the
 * devices and a byte a cell, row after row: 0 to 250 for a ratio of 0 to 1, 255 for absent. */
void page_maps_json(struct json *j, const struct traces *t, const struct run *r, uint32_t node,
		    uint32_t columns);

#endif
