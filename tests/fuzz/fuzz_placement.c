/* SPDX-License-Identifier: Apache-2.0 */
/* Where the memory of process 7 lies, twice; the machine's NUMA nodes before. */
#include "tree_fuzz.h"

extern const struct source source_placement;

static const char *const paths[] = { "proc/7/numa_maps",
				     "proc/7/statm",
				     "proc/7/status",
				     "sys/devices/system/node/online",
				     "sys/devices/system/node/node0/cpulist",
				     "proc/self/numa_maps",
				     NULL };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return tree_fuzz(&source_placement, paths, data, size);
}
