/* SPDX-License-Identifier: Apache-2.0 */
#include "tree_fuzz.h"

extern const struct source source_numa;

static const char *const paths[] = { "sys/devices/system/node/online",
				     "sys/devices/system/node/node0/cpulist",
				     "sys/devices/system/node/node0/meminfo",
				     "sys/devices/system/node/node0/numastat",
				     "sys/devices/system/node/node1/meminfo",
				     "proc/sys/vm/numa_stat",
				     NULL };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return tree_fuzz(&source_numa, paths, data, size);
}
