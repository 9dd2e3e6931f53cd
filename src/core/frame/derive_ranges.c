/* SPDX-License-Identifier: Apache-2.0 */
/* derive_ranges.c - which cells need rows, and which only the ranges of their series. */
#include "core/frame/derive_plan.h"

/* A rate's extremes and what is not a number are in no range. */
static bool is_told_by_ranges(const struct plan *p, const struct cell *c)
{
	const struct quantity *q = &p->quantity[c->quantity];

	return c->role == CELL_MEASURED && !q->rate && q->metric->storage == STORE_INT;
}

/* What a cell in rows is made from is in rows, too. True when that adds any. */
static bool spread(struct plan *p, uint32_t cell)
{
	struct cell *c = &p->cell[cell];
	bool more = false;

	if (!c->in_rows && p->cell[c->combined].in_rows && c->combined)
		more = c->in_rows = true;
	if (!c->in_rows || c->role != CELL_DERIVED)
		return more;
	for (uint32_t i = 0; i < p->quantity[c->quantity].ninputs; i++) {
		uint32_t source = p->source[c->first_source + i];

		if (source && !p->cell[source].in_rows)
			more = p->cell[source].in_rows = true;
	}
	return more;
}

void plan_leave_to_ranges(struct plan *p)
{
	bool more = true;

	for (uint32_t i = 1; i < p->ncells; i++)
		p->cell[i].in_rows = p->cell[i].emitted &&
				     (p->cell[i].kept || !is_told_by_ranges(p, &p->cell[i]));
	while (more) {
		more = false;
		for (uint32_t i = 1; i < p->ncells; i++)
			more |= spread(p, i);
	}
	for (uint32_t i = 1; i < p->ncells; i++)
		p->cell[i].ranged = p->cell[i].emitted && !p->cell[i].in_rows;
	for (uint32_t s = p->first_series; s < p->behind_series; s++)
		if (p->wanted[s])
			p->wanted[s] = p->cell[p->series_cell[s]].in_rows;
}
