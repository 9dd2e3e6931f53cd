/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_maps.h - what the heat maps of a node show: a ratio of each of its cores, or GPUs, over
 * time.
 *
 * Each map is a table of devices and stretches of equal length; a cell is the mean of what was
 * seen, weighted by time. Many devices have fewer stretches, so that the file stays small; of very
 * many devices there is no map. It draws nothing.
 */
#ifndef SONDE_REPORT_PAGE_MAPS_H
#define SONDE_REPORT_PAGE_MAPS_H

#include "core/derive.h"

enum { PAGE_MAPS = 2 };

struct page_map {
	const char *id, *title, *metric;
};
extern const struct page_map page_maps[PAGE_MAPS];

struct page_map_cell {
	float sum, weight; /* values x seconds; weight 0 = absent */
};

struct page_map_row {
	uint32_t instance;
	uint32_t map;
	struct page_map_cell *cell; /* [columns]; NULL: no value at all */
};

struct page_maps {
	struct derive derive;
	bool any;
	double end_s; /* the columns divide the time until then */
	uint32_t columns;
	struct page_map_row *row; /* those of a node are together */
	uint32_t nrows;
	uint32_t *row_of; /* [derive.plan.ncells] index in row + 1 */
};

/* A run without such metrics has none. 0, or -errno with a sentence. Free in either case. */
int page_maps_open(struct page_maps *m, struct run *r, double end_s, struct err *e);
/* Chunks of the run, with the columns of derive.plan.wanted. */
int page_maps_add(struct page_maps *m, const struct chunk *c, struct err *e);
void page_maps_free(struct page_maps *m);

#endif
