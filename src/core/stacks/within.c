/* SPDX-License-Identifier: Apache-2.0 */
#include "core/stacks/within.h"
#include "core/stacks/stacks_part.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct making {
	const struct stacks *stacks;
	const struct waiting *waiting;
	const struct within_interval *interval;
	uint32_t n;
	struct tally cells;  /* kind and part, function, group */
	double sets, sets_s; /* of samples that lie in any */
};

/* The first that ends behind it. */
static uint32_t first_behind(const struct making *m, double at_s)
{
	uint32_t low = 0, high = m->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (m->interval[middle].to_s <= at_s)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* False: it is of none of what is counted. */
static bool key_of(const struct making *m, enum sample_kind kind, uint32_t stack,
		   struct tally_key *key)
{
	enum waiting_part part = WAITING_ON_CPU;

	if (kind == SAMPLE_WAITS) {
		part = waiting_part_of(m->waiting, stack, &key->b);
		if (part == WAITING_ON_CPU)
			return false;
	} else {
		const struct run *r = m->stacks->run;
		uint32_t frame = r->stacks[stack < r->nstacks ? stack : 0].frame;

		key->b = m->stacks->private->function_of[frame];
	}
	key->a = (uint32_t)kind * WAITING_PARTS + (uint32_t)part;
	return true;
}

static int take(struct making *m, const struct run_samples *x, uint32_t group, double part)
{
	int rc = 0;

	for (uint32_t i = 0; i < x->n && !rc; i++) {
		struct tally_key key = { .c = group };
		uint32_t row;

		if (!key_of(m, x->kind, x->items[i].node, &key))
			continue;
		rc = tally_find(&m->cells, &key, &row);
		if (!rc)
			m->cells.row[row].self +=
				(double)x->items[i].weight * stacks_value(x) * part;
	}
	return rc;
}

static int take_set(struct making *m, const struct run *r, const struct run_samples *x)
{
	double from = run_seconds(r, x->node, x->t0_ns), to = run_seconds(r, x->node, x->t1_ns);
	bool counted = false;
	int rc = 0;

	for (uint32_t i = first_behind(m, from); i < m->n && m->interval[i].from_s <= to && !rc;
	     i++) {
		const struct within_interval *in = &m->interval[i];
		double part =
			to > from ? (fmin(to, in->to_s) - fmax(from, in->from_s)) / (to - from) : 1;

		if (!(part > 0))
			continue;
		rc = take(m, x, in->group, part);
		counted = true;
		if (!(to > from))
			break;
	}
	m->sets += counted;
	m->sets_s += counted ? to - from : 0;
	return rc;
}

static int by_key(const void *a, const void *b)
{
	const struct within_cell *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return (x->group > y->group) - (x->group < y->group);
}

static int cells_make(struct within *x, const struct tally *cells)
{
	x->cell = malloc((cells->n + 1u) * sizeof *x->cell);
	if (!x->cell)
		return -ENOMEM;
	for (uint32_t i = 0; i < cells->n; i++) {
		const struct tally_key *key = &cells->row[i].key;

		x->cell[x->n++] = (struct within_cell){
			.kind = (enum sample_kind)(key->a / WAITING_PARTS),
			.function = key->b,
			.part = (enum waiting_part)(key->a % WAITING_PARTS),
			.group = key->c,
			.seconds = cells->row[i].self,
		};
	}
	qsort(x->cell, x->n, sizeof *x->cell, by_key);
	return 0;
}

static bool is_wanted(const struct making *m, enum sample_kind kind)
{
	return kind == SAMPLE_WAITS ? m->waiting != NULL
				    : m->stacks && (kind == SAMPLE_CPU || kind == SAMPLE_PYTHON);
}

int within_make(struct within *x, const struct stacks *s, const struct waiting *w,
		const struct within_wish *wish, struct err *e)
{
	struct making m = { .stacks = s, .waiting = w, .interval = wish->interval, .n = wish->n };
	struct run *r = s ? s->run : w ? w->stacks->run : NULL;
	struct run_samples set;
	int rc = r && r->next_samples ? r->rewind_samples(r) : 0;

	*x = (struct within){ 0 };
	while (r && r->next_samples && !rc && (rc = r->next_samples(r, &set, e)) > 0)
		rc = set.node == wish->node && is_wanted(&m, set.kind) ? take_set(&m, r, &set) : 0;
	if (!rc)
		rc = cells_make(x, &m.cells);
	tally_free(&m.cells);
	x->set_s = m.sets > 0 ? m.sets_s / m.sets : 0;
	return rc ? err_set(e, rc, "not enough memory to count samples within steps") : 0;
}

void within_free(struct within *x)
{
	free(x->cell);
	*x = (struct within){ 0 };
}
