/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweepslurm.h - the trials of a sweep as elements of Slurm's job arrays.
 *
 * Who submits writes down which trials an array has before it is submitted, under the name the
 * array will have. So it is known at any time from Slurm and these lists which trials are on their
 * way, also after whoever submitted them was killed.
 */
#ifndef SONDE_SWEEP_SWEEPSLURM_H
#define SONDE_SWEEP_SWEEPSLURM_H

#include "sweep/sweeping.h"

/* Until all are done, or Slurm has no more of them. 0 or -errno with a sentence. */
int sweepslurm_run(struct sweeping *x, struct err *e);
/* The trial of this element (SLURM_ARRAY_TASK_ID) of the array whose list that is. */
int sweepslurm_element(struct sweeping *x, const char *list, struct err *e);

#endif
