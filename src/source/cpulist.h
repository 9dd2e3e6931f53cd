/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpulist.h - sets of CPUs and NUMA nodes as /sys writes them: "0-3,8,10-11", cpuset(7).
 *
 * Pure, but cpulist_possible, which asks the kernel. Numbers of CPUS_MAX and above do not occur and
 * are left out.
 */
#ifndef SONDE_SOURCE_CPULIST_H
#define SONDE_SOURCE_CPULIST_H

#include "base/root.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CPUS_MAX = 8192, CPULIST_TEXT = 4096 }; /* room for a list; a longer one is not known */

struct cpulist {
	uint64_t word[CPUS_MAX / 64];
};

/* False, and an empty set, when the text is no such list; "" and "\n" are the empty one. */
bool cpulist_parse(struct cpulist *set, const char *text);
uint32_t cpulist_count(const struct cpulist *set);
/* The first member that is >= from; CPUS_MAX when there is none. */
uint32_t cpulist_next(const struct cpulist *set, uint32_t from);
/* Take all members of b out of a. */
void cpulist_remove(struct cpulist *a, const struct cpulist *b);

static inline bool cpulist_has(const struct cpulist *set, uint32_t cpu)
{
	return cpu < CPUS_MAX && (set->word[cpu / 64] >> (cpu % 64) & 1);
}

/* CPUs this process could be moved to: those of its cpuset, whatever its affinity is now. How many
 * there are; at most max are written. */
size_t cpulist_possible(int *cpus, size_t max);

/*
 * Shares the cores that a process may use between jobs that run side by side.
 *
 * A core is one with all its hardware threads, so that no two jobs share one. Each job gets equally
 * many cores, neighbours by the numbers of their CPUs; what remains belongs to none.
 */

/* set[jobs] are the CPUs of each job. How many cores there are: if fewer than jobs, set is empty.
 * Where sys does not tell which CPUs share a core, each is one. */
uint32_t coreset_share(struct cpulist *set, uint32_t jobs, const struct cpulist *allowed,
		       const struct root *sys);

#endif
