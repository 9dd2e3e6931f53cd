/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/counts.h"

#include <stdlib.h>

enum { FIRST = 1 << 10, GROWS = 4 };

static uint32_t hash_of(const struct count *c, uint32_t cap)
{
	uint64_t h = ((uint64_t)c->group << 32 | c->task) ^ c->node * UINT64_C(0xff51afd7ed558ccd);

	return (uint32_t)(h * UINT64_C(0x9e3779b97f4a7c15) >> 40) % cap;
}

static bool put(struct counts *c, const struct count *more)
{
	uint32_t at = hash_of(more, c->cap);

	while (c->count[at].weight) {
		struct count *x = &c->count[at];

		if (x->group == more->group && x->task == more->task && x->node == more->node) {
			x->weight += more->weight;
			return true;
		}
		at = (at + 1) % c->cap;
	}
	if (c->n >= c->cap / 4 * 3)
		return false;
	c->count[at] = *more;
	c->taken[c->n++] = at;
	return true;
}

/* Those that were not told, in a table of that size. False: no memory, all is as it was. */
static bool again(struct counts *c, uint32_t cap)
{
	uint32_t n = c->n - c->told;
	struct count *rest = n ? malloc(n * sizeof *rest) : NULL;

	if (n && !rest)
		return false;
	for (uint32_t i = 0; i < n; i++)
		rest[i] = *counts_ahead(c, i);
	for (uint32_t i = 0; i < c->n; i++)
		c->count[c->taken[i]].weight = 0;
	c->n = c->told = 0;
	c->cap = cap;
	for (uint32_t i = 0; i < n; i++)
		(void)put(c, &rest[i]);
	free(rest);
	return true;
}

bool counts_add(struct counts *c, const struct count *more)
{
	if (!c->cap)
		c->cap = FIRST;
	return put(c, more) || (c->cap < COUNTS_MAX && again(c, GROWS * c->cap) && put(c, more));
}

static int by_group(const void *a, const void *b, void *of)
{
	const struct counts *c = of;
	const struct count *x = &c->count[*(const uint32_t *)a];
	const struct count *y = &c->count[*(const uint32_t *)b];

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

void counts_sort(struct counts *c)
{
	if (!c->told && c->n)
		qsort_r(c->taken, c->n, sizeof c->taken[0], by_group, c);
}

const struct count *counts_ahead(const struct counts *c, uint32_t i)
{
	return c->told + i < c->n ? &c->count[c->taken[c->told + i]] : NULL;
}

void counts_forget(struct counts *c)
{
	if (c->told)
		(void)again(c, c->cap);
}
