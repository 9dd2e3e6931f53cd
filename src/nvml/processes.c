/* SPDX-License-Identifier: Apache-2.0 */
/* processes.c - who has a compute context on a GPU. */
#include "nvml/unit.h"

#include <string.h>

enum { ENTRIES = 256, ENTRY_LARGEST = 32, UNTOUCHED = 0xA5 };

typedef int (*list_function)(nvml_handle, unsigned *, void *);

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
