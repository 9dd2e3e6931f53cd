/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coreset.h - shares the cores that a process may use between jobs that run side by side.
 *
 * A core is one with all its hardware threads, so that no two jobs share one. Each job gets equally
 * many cores, neighbours by the numbers of their CPUs; what remains belongs to none.
 */
#ifndef SONDE_SOURCE_CORESET_H
#define SONDE_SOURCE_CORESET_H

#include "base/root.h"
#include "source/cpulist.h"

/* set[jobs] are the CPUs of each job. How many cores there are: if fewer than jobs, set is empty.
 * Where sys does not tell which CPUs share a core, each is one. */
uint32_t coreset_share(struct cpulist *set, uint32_t jobs, const struct cpulist *allowed,
		       const struct root *sys);

#endif
