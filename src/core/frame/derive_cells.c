/* SPDX-License-Identifier: Apache-2.0 */
#include "core/frame/derive_build.h"

#include <errno.h>
#include <string.h>

/* A recording that is honest has a few derived values for each measured one. */
enum { SOURCES_PER_SERIES_MAX = 64, SOURCES_MIN = 65536 };

static uint32_t find(const struct place *place, uint32_t holder, uint32_t quantity)
{
	return place->at[quantity] == holder ? place->cell[quantity] : 0;
}

static void set(struct place *place, uint32_t holder, uint32_t quantity, uint32_t cell)
{
	place->at[quantity] = holder;
	place->cell[quantity] = cell;
}

static uint32_t add_holder(struct plan *p, uint32_t node, uint32_t instance)
{
	if (!plan_grow((void **)&p->holder, p->nholders, &p->holder_cap, sizeof(*p->holder)))
		return 0;
	p->holder[p->nholders] = (struct holder){ node, instance, p->ncells, 0 };
	return p->nholders++;
}

/* A cell of the last holder. */
static int add_cell(struct builder *b, uint32_t quantity, enum cell_role role)
{
	struct plan *p = b->p;
	uint32_t holder = p->nholders - 1;

	if (!plan_grow((void **)&p->cell, p->ncells, &p->cell_cap, sizeof(*p->cell)))
		return -ENOMEM;
	p->cell[p->ncells] = (struct cell){ .holder = holder, .quantity = quantity, .role = role };
	p->holder[holder].ncells++;
	set(&b->own, holder, quantity, p->ncells++);
	return 0;
}

static int add_measured(struct builder *b, const struct series_key *key, size_t n)
{
	struct plan *p = b->p;
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		if (!i || key[i].quantity != key[i - 1].quantity)
			rc = add_cell(b, key[i].quantity, CELL_MEASURED);
		p->series_cell[key[i].series] = p->ncells - 1;
	}
	return rc;
}

/* Cells of the node for what its instances, from cell `first` on, combine into. */
static int add_combined(struct builder *b, uint32_t first)
{
	struct plan *p = b->p;
	uint32_t end = p->ncells, holder = p->nholders - 1;

	for (uint32_t i = first; i < end; i++) {
		const struct metric *m = p->quantity[p->cell[i].quantity].metric;
		uint32_t instance = p->holder[p->cell[i].holder].instance, combined;

		if (m->over_instances == COMBINE_NONE ||
		    p->run->instances[instance].flags & INSTANCE_ASIDE)
			continue;
		if (!find(&b->own, holder, p->cell[i].quantity) &&
		    add_cell(b, p->cell[i].quantity, CELL_COMBINED))
			return -ENOMEM;
		combined = find(&b->own, holder, p->cell[i].quantity);
		if (p->cell[combined].role != CELL_COMBINED)
			continue;
		p->cell[i].combined = combined;
		if (!instance_passes(&p->run->instances[instance]))
			p->cell[i].member = ++p->nmembers;
	}
	return 0;
}

static bool is_about(const char *domain, const struct run_instance *i)
{
	return domain && i->domain && !strcmp(domain, i->domain);
}

/* Whether a formula belongs to the last holder: it is about such things, or about the node, or (a
 * ratio, which may not be combined itself) about what the node's instances combine into. */
static bool belongs(const struct builder *b, const struct quantity *q)
{
	const struct plan *p = b->p;
	const struct holder *h = &p->holder[p->nholders - 1];
	const char *domain = q->metric->domain;
	bool any = false;

	if (h->instance && !is_about(domain, &p->run->instances[h->instance]))
		return false;
	if (!h->instance && domain && q->metric->over_instances != COMBINE_NONE)
		return false;
	for (uint32_t i = q->first_input; i < q->first_input + q->ninputs; i++) {
		uint32_t cell = find(&b->own, p->nholders - 1, p->input[i].quantity);

		any |= cell && (h->instance || !domain || p->cell[cell].role == CELL_COMBINED);
	}
	return any;
}

static int add_derived(struct builder *b)
{
	struct plan *p = b->p;
	int rc = 0;

	for (uint32_t i = 0; i < p->nderived && !rc; i++) {
		uint32_t id = p->derived[i];

		if (!find(&b->own, p->nholders - 1, id) && belongs(b, &p->quantity[id]))
			rc = add_cell(b, id, CELL_DERIVED);
	}
	return rc;
}

