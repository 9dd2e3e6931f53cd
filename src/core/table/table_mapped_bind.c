/* SPDX-License-Identifier: Apache-2.0 */
/* table_mapped_bind.c - finds the metrics of a run that a map names. */
#include "base/bytes.h"
#include "core/frame/run.h"
#include "core/table/table_mapped.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A site has hundreds; a recording that claims more has made them up. */
enum { INSTANCE_COLUMNS_MAX = 4096, NAME_SIZE = 256, HEADING_SIZE = 512 };

struct binder {
	struct frame *f;
	struct mapped *w;
	struct run_index series, instances;
	uint32_t *holder_of; /* [ninstances] */
	uint32_t *column;    /* [nkeys]: the first of the key's; 0: none */
	uint32_t *rank;      /* [nnodes]: how many recordings of its host come before it */
	uint8_t *counted;    /* [nmetrics]: named by counter() or rise() */
	uint32_t *near;      /* series of the node at hand that are counters of the map */
	uint32_t nnear, near_cap, instance_columns;
	struct bytes names; /* public names, for the selection */
	bool failed;
};

static const struct metric *metric_of(const struct mapped *w, uint32_t series)
{
	return &w->run->metrics[w->run->series[series].metric].row;
}

static bool is_sound(const struct run *r, uint32_t series)
{
	const struct run_series *s = &r->series[series];

	return s->node && s->node < r->nnodes && s->metric && s->metric < r->nmetrics &&
	       (!s->instance || s->instance < r->ninstances);
}

static void public_name(const struct metric *m, char *name, size_t size)
{
	if (m->kind == KIND_COUNTER && !m->formula)
		metric_rate_name(m, name, size);
	else
		snprintf(name, size, "%s", m->name);
}

/* Whether it is what a name asks for; one that ends with a * asks for all counts that begin so. */
static bool is_asked(const struct metric *m, const char *name)
{
	const char *star = map_star(name);

	if (!star)
		return !strcmp(m->name, name);
	return m->kind == KIND_COUNTER && m->unit == UNIT_COUNT && !m->formula &&
	       !strncmp(m->name, name, (size_t)(star - name));
}

/* What to select so that a name can be answered. */
static void visit_name(void *ctx, const char *function, const char *name)
{
	struct binder *b = ctx;
	const struct run *r = b->w->run;
	char public[NAME_SIZE];
	enum map_how how;

	if (!map_how(function, &how))
		return;
	for (uint32_t i = 1; i < r->nmetrics; i++) {
		public_name(&r->metrics[i].row, public, sizeof public);
		if (how == MAP_VALUE ? strcmp(public, name) != 0
				     : !is_asked(&r->metrics[i].row, name))
			continue;
		b->counted[i] |= how != MAP_VALUE;
		bytes_puts(&b->names, b->names.len ? "," : "");
		bytes_puts(&b->names, public);
	}
}

/* Whether the run has values of it: a formula, or a series that this machine can have. */
static bool has_metric(const struct binder *b, const struct map_key *k)
{
	const struct run *r = b->w->run;
	char public[NAME_SIZE];

	for (uint32_t i = 1; i < r->nmetrics; i++) {
		const struct metric *m = &r->metrics[i].row;

		public_name(m, public, sizeof public);
		if (strcmp(k->how == MAP_VALUE ? public : m->name, k->metric) != 0)
			continue;
		if (m->formula)
			return true;
		for (uint32_t s = 1; s < r->nseries; s++)
			if (r->series[s].metric == i && r->series[s].state <= STATE_PRESENT)
				return true;
	}
	return false;
}

/* What the * of a key stands for: package-0/dram is dram-0 to those who number parts. */
static void star_name(const char *name, char *out, size_t size)
{
	const char *part = strrchr(name, '/');
	const char *number = part ? memrchr(name, '-', (size_t)(part - name)) : NULL;

	if (number)
		snprintf(out, size, "%s%.*s", part + 1, (int)(part - number), number);
	else
		snprintf(out, size, "%s", name);
}

static const char *heading(const struct mapped *w, const struct map_key *k)
{
	return w->keys ? k->key : k->header;
}

static int add_column(struct binder *b, const char *name)
{
	const struct column c = { name, COLUMN_REAL, "", "", kind_name(KIND_GAUGE) };

	return name ? frame_column(b->f, &c) : -ENOMEM;
}

