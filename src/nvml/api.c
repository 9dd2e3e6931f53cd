/* SPDX-License-Identifier: Apache-2.0 */
#include "nvml/api.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *older; /* older: the same call in older libraries; NULL: none */
	bool required;
} symbols[] = {
	[NVML_INIT] = { "nvmlInit_v2", "nvmlInit", true },
	[NVML_ERROR_STRING] = { "nvmlErrorString", NULL, false },
	[NVML_DRIVER_VERSION] = { "nvmlSystemGetDriverVersion", NULL, false },
	[NVML_CUDA_VERSION] = { "nvmlSystemGetCudaDriverVersion_v2",
				"nvmlSystemGetCudaDriverVersion", false },
	[NVML_COUNT] = { "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount", true },
	[NVML_HANDLE] = { "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex", true },
	[NVML_NAME] = { "nvmlDeviceGetName", NULL, false },
	[NVML_UUID] = { "nvmlDeviceGetUUID", NULL, false },
	[NVML_MINOR] = { "nvmlDeviceGetMinorNumber", NULL, false },
	[NVML_PCI] = { "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", false },
	[NVML_MIG_MODE] = { "nvmlDeviceGetMigMode", NULL, false },
	[NVML_MIG_MAX] = { "nvmlDeviceGetMaxMigDeviceCount", NULL, false },
	[NVML_MIG_HANDLE] = { "nvmlDeviceGetMigDeviceHandleByIndex", NULL, false },
	[NVML_MIG_GPU_INSTANCE] = { "nvmlDeviceGetGpuInstanceId", NULL, false },
	[NVML_UTILIZATION] = { "nvmlDeviceGetUtilizationRates", NULL, false },
	[NVML_MEMORY_V2] = { "nvmlDeviceGetMemoryInfo_v2", NULL, false },
	[NVML_MEMORY] = { "nvmlDeviceGetMemoryInfo", NULL, false },
	[NVML_BAR1] = { "nvmlDeviceGetBAR1MemoryInfo", NULL, false },
	[NVML_POWER] = { "nvmlDeviceGetPowerUsage", NULL, false },
	[NVML_POWER_LIMIT] = { "nvmlDeviceGetEnforcedPowerLimit", NULL, false },
	[NVML_ENERGY] = { "nvmlDeviceGetTotalEnergyConsumption", NULL, false },
	[NVML_TEMPERATURE] = { "nvmlDeviceGetTemperature", NULL, false },
	[NVML_THRESHOLD] = { "nvmlDeviceGetTemperatureThreshold", NULL, false },
	[NVML_CLOCK] = { "nvmlDeviceGetClockInfo", NULL, false },
	[NVML_CLOCK_MAX] = { "nvmlDeviceGetMaxClockInfo", NULL, false },
	[NVML_FAN] = { "nvmlDeviceGetFanSpeed", NULL, false },
	[NVML_PERFORMANCE_STATE] = { "nvmlDeviceGetPerformanceState", "nvmlDeviceGetPowerState",
				     false },
	[NVML_CLOCK_REASONS] = { "nvmlDeviceGetCurrentClocksEventReasons",
				 "nvmlDeviceGetCurrentClocksThrottleReasons", false },
	[NVML_ENCODER] = { "nvmlDeviceGetEncoderUtilization", NULL, false },
	[NVML_DECODER] = { "nvmlDeviceGetDecoderUtilization", NULL, false },
	[NVML_PCIE_THROUGHPUT] = { "nvmlDeviceGetPcieThroughput", NULL, false },
	[NVML_PCIE_REPLAYS] = { "nvmlDeviceGetPcieReplayCounter", NULL, false },
	[NVML_PCIE_GENERATION] = { "nvmlDeviceGetCurrPcieLinkGeneration", NULL, false },
	[NVML_PCIE_WIDTH] = { "nvmlDeviceGetCurrPcieLinkWidth", NULL, false },
	[NVML_ECC] = { "nvmlDeviceGetTotalEccErrors", NULL, false },
	[NVML_REMAPPED_ROWS] = { "nvmlDeviceGetRemappedRows", NULL, false },
	[NVML_VIOLATION] = { "nvmlDeviceGetViolationStatus", NULL, false },
	[NVML_FIELDS] = { "nvmlDeviceGetFieldValues", NULL, false },
	[NVML_LINK_STATE] = { "nvmlDeviceGetNvLinkState", NULL, false },
	/* Of its three names the entries' size differs, and not only by the name: read.c measures
	 * it. */
	[NVML_PROCESSES] = { "nvmlDeviceGetComputeRunningProcesses_v3",
			     "nvmlDeviceGetComputeRunningProcesses_v2", false },
	[NVML_PROCESS_USE] = { "nvmlDeviceGetProcessUtilization", NULL, false },
	[NVML_PROCESS_USE_V2] = { "nvmlDeviceGetProcessesUtilizationInfo", NULL, false },
};
_Static_assert(sizeof symbols / sizeof symbols[0] == NVML_SYMBOL_NUMBER_OF, "one for every number");

/* Beside the loader's own paths: where WSL, container hosts and NixOS keep it. */
static const char *const libraries[] = {
	"libnvidia-ml.so.1",
	"libnvidia-ml.so",
	"/usr/lib/wsl/lib/libnvidia-ml.so.1",
	"/usr/local/nvidia/lib64/libnvidia-ml.so.1",
	"/run/opengl-driver/lib/libnvidia-ml.so.1",
};

static void *open_library(char *why, unsigned size)
{
	const char *set = getenv("SONDE_NVML");
	size_t n = set && *set ? 1 : sizeof libraries / sizeof libraries[0];
	void *library = NULL;

	for (size_t i = 0; i < n && !library; i++) {
		library = dlopen(n == 1 ? set : libraries[i], RTLD_NOW | RTLD_LOCAL);
		if (!library && i == 0) {
			const char *said = dlerror();

			snprintf(why, size, "%s", said ? said : "dlopen failed");
		}
	}
	return library;
}

static nvml_function find(void *library, const char *name)
{
	void *address = name ? dlsym(library, name) : NULL;
	nvml_function function;

	memcpy(&function, &address, sizeof function); /* POSIX gives functions as data */
	return function;
}

int nvml_load(struct nvml_api *api, char *why, unsigned size)
{
	*api = (struct nvml_api){ .library = open_library(why, size) };
	if (!api->library)
		return -1;
	for (int i = 0; i < NVML_SYMBOL_NUMBER_OF; i++) {
		api->name[i] = symbols[i].name;
		api->function[i] = find(api->library, symbols[i].name);
		if (!api->function[i] && symbols[i].older &&
		    (api->function[i] = find(api->library, symbols[i].older)))
			api->name[i] = symbols[i].older;
	}
	if (!api->function[NVML_PROCESSES])
		api->function[NVML_PROCESSES] =
			find(api->library, "nvmlDeviceGetComputeRunningProcesses");
	for (int i = 0; i < NVML_SYMBOL_NUMBER_OF; i++)
		if (symbols[i].required && !api->function[i])
			return i + 1;
	return 0;
}
