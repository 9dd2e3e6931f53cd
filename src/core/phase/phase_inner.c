/* SPDX-License-Identifier: Apache-2.0 */
/* phase_inner.c - begins and ends of a node's phases in order of time; those that are open lie in a
 * heap, the innermost on top, where one that has ended stays until it comes to the top. */
#include "core/phase/phase_inner.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

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

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* of: the n phases of a node, by begin. Returns the number of steps, at most 2 n. */
static uint32_t sweep_node(struct sweep *w, const struct phase *const *of, uint32_t n,
			   struct phase_step *step)
{
	uint32_t begun = 0, ended = 0, nends = 0, nsteps = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!isnan(of[i]->end_s))
			w->end[nends++] = of[i]->end_s;
	qsort(w->end, nends, sizeof *w->end, by_value);
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
