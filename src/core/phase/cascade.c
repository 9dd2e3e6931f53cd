/* SPDX-License-Identifier: Apache-2.0 */
#include "core/phase/cascade.h"

#include "base/array.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a phase of the rules 20-cascade is to a node: a number of its own, or a part of a sum. */
static const struct number {
	const char *rule;
	size_t at;                     /* in struct cascade_node */
	bool of_images;                /* a sum over images */
	unsigned no_start, unfinished; /* what the node lacks without it, or without its end */
} numbers[] = {
	{ "cascade-nodeprep", offsetof(struct cascade_node, nodeprep_s), false,
	  CASCADE_NO_PREPARATION, CASCADE_UNPREPARED },
	{ "cascade-docker-install", offsetof(struct cascade_node, docker_install_s), false, 0, 0 },
	{ "cascade-private-registry", offsetof(struct cascade_node, private_registry_s), false, 0,
	  0 },
	{ "cascade-container-pull", offsetof(struct cascade_node, container_pull_s), false, 0, 0 },
	{ "cascade-global-resources", offsetof(struct cascade_node, global_resources_s), false,
	  CASCADE_NO_LOADING, CASCADE_UNLOADED },
	{ "cascade-pull", offsetof(struct cascade_node, pull_s), true, 0, 0 },
	{ "cascade-save", offsetof(struct cascade_node, save_s), true, 0, 0 },
	{ "cascade-torrent", offsetof(struct cascade_node, torrent_s), true, 0, 0 },
	{ "cascade-load", offsetof(struct cascade_node, load_s), true, 0, 0 },
};
enum { NUMBERS = sizeof numbers / sizeof numbers[0], NODEPREP = 0 };

struct making {
	struct cascade_pools *out;
	const struct run *run;
	const struct phases *phases;
	uint32_t *first,
		*next; /* phases of each node, a list in their order; 0: none, else 1 + i */
	uint32_t cap, nimages;
};

static const struct number *number_of(const struct phase *p)
{
	for (size_t i = 0; i < NUMBERS; i++)
		if (!strcmp(numbers[i].rule, p->rule->name))
			return &numbers[i];
	return NULL;
}

static double *value_of(struct cascade_node *n, const struct number *x)
{
	return (double *)((char *)n + x->at);
}

/* ---- a node ---- */

static bool says_size(const struct phase *p)
{
	char value[PHASE_VALUE_MAX];

	return p->rule->size &&
	       phase_field(PHASE_COMMAS, p->text, p->rule->size, value, sizeof value);
}

static void take_image(struct making *m, struct cascade_node *n, const struct number *x,
		       const struct phase *p)
{
	bool open = isnan(p->duration_s);

	m->out->image[m->nimages++] = p;
	n->images++;
	n->unfinished += open;
	n->unreadable_sizes += isnan(p->size_bytes) && says_size(p);
	if (!open)
		*value_of(n, x) += p->duration_s;
}

static void take_phase(struct making *m, struct cascade_node *n, const struct phase *p)
{
	const struct number *x = number_of(p);

	if (!x)
		return;
	if (x->of_images) {
		take_image(m, n, x, p);
		return;
	}
	*value_of(n, x) = p->duration_s;
	n->lacks &= ~x->no_start;
	if (isnan(p->duration_s))
		n->lacks |= x->unfinished;
	if (x == &numbers[NODEPREP])
		n->start_utc_ns = run_utc_ns(m->run, n->node, p->begin_ns);
}

static struct cascade_node make_node(struct making *m, uint32_t node)
{
	const char *host = m->run->nodes[node].host;
	struct cascade_node n = { .node = node,
				  .host = host ? host : "",
				  .image = m->out->image + m->nimages,
				  .start_utc_ns = INT64_MAX,
				  .nodeprep_s = NAN,
				  .docker_install_s = NAN,
				  .global_resources_s = NAN,
				  .private_registry_s = NAN,
				  .container_pull_s = NAN,
				  .lacks = CASCADE_NO_PREPARATION | CASCADE_NO_LOADING };

	for (uint32_t i = m->first[node]; i; i = m->next[i])
		take_phase(m, &n, &m->phases->phase[i - 1]);
	n.acquisition_s = n.pull_s + n.torrent_s + n.load_s;
	n.counts = n.start_utc_ns != INT64_MAX && !isnan(n.docker_install_s) &&
		   !isnan(n.global_resources_s);
	return n;
}

/* ---- a pool ---- */

void cascade_pool_name(const struct run *r, uint32_t node, char *out, size_t size)
{
	const struct run_meta *said = run_find_meta(r, node, CASCADE_POOL);
	const struct run_meta *account =
		run_find_meta(r, node, "job.environment.AZ_BATCH_ACCOUNT_NAME");
	const struct run_meta *pool = run_find_meta(r, node, "job.environment.AZ_BATCH_POOL_ID");

	out[0] = '\0';
	if (said && said->text)
		snprintf(out, size, "%s", said->text);
	else if (account && account->text && pool && pool->text)
		snprintf(out, size, "%s$%s", account->text, pool->text);
}

static struct cascade_pool *find_pool(struct making *m, const char *name)
{
	struct cascade_pools *c = m->out;
	struct cascade_pool *more;

	for (uint32_t i = 0; i < c->n; i++)
		if (!strcmp(c->pool[i].name, name))
			return &c->pool[i];
	more = array_room(c->pool, c->n, &m->cap, sizeof *more);
	if (!more)
		return NULL;
	c->pool = more;
	c->pool[c->n] = (struct cascade_pool){ .variance_s = NAN };
	snprintf(c->pool[c->n].name, sizeof c->pool->name, "%s", name);
	return &c->pool[c->n++];
}

