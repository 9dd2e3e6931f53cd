/* SPDX-License-Identifier: Apache-2.0 */
#include "tree_fuzz.h"

extern const struct source source_energy;

static const char *const paths[] = { "sys/class/powercap/intel-rapl:0/name",
				     "sys/class/powercap/intel-rapl:0/energy_uj",
				     "sys/class/powercap/intel-rapl:0/max_energy_range_uj",
				     "sys/class/powercap/intel-rapl:0/constraint_0_max_power_uw",
				     "sys/class/powercap/intel-rapl:0:0/name",
				     "sys/class/powercap/intel-rapl:0:0/energy_uj",
				     "sys/class/powercap/intel-rapl-mmio:0/name",
				     "sys/class/powercap/intel-rapl-mmio:0/energy_uj",
				     "sys/cray/pm_counters/energy",
				     "sys/cray/pm_counters/accel0_energy",
				     "sys/cray/pm_counters/freshness",
				     "sys/class/hwmon/hwmon0/name",
				     "sys/class/hwmon/hwmon0/power1_average",
				     "sys/class/hwmon/hwmon0/power1_label",
				     "sys/class/hwmon/hwmon0/energy1_input",
				     NULL };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return tree_fuzz(&source_energy, paths, data, size);
}
