/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_id.h - how a batch is called on a command line.
 */
#ifndef SONDE_BENCH_BATCH_ID_H
#define SONDE_BENCH_BATCH_ID_H

#include <stdint.h>

/* "bench:7", "7": its id; 0: it is none. */
int64_t bench_batch_id(const char *word);

#endif
