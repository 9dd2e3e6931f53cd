/* SPDX-License-Identifier: Apache-2.0 */
/* Where the memory of process 7 lies, twice; the machine's NUMA nodes before. */
#include "tree_fuzz.h"

extern const struct source source_placement;

static size_t pids(const void *tree, pid_t *out, size_t cap)
{
	(void)tree;
	if (cap)
		*out = 7;
	return cap != 0;
}

/* tree_fuzz knows no job. */
static int open_with_a_job(void *state, const struct source_env *env, struct sample *s,
			   struct err *e)
{
	static struct source_env with;

	with = *env;
	with.job = (struct source_job){ .tree = &with, .pids = pids };
	return source_placement.open(state, &with, s, e);
}

static const char *const paths[] = { "proc/7/numa_maps",
				     "proc/7/statm",
				     "proc/7/status",
				     "sys/devices/system/node/online",
				     "sys/devices/system/node/node0/cpulist",
				     "proc/self/numa_maps",
				     NULL };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct source k = source_placement;

	k.open = open_with_a_job;
	return tree_fuzz(&k, paths, data, size);
}
