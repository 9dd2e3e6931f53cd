/* SPDX-License-Identifier: Apache-2.0 */
#include "source/coreset.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void add(struct cpulist *set, uint32_t cpu)
{
	set->word[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

/* The allowed CPUs of the core of this one, which is allowed. */
static struct cpulist core_of(uint32_t cpu, const struct cpulist *allowed, const struct root *sys)
{
	struct cpulist core = { { 0 } };
	char path[96], text[CPULIST_TEXT];

	snprintf(path, sizeof path,
		 "devices/system/cpu/cpu%" PRIu32 "/topology/thread_siblings_list", cpu);
	if (root_read(sys, path, text, sizeof text) > 0)
		cpulist_parse(&core, text);
	for (size_t i = 0; i < sizeof core.word / sizeof core.word[0]; i++)
		core.word[i] &= allowed->word[i];
	add(&core, cpu);
	return core;
}

/* set NULL: they are only counted. each: cores of a job. */
static uint32_t walk(struct cpulist *set, uint32_t jobs, uint32_t each,
		     const struct cpulist *allowed, const struct root *sys)
{
	struct cpulist left = *allowed;
	uint32_t n = 0;

	for (uint32_t cpu; (cpu = cpulist_next(&left, 0)) < CPUS_MAX; n++) {
		struct cpulist core = core_of(cpu, &left, sys);

		for (size_t i = 0; set && n / each < jobs && i < CPUS_MAX / 64; i++)
			set[n / each].word[i] |= core.word[i];
		cpulist_remove(&left, &core);
	}
	return n;
}

uint32_t coreset_share(struct cpulist *set, uint32_t jobs, const struct cpulist *allowed,
		       const struct root *sys)
{
	uint32_t cores = walk(NULL, 0, 1, allowed, sys);

	memset(set, 0, jobs * sizeof *set);
	if (jobs && cores >= jobs)
		walk(set, jobs, cores / jobs, allowed, sys);
	return cores;
}