/* The column of that name among those of a starred key, from `first` on; 0: none. */
static uint32_t find_column(const struct frame *f, uint32_t first, const char *name)
{
	for (uint32_t i = first; first && i < f->ncolumns; i++)
		if (!strcmp(f->columns[i].name, name))
			return i;
	return 0;
}

/* "disks.sda" of an instance, where keys are asked for; in a heading words are apart.
 * "L2.L1D_M_EVICT" of a count labelled L1D.M_EVICT. */
static void starred(const struct mapped *w, const struct map_key *k, uint32_t series, char *out,
		    size_t size)
{
	const struct metric *m = metric_of(w, series);
	const char *pattern = heading(w, k), *star = map_star(pattern);
	char part[NAME_SIZE], apart = '.', with = '_';

	if (map_star(k->metric)) {
		snprintf(part, sizeof part, "%s", m->label ? m->label : m->name);
	} else {
		star_name(w->run->instances[w->run->series[series].instance].name, part,
			  sizeof part);
		apart = '-';
		with = w->keys ? '-' : ' ';
	}
	for (char *c = part; *c; c++)
		*c = *c == apart ? with : *c;
	snprintf(out, size, "%.*s%s%s", (int)(star - pattern), pattern, part, star + 1);
}

/* Whether a series has a column of its own by the * of a key. */
static bool has_column(const struct mapped *w, const struct map_key *k, uint32_t series)
{
	if (!is_asked(metric_of(w, series), k->metric))
		return false;
	return map_star(k->metric) ? w->run->series[series].state <= STATE_PRESENT
				   : w->run->series[series].instance != 0;
}

static int add_starred(struct binder *b, uint32_t key)
{
	struct mapped *w = b->w;
	const struct map_key *k = &w->map->keys[key];
	char name[HEADING_SIZE];
	int rc = 0;

	for (uint32_t s = 1; s < w->run->nseries && !rc; s++) {
		if (!is_sound(w->run, s) || !has_column(w, k, s))
			continue;
		starred(w, k, s, name, sizeof name);
		if (find_column(b->f, b->column[key], name) ||
		    b->instance_columns == INSTANCE_COLUMNS_MAX)
			continue;
		b->column[key] = b->column[key] ? b->column[key] : b->f->ncolumns;
		b->instance_columns++;
		rc = add_column(b, pool_text(&w->pool, name, strlen(name)));
	}
	return rc;
}

static int add_columns(struct binder *b)
{
	const struct map_table *t = b->w->map;
	int rc = 0;

	for (uint32_t k = 0; k < t->nkeys && !rc; k++) {
		if (map_star(t->keys[k].key)) {
			rc = add_starred(b, k);
		} else if (!t->keys[k].optional || has_metric(b, &t->keys[k])) {
			b->column[k] = b->f->ncolumns;
			rc = add_column(b, heading(b->w, &t->keys[k]));
		}
	}
	return rc;
}

/* Of the node itself, else the cells its instances combine into are the node's holder's, too. */
static uint32_t find_cell(const struct mapped *w, uint32_t holder, const char *name)
{
	const struct plan *p = &w->derive.plan;
	const struct holder *h = &p->holder[holder];

	for (uint32_t c = h->first; holder && c < h->first + h->ncells; c++)
		if (!strcmp(p->quantity[p->cell[c].quantity].name, name))
			return c;
	return 0;
}

/* Whose series answer a counter: those of one instance, else the node's own, else those of its
 * instances that count. */
struct whose {
	uint32_t instance;
	bool own;
};

static bool is_of(const struct run *r, const struct whose *whose, uint32_t instance)
{
	if (whose->instance || whose->own)
		return instance == whose->instance;
	return !(r->instances[instance].flags & INSTANCE_ASIDE);
}

