/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase_nest.c - how the phases of a node lie in each other, in O(n log n) however they do.
 *
 * In order of begin, the longer one first, a phase lies in those before it that end no earlier. It
 * crosses one before it that ends within it, and one behind it that begins within it and ends
 * later. Both are counts of ends, kept in a Fenwick tree over the order of ends.
 */
#include "core/phase/phase_nest.h"

#include "core/describe.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a phase may lie in: those of the thread or of the lane of handles that it is of, or of the
 * rest of the node. Threads run side by side, and what they do crosses by its nature. */
struct nested {
	struct phase *phase;
	uint32_t of; /* the track; 0: the node */
};

struct nesting {
	struct nested *of; /* phases side by side, by begin, the longer one first */
	double *end;       /* their ends, sorted */
	uint32_t *count;   /* Fenwick, from 1: how many seen phases have the end of this rank */
	uint32_t n;
};

static double end_of(const struct phase *p)
{
	return p->end_ns == INT64_MAX ? INFINITY : p->end_s;
}

static int by_node_and_begin(const void *a, const void *b)
{
	const struct nested *m = a, *n = b;
	const struct phase *x = m->phase, *y = n->phase;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (m->of != n->of)
		return m->of < n->of ? -1 : 1;
	if (x->begin_s != y->begin_s)
		return x->begin_s < y->begin_s ? -1 : 1;
	return (end_of(x) < end_of(y)) - (end_of(x) > end_of(y));
}

/* How many of the sorted ends are below v, or, with `same`, at most v. */
static uint32_t rank_of(const struct nesting *t, double v, bool same)
{
	uint32_t low = 0, high = t->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (t->end[mid] < v || (same && t->end[mid] == v))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void put(struct nesting *t, double end)
{
	for (uint32_t i = rank_of(t, end, true); i && i <= t->n; i += i & -i)
		t->count[i]++;
}

/* How many of those put have one of the first `rank` ends. */
static uint32_t put_before(const struct nesting *t, uint32_t rank)
{
	uint32_t n = 0;

	for (uint32_t i = rank; i; i -= i & -i)
		n += t->count[i];
	return n;
}

/* How many phases begin before this. */
static uint32_t begun_before(const struct nesting *t, double at)
{
	uint32_t low = 0, high = t->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (t->of[mid].phase->begin_s < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void nest_node(struct nesting *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		t->end[i] = end_of(t->of[i].phase);
	sort_values(t->end, t->n);
	memset(t->count, 0, (t->n + 1) * sizeof *t->count);
	for (uint32_t i = 0; i < t->n; i++) {
		struct phase *p = t->of[i].phase;
		double end = end_of(p);
		uint32_t sooner = put_before(t, rank_of(t, end, false));
		uint32_t over = put_before(t, rank_of(t, p->begin_s, true));
		uint32_t begun, within;

		p->depth = i - sooner;
		p->crosses = sooner > over;
		put(t, end);
		/* Of those behind it: how many begin before its end, and how many of these end by
		 * then, too. What ends by then has begun before. */
		begun = begun_before(t, end);
		within = rank_of(t, end, true) - put_before(t, rank_of(t, end, true));
		p->crosses |= begun > i + 1 && begun - (i + 1) > within;
	}
}

static bool are_side_by_side(const struct nested *a, const struct nested *b)
{
	return a->phase->node == b->phase->node && a->of == b->of;
}

static bool is_of_program(const struct run *r, uint32_t track)
{
	return track && (run_label(r, track, "tid") || run_label(r, track, "async"));
}

int phases_nest(struct phases *p, const struct run *r)
{
	struct nested *all = calloc((size_t)p->n + 1, sizeof *all);
	struct nesting t = { .end = calloc((size_t)p->n + 1, sizeof *t.end),
			     .count = calloc((size_t)p->n + 1, sizeof *t.count) };
	int rc = all && t.end && t.count ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < p->n && !rc; i++) {
		uint32_t track = p->phase[i].track;

		all[i] = (struct nested){ &p->phase[i], is_of_program(r, track) ? track : 0 };
	}
	if (!rc)
		qsort(all, p->n, sizeof *all, by_node_and_begin);
	for (uint32_t i = 0; i < p->n && !rc; i += t.n) {
		t.of = all + i;
		for (t.n = 1; i + t.n < p->n && are_side_by_side(&all[i], &all[i + t.n]);)
			t.n++;
		nest_node(&t);
	}
	free(all);
	free(t.end);
	free(t.count);
	return rc;
}

/* ---- the innermost at a time ---- */

/* Begins and ends of a node's phases in order of time; those that are open lie in a heap, the
 * innermost on top, where one that has ended stays until it comes to the top. */

/* From then on, until the next one. */
struct phase_step {
	double at_s;
	const struct phase *phase; /* NULL: none */
};

struct sweep {
	const struct phase **open; /* a heap */
	uint32_t nopen;
	double *end; /* of the node's phases, sorted */
};

static bool is_within(const struct phase *a, const struct phase *b)
{
	return a->depth != b->depth ? a->depth > b->depth : a > b;
}

static void push(struct sweep *w, const struct phase *p)
{
	uint32_t at = w->nopen++;

	for (; at && is_within(p, w->open[(at - 1) / 2]); at = (at - 1) / 2)
		w->open[at] = w->open[(at - 1) / 2];
	w->open[at] = p;
}

static void pop(struct sweep *w)
{
	const struct phase *last = w->open[--w->nopen];
	uint32_t at = 0, child;

	while ((child = 2 * at + 1) < w->nopen) {
		if (child + 1 < w->nopen && is_within(w->open[child + 1], w->open[child]))
			child++;
		if (!is_within(w->open[child], last))
			break;
		w->open[at] = w->open[child];
		at = child;
	}
	w->open[at] = last;
}

static bool has_ended(const struct phase *p, double at_s)
{
	return !isnan(p->end_s) && p->end_s <= at_s;
}

/* of: the n phases of a node, by begin. Returns the number of steps, at most 2 n. */
static uint32_t sweep_node(struct sweep *w, const struct phase *const *of, uint32_t n,
			   struct phase_step *step)
{
	uint32_t begun = 0, ended = 0, nends = 0, nsteps = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!isnan(of[i]->end_s))
			w->end[nends++] = of[i]->end_s;
	sort_values(w->end, nends);
	w->nopen = 0;
	while (begun < n || ended < nends) {
		double at_s = fmin(begun < n ? of[begun]->begin_s : NAN,
				   ended < nends ? w->end[ended] : NAN);

		for (; begun < n && !(of[begun]->begin_s > at_s); begun++)
			push(w, of[begun]);
		while (ended < nends && w->end[ended] <= at_s)
			ended++;
		while (w->nopen && has_ended(w->open[0], at_s))
			pop(w);
		step[nsteps++] = (struct phase_step){ at_s, w->nopen ? w->open[0] : NULL };
	}
	return nsteps;
}

/* The phases, a node's side by side, in their order; n is counted. */
static void place(struct phase_inner *x, const struct phases *p, const struct phase **of)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < p->n; i++)
		x->n[p->phase[i].node]++;
	for (uint32_t node = 0; node < x->nnodes; node++) {
		x->first[node] = sum;
		sum += x->n[node];
		x->n[node] = 0;
	}
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t node = p->phase[i].node;

		of[x->first[node] + x->n[node]++] = &p->phase[i];
	}
}

