/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase_nest.c - how phases of a node lie to each other, in O(n log n) however they do.
 *
 * In order of begin, the longer one first, a phase lies in those before it that end no earlier. It
 * crosses one before it that ends within it, and one behind it that begins within it and ends
 * later. Both are counts of ends, kept in a Fenwick tree over the order of ends.
 */
#include "core/phase.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct nesting {
	struct phase **of; /* phases of one node, by begin, the longer one first */
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
	const struct phase *x = *(struct phase *const *)a, *y = *(struct phase *const *)b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
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

		if (t->of[mid]->begin_s < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void nest_node(struct nesting *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		t->end[i] = end_of(t->of[i]);
	qsort(t->end, t->n, sizeof *t->end, by_value);
	memset(t->count, 0, (t->n + 1) * sizeof *t->count);
	for (uint32_t i = 0; i < t->n; i++) {
		struct phase *p = t->of[i];
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

int phases_nest(struct phases *p)
{
	struct phase **all = calloc((size_t)p->n + 1, sizeof(struct phase *));
	struct nesting t = { .end = calloc((size_t)p->n + 1, sizeof *t.end),
			     .count = calloc((size_t)p->n + 1, sizeof *t.count) };
	int rc = all && t.end && t.count ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < p->n && !rc; i++)
		all[i] = &p->phase[i];
	if (!rc)
		qsort(all, p->n, sizeof(struct phase *), by_node_and_begin);
	for (uint32_t i = 0; i < p->n && !rc; i += t.n) {
		t.of = all + i;
		for (t.n = 1; i + t.n < p->n && all[i + t.n]->node == all[i]->node;)
			t.n++;
		nest_node(&t);
	}
	free(all);
	free(t.end);
	free(t.count);
	return rc;
}
