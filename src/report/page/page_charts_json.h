/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_charts_json.h - which charts the page has, for its script, and the values of those that are
 * not of page_series.h.
 *
 * The job's own numbers; those of page_charts.h, without the optional ones that no node has a value
 * of; then one for each metric that a verdict names and that is in no chart, so that each verdict
 * has its proof; and the heat maps of a node.
 */
#ifndef SONDE_REPORT_PAGE_PAGE_CHARTS_JSON_H
#define SONDE_REPORT_PAGE_PAGE_CHARTS_JSON_H

#include "base/text/json.h"
#include "report/page/page_kinds.h"
#include "report/page/page_series.h"
#include "report/phases/traces.h"
#include "report/summary/own.h"

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
