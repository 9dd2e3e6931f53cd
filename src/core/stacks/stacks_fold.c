/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_fold.c - the tree with a bounded number of nodes, and its weights over time. */
#include "core/stacks/stacks_part.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS_MAX = 4096, SPREAD_MAX = 64 };

/* ---- the heaviest nodes ---- */

struct heavy {
	double total;
	uint32_t node;
};

static int by_total(const void *a, const void *b)
{
	const struct heavy *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return (x->node > y->node) - (x->node < y->node); /* a parent before its children */
}

/* kept[i] is set for the heaviest: each one's parent is among them. 0 or -ENOMEM. */
static int choose(const struct stacks *s, uint32_t most, uint8_t *kept)
{
	struct heavy *h = malloc((s->nnodes + 1u) * sizeof *h);

	if (!h)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->nnodes; i++)
		h[i] = (struct heavy){ s->nodes[i].total, i };
	qsort(h, s->nnodes, sizeof *h, by_total);
	for (uint32_t i = 0; i < most && i < s->nnodes; i++)
		kept[h[i].node] = 1;
	free(h);
	return 0;
}

/* The child of a kept node for all that had to be left out below it. */
static uint32_t other_of(struct stacks_fold *f, uint32_t *other, uint32_t parent)
{
	if (!other[parent]) {
		other[parent] = f->n;
		f->nodes[f->n++] = (struct stacks_node){ .parent = parent,
							 .function = STACKS_OTHER,
							 .class = CLASS_UNKNOWN };
	}
	return other[parent];
}

static void fold(struct stacks_fold *f, const struct stacks *s, const uint8_t *kept,
		 uint32_t *other)
{
	for (uint32_t i = 0; i < s->nnodes; i++) {
		const struct stacks_node *n = &s->nodes[i];
		uint32_t parent = i ? f->place[n->parent] : 0;

		if (kept[i]) {
			f->place[i] = f->n;
			f->nodes[f->n] = *n;
			f->nodes[f->n++].parent = parent;
			continue;
		}
		if (kept[n->parent])
			parent = other_of(f, other, parent);
		f->place[i] = parent;
		f->nodes[parent].self += n->self;
		f->nodes[parent].total += n->self;
		f->nodes[parent].samples += n->samples;
	}
}

int stacks_fold_make(struct stacks_fold *f, const struct stacks *s, uint32_t most)
{
	uint32_t room = most < s->nnodes ? most : s->nnodes;
	uint8_t *kept = calloc(s->nnodes + 1u, 1);
	uint32_t *other = calloc(s->nnodes + 1u, sizeof *other);
	int rc = -ENOMEM;

	*f = (struct stacks_fold){ 0 };
	f->nodes = calloc(room + 1u, sizeof *f->nodes);
	f->place = calloc(s->nnodes + 1u, sizeof *f->place);
	if (kept && other && f->nodes && f->place)
		rc = choose(s, s->nnodes <= most ? most : most < 2 ? 1 : most / 2, kept);
	if (!rc)
		fold(f, s, kept, other);
	free(kept);
	free(other);
	if (rc)
		stacks_fold_free(f);
	return rc;
}

void stacks_fold_free(struct stacks_fold *f)
{
	free(f->nodes);
	free(f->place);
	*f = (struct stacks_fold){ 0 };
}

/* ---- over time ---- */

struct filling {
	struct stacks *s;
	const struct stacks_fold *fold;
	const struct stacks_axis *axis;
	struct stacks_cells *out;
	struct tally cells;  /* group, bucket, place */
	struct tally groups; /* of which group a command, a rank or a node is: rows from 1 */
	double width_s;
};

static struct tally_key group_key(const struct filling *g, const char *command, uint32_t node,
				  uint32_t instance, double rank)
{
	switch (g->axis->group) {
	case STACKS_PER_NODE:
		return (struct tally_key){ NULL, node, 0, 0 };
	case STACKS_PER_RANK:
		return (struct tally_key){ NULL, rank >= 0 && rank < 1e9 ? (uint32_t)rank + 1 : 0,
					   0, 0 };
	case STACKS_PER_COMMAND:
		return (struct tally_key){ command, 0, 0, 0 };
	case STACKS_PER_PROCESS:
		return (struct tally_key){ NULL, node, instance, 0 };
	default:
		return (struct tally_key){ NULL, 0, 0, 0 };
	}
}

