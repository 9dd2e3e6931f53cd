/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page_nodes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct score {
	uint32_t node;
	double value; /* INFINITY: always shown */
};

static int by_value(const void *a, const void *b)
{
	const struct score *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double cpu_of(const struct summary_host *h)
{
	return h->cpu_s;
}

static double memory_of(const struct summary_host *h)
{
	return h->peak_memory_bytes;
}

/* How far each host's figure is from the middle one, as a share of it. room: [nhosts] */
static void add_distances(struct score *score, const struct summary *s, double *room,
			  double (*figure)(const struct summary_host *))
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nhosts; i++)
		if (!isnan(figure(&s->hosts[i])))
			room[n++] = figure(&s->hosts[i]);
	if (!n)
		return;
	qsort(room, n, sizeof *room, by_number);
	for (uint32_t i = 0; i < s->nhosts && room[n / 2] > 0; i++) {
		double v = figure(&s->hosts[i]);

		score[s->hosts[i].node].value += isnan(v) ? 0 : fabs(v - room[n / 2]) / room[n / 2];
	}
}

static void mark_named(struct score *score, const struct run *r, const struct summary *s)
{
	for (uint32_t i = 0; i < s->nhosts; i++)
		if (s->hosts[i].lost || s->hosts[i].restarted)
			score[s->hosts[i].node].value = INFINITY;
	for (uint32_t i = 0; i < s->ncomparisons; i++) {
		score[s->hosts[s->comparisons[i].spread.least].node].value = INFINITY;
		score[s->hosts[s->comparisons[i].spread.most].node].value = INFINITY;
	}
	for (uint32_t i = 0; i < s->nverdicts; i++)
		if (s->verdicts[i].node && s->verdicts[i].node < r->nnodes)
			score[s->verdicts[i].node].value = INFINITY;
}

int page_nodes_make(struct page_nodes *x, const struct run *r, const struct summary *s,
		    uint32_t max)
{
	struct score *score = calloc(r->nnodes + 1u, sizeof *score);
	double *room = calloc(s->nhosts + 1u, sizeof *room);
	uint32_t n = r->nnodes ? r->nnodes - 1 : 0;

	*x = (struct page_nodes){ .id = calloc(n + 1u, sizeof *x->id) };
	if (score && room && x->id) {
		for (uint32_t i = 1; i < r->nnodes; i++)
			score[i].node = i;
		if (n > max) {
			add_distances(score, s, room, cpu_of);
			add_distances(score, s, room, memory_of);
			mark_named(score, r, s);
			qsort(score + 1, n, sizeof *score, by_value);
			n = max;
		}
		for (x->n = 0; x->n < n; x->n++)
			x->id[x->n] = score[x->n + 1].node;
		qsort(x->id, x->n, sizeof *x->id, by_id);
	}
	free(score);
	free(room);
	return x->id && x->n == n ? 0 : -ENOMEM;
}

bool page_nodes_has(const struct page_nodes *x, uint32_t node)
{
	return bsearch(&node, x->id, x->n, sizeof node, by_id) != NULL;
}

void page_nodes_free(struct page_nodes *x)
{
	free(x->id);
	*x = (struct page_nodes){ 0 };
}
