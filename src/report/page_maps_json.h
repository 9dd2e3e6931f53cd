/* SPDX-License-Identifier: Apache-2.0 */
/* page_maps_json.h - the heat maps of a node (page_maps.h), for the page's script. */
#ifndef SONDE_REPORT_PAGE_MAPS_JSON_H
#define SONDE_REPORT_PAGE_MAPS_JSON_H

#include "base/json.h"
#include "report/page_maps.h"

/* Key "maps" of the object that is open: of each map that has rows on this node the names of the
 * devices and a byte a cell, row after row: 0 to 250 for a ratio of 0 to 1, 255 for absent. */
void page_maps_json(struct json *j, const struct page_maps *m, const struct run *r, uint32_t node);

#endif
