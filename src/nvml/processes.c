/* SPDX-License-Identifier: Apache-2.0 */
/* processes.c - who has a compute context on a GPU, and who used its SMs. */
#include "nvml/unit.h"

#include <string.h>
#include <time.h>

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
