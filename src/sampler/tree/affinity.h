/* SPDX-License-Identifier: Apache-2.0 */
/*
 * affinity.h - where the job's threads may run: the different sets of CPUs among them, few as they
 * mostly are.
 *
 * A set keeps its number until affinity_tidy finds that nobody has it.
 */
#ifndef SONDE_SAMPLER_TREE_AFFINITY_H
#define SONDE_SAMPLER_TREE_AFFINITY_H

#include "sampler/tree/threads.h"
#include "source/cpulist.h"

enum { AFFINITY_NODES = 256 };

struct placement {
	uint64_t hash;                       /* of the lists; 0: free */
	uint64_t nodes[AFFINITY_NODES / 64]; /* NUMA nodes that memory may come from */
	struct cpulist cpus;
};

struct affinity {
	struct placement set[256];  /* the first is never used */
	size_t top;                 /* none behind it has been used */
	struct cpulist cpus, nodes; /* of all threads, as affinity_tidy found them */
	bool whole;                 /* every thread's are in them */
};

/* The number of the set of these lists, which end with their line; 0: no lists, or no room. */
uint8_t affinity_of(struct affinity *a, const char *cpus, const char *nodes);
/* Find what all threads have together; free what none has. True when it has changed. */
bool affinity_tidy(struct affinity *a, const struct threads *t);
/* "0-3,8"; what does not fit is left out and said by "...". */
void affinity_text(const struct cpulist *set, char *out, size_t size);

#endif
