/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/cycle.h"

#include <stdlib.h>

enum mark { FREE, STUCK, ON_PATH, DONE };

struct graph {
	const struct waits *w;
	uint32_t *by_pid; /* threads, sorted by process */
	uint8_t *mark;
};

static int by_pid(const void *a, const void *b, void *arg)
{
	const struct waits *w = arg;
	const struct wait_thread *x = &w->thread[*(const uint32_t *)a],
				 *y = &w->thread[*(const uint32_t *)b];

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* The first thread of a process in g->by_pid; w->n: there is none. */
static uint32_t first_of(const struct graph *g, pid_t pid)
{
	uint32_t low = 0, high = g->w->n;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (g->w->thread[g->by_pid[mid]].pid < pid)
			low = mid + 1;
		else
			high = mid;
	}
	return low < g->w->n && g->w->thread[g->by_pid[low]].pid == pid ? low : g->w->n;
}

/* The thread that this one waits for by h, if all that h may be are stuck; w->n: one is not. */
static uint32_t stuck_behind(const struct graph *g, const struct wait_thread *t,
			     const struct wait_holder *h)
{
	uint32_t at = first_of(g, h->pid), found = g->w->n;

	if (!h->tid && h->pid == t->pid) /* it might be a signal's handler */
		return g->w->n;
	for (; at < g->w->n && g->w->thread[g->by_pid[at]].pid == h->pid; at++) {
		uint32_t i = g->by_pid[at];

		if (h->tid && g->w->thread[i].tid != h->tid)
			continue;
		if (g->mark[i] == FREE)
			return g->w->n;
		if (found == g->w->n)
			found = i;
	}
	return found;
}

static bool is_stuck(const struct graph *g, const struct wait_thread *t)
{
	if (t->state != WAIT_WAITS || !t->closed || t->moved || !t->nholders)
		return false;
	for (uint32_t i = 0; i < t->nholders; i++)
		if (stuck_behind(g, t, &t->holder[i]) == g->w->n)
			return false;
	return true;
}

/* Whoever waits for one that is free is free. */
static void free_all(struct graph *g)
{
	bool changed = true;

	for (uint32_t i = 0; i < g->w->n; i++)
		g->mark[i] = STUCK;
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < g->w->n; i++)
			if (g->mark[i] == STUCK && !is_stuck(g, &g->w->thread[i])) {
				g->mark[i] = FREE;
				changed = true;
			}
	}
}

static uint32_t next_of(const struct graph *g, uint32_t i)
{
	const struct wait_thread *t = &g->w->thread[i];

	return stuck_behind(g, t, &t->holder[0]);
}

/* From here along whom each waits for: a path ends in a cycle, or in one that was found before. */
static bool follow(struct graph *g, uint32_t from, struct cycle *c)
{
	uint32_t i = from;
	bool found;

	for (; g->mark[i] == STUCK; i = next_of(g, i))
		g->mark[i] = ON_PATH;
	found = g->mark[i] == ON_PATH;
	c->n = 0;
	for (uint32_t k = i; found && c->n < CYCLE_MAX && (!c->n || k != i); k = next_of(g, k))
		c->thread[c->n++] = k;
	for (uint32_t k = from; g->mark[k] == ON_PATH; k = next_of(g, k))
		g->mark[k] = DONE;
	return found;
}

uint32_t cycles_find(const struct waits *w, struct cycle *out)
{
	struct graph g = { w, malloc((w->n + 1) * sizeof *g.by_pid), malloc(w->n + 1) };
	uint32_t n = 0;

	if (g.by_pid && g.mark) {
		for (uint32_t i = 0; i < w->n; i++)
			g.by_pid[i] = i;
		qsort_r(g.by_pid, w->n, sizeof *g.by_pid, by_pid, (void *)(uintptr_t)w);
		free_all(&g);
		for (uint32_t i = 0; i < w->n && n < CYCLES_MAX; i++)
			if (g.mark[i] == STUCK && follow(&g, i, &out[n]))
				n++;
	}
	free(g.by_pid);
	free(g.mark);
	return n;
}
