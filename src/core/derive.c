/* SPDX-License-Identifier: Apache-2.0 */
#include "core/derive.h"

#include "core/derive_slice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void activate(struct derive *d, uint32_t holder)
{
	if (!holder || d->is_active[holder])
		return;
	d->is_active[holder] = 1;
	d->active[d->nactive++] = holder;
}

static void link_members(struct derive *d, const struct holder *h)
{
	for (uint32_t i = h->first; i < h->first + h->ncells; i++) {
		uint32_t combined = d->plan.cell[i].combined;

		if (!combined)
			continue;
		d->link[i] = d->link[combined];
		d->link[combined] = i;
	}
}

/* Room for every value that a row of this chunk can give. */
static int reserve_columns(struct derive *d)
{
	uint32_t want = 1;

	for (uint32_t i = 0; i < d->nactive; i++)
		want += d->plan.holder[d->active[i]].ncells;
	return slice_reserve(d, want);
}

static bool is_shown(const struct cell *c)
{
	return c->emitted && !c->ranged;
}

/* Columns of the slice for the cells of active holders, those that are shown first. */
static void place_cells(struct derive *d, bool shown)
{
	for (uint32_t i = 0; i < d->nactive; i++) {
		const struct holder *h = &d->plan.holder[d->active[i]];

		for (uint32_t c = h->first; c < h->first + h->ncells; c++) {
			if (is_shown(&d->plan.cell[c]) != shown)
				continue;
			d->column[c] = ++d->ncolumns;
			d->cell[d->ncolumns] = c;
		}
	}
	if (shown)
		d->nshown = d->ncolumns;
}

static void forget_active(struct derive *d)
{
	for (uint32_t i = 0; i < d->nactive; i++) {
		const struct holder *h = &d->plan.holder[d->active[i]];

		d->is_active[d->active[i]] = 0;
		memset(d->column + h->first, 0, h->ncells * sizeof(*d->column));
	}
	d->nactive = d->ncolumns = d->nshown = 0;
}

static int begin_chunk(struct derive *d)
{
	const struct plan *p = &d->plan;
	const struct holder *node;

	forget_active(d);
	d->row = 0;
	if (d->chunk.node >= d->run->nnodes)
		return -EBADMSG;
	node = &p->holder[p->node_holder[d->chunk.node]];
	memset(d->link + node->first, 0, node->ncells * sizeof(*d->link));
	activate(d, p->node_holder[d->chunk.node]);
	for (uint32_t i = 0; i < d->chunk.ncolumns; i++) {
		uint32_t series = d->chunk.column[i].series;

		if (series >= d->run->nseries)
			return -EBADMSG;
		activate(d, p->cell[p->series_cell[series]].holder);
	}
	for (uint32_t i = 0; i < d->nactive; i++)
		link_members(d, &p->holder[d->active[i]]);
	if (reserve_columns(d))
		return -ENOMEM;
	place_cells(d, true);
	place_cells(d, false);
	slice_begin(d);
	return 0;
}

/* The readings of this row as they lie, or, where some are absent, without these. */
static void collect(struct derive *d, struct instant *out)
{
	const struct slice *s = &d->slice;
	size_t base = (size_t)s->at * s->width + 1;
	const struct kept *k = &d->kept;

	*out = (struct instant){ .n = d->nshown,
				 .cell = d->cell + 1,
				 .value = s->value + base,
				 .stands = s->stands + base };
	if (!slice_row_is_whole(d)) {
		out->n = 0;
		for (uint32_t i = 0; i < d->nshown; i++) {
			k->cell[out->n] = d->cell[i + 1];
			k->value[out->n] = s->value[base + i];
			k->stands[out->n] = s->stands[base + i];
			out->n += s->state[base + i] == STATE_PRESENT;
		}
		out->cell = k->cell;
		out->value = k->value;
		out->stands = k->stands;
	}
	out->min = out->max = out->value;
}

