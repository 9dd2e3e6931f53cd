/* SPDX-License-Identifier: Apache-2.0 */
#include "nvml/library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Which GPUs there are, and how they are divided (MIG). */

typedef int (*count_function)(unsigned *);
typedef int (*handle_function)(unsigned, nvml_handle *);
typedef int (*text_function)(nvml_handle, char *, unsigned);
typedef int (*number_function)(nvml_handle, unsigned *);
typedef int (*pci_function)(nvml_handle, struct nvml_pci *);
typedef int (*mode_function)(nvml_handle, unsigned *, unsigned *);
typedef int (*mig_function)(nvml_handle, unsigned, nvml_handle *);

nvml_function session_calls(struct nvml_session *s, int32_t gpu, enum nvml_symbol symbol)
{
	snprintf(s->page->at_call, sizeof s->page->at_call, "%s", s->api.name[symbol]);
	atomic_store_explicit(&s->page->at_gpu, gpu, memory_order_release);
	return s->api.function[symbol];
}

void session_calls_nothing(struct nvml_session *s)
{
	s->page->at_call[0] = '\0';
	atomic_store_explicit(&s->page->at_gpu, -1, memory_order_release);
}

static void read_text(struct nvml_session *s, const struct nvml_unit *u, enum nvml_symbol symbol,
		      char out[96])
{
	text_function get = (text_function)session_calls(s, (int32_t)u->told.gpu, symbol);

	if (!get || get(u->handle, out, 96) != NVML_SUCCESS)
		out[0] = '\0';
	out[95] = '\0';
}

static void describe(struct nvml_session *s, struct nvml_unit *u)
{
	int32_t gpu = (int32_t)u->told.gpu;
	number_function minor = (number_function)session_calls(s, gpu, NVML_MINOR);
	struct nvml_pci pci = { .domain = 0 };
	pci_function place;
	unsigned n;

	read_text(s, u, NVML_NAME, u->told.name);
	read_text(s, u, NVML_UUID, u->told.uuid);
	if (u->told.mig >= 0)
		return;
	session_calls(s, gpu, NVML_MINOR);
	if (minor && minor(u->handle, &n) == NVML_SUCCESS && n <= INT32_MAX)
		u->told.minor = (int32_t)n;
	place = (pci_function)session_calls(s, gpu, NVML_PCI);
	if (place && place(u->handle, &pci) == NVML_SUCCESS)
		snprintf(u->told.pci, sizeof u->told.pci, "%04x:%02x:%02x.0", pci.domain, pci.bus,
			 pci.device);
}

/* NULL when there are too many. */
static struct nvml_unit *add(struct nvml_session *s, uint32_t gpu, int32_t mig)
{
	struct nvml_unit *u = s->nunits < NVIDIA_DEVICES_MAX ? &s->unit[s->nunits++] : NULL;

	if (!u)
		return NULL;
	*u = (struct nvml_unit){ .told = { .gpu = gpu, .mig = mig, .mig_gpu = -1, .minor = -1 } };
	for (int i = 0; i < GPU_MEASURED; i++)
		u->told.code[i] = NVIDIA_NOT_READ;
	u->told.processes_code = u->told.uses_code = NVIDIA_NOT_READ;
	return u;
}

static void list_mig(struct nvml_session *s, struct nvml_unit *parent)
{
	int32_t gpu = (int32_t)parent->told.gpu;
	mode_function mode = (mode_function)session_calls(s, gpu, NVML_MIG_MODE);
	number_function most;
	mig_function find;
	unsigned on = 0, pending, n = 0;

	if (!mode || mode(parent->handle, &on, &pending) != NVML_SUCCESS || !on)
		return;
	parent->told.mig_on = 1;
	most = (number_function)session_calls(s, gpu, NVML_MIG_MAX);
	if (!most || most(parent->handle, &n) != NVML_SUCCESS)
		return;
	for (unsigned i = 0; i < n && i < 64; i++) {
		nvml_handle handle = NULL;
		number_function instance;
		struct nvml_unit *u;
		unsigned id;

		find = (mig_function)session_calls(s, gpu, NVML_MIG_HANDLE);
		if (!find || find(parent->handle, i, &handle) != NVML_SUCCESS || !handle)
			continue; /* a place that is not taken */
		u = add(s, parent->told.gpu, (int32_t)i);
		if (!u)
			return;
		u->handle = handle;
		describe(s, u);
		instance = (number_function)session_calls(s, gpu, NVML_MIG_GPU_INSTANCE);
		if (instance && instance(handle, &id) == NVML_SUCCESS && id <= INT32_MAX)
			u->told.mig_gpu = (int32_t)id;
	}
}

