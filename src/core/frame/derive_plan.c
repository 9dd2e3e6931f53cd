/* SPDX-License-Identifier: Apache-2.0 */
#include "core/frame/derive_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct series_key {
	uint32_t node, instance, quantity, series;
};

/* Which cell of a holder has a quantity: valid where at[quantity] is the holder. */
struct place {
	uint32_t *at, *cell;
};

struct builder {
	struct plan *p;
	const struct selection *sel;
	struct place own, on_node; /* of the holder, and of the node, being built */
};

/* ---- the cells of a node ---- */

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

/* Cells for the keys of one node, sorted by instance and quantity with the node itself (instance 0)
 * last, since it holds what its instances combine into. 0 or -errno. */
static int build_node(struct builder *b, const struct series_key *key, size_t n)
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

/* ---- all cells ---- */

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
	p->first_series = 1;
	p->behind_series = p->run->nseries;
	if (sel->to_node)
		run_series_of(p->run, sel->from_node, sel->to_node, &p->first_series,
			      &p->behind_series);
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

/* ---- rows or ranges ---- */

/* A rate's extremes and what is not a number are in no range. */
static bool is_told_by_ranges(const struct plan *p, const struct cell *c)
{
	const struct quantity *q = &p->quantity[c->quantity];

	return c->role == CELL_MEASURED && !q->rate && q->metric->storage == STORE_INT;
}

/* Of two that are. */
static bool is_difference(const struct plan *p, const struct cell *c)
{
	const struct quantity *q = &p->quantity[c->quantity];
	uint32_t from, part;

	if (c->role != CELL_DERIVED || q->ninputs != 2 || !expr_is_difference(q->formula))
		return false;
	from = p->source[c->first_source];
	part = p->source[c->first_source + 1];
	return from && part && is_told_by_ranges(p, &p->cell[from]) &&
	       is_told_by_ranges(p, &p->cell[part]);
}

struct inputs {
	const struct plan *p;
	const struct cell *c;
	uint32_t next; /* they are asked for in the order they were listed */
};

static struct expr_value may_have(void *ctx, const char *function, const char *name)
{
	struct inputs *x = ctx;
	const struct quantity *q = &x->p->quantity[x->c->quantity];
	uint32_t i = x->next++, source = 0;

	(void)function; /* those that are calls were left without a source */
	if (i < q->ninputs && x->p->input[q->first_input + i].at == name)
		source = x->p->source[x->c->first_source + i];
	return (struct expr_value){ .known = source && x->p->cell[source].may_be };
}

/* Of a formula without what it needs there is never a value. True when it may be known that it was
 * not before. */
static bool find_known(struct plan *p, uint32_t cell)
{
	struct cell *c = &p->cell[cell];
	struct inputs inputs = { .p = p, .c = c };

	if (!c->may_be && c->role == CELL_MEASURED)
		c->may_be = true;
	else if (!c->may_be && c->role == CELL_DERIVED)
		c->may_be = expr_may_be_known(p->quantity[c->quantity].formula, may_have, &inputs);
	else
		return false;
	if (c->may_be && c->combined)
		p->cell[c->combined].may_be = true;
	return c->may_be;
}

/* What a cell in rows is made from is in rows, too, and a difference of what is. True when that
 * adds any. */
static bool spread(struct plan *p, uint32_t cell)
{
	struct cell *c = &p->cell[cell];
	uint32_t n = c->role == CELL_DERIVED ? p->quantity[c->quantity].ninputs : 0;
	bool more = false;

	if (!c->in_rows && p->cell[c->combined].in_rows && c->combined)
		more = c->in_rows = true;
	for (uint32_t i = 0; i < n && !c->in_rows && c->difference; i++)
		more = c->in_rows = p->cell[p->source[c->first_source + i]].in_rows;
	for (uint32_t i = 0; i < n && c->in_rows; i++) {
		uint32_t source = p->source[c->first_source + i];

		if (source && !p->cell[source].in_rows)
			more = p->cell[source].in_rows = true;
	}
	return more;
}

/* Until it changes nothing. */
static void for_all_cells(struct plan *p, bool (*change)(struct plan *p, uint32_t cell))
{
	bool more = true;

	while (more) {
		more = false;
		for (uint32_t i = 1; i < p->ncells; i++)
			more |= change(p, i);
	}
}

void plan_leave_to_ranges(struct plan *p)
{
	for_all_cells(p, find_known);
	for (uint32_t i = 1; i < p->ncells; i++) {
		struct cell *c = &p->cell[i];

		c->difference = c->emitted && c->may_be && is_difference(p, c);
		c->in_rows = c->emitted && c->may_be &&
			     (c->kept || !(c->difference || is_told_by_ranges(p, c)));
	}
	for_all_cells(p, spread);
	for (uint32_t i = 1; i < p->ncells; i++) {
		struct cell *c = &p->cell[i];

		c->ranged |= c->emitted && !c->in_rows;
		c->difference &= c->ranged;
		for (uint32_t k = 0; k < 2 && c->difference; k++)
			p->cell[p->source[c->first_source + k]].ranged = true;
	}
	for (uint32_t s = p->first_series; s < p->behind_series; s++)
		if (p->wanted[s])
			p->wanted[s] = p->cell[p->series_cell[s]].in_rows;
}
