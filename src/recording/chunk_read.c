/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/chunk_read.h"

#include "recording/format.h"
#include "recording/rows.h"

#include <errno.h>
#include <stdlib.h>

_Static_assert((int)SECTION_BEHIND >= (int)COLUMN_BEHIND, "a column is decoded in its section");

enum { FOOTER_MAX = 64 << 20, BODY_MAX = 10 * VALUES_MAX + 2 * VALUES_MAX };

int chunk_reader_init(struct chunk_reader *r)
{
	*r = (struct chunk_reader){ 0 };
	return expander_init(&r->expander);
}

void chunk_reader_free(struct chunk_reader *r)
{
	expander_free(&r->expander);
	bytes_free(&r->footer);
	bytes_free(&r->body);
	free(r->utc);
	free(r->mono);
	free(r->column);
	free(r->bodies);
	*r = (struct chunk_reader){ 0 };
}

/* Room for what this chunk has, kept for the next. */
static int room(struct chunk_reader *r)
{
	if (r->nrows > r->rows_cap) {
		free(r->utc);
		free(r->mono);
		r->utc = calloc(r->nrows, sizeof *r->utc);
		r->mono = calloc(r->nrows, sizeof *r->mono);
		r->rows_cap = r->utc && r->mono ? r->nrows : 0;
	}
	if (r->ncolumns > r->columns_cap) {
		free(r->column);
		free(r->bodies);
		r->column = calloc(r->ncolumns, sizeof *r->column);
		r->bodies = calloc(r->ncolumns, 2 * sizeof *r->bodies);
		r->columns_cap = r->column && r->bodies ? r->ncolumns : 0;
	}
	return r->nrows > r->rows_cap || r->ncolumns > r->columns_cap ? -ENOMEM : 0;
}

static bool times_get(struct scan *in, struct chunk_reader *r)
{
	struct row_times t = { 0 };

	for (uint32_t row = 0; row < r->nrows; row++) {
		row_times_get(in, &t);
		r->mono[row] = t.mono;
		r->utc[row] = row_times_utc(&t);
		if (in->bad || t.mono < (row ? r->mono[row - 1] : 0) || t.mono > MONO_MAX ||
		    r->utc[row] < 0 || r->utc[row] > UTC_MAX)
			return false;
	}
	return true;
}

static int footer_get(struct chunk_reader *r)
{
	struct scan in = { .at = r->footer.data, .end = r->footer.data + r->footer.len };
	uint32_t behind = 0, body = 0;

	/* Every row and column takes two bytes at least: no room is taken for what cannot be there.
	 */
	if (r->footer.len / 2 < (size_t)r->nrows + r->ncolumns)
		return -EBADMSG;
	if (room(r))
		return -ENOMEM;
	if (!times_get(&in, r))
		return -EBADMSG;
	for (uint32_t i = 0; i < r->ncolumns; i++) {
		struct column *c = &r->column[i];

		if (!column_get(&in, c, behind, r->nrows, r->mono) ||
		    __builtin_add_overflow(body, c->body, &body))
			return -EBADMSG;
		behind = c->range.series;
		r->bodies[i] = (struct body){ .size = c->body, .column = i };
	}
	return in.at == in.end ? 0 : -EBADMSG;
}

int chunk_read(struct chunk_reader *r, const uint8_t *payload, size_t n)
{
	struct scan in = { .at = payload, .end = payload + n };
	uint64_t node = scan_varint(&in), generation = scan_varint(&in);
	uint64_t nrows = scan_varint(&in), ncolumns = scan_varint(&in);
	int rc;

	r->nrows = r->ncolumns = 0;
	if (in.bad || !node || node > UINT32_MAX || generation > UINT32_MAX || !nrows ||
	    nrows > ROWS_MAX || ncolumns > COLUMNS_MAX || nrows * ncolumns > VALUES_MAX)
		return -EBADMSG;
	rc = section_get(&in, &r->expander, FOOTER_MAX, &r->footer);
	if (rc)
		return rc;
	r->node = (uint32_t)node;
	r->generation = (uint32_t)generation;
	r->nrows = (uint32_t)nrows;
	r->ncolumns = (uint32_t)ncolumns;
	r->columns = in;
	rc = footer_get(r);
	if (rc)
		r->nrows = r->ncolumns = 0;
	return rc;
}

int chunk_read_bodies(struct chunk_reader *r)
{
	struct scan in = r->columns;
	size_t size = 0;
	int rc = section_get(&in, &r->expander, BODY_MAX, &r->body);

	if (rc)
		return rc;
	bodies_sort(r->bodies, r->ncolumns);
	for (uint32_t i = 0; i < r->ncolumns; i++) {
		r->column[r->bodies[i].column].at = r->body.data + size;
		size += r->bodies[i].size;
		if (size > r->body.len)
			return -EBADMSG;
	}
	return size == r->body.len && in.at == in.end ? 0 : -EBADMSG;
}

bool chunk_read_column(const struct chunk_reader *r, uint32_t i, int64_t *value, uint8_t *present)
{
	const struct column *c = &r->column[i];
	struct scan body = { .at = c->at, .end = c->body ? c->at + c->body : c->at };

	return column_decode(c, body, r->nrows, value, present);
}
