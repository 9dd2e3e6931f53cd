/* SPDX-License-Identifier: Apache-2.0 */
#include "core/derive_slice.h"

struct formula {
	struct derive *d;
	const struct quantity *q;
	const struct cell *cell;
	uint32_t next; /* input: names are asked for in the order they were listed */
};

static struct expr_value look_up(void *ctx, const char *function, const char *name)
{
	struct formula *f = ctx;
	const struct plan *p = &f->d->plan;
	uint32_t i = f->next++;

	(void)function; /* inputs that are calls were left without a source */
	if (i >= f->q->ninputs || p->input[f->q->first_input + i].at != name)
		return (struct expr_value){ false, 0 };
	return derive_evaluate(f->d, p->source[f->cell->first_source + i]);
}

static void evaluate_formula(struct derive *d, uint32_t cell)
{
	struct formula f = { d, derive_quantity(d, cell), &d->plan.cell[cell], 0 };
	struct expr_value v = expr_eval(f.q->formula, look_up, &f);

	if (v.known)
		slice_put(d, cell, v.v);
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
	uint32_t n = 0;
	double v = 0;

	for (uint32_t i = d->link[cell]; i; i = d->link[i]) {
		struct expr_value x = derive_evaluate(d, i);

		if (x.known)
			v = n++ ? combine_two(how, v, x.v) : x.v;
	}
	if (n)
		slice_put(d, cell, how == COMBINE_MEAN ? v / n : v);
}

/* Formulas do not lead back to themselves: the plan has seen to it. */
struct expr_value derive_evaluate(struct derive *d, uint32_t cell)
{
	const struct slice *s = &d->slice;
	size_t at = (size_t)s->at * s->width + d->column[cell];

	if (s->state[at] == SLICE_UNKNOWN) {
		s->state[at] = STATE_ABSENT;
		if (d->plan.cell[cell].role == CELL_DERIVED)
			evaluate_formula(d, cell);
		else
			evaluate_combined(d, cell);
	}
	if (s->state[at] != STATE_PRESENT)
		return (struct expr_value){ false, 0 };
	return (struct expr_value){ true, s->value[at] };
}