int derive_chunk(struct derive *d, const struct chunk *c, struct err *e)
{
	int rc;

	d->chunk = *c;
	rc = begin_chunk(d);
	if (!rc)
		return 0;
	d->chunk.nrows = 0;
	return err_set(e, rc, "%s: %s", d->run->path,
		       rc == -ENOMEM ? "out of memory" : "a chunk is unsound");
}

/* What is shown of the next rows is worked out at once. */
static void next_shown(struct derive *d)
{
	slice_next(d);
	for (uint32_t i = 0; i < d->nmade; i++)
		slice_work_out(d, d->made[i]);
}

bool derive_slice(struct derive *d)
{
	if (d->slice.first + d->slice.nrows >= d->chunk.nrows)
		return false;
	slice_next(d);
	return true;
}

bool derive_row(struct derive *d, struct instant *out)
{
	while (d->row < d->chunk.nrows) {
		uint32_t node = d->chunk.node, row = d->row++;
		double seconds = run_seconds(d->run, node, d->chunk.mono_ns[row]);

		if (row == d->slice.first + d->slice.nrows)
			next_shown(d);
		d->slice.at = row - d->slice.first;
		if ((d->from_s > 0 && seconds < d->from_s) || (d->to_s > 0 && seconds >= d->to_s))
			continue;
		collect(d, out);
		out->node = node;
		out->utc_ns = run_utc_ns(d->run, node, d->chunk.mono_ns[row]);
		out->seconds = seconds;
		return true;
	}
	return false;
}

int derive_next(struct derive *d, struct instant *out, struct err *e)
{
	while (!derive_row(d, out)) {
		struct chunk c;
		int rc = d->run->next_chunk(d->run, d->plan.wanted, &c, e);

		if (rc > 0)
			rc = derive_chunk(d, &c, e);
		else
			return rc;
		if (rc)
			return rc;
	}
	return 1;
}

int derive_rewind(struct derive *d)
{
	d->chunk = (struct chunk){ 0 };
	d->row = 0;
	memset(d->last, 0, d->nlast * sizeof(*d->last));
	for (uint32_t i = 0; i < d->run->nnodes; i++)
		d->node_last_ns[i] = INT64_MIN;
	return d->run->rewind(d->run);
}

static bool reserve_last(struct derive *d)
{
	d->nlast = 1;
	d->place = calloc(d->run->nseries + 1u, sizeof(*d->place));
	for (uint32_t i = 1; d->place && i < d->run->nseries; i++)
		d->place[i] = d->plan.wanted[i] ? d->nlast++ : 0;
	d->last = calloc(d->nlast, sizeof(*d->last));
	return d->place && d->last;
}

int derive_open(struct derive *d, struct run *r, const struct selection *sel, struct err *e)
{
	int rc;

	*d = (struct derive){ .run = r, .from_s = sel->from_s, .to_s = sel->to_s };
	rc = plan_make(&d->plan, r, sel, e);
	if (rc)
		return rc;
	d->node_last_ns = calloc(r->nnodes + 1u, sizeof(*d->node_last_ns));
	d->column = calloc(d->plan.ncells, sizeof(*d->column));
	d->link = calloc(d->plan.ncells, sizeof(*d->link));
	d->active = calloc(d->plan.nholders, sizeof(*d->active));
	d->is_active = calloc(d->plan.nholders, 1);
	d->stack = calloc((size_t)EXPR_STACK_MAX * SLICE_ROWS, sizeof(*d->stack));
	if (!reserve_last(d) || !d->stack || !d->node_last_ns || !d->column || !d->link ||
	    !d->active || !d->is_active)
		return err_set(e, -ENOMEM, "out of memory for %u series", r->nseries);
	return derive_rewind(d);
}

void derive_close(struct derive *d)
{
	plan_free(&d->plan);
	free(d->last);
	free(d->place);
	free(d->node_last_ns);
	free(d->column);
	free(d->link);
	free(d->active);
	free(d->is_active);
	free(d->stack);
	slice_free(d);
	*d = (struct derive){ 0 };
}