static void list_gpu(struct nvml_session *s, uint32_t gpu)
{
	struct nvml_unit *u = add(s, gpu, -1);
	handle_function find;

	if (!u)
		return;
	if (s->page->left_out & 1U << gpu) {
		u->told.error = NVIDIA_LEFT_OUT;
		return;
	}
	find = (handle_function)session_calls(s, (int32_t)gpu, NVML_HANDLE);
	u->told.error = find(gpu, &u->handle);
	if (u->told.error == NVML_SUCCESS) {
		describe(s, u);
		list_mig(s, u);
	} else {
		u->handle = NULL;
	}
}

int session_list(struct nvml_session *s)
{
	count_function count = (count_function)session_calls(s, -1, NVML_COUNT);
	unsigned n = 0;
	int code = count(&n);

	if (code != NVML_SUCCESS)
		return code;
	s->nunits = 0;
	s->page->ngpus = n < NVIDIA_GPUS_MAX ? n : NVIDIA_GPUS_MAX;
	for (uint32_t gpu = 0; gpu < s->page->ngpus; gpu++)
		list_gpu(s, gpu);
	session_calls_nothing(s);
	return NVML_SUCCESS;
}

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

/* Who has a compute context on a GPU, and who used its SMs. */

enum { ENTRIES = 256, ENTRY_LARGEST = 32, UNTOUCHED = 0xA5 };

typedef int (*list_function)(nvml_handle, unsigned *, void *);
typedef int (*uses_function)(nvml_handle, struct nvml_process_use *, unsigned *,
			     unsigned long long);
typedef int (*uses_v2_function)(nvml_handle, struct nvml_process_uses_v2 *);

/* The size of an entry is 16, 24 or 32 bytes. It does not follow from the function's name: with
 * drivers 535.43 to 535.86 the same name had the larger entries, and there were drivers with the
 * smaller. So it is told from what was written into a buffer whose content is known. */
static size_t entry_size(const uint8_t *buffer, size_t n)
{
	size_t written = (size_t)ENTRIES * ENTRY_LARGEST;

	while (written && buffer[written - 1] == UNTOUCHED)
		written--;
	written = (written + 7) / 8 * 8;
	for (size_t size = 16; size <= ENTRY_LARGEST; size += 8)
		if (written == n * size)
			return size;
	return 24;
}

static void take(struct nvidia_device *d, const uint8_t *entry, size_t size)
{
	struct nvidia_process *p = &d->process[d->nprocesses++];
	uint64_t memory;

	memcpy(&p->pid, entry, sizeof p->pid);
	memcpy(&memory, entry + 8, sizeof memory);
	p->memory = memory <= INT64_MAX ? (int64_t)memory : -1; /* not available is all ones */
	p->mig_gpu = UINT32_MAX;
	if (size > 16)
		memcpy(&p->mig_gpu, entry + 16, sizeof p->mig_gpu);
}