static bool is_of_a_start(const struct making *m, uint32_t node)
{
	for (uint32_t i = m->first[node]; i; i = m->next[i])
		if (number_of(&m->phases->phase[i - 1]))
			return true;
	return run_find_meta(m->run, node, CASCADE_POOL);
}

static int add_node(struct making *m, uint32_t node)
{
	struct cascade_pool *p;
	struct cascade_node *more;
	char name[sizeof p->name];

	cascade_pool_name(m->run, node, name, sizeof name);
	p = find_pool(m, name);
	more = p ? array_room(p->node, p->nnodes, &p->nodes_cap, sizeof *more) : NULL;
	if (!more)
		return -ENOMEM;
	p->node = more;
	p->node[p->nnodes++] = make_node(m, node);
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct cascade_node *x = a, *y = b;
	int order = strcmp(x->host, y->host);

	if (x->start_utc_ns != y->start_utc_ns)
		return x->start_utc_ns < y->start_utc_ns ? -1 : 1;
	return order ? order : (x->node > y->node) - (x->node < y->node);
}

static int by_name(const void *a, const void *b)
{
	const struct cascade_pool *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* What the machines are: said with nodeprep:start. */
static void take_offer(struct cascade_pool *p, const struct phase *x)
{
	if (!p->offer[0])
		phase_field(PHASE_COMMAS, x->text, "offer", p->offer, sizeof p->offer);
	if (!p->sku[0])
		phase_field(PHASE_COMMAS, x->text, "sku", p->sku, sizeof p->sku);
}

static int take_size(struct making *m, struct cascade_pool *p, const struct phase *x)
{
	struct cascade_image *more;
	char name[PHASE_VALUE_MAX];

	if (isnan(x->size_bytes) || !phase_field(PHASE_COMMAS, x->text, "img", name, sizeof name))
		return 0;
	for (uint32_t i = 0; i < p->nimages; i++)
		if (!strcmp(p->image[i].name, name))
			return 0;
	if (p->nimages == CASCADE_IMAGES_MAX)
		return 0;
	more = array_room(p->image, p->nimages, &p->images_cap, sizeof *more);
	if (!more)
		return -ENOMEM;
	p->image = more;
	p->image[p->nimages] = (struct cascade_image){ pool_text(&m->out->text, name, strlen(name)),
						       x->size_bytes };
	return p->image[p->nimages++].name ? 0 : -ENOMEM;
}

static int look_at_texts(struct making *m, struct cascade_pool *p)
{
	int rc = 0;

	for (uint32_t k = 0; k < p->nnodes; k++)
		for (uint32_t i = m->first[p->node[k].node]; i && !rc; i = m->next[i]) {
			const struct phase *x = &m->phases->phase[i - 1];
			const struct number *of = number_of(x);

			if (of == &numbers[NODEPREP])
				take_offer(p, x);
			else if (of && of->of_images)
				rc = take_size(m, p, x);
		}
	return rc;
}

static void add_up(struct cascade_pool *p)
{
	int64_t first_ns = INT64_MAX, last_ns = 0;

	for (uint32_t i = 0; i < p->nnodes; i++) {
		const struct cascade_node *n = &p->node[i];

		if (!n->counts)
			continue;
		p->ncounted++;
		p->global_resources_s += n->global_resources_s;
		p->acquisition_s += n->acquisition_s;
		if (first_ns == INT64_MAX)
			first_ns = n->start_utc_ns;
		last_ns = n->start_utc_ns;
	}
	if (p->ncounted)
		p->variance_s = (double)(last_ns - first_ns) / 1e9;
}

static int finish(struct making *m)
{
	int rc = 0;

	for (uint32_t i = 0; i < m->out->n && !rc; i++) {
		struct cascade_pool *p = &m->out->pool[i];

		qsort(p->node, p->nnodes, sizeof *p->node, by_start);
		rc = look_at_texts(m, p);
		add_up(p);
	}
	if (m->out->n)
		qsort(m->out->pool, m->out->n, sizeof *m->out->pool, by_name);
	return rc;
}

/* The phases of each node, from the first to the last. */
static bool sort_phases(struct making *m)
{
	m->first = calloc(m->run->nnodes + 1u, sizeof *m->first);
	m->next = calloc(m->phases->n + 1u, sizeof *m->next);
	for (uint32_t i = m->phases->n; m->first && m->next && i; i--) {
		uint32_t node = m->phases->phase[i - 1].node;

		m->next[i] = m->first[node];
		m->first[node] = i;
	}
	m->out->image = calloc(m->phases->n + 1u, sizeof(const struct phase *));
	return m->first && m->next && m->out->image;
}

int64_t cascade_key_ns(double s)
{
	double whole, us = rint(modf(s, &whole) * 1e6);

	return (int64_t)whole * 1000000000 + (int64_t)us * 1000;
}

int cascade_pools_make(struct cascade_pools *c, const struct run *r, const struct phases *p)
{
	struct making m = { .out = c, .run = r, .phases = p };
	int rc;

	*c = (struct cascade_pools){ 0 };
	rc = sort_phases(&m) ? 0 : -ENOMEM;
	for (uint32_t i = 1; i < r->nnodes && !rc; i++)
		if (is_of_a_start(&m, i))
			rc = add_node(&m, i);
	if (!rc)
		rc = finish(&m);
	free(m.first);
	free(m.next);
	return rc;
}

void cascade_pools_free(struct cascade_pools *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		free(c->pool[i].node);
		free(c->pool[i].image);
	}
	free(c->pool);
	free(c->image);
	pool_free(&c->text);
	*c = (struct cascade_pools){ 0 };
}
