/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page_maps.h"

#include "base/text/escape.h"
#include "report/page/page_pack.h"

#include <math.h>
#include <stdlib.h>

/* Cells of all nodes together, and columns of a map. */
enum { CELLS_MAX = 400000, COLUMNS_MAX = 600, COLUMNS_MIN = 8 };
enum { WHOLE = 250, ABSENT = 255, DEVICE_NAME = 64 };

const struct page_map page_maps[PAGE_MAPS] = {
	{ "cores", "CPU of each core", "cpu.used_ratio" },
	{ "gpus", "Each GPU", "gpu.utilization_ratio" },
};

/* No more columns than points. */
uint32_t page_maps_columns(const struct traces *t)
{
	uint32_t devices = 0, points = 1, n;

	for (size_t i = 0; i < PAGE_MAPS; i++) {
		traces_of(t, page_maps[i].metric, true, &n);
		devices += n;
	}
	for (uint32_t i = 1; i < t->nnodes; i++) {
		uint32_t own = (t->node[i].nrows + t->node[i].thinned - 1) / t->node[i].thinned;

		points = own > points ? own : points;
	}
	n = devices ? CELLS_MAX / devices : 0;
	n = n > COLUMNS_MAX ? COLUMNS_MAX : n < COLUMNS_MIN ? 0 : n;
	return n > points ? points : n;
}

static void map_json(struct json *j, const struct traces *t, const struct run *r,
		     const struct trace *x, uint32_t n, uint32_t columns)
{
	double *room = calloc((size_t)3 * columns, sizeof *room);
	struct trace_columns c = { room, room + columns, room + (size_t)2 * columns, columns };
	struct bytes cells = { .failed = !room };
	char name[DEVICE_NAME];

	json_key(j, "columns");
	json_int(j, columns);
	json_key(j, "end");
	json_real(j, t->to_s);
	json_key(j, "names");
	json_array(j);
	for (uint32_t i = 0; i < n && room; i++) {
		const char *text = r->instances[x[i].instance].name;

		json_text(j, escape_terminal_into(name, sizeof name, text ? text : ""));
		traces_columns(t, &x[i], &c);
		for (uint32_t k = 0; k < columns; k++)
			bytes_u8(&cells,
				 isnan(c.mean[k])
					 ? ABSENT
					 : (uint8_t)lround(WHOLE * fmin(fmax(c.mean[k], 0), 1)));
	}
	json_array_end(j);
	json_key(j, "cells");
	if (cells.failed)
		j->out->failed = true;
	else
		page_pack_bytes(j, cells.data, cells.len);
	bytes_free(&cells);
	free(room);
}

void page_maps_json(struct json *j, const struct traces *t, const struct run *r, uint32_t node,
		    uint32_t columns)
{
	uint32_t n;

	json_key(j, "maps");
	json_object(j);
	for (size_t i = 0; i < PAGE_MAPS && columns; i++) {
		const struct trace *x = traces_of_node(t, page_maps[i].metric, true, node, &n);

		/* of the node itself there is no device */
		for (; n && !x->instance; n--)
			x++;
		if (!n)
			continue;
		json_key(j, page_maps[i].id);
		json_object(j);
		map_json(j, t, r, x, n, columns);
		json_object_end(j);
	}
	json_object_end(j);
}
