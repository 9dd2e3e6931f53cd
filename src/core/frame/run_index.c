/* SPDX-License-Identifier: Apache-2.0 */
#include "core/frame/run_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t node_of_instance(const struct run *r, uint32_t i)
{
	return r->instances[i].node;
}

static uint32_t node_of_series(const struct run *r, uint32_t i)
{
	return r->series[i].node;
}

static uint32_t node_of_meta(const struct run *r, uint32_t i)
{
	return r->metas[i].node;
}

/* Counted, then placed. Ids run from 1 to n - 1; those of no node are left out. */
static int make(struct run_index *x, const struct run *r, uint32_t n,
		uint32_t (*node_of)(const struct run *r, uint32_t i))
{
	uint32_t sum = 0;

	*x = (struct run_index){ calloc(r->nnodes + 2u, sizeof *x->first),
				 calloc(n + 1u, sizeof *x->id) };
	if (!x->first || !x->id)
		return -ENOMEM;
	for (uint32_t i = 1; i < n; i++)
		if (node_of(r, i) < r->nnodes)
			x->first[node_of(r, i)]++;
	for (uint32_t node = 0; node <= r->nnodes; node++) {
		uint32_t of_node = x->first[node];

		x->first[node] = sum;
		sum += of_node;
	}
	for (uint32_t i = 1; i < n; i++)
		if (node_of(r, i) < r->nnodes)
			x->id[x->first[node_of(r, i)]++] = i;
	for (uint32_t node = r->nnodes; node; node--) /* each is now where the next begins */
		x->first[node] = x->first[node - 1];
	x->first[0] = 0;
	return 0;
}

int run_index_instances(struct run_index *x, const struct run *r)
{
	return make(x, r, r->ninstances, node_of_instance);
}

int run_index_series(struct run_index *x, const struct run *r)
{
	return make(x, r, r->nseries, node_of_series);
}

int run_index_metas(struct run_index *x, const struct run *r)
{
	return make(x, r, r->nmetas, node_of_meta);
}

/* In which order a node's metadata are by key. Nodes of a job mostly have the same keys: then that
 * is known from the node before, since equal texts of a run have one address. */
struct order {
	const struct run *run;
	const uint32_t *id; /* of the node, as they came */
	const char **key;   /* of the node before, as they came */
	uint32_t *place;    /* [n] of id, by key */
	uint32_t *room, n;
};

static int by_key(const void *a, const void *b, void *order)
{
	const struct order *o = order;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int c = strcmp(o->run->metas[o->id[x]].key, o->run->metas[o->id[y]].key);

	return c ? c : (x > y) - (x < y);
}

static void order_node(struct order *o, uint32_t *id, uint32_t n)
{
	bool same = n == o->n;

	for (uint32_t i = 0; i < n && same; i++)
		same = o->run->metas[id[i]].key == o->key[i];
	o->id = id;
	o->n = n;
	for (uint32_t i = 0; i < n && !same; i++) {
		o->key[i] = o->run->metas[id[i]].key;
		o->place[i] = i;
	}
	if (!same && n)
		qsort_r(o->place, n, sizeof *o->place, by_key, o);
	for (uint32_t i = 0; i < n; i++)
		o->room[i] = id[o->place[i]];
	if (n)
		memcpy(id, o->room, n * sizeof *id);
}

int run_index_keys(struct run_index *x, const struct run *r)
{
	struct order o = { .run = r,
			   .key = calloc(r->nmetas + 1u, sizeof *o.key),
			   .place = calloc(r->nmetas + 1u, 2 * sizeof *o.place) };
	int rc = o.key && o.place ? run_index_metas(x, r) : -ENOMEM;

	o.room = o.place ? o.place + r->nmetas + 1u : NULL;
	for (uint32_t i = 0; i < r->nnodes && !rc; i++)
		order_node(&o, x->id + x->first[i], x->first[i + 1] - x->first[i]);
	free(o.key);
	free(o.place);
	return rc;
}

void run_index_free(struct run_index *x)
{
	free(x->first);
	free(x->id);
	*x = (struct run_index){ 0 };
}
