/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batchgroups.h - two groups of batches of trials, as figures and facts of a comparison.
 */
#ifndef SONDE_TRIAL_BATCHGROUPS_H
#define SONDE_TRIAL_BATCHGROUPS_H

#include "report/comparison/comparison.h"

/* operand: A and B, each "bench:3" or "bench:3,bench:4". Adds a condition for each result of which
 * it is known what is better, when there is none; reads and judges. 0 or -errno with a sentence. */
int batchgroups_read(struct comparison *x, const char *store, char *const operand[2],
		     struct err *e);

#endif
