/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweepknown.h - what makes a combination the same in another sweep: a specification that grew, by
 * a value, a stack or trials, finds what an earlier one has run.
 *
 * The name of its batch is a digest of all that its trials get, not of what else is tried: a
 * specification without its matrix, decision and number of trials, then the combination's own
 * stack, environment and parameters, the user and, unless a cluster runs them, the machine.
 */
#ifndef SONDE_SWEEP_SWEEPKNOWN_H
#define SONDE_SWEEP_SWEEPKNOWN_H

#include "sweep/sweeping.h"

/* Of a specification: the digest of what all its combinations have in common. False: out of memory.
 */
bool sweepknown_common(const struct jsontree *document, char out[SHA256_HEX]);
/* Names the batch of a combination: as the store has it, if this sweep has opened it before. */
int sweepknown_name(struct sweeping *x, struct swept *p, struct err *e);
/* Tells on stderr how many trials are there already, if any are. */
void sweepknown_say(const struct sweeping *x);

#endif