static int groups_make(struct filling *g)
{
	static const enum stacks_by by[] = { [STACKS_PER_NODE] = STACKS_BY_NODE,
					     [STACKS_PER_RANK] = STACKS_BY_RANK,
					     [STACKS_PER_COMMAND] = STACKS_BY_COMMAND,
					     [STACKS_PER_PROCESS] = STACKS_BY_PROCESS };
	const struct stacks_rows *rows = &g->s->rows[by[g->axis->group]];
	uint32_t most = g->axis->group == STACKS_ALL ? 0 : g->axis->most_groups, at;
	int rc = 0;

	g->out->groups = calloc((most < rows->n ? most : rows->n) + 1u, sizeof *g->out->groups);
	if (!g->out->groups)
		return -ENOMEM;
	g->out->groups[0] = (struct stacks_row){ .name = "", .rank = NAN };
	g->out->ngroups = 1;
	for (uint32_t i = 0; i < rows->n && i < most && !rc; i++) {
		const struct stacks_row *row = &rows->row[i];
		struct tally_key key =
			group_key(g, row->command, row->node, row->instance, row->rank);

		rc = tally_find(&g->groups, &key, &at);
		g->out->groups[g->out->ngroups++] = *row;
	}
	return rc;
}

/* Its group; 0: it is in the rest. */
static uint32_t group_of(const struct filling *g, const struct run_samples *x)
{
	struct tally_key key;
	struct tally *groups = (struct tally *)&g->groups;
	uint32_t at, n = groups->n;

	if (!n)
		return 0;
	key = group_key(g, x->command, x->node, x->instance, stacks_rank(g->s, x->instance));
	if (tally_find(groups, &key, &at))
		return 0;
	if (groups->n == n)
		return at + 1 < g->out->ngroups ? at + 1 : 0;
	return 0; /* from now on it is known as one beyond them */
}

/* Half as many buckets, twice as wide. */
static int halve(struct filling *g)
{
	struct tally before = g->cells;
	int rc = 0;

	g->cells = (struct tally){ 0 };
	for (uint32_t i = 0; i < before.n && !rc; i++) {
		struct tally_key key = before.row[i].key;
		uint32_t at;

		key.b /= 2;
		rc = tally_find(&g->cells, &key, &at);
		if (rc)
			break;
		g->cells.row[at].self += before.row[i].self;
		g->cells.row[at].samples += before.row[i].samples;
	}
	tally_free(&before);
	g->out->buckets = (g->out->buckets + 1) / 2;
	g->width_s *= 2;
	return rc;
}

static int cell_add(struct filling *g, const struct tally_key *key, double value, double samples)
{
	uint32_t at;
	int rc = tally_find(&g->cells, key, &at);

	if (!rc) {
		g->cells.row[at].self += value;
		g->cells.row[at].samples += samples;
	}
	return rc;
}

/* Where an item is shown. */
static uint32_t place_of(const struct filling *g, uint32_t stack)
{
	const struct stacks_place *at = &g->s->private->place[stack];

	if (g->axis->by_stack)
		return stack;
	if (g->axis->places)
		return g->axis->places[stack];
	return g->axis->by_class ? at->class : g->fold->place[at->node];
}

static uint32_t bucket_of(const struct filling *g, double s)
{
	double at = (s - g->axis->from_s) / g->width_s;

	if (!(at > 0))
		return 0;
	return at >= g->out->buckets ? g->out->buckets - 1 : (uint32_t)at;
}

/* Where a set of samples lies, and how much of it in each. */
struct spread {
	uint32_t n, bucket[SPREAD_MAX];
	double part[SPREAD_MAX];
};

