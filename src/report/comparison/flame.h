/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame.h - the stacks of two groups of runs as one tree, for a differential flame graph: what a
 * function and all that it calls used in a run of A and of B; or those of one, side 0 alone.
 *
 * What is less than a thousandth of a run's samples is in its caller alone. Names are hostile. {0}
 * is empty and safe to free.
 */
#ifndef SONDE_REPORT_COMPARISON_FLAME_H
#define SONDE_REPORT_COMPARISON_FLAME_H

#include "base/bytes.h"
#include "base/pool.h"

struct stacks;

/* Parents are before their children. */
struct flame_node {
	uint32_t parent, depth;
	uint64_t sum; /* of parent, name and module */
	const char *name, *module;
	double seconds[2]; /* of all runs of A, of B */
};

struct flame {
	struct flame_node *node; /* [0] is all of it */
	uint32_t n, cap;
	uint32_t *slot; /* [slots] by sum: a node and 1, or 0 */
	uint32_t slots;
	uint32_t runs[2];
	struct pool pool;
};

/* side: 0 A, 1 B. 0 or -ENOMEM. */
int flame_add(struct flame *f, int side, const struct stacks *s);
void flame_free(struct flame *f);

/* As SVG without a script, its colours by classes (flame_style); nothing, unless both sides have
 * stacks. whole_s: a run of A, of which points are percent. 0 or -ENOMEM. */
int flame_svg(struct bytes *out, const struct flame *f, double whole_s);
extern const char flame_style[];
/* Of side 0 alone, in one colour; what it counts is bytes. */
int flame_svg_of_memory(struct bytes *out, const struct flame *f);

#endif