static int add_series(struct binder *b, struct map_input *in, const char *name, uint32_t instance)
{
	struct mapped *w = b->w;
	struct whose whose = { instance, false };

	in->first = w->nseries;
	for (uint32_t i = 0; i < b->nnear && !instance; i++)
		whose.own |= !w->run->series[b->near[i]].instance &&
			     !strcmp(metric_of(w, b->near[i])->name, name);
	for (uint32_t i = 0; i < b->nnear; i++) {
		uint32_t s = b->near[i];

		if (strcmp(metric_of(w, s)->name, name) != 0 ||
		    !is_of(w->run, &whose, w->run->series[s].instance))
			continue;
		if (!plan_grow((void **)&w->series, w->nseries, &w->series_cap, sizeof *w->series))
			return -ENOMEM;
		w->series[w->nseries++] = s;
		w->is_counter[s] = 1;
	}
	in->nseries = w->nseries - in->first;
	return 0;
}

struct adding {
	struct binder *b;
	uint32_t node, instance;
	const char *counted; /* what a name with a * stands for */
	int rc;
};

static void add_input(void *ctx, const char *function, const char *name)
{
	struct adding *a = ctx;
	struct mapped *w = a->b->w;
	struct map_input *in;
	enum map_how how;

	if (a->rc || !map_how(function, &how))
		return;
	if (!plan_grow((void **)&w->input, w->ninputs, &w->input_cap, sizeof *w->input)) {
		a->rc = -ENOMEM;
		return;
	}
	in = &w->input[w->ninputs++];
	*in = (struct map_input){ .how = how, .name = name };
	if (how != MAP_VALUE)
		a->rc = add_series(a->b, in, map_star(name) ? a->counted : name, a->instance);
	else
		in->cell = find_cell(w,
				     a->instance ? a->b->holder_of[a->instance]
						 : w->derive.plan.node_holder[a->node],
				     name);
}

static int add_binding(struct adding *a, const struct map_key *k, uint32_t column)
{
	struct mapped *w = a->b->w;
	struct map_binding *binding;

	if (!plan_grow((void **)&w->binding, w->nbindings, &w->binding_cap, sizeof *w->binding))
		return -ENOMEM;
	binding = &w->binding[w->nbindings++];
	*binding = (struct map_binding){ k, column, w->ninputs, 0 };
	expr_names(k->value, add_input, a);
	binding->ninputs = w->ninputs - binding->first_input;
	w->entity[w->nentities - 1].nbindings++;
	return a->rc;
}

static int bind_starred(struct adding *a, const struct map_key *k, uint32_t first)
{
	const struct mapped *w = a->b->w;
	char name[HEADING_SIZE];
	int rc = 0;

	for (uint32_t i = 0; i < a->b->nnear && !rc; i++) {
		uint32_t s = a->b->near[i], column;

		if (!has_column(w, k, s))
			continue;
		starred(w, k, s, name, sizeof name);
		column = find_column(a->b->f, first, name);
		if (map_star(k->metric))
			a->counted = metric_of(w, s)->name;
		else
			a->instance = w->run->series[s].instance;
		rc = column ? add_binding(a, k, column) : 0;
	}
	a->instance = 0;
	return rc;
}

static int bind_keys(struct adding *a)
{
	const struct map_table *t = a->b->w->map;
	int rc = 0;

	for (uint32_t k = 0; k < t->nkeys && !rc; k++) {
		uint32_t column = a->b->column[k];

		if (column)
			rc = map_star(t->keys[k].key) ? bind_starred(a, &t->keys[k], column)
						      : add_binding(a, &t->keys[k], column);
	}
	return rc;
}

/* The host; of its second recording host.2; of an instance gpu-0.host. */
static const char *entity_host(const struct binder *b, uint32_t node, uint32_t instance)
{
	struct mapped *w = b->w;
	const char *domain = w->map->domain;
	const char *name = instance ? w->run->instances[instance].name : NULL;
	char text[HEADING_SIZE], host[NAME_SIZE], prefix[NAME_SIZE] = "";

	run_host_name(w->run, node, b->rank[node], host, sizeof host);
	if (name && !strncmp(name, domain, strlen(domain)))
		name += strlen(domain);
	if (name)
		snprintf(prefix, sizeof prefix, "%s-%s.", domain, name);
	snprintf(text, sizeof text, "%s%s", prefix, host);
	return pool_text(&w->pool, text, strlen(text));
}

