/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page_maps_json.h"

#include "base/escape.h"
#include "report/page_pack.h"

#include <math.h>

enum { WHOLE = 250, ABSENT = 255, DEVICE_NAME = 64 };

static uint32_t node_of(const struct page_maps *m, const struct run *r, uint32_t row)
{
	return r->instances[m->row[row].instance].node;
}

/* The first row of the node, or of one after it: they are in order of node. */
static uint32_t first_row(const struct page_maps *m, const struct run *r, uint32_t node)
{
	uint32_t low = 0, high = m->nrows;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (node_of(m, r, middle) < node)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void row_bytes(struct bytes *b, const struct page_maps *m, const struct page_map_row *row)
{
	for (uint32_t i = 0; i < m->columns; i++) {
		const struct page_map_cell *c = &row->cell[i];
		double ratio = c->weight > 0 ? (double)(c->sum / c->weight) : NAN;

		bytes_u8(b,
			 isnan(ratio) ? ABSENT : (uint8_t)lround(WHOLE * fmin(fmax(ratio, 0), 1)));
	}
}

/* Rows of the node from `first` on, those of this map. */
static void map_json(struct json *j, const struct page_maps *m, const struct run *r, uint32_t first,
		     uint32_t map)
{
	uint32_t node = node_of(m, r, first);
	struct bytes cells = { 0 };
	char name[DEVICE_NAME];

	json_key(j, page_maps[map].id);
	json_object(j);
	json_key(j, "columns");
	json_int(j, m->columns);
	json_key(j, "end");
	json_real(j, m->end_s);
	json_key(j, "names");
	json_array(j);
	for (uint32_t i = first; i < m->nrows && node_of(m, r, i) == node; i++) {
		const char *text = r->instances[m->row[i].instance].name;

		if (m->row[i].map != map || !m->row[i].cell)
			continue;
		json_text(j, escape_terminal_into(name, sizeof name, text ? text : ""));
		row_bytes(&cells, m, &m->row[i]);
	}
	json_array_end(j);
	json_key(j, "cells");
	if (cells.failed)
		j->out->failed = true;
	else
		page_pack_bytes(j, cells.data, cells.len);
	json_object_end(j);
	bytes_free(&cells);
}

void page_maps_json(struct json *j, const struct page_maps *m, const struct run *r, uint32_t node)
{
	bool told[PAGE_MAPS] = { false };

	json_key(j, "maps");
	json_object(j);
	for (uint32_t i = first_row(m, r, node); i < m->nrows && node_of(m, r, i) == node; i++) {
		if (told[m->row[i].map] || !m->row[i].cell)
			continue;
		told[m->row[i].map] = true;
		map_json(j, m, r, i, m->row[i].map);
	}
	json_object_end(j);
}
