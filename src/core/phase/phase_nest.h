/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase_nest.h - how the phases of a node lie in each other: how deep, and which is the innermost
 * at a time.
 *
 * Innermost is the deepest of those that have begun and not ended; of equally deep ones the last
 * in order of phases.phase. {0} is empty and safe to free.
 */
#ifndef SONDE_CORE_PHASE_PHASE_NEST_H
#define SONDE_CORE_PHASE_PHASE_NEST_H

#include "core/phase/phase.h"

/* How deep each one lies, and whether it crosses: for phases_make. 0 or -ENOMEM. */
int phases_nest(struct phases *p, const struct run *r);

struct phase_inner {
	struct phase_step *step; /* a node's are side by side, in order of time */
	uint32_t *first, *n;     /* [nnodes] in step */
	uint32_t nnodes;
};

/* The phases are borrowed. 0 or -ENOMEM; free in either case. */
int phase_inner_make(struct phase_inner *x, const struct phases *p, const struct run *r);
void phase_inner_free(struct phase_inner *x);
/* NULL: none of the node's. */
const struct phase *phase_inner_at(const struct phase_inner *x, uint32_t node, double at_s);

#endif
