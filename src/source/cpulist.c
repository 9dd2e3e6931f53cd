/* SPDX-License-Identifier: Apache-2.0 */
#include "source/cpulist.h"

#include "base/text/number.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

static bool parse(struct cpulist *set, const char *p)
{
	while (*p && *p != '\n') {
		uint64_t first, last;

		if (!number_u64(&p, &first))
			return false;
		last = first;
		if (*p == '-' && (p++, !number_u64(&p, &last) || last < first))
			return false;
		for (uint64_t i = first; i <= last && i < CPUS_MAX; i++)
			set->word[i / 64] |= UINT64_C(1) << (i % 64);
		if (*p == ',' ? !*++p : *p && *p != '\n')
			return false;
	}
	return true;
}

bool cpulist_parse(struct cpulist *set, const char *text)
{
	memset(set, 0, sizeof *set);
	if (parse(set, text))
		return true;
	memset(set, 0, sizeof *set);
	return false;
}

uint32_t cpulist_count(const struct cpulist *set)
{
	uint32_t n = 0;

	for (size_t i = 0; i < CPUS_MAX / 64; i++)
		n += (uint32_t)__builtin_popcountll(set->word[i]);
	return n;
}

uint32_t cpulist_next(const struct cpulist *set, uint32_t from)
{
	while (from < CPUS_MAX && !cpulist_has(set, from))
		from += set->word[from / 64] ? 1 : 64 - from % 64;
	return from < CPUS_MAX ? from : CPUS_MAX;
}

void cpulist_remove(struct cpulist *a, const struct cpulist *b)
{
	for (size_t i = 0; i < CPUS_MAX / 64; i++)
		a->word[i] &= ~b->word[i];
}

size_t cpulist_possible(int *cpus, size_t max)
{
	size_t bytes = CPU_ALLOC_SIZE(CPUS_MAX), n = 0;
	cpu_set_t *own = CPU_ALLOC(CPUS_MAX), *all = CPU_ALLOC(CPUS_MAX);

	if (own && all && !sched_getaffinity(0, bytes, own)) {
		memset(all, 0xff, bytes);
		sched_setaffinity(0, bytes, all);
		if (sched_getaffinity(0, bytes, all))
			memcpy(all, own, bytes);
		sched_setaffinity(0, bytes, own);
		for (size_t cpu = 0; cpu < CPUS_MAX; cpu++)
			if (CPU_ISSET_S(cpu, bytes, all) && n++ < max)
				cpus[n - 1] = (int)cpu;
	}
	CPU_FREE(own);
	CPU_FREE(all);
	return n;
}

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
