/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase_nest.c - how phases of a node lie to each other, in O(n log n) however they do.
 *
 * In order of begin, the longer one first, a phase lies in those before it that end no earlier. It
 * crosses one before it that ends within it, and one behind it that begins within it and ends
 * later. Both are counts of ends, kept in a Fenwick tree over the order of ends.
 */
#include "core/phase/phase.h"

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

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
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
	qsort(t->end, t->n, sizeof *t->end, by_value);
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
