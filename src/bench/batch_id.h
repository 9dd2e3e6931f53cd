/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_id.h - how batches are called on a command line.
 */
#ifndef SONDE_BENCH_BATCH_ID_H
#define SONDE_BENCH_BATCH_ID_H

#include "store/database.h"

#include <stdint.h>

/* "bench:7", "7": its id; 0: it is none. */
int64_t bench_batch_id(const char *word);
/* The same, or all batches of an indicator, "PiMatmul" or "bench:PiMatmul", or with a tag,
 * "tag:NAME", in order: *n, or, where there is no room for more than `most`, the newest. 0; -EINVAL
 * with a sentence: it is neither, or has none; -errno. */
int bench_batches(struct database *s, const char *word, int64_t *batch, uint32_t most, uint32_t *n,
		  struct err *e);

#endif