int phase_inner_make(struct phase_inner *x, const struct phases *p, const struct run *r)
{
	const struct phase **of = calloc(2 * ((size_t)p->n + 1), sizeof(void *));
	struct sweep w = { .open = of ? of + p->n + 1 : NULL,
			   .end = calloc((size_t)p->n + 1, sizeof *w.end) };
	bool made;

	*x = (struct phase_inner){ .step = calloc(2 * (size_t)p->n + 1, sizeof *x->step),
				   .first = calloc(r->nnodes + 1u, sizeof *x->first),
				   .n = calloc(r->nnodes + 1u, sizeof *x->n),
				   .nnodes = r->nnodes };
	made = of && w.end && x->step && x->first && x->n;
	if (made)
		place(x, p, of);
	for (uint32_t node = 0; made && node < x->nnodes; node++) {
		uint32_t first = x->first[node];

		x->first[node] = 2 * first;
		x->n[node] = sweep_node(&w, of + first, x->n[node], x->step + 2 * (size_t)first);
	}
	free(of);
	free(w.end);
	return made ? 0 : -ENOMEM;
}

void phase_inner_free(struct phase_inner *x)
{
	free(x->step);
	free(x->first);
	free(x->n);
	*x = (struct phase_inner){ 0 };
}

const struct phase *phase_inner_at(const struct phase_inner *x, uint32_t node, double at_s)
{
	const struct phase_step *step;
	uint32_t low = 0, high;

	if (node >= x->nnodes)
		return NULL;
	step = x->step + x->first[node];
	high = x->n[node];
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (step[middle].at_s <= at_s)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? step[low - 1].phase : NULL;
}