static void spread_make(struct spread *sp, const struct filling *g, const struct run_samples *x)
{
	const struct stacks_selection *sel = &g->s->selection;
	double from = run_seconds(g->s->run, x->node, x->t0_ns);
	double to = run_seconds(g->s->run, x->node, x->t1_ns), step;
	uint32_t first, last, n;

	if (sel->from_s < sel->to_s) {
		from = fmax(from, sel->from_s);
		to = fmin(to, sel->to_s);
	}
	first = bucket_of(g, from);
	last = bucket_of(g, fmax(from, to));
	n = last - first + 1 < SPREAD_MAX ? last - first + 1 : SPREAD_MAX;
	step = (double)(last - first + 1) / n;
	sp->n = n;
	for (uint32_t i = 0; i < n; i++) {
		double begin = g->axis->from_s + (first + i * step) * g->width_s;
		double least = i ? fmax(begin, from) : from;
		double most = i + 1 < n ? fmin(begin + step * g->width_s, to) : to;

		sp->bucket[i] = first + (uint32_t)(i * step);
		sp->part[i] =
			n == 1 || !(to > from) ? 1.0 / n : fmax(0, most - least) / (to - from);
	}
}

static int set_take(struct filling *g, const struct run_samples *x, double part)
{
	uint32_t group = group_of(g, x), tid = g->s->selection.tid;
	struct spread sp;
	int rc = 0;

	spread_make(&sp, g, x);
	for (uint32_t i = 0; i < x->n && !rc; i++) {
		const struct event_item *item = &x->items[i];
		uint32_t stack = item->node < g->s->run->nstacks ? item->node : 0;
		double samples = (double)item->weight * part, value = samples * stacks_value(x);

		if (!(value > 0) || (tid && tid != item->task))
			continue;
		for (uint32_t k = 0; k < sp.n && !rc; k++)
			if (sp.part[k] > 0)
				rc = cell_add(g,
					      &(struct tally_key){ NULL, group, sp.bucket[k],
								   place_of(g, stack) },
					      value * sp.part[k], samples * sp.part[k]);
	}
	while (!rc && g->cells.n > g->axis->most && g->out->buckets > 1)
		rc = halve(g);
	return rc;
}

static int by_place(const void *a, const void *b)
{
	const struct stacks_cell *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->bucket != y->bucket)
		return x->bucket < y->bucket ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

static int cells_give(struct filling *g)
{
	struct stacks_cells *c = g->out;

	c->width_s = g->width_s;
	c->cell = calloc(g->cells.n + 1u, sizeof *c->cell);
	if (!c->cell)
		return -ENOMEM;
	for (c->n = 0; c->n < g->cells.n; c->n++) {
		const struct tally_row *row = &g->cells.row[c->n];

		c->cell[c->n] = (struct stacks_cell){ row->key.a, row->key.b, row->key.c,
						      (float)row->self, (float)row->samples };
	}
	qsort(c->cell, c->n, sizeof *c->cell, by_place);
	return 0;
}

static int fill(struct filling *g, struct err *e)
{
	struct run *r = g->s->run;
	struct run_samples x;
	int rc = r->next_samples ? r->rewind_samples(r) : 0;

	while (!rc && r->next_samples && (rc = r->next_samples(r, &x, e)) > 0) {
		double part = stacks_selected(g->s, &x);

		rc = part > 0 ? set_take(g, &x, part) : 0;
	}
	return rc;
}

int stacks_cells_make(struct stacks_cells *c, struct stacks *s, const struct stacks_fold *f,
		      const struct stacks_axis *axis, struct err *e)
{
	struct filling g = { .s = s, .fold = f, .axis = axis, .out = c };
	int rc;

	*c = (struct stacks_cells){ .buckets = axis->buckets < 1             ? 1
					       : axis->buckets > BUCKETS_MAX ? BUCKETS_MAX
									     : axis->buckets };
	g.width_s = axis->to_s > axis->from_s ? (axis->to_s - axis->from_s) / c->buckets : 1;
	rc = groups_make(&g);
	if (!rc)
		rc = fill(&g, e);
	if (!rc)
		rc = cells_give(&g);
	tally_free(&g.cells);
	tally_free(&g.groups);
	if (rc)
		stacks_cells_free(c);
	return rc ? err_set(e, rc, "not enough memory to share out samples over time") : 0;
}

void stacks_cells_free(struct stacks_cells *c)
{
	free(c->cell);
	free(c->groups);
	*c = (struct stacks_cells){ 0 };
}
