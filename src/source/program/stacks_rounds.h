/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks_rounds.h - how stacks are sampled on machines with many CPUs: in rounds, some threads at a
 * time, by events of the helper (unwind/rounds.h). Inherited events would cost each process start
 * more with every CPU.
 */
#ifndef SONDE_SOURCE_PROGRAM_STACKS_ROUNDS_H
#define SONDE_SOURCE_PROGRAM_STACKS_ROUNDS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct stacks_turns {
	uint32_t threads;        /* at a time; 0: no rounds */
	uint32_t bytes;          /* of memory that may be locked for their rings */
	uint32_t hz, hz_of_node; /* samples a second of CPU time, and of all threads together */
};

/* Are there too many CPUs for events that are inherited? SONDE_STACKS_THREADS, how many threads at
 * a time, says so, too. */
bool stacks_rounds_needed(void);
/* hz, lock_kb: as of stacks_rings_open. 0, or -errno with a sentence; such an event was tried. */
int stacks_rounds_plan(struct stacks_turns *t, int64_t hz, int64_t lock_kb, struct err *e);

#endif
