/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_index.h - what of a run belongs to which node, so that who goes from node to node need not
 * look at everything each time.
 *
 * Ids of node n are id[first[n]] .. id[first[n + 1] - 1], in order. {0} is empty and safe to free.
 */
#ifndef SONDE_CORE_FRAME_RUN_INDEX_H
#define SONDE_CORE_FRAME_RUN_INDEX_H

#include "core/frame/run.h"

struct run_index {
	uint32_t *first; /* [nnodes + 1] */
	uint32_t *id;
};

/* 0 or -ENOMEM. Free in either case. */
int run_index_instances(struct run_index *x, const struct run *r);
int run_index_series(struct run_index *x, const struct run *r);
int run_index_metas(struct run_index *x, const struct run *r);
/* The same, a node's by key; of what was said again the last comes last. */
int run_index_keys(struct run_index *x, const struct run *r);
void run_index_free(struct run_index *x);

#endif
