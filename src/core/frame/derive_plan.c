/* SPDX-License-Identifier: Apache-2.0 */
#include "core/frame/derive_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool plan_grow(void **array, uint32_t n, uint32_t *cap, size_t size)
{
	uint32_t want = *cap ? *cap * 2 : 64;
	void *bigger;

	if (n < *cap)
		return true;
	if (want <= *cap)
		return false;
	bigger = reallocarray(*array, want, size);
	if (!bigger)
		return false;
	*array = bigger;
	*cap = want;
	return true;
}

/* Domains whose instances come and go. */
static const struct passing {
	const char *domain;
	bool numbered;
} passing[] = { { "process", true }, { "command", false } };

static const struct passing *find_passing(const struct run_instance *i)
{
	for (size_t d = 0; i->domain && d < sizeof(passing) / sizeof(passing[0]); d++)
		if (!strcmp(i->domain, passing[d].domain))
			return &passing[d];
	return NULL;
}

bool instance_passes(const struct run_instance *i)
{
	return find_passing(i);
}

bool instance_is_numbered(const struct run_instance *i)
{
	const struct passing *p = find_passing(i);

	return p && p->numbered;
}

/* The node itself, instance 0, comes after its instances, since it holds what they combine into. */
static int by_place(const void *a, const void *b)
{
	const struct series_key *x = a, *y = b;
	uint32_t i = x->instance - 1, j = y->instance - 1;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (i != j)
		return i < j ? -1 : 1;
	return (x->quantity > y->quantity) - (x->quantity < y->quantity);
}

static bool is_sound(const struct plan *p, const struct run_series *s)
{
	return s->node && s->node < p->run->nnodes && s->metric && s->metric < p->run->nmetrics &&
	       s->instance < p->run->ninstances + !p->run->ninstances;
}

static bool is_chosen(const struct selection *sel, uint32_t node)
{
	return !sel->to_node || (node >= sel->from_node && node < sel->to_node);
}

/* Of a run of many nodes, some are chosen at a time: their series lie together. */
static void find_series(struct plan *p, const struct selection *sel)
{
	const struct run *r = p->run;

	p->first_series = sel->to_node ? r->nseries : 1;
	p->behind_series = sel->to_node ? 1 : r->nseries;
	for (uint32_t i = sel->from_node; i < sel->to_node && i < r->nnodes; i++) {
		const struct run_node *n = &r->nodes[i];

		if (!n->behind_series) {
			p->first_series = 1;
			p->behind_series = r->nseries;
			return;
		}
		if (n->first_series < p->first_series)
			p->first_series = n->first_series;
		if (n->behind_series > p->behind_series)
			p->behind_series = n->behind_series;
	}
}

static size_t collect_keys(const struct plan *p, const struct selection *sel,
			   struct series_key *key)
{
	size_t n = 0;

	for (uint32_t i = p->first_series; i < p->behind_series; i++) {
		const struct run_series *s = &p->run->series[i];

		uint32_t quantity = is_sound(p, s) ? p->quantity[s->metric].same_as : 0;

		if (!p->quantity[quantity].needed || !is_chosen(sel, s->node))
			continue;
		p->wanted[i] = 1;
		key[n++] = (struct series_key){ s->node, s->instance, quantity, i };
	}
	qsort(key, n, sizeof(*key), by_place);
	return n;
}

/* Holder 0 and cell 0 are none. */
static int build_all(struct builder *b, const struct series_key *key, size_t n)
{
	struct plan *p = b->p;
	size_t end;
	int rc = 0;

	if (!plan_grow((void **)&p->holder, 0, &p->holder_cap, sizeof(*p->holder)) ||
	    !plan_grow((void **)&p->cell, 0, &p->cell_cap, sizeof(*p->cell)))
		return -ENOMEM;
	p->holder[p->nholders++] = (struct holder){ 0 };
	p->cell[p->ncells++] = (struct cell){ 0 };
	for (size_t i = 0; i < n && !rc; i = end) {
		for (end = i + 1; end < n && key[end].node == key[i].node;)
			end++;
		rc = build_node(b, key + i, end - i);
	}
	return rc;
}

static int plan_cells(struct plan *p, const struct selection *sel)
{
	uint32_t nmetrics = p->run->nmetrics + 1u, nseries = p->run->nseries + 1u;
	struct builder b = { .p = p, .sel = sel };
	struct series_key *key = calloc(nseries, sizeof(*key));
	uint32_t *places = calloc(nmetrics, 4 * sizeof(*places));
	int rc = -ENOMEM;

	p->series_cell = calloc(nseries, sizeof(*p->series_cell));
	p->wanted = calloc(nseries, 1);
	p->node_holder = calloc(p->run->nnodes + 1u, sizeof(*p->node_holder));
	p->node_cell = calloc(p->run->nnodes + 1u, sizeof(*p->node_cell));
	if (key && places && p->series_cell && p->wanted && p->node_holder && p->node_cell) {
		b.own = (struct place){ places, places + nmetrics };
		b.on_node = (struct place){ places + 2 * nmetrics, places + 3 * nmetrics };
		find_series(p, sel);
		rc = build_all(&b, key, collect_keys(p, sel, key));
	}
	free(key);
	free(places);
	return rc;
}

int plan_make(struct plan *p, const struct run *r, const struct selection *sel, struct err *e)
{
	int rc;

	*p = (struct plan){ .run = r };
	rc = plan_quantities(p, sel, e);
	if (rc)
		return rc;
	rc = plan_cells(p, sel);
	if (rc == -EFBIG)
		return err_set(e, rc,
			       "%s asks for more derived values than a real recording does; "
			       "select fewer metrics",
			       r->path ? r->path : "the recording");
	return rc ? err_set(e, rc, "out of memory for %u series", r->nseries) : 0;
}

void plan_free(struct plan *p)
{
	for (uint32_t i = 0; p->quantity && i < p->run->nmetrics; i++) {
		free(p->quantity[i].name);
		expr_free(p->quantity[i].formula);
	}
	free(p->quantity);
	free(p->input);
	free(p->derived);
	free(p->cell);
	free(p->holder);
	free(p->node_holder);
	free(p->node_cell);
	free(p->source);
	free(p->series_cell);
	free(p->wanted);
	*p = (struct plan){ 0 };
}
