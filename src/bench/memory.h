/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - of the trials of a group, one kind of peak memory: what all processes of a trial held
 * together, and what its largest process held, are different figures of the same name.
 *
 * Those of the kind that most trials have are kept. Of trials that do not know theirs, older ones,
 * nothing is left out.
 */
#ifndef SONDE_BENCH_MEMORY_H
#define SONDE_BENCH_MEMORY_H

#include "bench/group.h"

/* Of a group whose rows are read: figures of other kinds are not known any more. */
void bench_memory_choose(struct bench_group *g);
/* "peak_memory_bytes of 2 of 10 trials is not of the kind pss but process: it is left out", without
 * an end; nothing where all are alike. */
void bench_memory_text(const struct bench_group *g, struct bytes *out);

#endif
