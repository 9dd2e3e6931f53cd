/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page_maps.h"

#include "base/bytes.h"
#include "report/page_metric.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cells of all nodes together, and columns of a map. */
enum { CELLS_MAX = 400000, COLUMNS_MAX = 600, COLUMNS_MIN = 8 };

const struct page_map page_maps[PAGE_MAPS] = {
	{ "cores", "Each core", "cpu.used_ratio" },
	{ "gpus", "Each GPU", "gpu.utilization_ratio" },
};

static uint32_t map_of(const struct page_maps *m, uint32_t cell)
{
	for (uint32_t i = 0; i < PAGE_MAPS; i++)
		if (!strcmp(derive_quantity(&m->derive, cell)->name, page_maps[i].metric))
			return i;
	return PAGE_MAPS;
}

static int list_rows(struct page_maps *m)
{
	const struct plan *p = &m->derive.plan;

	m->row = calloc(p->ncells + 1u, sizeof *m->row);
	m->row_of = calloc(p->ncells + 1u, sizeof *m->row_of);
	if (!m->row || !m->row_of)
		return -ENOMEM;
	for (uint32_t c = 1; c < p->ncells; c++) {
		const struct holder *h = &p->holder[p->cell[c].holder];
		uint32_t map = map_of(m, c);

		if (!p->cell[c].emitted || !h->instance || map == PAGE_MAPS)
			continue;
		m->row[m->nrows] = (struct page_map_row){ .instance = h->instance, .map = map };
		m->row_of[c] = ++m->nrows;
	}
	return 0;
}

/* No more columns than samples. */
static void choose_columns(struct page_maps *m, const struct run *r)
{
	uint64_t rows = 1;

	for (uint32_t i = 1; i < r->nnodes; i++)
		rows = r->nodes[i].rows > rows ? r->nodes[i].rows : rows;
	m->columns = m->nrows ? CELLS_MAX / m->nrows : 0;
	if (m->columns < COLUMNS_MIN)
		m->nrows = 0;
	if (m->columns > COLUMNS_MAX)
		m->columns = COLUMNS_MAX;
	if (m->columns > rows)
		m->columns = (uint32_t)rows;
}

int page_maps_open(struct page_maps *m, struct run *r, double end_s, struct err *e)
{
	struct selection sel = { .table = FRAME_SERIES };
	struct bytes names = { 0 };
	int rc = 0;

	*m = (struct page_maps){ .end_s = end_s };
	for (uint32_t i = 0; i < PAGE_MAPS; i++)
		if (page_metric(r, page_maps[i].metric, NULL))
			bytes_printf(&names, "%s%s", names.len ? "," : "", page_maps[i].metric);
	m->any = names.len && end_s > 0;
	bytes_u8(&names, 0);
	sel.metrics = (const char *)names.data;
	if (m->any && !names.failed)
		rc = derive_open(&m->derive, r, &sel, e);
	if (names.failed || (!rc && m->any && list_rows(m) != 0))
		rc = err_set(e, -ENOMEM, "out of memory while drawing the charts");
	choose_columns(m, r);
	bytes_free(&names);
	return rc;
}

static uint32_t column_at(const struct page_maps *m, double seconds)
{
	double column = seconds / m->end_s * m->columns;

	return column < 0 ? 0 : column < m->columns ? (uint32_t)column : m->columns - 1;
}

/* A reading is of the time before it: its columns have their part of it. */
static int add_reading(const struct page_maps *m, struct page_map_row *row, const struct reading *v,
		       double at)
{
	double from = at - v->seconds, width = m->end_s / m->columns;
	uint32_t last = column_at(m, at);

	if (!row->cell)
		row->cell = calloc(m->columns, sizeof *row->cell);
	if (!row->cell)
		return -ENOMEM;
	for (uint32_t i = column_at(m, from); i <= last; i++) {
		double part = fmin(at, (i + 1) * width) - fmax(from, i * width);
		float seconds = part > 0 ? (float)part : 1e-9F;

		row->cell[i].sum += (float)v->value * seconds;
		row->cell[i].weight += seconds;
	}
	return 0;
}

int page_maps_add(struct page_maps *m, const struct chunk *c, struct err *e)
{
	struct instant in;
	int rc = m->nrows ? derive_chunk(&m->derive, c, e) : 0;

	while (!rc && m->nrows && derive_row(&m->derive, &in))
		for (uint32_t i = 0; i < in.n && !rc; i++) {
			const struct reading v = instant_reading(&in, i);
			uint32_t row = m->row_of[v.cell];

			if (row && add_reading(m, &m->row[row - 1], &v, in.seconds))
				rc = err_set(e, -ENOMEM, "out of memory while drawing the charts");
		}
	return rc;
}

void page_maps_free(struct page_maps *m)
{
	for (uint32_t i = 0; i < m->nrows; i++)
		free(m->row[i].cell);
	free(m->row);
	free(m->row_of);
	derive_close(&m->derive);
	*m = (struct page_maps){ 0 };
}