static int add_entity(struct binder *b, uint32_t node, uint32_t instance)
{
	struct mapped *w = b->w;
	struct adding a = { b, node, instance, NULL, 0 };

	if (!plan_grow((void **)&w->entity, w->nentities, &w->entity_cap, sizeof *w->entity))
		return -ENOMEM;
	w->entity[w->nentities] =
		(struct map_entity){ entity_host(b, node, instance), w->nbindings, 0 };
	return w->entity[w->nentities++].host ? bind_keys(&a) : -ENOMEM;
}

/* The series of a node that the map's counters may be. */
static int gather_near(struct binder *b, uint32_t node)
{
	const struct run *r = b->w->run;

	b->nnear = 0;
	for (uint32_t i = b->series.first[node]; i < b->series.first[node + 1]; i++) {
		uint32_t s = b->series.id[i];

		if (!is_sound(r, s) || !b->counted[r->series[s].metric])
			continue;
		if (!plan_grow((void **)&b->near, b->nnear, &b->near_cap, sizeof *b->near))
			return -ENOMEM;
		b->near[b->nnear++] = s;
	}
	return 0;
}

static int bind_node(struct binder *b, uint32_t node)
{
	struct mapped *w = b->w;
	int rc = gather_near(b, node);

	if (!rc && !w->map->domain)
		return add_entity(b, node, 0);
	for (uint32_t i = b->instances.first[node]; i < b->instances.first[node + 1] && !rc; i++) {
		const struct run_instance *x = &w->run->instances[b->instances.id[i]];

		if (x->domain && !strcmp(x->domain, w->map->domain))
			rc = add_entity(b, node, b->instances.id[i]);
	}
	return rc;
}

static int bind_nodes(struct binder *b)
{
	struct mapped *w = b->w;
	const struct plan *p = &w->derive.plan;
	int rc = run_host_ranks(w->run, b->rank);

	for (uint32_t h = 1; h < p->nholders; h++)
		b->holder_of[p->holder[h].instance] = h;
	for (uint32_t node = 0; node < w->run->nnodes && !rc; node++) {
		w->node_first[node] = w->nentities;
		rc = node ? bind_node(b, node) : 0;
	}
	w->node_first[w->run->nnodes] = w->nentities;
	return rc;
}

static int bind_all(struct binder *b, const struct selection *sel, struct err *e)
{
	struct mapped *w = b->w;
	struct selection own = { .from_s = sel->from_s, .to_s = sel->to_s };
	int rc;

	for (uint32_t k = 0; k < w->map->nkeys; k++)
		expr_names(w->map->keys[k].value, visit_name, b);
	bytes_u8(&b->names, '\0');
	rc = b->names.failed ? -ENOMEM : add_columns(b);
	if (rc || b->names.len == 1)
		return rc;
	own.metrics = (const char *)b->names.data;
	rc = derive_open(&w->derive, w->run, &own, e);
	return rc ? rc : bind_nodes(b);
}

int mapped_bind(struct frame *f, struct mapped *w, const struct selection *sel, struct err *e)
{
	const struct run *r = w->run;
	struct binder b = { .f = f, .w = w };
	int rc = -ENOMEM;

	w->node_first = calloc(r->nnodes + 1u, sizeof *w->node_first);
	w->counter = calloc(r->nseries + 1u, sizeof *w->counter);
	w->is_counter = calloc(r->nseries + 1u, 1);
	b.holder_of = calloc(r->ninstances + 1u, sizeof *b.holder_of);
	b.column = calloc(w->map->nkeys + 1u, sizeof *b.column);
	b.rank = calloc(r->nnodes + 1u, sizeof *b.rank);
	b.counted = calloc(r->nmetrics + 1u, 1);
	if (w->node_first && w->counter && w->is_counter && b.holder_of && b.column && b.rank &&
	    b.counted && !run_index_series(&b.series, r) && !run_index_instances(&b.instances, r))
		rc = bind_all(&b, sel, e);
	run_index_free(&b.series);
	run_index_free(&b.instances);
	free(b.holder_of);
	free(b.column);
	free(b.rank);
	free(b.counted);
	free(b.near);
	bytes_free(&b.names);
	return rc;
}

void mapped_free(struct mapped *w)
{
	derive_close(&w->derive);
	free(w->entity);
	free(w->node_first);
	free(w->binding);
	free(w->input);
	free(w->series);
	free(w->counter);
	free(w->is_counter);
	pool_free(&w->pool);
}
