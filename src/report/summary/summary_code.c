/* SPDX-License-Identifier: Apache-2.0 */
/* summary_code.c - what rules may ask of the code that the CPU time went to. */
#include "core/stacks/symbol.h"
#include "report/summary/code.h"
#include "report/summary/summary_part.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Shares are of all CPU time, kernel time included. */
static double ratio_of(const struct summary *s, double seconds)
{
	return seconds / s->code->account.whole_s;
}

static void shares_make(struct summary *s)
{
	const struct stacks *st = s->code->stacks;
	const struct stacks_rows *rows = &st->rows[STACKS_BY_CLASS];

	for (uint32_t i = 0; i < rows->n && s->nshares < SUMMARY_SHARES; i++) {
		double self = rows->row[i].self;

		s->share[s->nshares++] = (struct summary_share){
			classes_name(&s->code->classes, rows->row[i].class), ratio_of(s, self),
			ratio_of(s, stacks_error(st, stacks_share(st, self)) * st->total)
		};
	}
}

static void top_make(struct summary *s)
{
	const struct stacks *st = s->code->stacks;
	const struct stacks_row *top = st->rows[STACKS_BY_FUNCTION].row;
	char where[64];

	if (!st->rows[STACKS_BY_FUNCTION].n)
		return;
	if (top->file && top->line)
		snprintf(where, sizeof where, "%.40s:%u", symbol_base(top->file), top->line);
	else
		snprintf(where, sizeof where, "%.60s",
			 symbol_base(st->functions[top->function].module));
	snprintf(s->code_top, sizeof s->code_top, "%.80s (%s)", top->name, where);
	s->code_top_ratio = ratio_of(s, top->self);
}

static void threads_make(struct summary *s)
{
	const struct stacks_rows *rows = &s->code->stacks->rows[STACKS_BY_THREAD];

	s->code_threads = 0;
	for (uint32_t i = 0; i < rows->n; i++)
		s->code_threads += rows->row[i].self >= 0.01 * s->code->stacks->total &&
				   rows->row[i].node == rows->row[0].node &&
				   rows->row[i].instance == rows->row[0].instance;
	if (rows->n)
		s->code_thread_ratio = ratio_of(s, rows->row[0].self);
}

int summary_code_make(struct summary *s, struct run *r, const char *classes, struct err *e)
{
	int rc = code_make(&s->code, r, s, classes, e);

	s->code_samples = s->code_top_ratio = s->code_thread_ratio = s->code_threads =
		s->code_short_ratio = NAN;
	if (rc || !s->code || !s->code->stacks || !(s->code->account.whole_s > 0))
		return rc;
	s->code_samples = s->code->stacks->effective;
	s->code_short_ratio = ratio_of(s, s->code->account.short_s);
	shares_make(s);
	top_make(s);
	threads_make(s);
	return 0;
}