void unit_read_processes(struct nvml_session *s, struct nvml_unit *u)
{
	list_function list = (list_function)session_calls(s, (int32_t)u->told.gpu, NVML_PROCESSES);
	_Alignas(8) uint8_t buffer[ENTRIES * ENTRY_LARGEST];
	struct nvidia_device *d = &u->told;
	unsigned n = ENTRIES;
	size_t size;

	d->nprocesses = 0;
	memset(buffer, UNTOUCHED, sizeof buffer);
	d->processes_code = list ? list(u->handle, &n, buffer) : NVIDIA_NO_SYMBOL;
	d->code[GPU_PROCESSES] = (int16_t)d->processes_code;
	d->value[GPU_PROCESSES] = n;
	if (d->processes_code == NVML_INSUFFICIENT_SIZE) /* more than are kept: how many is known */
		d->code[GPU_PROCESSES] = NVML_SUCCESS;
	if (d->processes_code != NVML_SUCCESS || n > ENTRIES)
		return;
	size = n ? entry_size(buffer, n) : 0;
	for (unsigned i = 0; i < n && i < NVIDIA_PROCESSES_MAX; i++)
		take(d, buffer + i * size, size);
}

/* The driver keeps several samples of a process: the newest one tells. */
struct newest {
	struct nvidia_device *d;
	unsigned long long at_us[NVIDIA_PROCESSES_MAX];
};

static void take_use(struct newest *x, unsigned pid, unsigned sm, unsigned long long at_us)
{
	struct nvidia_device *d = x->d;
	uint32_t i = 0;

	/* Drivers do give entries of no process, and shares that are none. */
	if (!pid || sm > 100 || d->uses_code != NVML_SUCCESS)
		return;
	while (i < d->nuses && d->use[i].pid != pid)
		i++;
	if (i == NVIDIA_PROCESSES_MAX) {
		d->uses_code = NVML_INSUFFICIENT_SIZE;
		return;
	}
	if (i < d->nuses && at_us <= x->at_us[i])
		return;
	d->nuses += i == d->nuses;
	d->use[i] = (struct nvidia_use){ .pid = pid, .sm = sm };
	x->at_us[i] = at_us;
}

static void read_uses(uses_function get, nvml_handle handle, struct newest *x,
		      unsigned long long since_us)
{
	struct nvml_process_use use[ENTRIES];
	unsigned n = ENTRIES;

	memset(use, 0, sizeof use);
	x->d->uses_code = get(handle, use, &n, since_us);
	for (unsigned i = 0; i < n && i < ENTRIES; i++)
		take_use(x, use[i].pid, use[i].sm, use[i].timestamp_us);
}

static void read_uses_v2(uses_v2_function get, nvml_handle handle, struct newest *x,
			 unsigned long long since_us)
{
	struct nvml_process_use_v2 use[ENTRIES];
	struct nvml_process_uses_v2 list = { .version = NVML_PROCESS_USES_V2_VERSION,
					     .count = ENTRIES,
					     .last_seen_us = since_us,
					     .use = use };

	memset(use, 0, sizeof use);
	x->d->uses_code = get(handle, &list);
	for (unsigned i = 0; i < list.count && i < ENTRIES; i++)
		take_use(x, use[i].pid, use[i].sm, use[i].timestamp_us);
}

/* The driver's timestamps are of the wall clock. It lists those that used the GPU: when it finds
 * none, none did. */
void unit_read_uses(struct nvml_session *s, struct nvml_unit *u)
{
	int32_t gpu = (int32_t)u->told.gpu;
	struct newest x = { .d = &u->told };
	unsigned long long since_us;
	struct timespec now;
	nvml_function get;

	if (u->told.uses_code == NVML_NOT_SUPPORTED || u->told.uses_code == NVIDIA_NO_SYMBOL)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	since_us = (unsigned long long)now.tv_sec - 1;
	since_us = since_us * 1000000 + (unsigned long long)now.tv_nsec / 1000;
	u->told.nuses = 0;
	u->told.uses_code = NVIDIA_NO_SYMBOL;
	get = session_calls(s, gpu, NVML_PROCESS_USE);
	if (get) {
		read_uses((uses_function)get, u->handle, &x, since_us);
	} else {
		get = session_calls(s, gpu, NVML_PROCESS_USE_V2);
		if (get)
			read_uses_v2((uses_v2_function)get, u->handle, &x, since_us);
	}
	if (u->told.uses_code == NVML_NOT_FOUND)
		u->told.uses_code = NVML_SUCCESS;
}
