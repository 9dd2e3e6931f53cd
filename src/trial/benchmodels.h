/* SPDX-License-Identifier: Apache-2.0 */
/*
 * benchmodels.h - the indicators whose columns are declared: those that travel in the program, and
 * those of --model.
 */
#ifndef SONDE_TRIAL_BENCHMODELS_H
#define SONDE_TRIAL_BENCHMODELS_H

#include "base/text/args.h"
#include "bench/model.h"

/* 0 or -errno with a sentence; free in either case. */
int benchmodels_read(struct models *m, const struct option_list *files, struct err *e);

#endif
