/* SPDX-License-Identifier: Apache-2.0 */
#include "source/cpulist.h"

#include "base/text/number.h"

#include <sched.h>
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