/* Inputs come from the same instance first, then from the node; but what others of its kind combine
 * into does not stand for what an instance itself lacks. */
static uint32_t find_source(const struct builder *b, uint32_t holder, uint32_t quantity)
{
	const struct plan *p = b->p;
	const struct holder *h = &p->holder[holder];
	uint32_t cell = find(&b->own, holder, quantity);

	if (cell || !quantity)
		return cell;
	if (h->instance &&
	    is_about(p->quantity[quantity].metric->domain, &p->run->instances[h->instance]))
		return 0;
	return find(&b->on_node, p->node_holder[h->node], quantity);
}

static int add_sources(struct builder *b, uint32_t holder, struct cell *c)
{
	struct plan *p = b->p;
	const struct quantity *q = &p->quantity[c->quantity];

	if (p->nsources / SOURCES_PER_SERIES_MAX > p->run->nseries + SOURCES_MIN)
		return -EFBIG;
	c->first_source = p->nsources;
	for (uint32_t i = q->first_input; i < q->first_input + q->ninputs; i++) {
		if (!plan_grow((void **)&p->source, p->nsources, &p->source_cap,
			       sizeof(*p->source)))
			return -ENOMEM;
		p->source[p->nsources++] = find_source(b, holder, p->input[i].quantity);
	}
	return 0;
}

/* Whether the selection shows a cell. Combined: what is on the node stands for its instances. */
static bool is_emitted(const struct builder *b, const struct holder *h, const struct cell *c)
{
	const struct quantity *q = &b->p->quantity[c->quantity];
	uint32_t node = b->p->node_holder[h->node];

	if (!q->chosen)
		return false;
	if (b->sel->lasting && h->instance && instance_passes(&b->p->run->instances[h->instance]))
		return false;
	if (b->sel->combine && !b->sel->wide)
		return !h->instance || !find(&b->on_node, node, c->quantity);
	if (c->role == CELL_COMBINED)
		return false;
	if (!h->instance)
		return c->role == CELL_MEASURED || !q->metric->domain;
	return !b->sel->wide || !instance_passes(&b->p->run->instances[h->instance]);
}

static int finish_holder(struct builder *b, uint32_t holder)
{
	struct plan *p = b->p;
	const struct holder *h = &p->holder[holder];
	int rc = 0;

	for (uint32_t i = h->first; i < h->first + h->ncells; i++)
		set(&b->own, holder, p->cell[i].quantity, i);
	for (uint32_t i = h->first; i < h->first + h->ncells && !rc; i++) {
		p->cell[i].emitted = is_emitted(b, h, &p->cell[i]);
		if (p->cell[i].role == CELL_DERIVED)
			rc = add_sources(b, holder, &p->cell[i]);
	}
	return rc;
}

static int add_instance(struct builder *b, const struct series_key *key, size_t n)
{
	int rc = add_holder(b->p, key->node, key->instance) ? 0 : -ENOMEM;

	if (!rc)
		rc = add_measured(b, key, n);
	return rc ? rc : add_derived(b);
}

int build_node(struct builder *b, const struct series_key *key, size_t n)
{
	struct plan *p = b->p;
	uint32_t first_cell = p->ncells, first_holder = p->nholders, holder;
	size_t i = 0, end;
	int rc = 0;

	for (; i < n && key[i].instance && !rc; i = end) {
		for (end = i + 1; end < n && key[end].instance == key[i].instance;)
			end++;
		rc = add_instance(b, key + i, end - i);
	}
	holder = rc ? 0 : add_holder(p, key->node, 0);
	if (!holder)
		return -ENOMEM;
	p->node_holder[key->node] = holder;
	p->node_cell[key->node] = first_cell;
	rc = add_measured(b, key + i, n - i);
	rc = rc ? rc : add_combined(b, first_cell);
	rc = rc ? rc : add_derived(b);
	for (uint32_t c = p->holder[holder].first; c < p->ncells && !rc; c++)
		set(&b->on_node, holder, p->cell[c].quantity, c);
	for (uint32_t h = first_holder; h < p->nholders && !rc; h++)
		rc = finish_holder(b, h);
	return rc;
}
