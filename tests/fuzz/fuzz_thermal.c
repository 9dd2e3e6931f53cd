/* SPDX-License-Identifier: Apache-2.0 */
#include "tree_fuzz.h"

extern const struct source source_thermal;

static const char *const paths[] = {
	"sys/class/hwmon/hwmon0/name",
	"sys/class/hwmon/hwmon0/temp1_label",
	"sys/class/hwmon/hwmon0/temp1_input",
	"sys/class/hwmon/hwmon0/temp2_label",
	"sys/class/hwmon/hwmon0/temp2_input",
	"sys/class/thermal/thermal_zone0/type",
	"sys/class/thermal/thermal_zone0/temp",
	"sys/devices/system/cpu/online",
	"sys/devices/system/cpu/cpu0/topology/physical_package_id",
	"sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count",
	NULL
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return tree_fuzz(&source_thermal, paths, data, size);
}
