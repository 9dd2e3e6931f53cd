/* SPDX-License-Identifier: Apache-2.0 */
#include "core/frame/derive.h"

#include "core/frame/derive_slice.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- cells ---- */

struct formula {
	const struct derive *d;
	const struct quantity *q;
	const struct cell *cell;
	uint32_t next; /* input: names are asked for in the order they were listed */
};

static void look_up(void *ctx, const char *function, const char *name, double *out)
{
	struct formula *f = ctx;
	const struct plan *p = &f->d->plan;
	const struct slice *s = &f->d->slice;
	uint32_t i = f->next++, column = 0;
	size_t at;

	(void)function; /* inputs that are calls were left without a source */
	if (i < f->q->ninputs && p->input[f->q->first_input + i].at == name)
		column = f->d->column[p->source[f->cell->first_source + i]];
	at = (size_t)column * s->rows;
	if (s->there[column] == s->nrows) {
		memcpy(out, s->value + at, s->nrows * sizeof(*out));
		return;
	}
	for (uint32_t r = 0; r < s->nrows; r++)
		out[r] = s->state[at + r] == STATE_PRESENT ? s->value[at + r] : NAN;
}

/* Formulas do not lead back to themselves: the plan has seen to it. */
static void evaluate_formula(struct derive *d, uint32_t cell, uint32_t column)
{
	struct formula f = { d, derive_quantity(d, cell), &d->plan.cell[cell], 0 };
	struct slice *s = &d->slice;

	for (uint32_t i = 0; i < f.q->ninputs; i++)
		derive_work_out(d, d->plan.source[f.cell->first_source + i]);
	expr_eval_column(f.q->formula, look_up, &f, s->nrows, d->stack);
	slice_clear(s, column);
	for (uint32_t r = 0; r < s->nrows; r++)
		slice_put(s, column, r, d->stack[r], s->row_seconds[r]);
}

uint32_t derive_work_out(struct derive *d, uint32_t cell)
{
	uint32_t column = d->column[cell];
	enum cell_role role = d->plan.cell[cell].role;

	if (d->slice.there[column] != SLICE_UNKNOWN)
		return column;
	if (role == CELL_DERIVED)
		evaluate_formula(d, cell, column);
	else if (role == CELL_COMBINED)
		derive_combine(d, cell, column);
	else
		slice_clear(&d->slice, column);
	return column;
}

struct expr_value derive_evaluate(struct derive *d, uint32_t cell)
{
	const struct slice *s = &d->slice;
	size_t at = (size_t)derive_work_out(d, cell) * s->rows + s->at;

	if (s->state[at] != STATE_PRESENT)
		return (struct expr_value){ false, 0 };
	return (struct expr_value){ true, s->value[at] };
}

bool derive_column(struct derive *d, uint32_t cell, struct derived *out)
{
	const struct slice *s = &d->slice;
	size_t at = (size_t)derive_work_out(d, cell) * s->rows;

	*out = (struct derived){ s->value + at, s->stands + at, s->state + at };
	return d->column[cell];
}

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

		if (!combined || d->plan.cell[i].member)
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
	return slice_reserve(d, want) || transposed_reserve(d) ? -ENOMEM : 0;
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
		memset(d->source + h->first, 0, h->ncells * sizeof(*d->source));
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
	combine_chunk(d);
	slice_begin(d);
	return 0;
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

int64_t derive_row_utc_ns(const struct derive *d, uint32_t row)
{
	return run_utc_ns(d->run, d->chunk.node, d->chunk.mono_ns[d->slice.first + row]);
}

double derive_row_seconds(const struct derive *d, uint32_t row)
{
	return run_seconds(d->run, d->chunk.node, d->chunk.mono_ns[d->slice.first + row]);
}

bool derive_slice(struct derive *d)
{
	if (d->slice.first + d->slice.nrows >= d->chunk.nrows)
		return false;
	slice_next(d);
	return true;
}

/* What is shown of the next rows is worked out at once. */
static void next_shown(struct derive *d)
{
	slice_next(d);
	for (uint32_t c = 1; c <= d->nshown; c++)
		derive_work_out(d, d->cell[c]);
}

/* The chunk's next row, as one of the slice. False at the end. */
static bool advance(struct derive *d, bool *selected)
{
	double seconds;

	if (d->row >= d->chunk.nrows)
		return false;
	if (d->row == d->slice.first + d->slice.nrows)
		next_shown(d);
	d->slice.at = d->row++ - d->slice.first;
	*selected = true;
	if (d->from_s > 0 || d->to_s > 0) {
		seconds = derive_row_seconds(d, d->slice.at);
		*selected = seconds >= d->from_s && (d->to_s <= 0 || seconds < d->to_s);
	}
	return true;
}

bool derive_row(struct derive *d, struct instant *out)
{
	bool selected;

	while (advance(d, &selected)) {
		if (!selected)
			continue;
		transposed_row(d, d->slice.at, out);
		out->node = d->chunk.node;
		out->utc_ns = derive_row_utc_ns(d, d->slice.at);
		out->seconds = derive_row_seconds(d, d->slice.at);
		return true;
	}
	return false;
}

/* Rows that are selected one after the other, within the slice. */
static bool next_rows(struct derive *d, uint32_t most, struct slice_rows *out)
{
	bool selected;

	*out = (struct slice_rows){ .node = d->chunk.node };
	while (out->n < most && advance(d, &selected)) {
		if (!selected && out->n)
			break;
		if (!selected)
			continue;
		out->first = out->n ? out->first : d->slice.at;
		out->n++;
		if (d->slice.at + 1 == d->slice.nrows)
			break;
	}
	return out->n;
}

static int next_chunk(struct derive *d, struct err *e)
{
	struct chunk c;
	int rc = d->run->next_chunk(d->run, d->plan.wanted, &c, e);

	if (rc <= 0)
		return rc;
	rc = derive_chunk(d, &c, e);
	return rc ? rc : 1;
}

int derive_next_rows(struct derive *d, uint32_t most, struct slice_rows *out, struct err *e)
{
	int rc = 1;

	while (rc > 0 && !next_rows(d, most, out))
		rc = next_chunk(d, e);
	return rc;
}

int derive_next(struct derive *d, struct instant *out, struct err *e)
{
	int rc = 1;

	while (rc > 0 && !derive_row(d, out))
		rc = next_chunk(d, e);
	return rc;
}

int derive_rewind(struct derive *d)
{
	d->chunk = (struct chunk){ 0 };
	d->row = 0;
	memset(d->last, 0, d->nlast * sizeof(*d->last));
	combine_rewind(d);
	for (uint32_t i = 0; i < d->run->nnodes; i++)
		d->node_last_ns[i] = INT64_MIN;
	return d->run->rewind(d->run);
}

static bool reserve_last(struct derive *d)
{
	d->nlast = 1;
	d->place = calloc(d->run->nseries + 1u, sizeof(*d->place));
	for (uint32_t i = d->plan.first_series; d->place && i < d->plan.behind_series; i++)
		if (d->plan.wanted[i])
			d->place[i] = d->nlast++;
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
	if (combine_open(d) || !reserve_last(d) || !d->node_last_ns || !d->column || !d->link ||
	    !d->active || !d->is_active || !d->stack)
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
	free(d->member);
	free(d->source);
	free(d->active);
	free(d->is_active);
	free(d->stack);
	slice_free(d);
	transposed_free(&d->transposed);
	*d = (struct derive){ 0 };
}
