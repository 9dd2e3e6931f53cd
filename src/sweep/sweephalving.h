/* SPDX-License-Identifier: Apache-2.0 */
/* sweephalving.h - a sweep by successive halving (bench/sweep/halving.h). */
#ifndef SONDE_SWEEP_SWEEPHALVING_H
#define SONDE_SWEEP_SWEEPHALVING_H

#include "sweep/sweeping.h"

/* Once the matrix is known: its rounds, and how many trials a combination gets at most, which is
 * its batch_size. Does nothing for other decisions. -EINVAL: the budget is too small. */
int sweephalving_plan(struct sweeping *x, struct err *e);
/* Of those that were opened: run, which runs what is missing of those from first on, for each
 * round.
 */
int sweephalving_run(struct sweeping *x,
		     int (*run)(struct sweeping *x, uint32_t first, struct err *e), struct err *e);

#endif
