/* SPDX-License-Identifier: Apache-2.0 */
/* list.c - which GPUs there are, and how they are divided (MIG). */
#include "nvml/unit.h"

#include <stdio.h>
#include <string.h>

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
