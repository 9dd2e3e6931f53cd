/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive_build.h - how the cells of a plan (core/frame/derive_plan.h) are laid out, a node at a
 * time.
 */
#ifndef SONDE_CORE_FRAME_DERIVE_BUILD_H
#define SONDE_CORE_FRAME_DERIVE_BUILD_H

#include "core/frame/derive_plan.h"

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

/* Cells for the keys of one node, sorted by instance and quantity with the node itself (instance 0)
 * last, since it holds what its instances combine into. 0 or -errno. */
int build_node(struct builder *b, const struct series_key *key, size_t n);

#endif
