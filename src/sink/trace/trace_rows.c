/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/trace/trace_rows.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

/* So many rows are looked at, the newest, that a hundred thousand slices at a time cost no more
 * than rows. */
enum { LOOKED_AT = 256 };

static bool takes(struct trace_row *row, int64_t begin_ns, int64_t end_ns, bool nested)
{
	while (row->depth && row->end[row->depth - 1] <= begin_ns)
		row->depth--;
	return !row->depth || (nested && end_ns <= row->end[row->depth - 1]);
}

static int put(struct trace_row *row, int64_t end_ns)
{
	int64_t *end = array_room(row->end, row->depth, &row->cap, sizeof *end);

	if (!end)
		return -ENOMEM;
	row->end = end;
	row->end[row->depth++] = end_ns;
	return 0;
}

/* Rows that a track before this one had keep their memory: there is one behind n only when cap has
 * room for it, and array_room leaves new ones as they are. */
static int add(struct trace_rows *r)
{
	uint32_t before = r->cap;
	struct trace_row *row = array_room(r->row, r->n, &r->cap, sizeof *row);

	if (!row)
		return -ENOMEM;
	for (uint32_t i = before; i < r->cap; i++)
		row[i] = (struct trace_row){ 0 };
	r->row = row;
	r->row[r->n++].depth = 0;
	return 0;
}

int trace_rows_place(struct trace_rows *r, int64_t begin_ns, int64_t end_ns, bool nested,
		     uint32_t *row)
{
	uint32_t i = r->n > LOOKED_AT ? r->n - LOOKED_AT : 0;

	while (i < r->n && !takes(&r->row[i], begin_ns, end_ns, nested))
		i++;
	*row = i;
	return i == r->n && add(r) ? -ENOMEM : put(&r->row[i], end_ns);
}

void trace_rows_reset(struct trace_rows *r)
{
	r->n = 0;
}

void trace_rows_free(struct trace_rows *r)
{
	for (uint32_t i = 0; i < r->cap; i++)
		free(r->row[i].end);
	free(r->row);
	*r = (struct trace_rows){ 0 };
}
