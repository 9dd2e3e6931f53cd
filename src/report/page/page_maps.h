/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_maps.h - the heat maps of a node: a ratio of each of its cores, or GPUs, over time.
 *
 * Each map is a table of devices and stretches of equal length; a cell is the mean of what was
 * seen, weighted by time. Many devices have fewer stretches, so that the file stays small; of very
 * many devices there is no map.
 */
#ifndef SONDE_REPORT_PAGE_PAGE_MAPS_H
#define SONDE_REPORT_PAGE_PAGE_MAPS_H

#include "base/text/json.h"
#include "report/phases/traces.h"

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
