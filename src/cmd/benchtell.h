/* SPDX-License-Identifier: Apache-2.0 */
/*
 * benchtell.h - what the verbs of `bench` print of trials and batches.
 */
#ifndef SONDE_CMD_BENCHTELL_H
#define SONDE_CMD_BENCHTELL_H

#include "bench/group.h"

/* A line on standard error: how the trial went. */
void benchtell_trial(const struct trial *t, int64_t of);
/* The statistics of batches to standard output. EXIT_OK, or another code, and it has said why. */
int benchtell_stats(struct database *s, const int64_t *batch, uint32_t n, bool json);
/* "bench:7 PiMatmul (tensorflow): 10 trials, 1 failed" */
void benchtell_head(struct bytes *b, const struct bench_group *g);

#endif
