/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.h - a GPU or MIG device, and what of it is asked of the library.
 *
 * Every call says first, on the page, what it is about to do: who gives this process up can name
 * it. What is not supported is asked once; what fails or is forbidden is asked again.
 */
#ifndef SONDE_NVML_UNIT_H
#define SONDE_NVML_UNIT_H

#include "nvml/api.h"
#include "source/gpu/nvidia_page.h"

#include <stdbool.h>

struct nvml_unit {
	nvml_handle handle; /* NULL: none, for the reason in told.error */
	struct nvidia_device told;
};

struct nvml_session {
	struct nvml_api api;
	struct nvidia_page *page;
	struct nvml_unit *unit; /* NVIDIA_DEVICES_MAX of them */
	uint32_t nunits;
	uint64_t passes;
};

/* The function, once the page says that it is about to be called for this GPU (-1: none); NULL when
 * the library has none. */
nvml_function session_calls(struct nvml_session *s, int32_t gpu, enum nvml_symbol symbol);
void session_calls_nothing(struct nvml_session *s);

/* list.c: find the GPUs and their MIG devices. 0, or NVML's code. */
int session_list(struct nvml_session *s);

/* read.c: everything of a unit, into told; rarely: what changes rarely as well. */
void unit_read(struct nvml_session *s, struct nvml_unit *u, bool rarely);
/* What takes the driver 20 ms each, for the next answer. */
void unit_read_slow(struct nvml_session *s, struct nvml_unit *u);

/* processes.c: who has a context, and who used the SMs in the last second. */
void unit_read_processes(struct nvml_session *s, struct nvml_unit *u);
void unit_read_uses(struct nvml_session *s, struct nvml_unit *u);

#endif
