/* SPDX-License-Identifier: Apache-2.0 */
#include "tree_fuzz.h"

extern const struct source source_amdgpu;

#define CARD "sys/class/drm/card0/device/"

static const char *const paths[] = { CARD "vendor",
				     CARD "gpu_busy_percent",
				     CARD "mem_info_vram_used",
				     CARD "mem_info_vram_total",
				     CARD "product_name",
				     CARD "unique_id",
				     CARD "hwmon/hwmon4/temp1_label",
				     CARD "hwmon/hwmon4/temp1_input",
				     CARD "hwmon/hwmon4/temp2_label",
				     CARD "hwmon/hwmon4/temp2_input",
				     CARD "hwmon/hwmon4/power1_average",
				     CARD "hwmon/hwmon4/freq1_input",
				     "sys/module/amdgpu/version",
				     NULL };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return tree_fuzz(&source_amdgpu, paths, data, size);
}
