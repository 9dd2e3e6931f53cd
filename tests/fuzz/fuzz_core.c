/* SPDX-License-Identifier: Apache-2.0 */
#include "tree_fuzz.h"

extern const struct source source_cpu;

static const char *const paths[] = {
	"proc/stat",
	"proc/cpuinfo",
	"sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
	"sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
	"sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
	"sys/devices/system/cpu/cpu0/topology/core_id",
	"sys/devices/cpu_core/cpus",
	"sys/devices/system/node/online",
	"sys/devices/system/node/node0/cpulist",
	NULL
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return tree_fuzz(&source_cpu, paths, data, size);
}
