/* SPDX-License-Identifier: Apache-2.0 */
#include "core/run_index.h"

#include <errno.h>
#include <stdlib.h>

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

void run_index_free(struct run_index *x)
{
	free(x->first);
	free(x->id);
	*x = (struct run_index){ 0 };
}
