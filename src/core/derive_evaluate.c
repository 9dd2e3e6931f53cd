/* SPDX-License-Identifier: Apache-2.0 */
#include "core/derive_slice.h"

#include <math.h>

struct formula {
	struct derive *d;
	const struct quantity *q;
	const struct cell *cell;
	uint32_t next; /* input: names are asked for in the order they were listed */
};

/* Those of the slice, NAN for what is absent. */
static void read_column(const struct derive *d, uint32_t cell, double *out)
{
	const struct slice *s = &d->slice;
	size_t at = d->column[cell];

	for (uint32_t r = 0; r < s->nrows; r++, at += s->width)
		out[r] = s->state[at] == STATE_PRESENT ? s->value[at] : NAN;
}

static void look_up(void *ctx, const char *function, const char *name, double *out)
{
	struct formula *f = ctx;
	const struct plan *p = &f->d->plan;
	uint32_t i = f->next++, cell = 0;

	(void)function; /* inputs that are calls were left without a source */
	if (i < f->q->ninputs && p->input[f->q->first_input + i].at == name)
		cell = p->source[f->cell->first_source + i];
	read_column(f->d, cell, out);
}

static void evaluate_formula(struct derive *d, uint32_t cell)
{
	struct formula f = { d, derive_quantity(d, cell), &d->plan.cell[cell], 0 };

	for (uint32_t i = 0; i < f.q->ninputs; i++)
		slice_work_out(d, d->plan.source[f.cell->first_source + i]);
	expr_eval_column(f.q->formula, look_up, &f, d->slice.nrows, d->stack);
	slice_put_column(d, cell, d->stack);
}

static double combine_two(enum combine how, double a, double b)
{
	if (how == COMBINE_MAX)
		return a > b ? a : b;
	if (how == COMBINE_MIN)
		return a < b ? a : b;
	return a + b;
}

/* What is absent has no part in it; when all is absent, so is the whole. */
static void evaluate_combined(struct derive *d, uint32_t cell)
{
	enum combine how = derive_quantity(d, cell)->metric->over_instances;
	double *whole = d->stack, *one = d->stack + SLICE_ROWS;
	uint32_t n[SLICE_ROWS] = { 0 };

	for (uint32_t i = d->link[cell]; i; i = d->link[i])
		slice_work_out(d, i);
	for (uint32_t i = d->link[cell]; i; i = d->link[i]) {
		read_column(d, i, one);
		for (uint32_t r = 0; r < d->slice.nrows; r++)
			if (!isnan(one[r]))
				whole[r] = n[r]++ ? combine_two(how, whole[r], one[r]) : one[r];
	}
	for (uint32_t r = 0; r < d->slice.nrows; r++)
		if (!n[r])
			whole[r] = NAN;
		else if (how == COMBINE_MEAN)
			whole[r] /= n[r];
	slice_put_column(d, cell, whole);
}

/* Formulas do not lead back to themselves: the plan has seen to it. */
void slice_work_out(struct derive *d, uint32_t cell)
{
	if (d->slice.state[d->column[cell]] != SLICE_UNKNOWN)
		return;
	if (d->plan.cell[cell].role == CELL_DERIVED)
		evaluate_formula(d, cell);
	else
		evaluate_combined(d, cell);
}

struct expr_value derive_evaluate(struct derive *d, uint32_t cell)
{
	const struct slice *s = &d->slice;
	size_t at = (size_t)s->at * s->width + d->column[cell];

	slice_work_out(d, cell);
	if (s->state[at] != STATE_PRESENT)
		return (struct expr_value){ false, 0 };
	return (struct expr_value){ true, s->value[at] };
}

bool derive_column(struct derive *d, uint32_t cell, struct derived *out)
{
	const struct slice *s = &d->slice;
	uint32_t column = d->column[cell];

	if (!column)
		return false;
	slice_work_out(d, cell);
	*out = (struct derived){ s->value + column, s->stands + column, s->state + column,
				 s->width };
	return true;
}
