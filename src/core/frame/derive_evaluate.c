/* SPDX-License-Identifier: Apache-2.0 */
#include "core/frame/derive_slice.h"

#include <math.h>
#include <string.h>

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
