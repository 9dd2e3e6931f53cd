/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.h - where a logical core sits: its package, core, NUMA node, and kind on a hybrid CPU.
 *
 * Asked when a core appears; nothing is kept open. What the kernel does not tell is -1 or NULL,
 * never 0.
 */
#ifndef SONDE_SOURCE_TOPOLOGY_H
#define SONDE_SOURCE_TOPOLOGY_H

#include "base/root.h"
#include "source/cpulist.h"

struct topology {
	const struct root *sys;
	struct cpulist performance, efficiency, low_power; /* empty where cores are all alike */
	uint16_t numa[CPUS_MAX];                           /* node + 1; 0: not known */
};

struct place {
	int64_t package, core, thread, numa; /* thread: its rank among those of its core */
	const char *type;                    /* "performance", "efficiency", "low_power" */
};

/* t is all zero. */
void topology_open(struct topology *t, const struct root *sys);
struct place topology_of(const struct topology *t, uint32_t cpu);

#endif
