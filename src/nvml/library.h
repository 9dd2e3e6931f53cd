/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library.h - the part of NVIDIA's management library that is used, loaded while running.
 *
 * Own declarations of NVML's binary interface, as of version 12 (driver 570), whose functions and
 * structs of older drivers (from 418 on) are the same but where a symbol has two names. A function
 * that the library lacks loses what it would have told and nothing else.
 */
#ifndef SONDE_NVML_LIBRARY_H
#define SONDE_NVML_LIBRARY_H

#include "source/gpu/nvidia_page.h"

#include <stdbool.h>
#include <stdint.h>

enum nvml_symbol {
	NVML_INIT,
	NVML_ERROR_STRING,
	NVML_DRIVER_VERSION,
	NVML_CUDA_VERSION,
	NVML_COUNT,
	NVML_HANDLE,
	NVML_NAME,
	NVML_UUID,
	NVML_MINOR,
	NVML_PCI,
	NVML_MIG_MODE,
	NVML_MIG_MAX,
	NVML_MIG_HANDLE,
	NVML_MIG_GPU_INSTANCE,
	NVML_UTILIZATION,
	NVML_MEMORY_V2,
	NVML_MEMORY,
	NVML_BAR1,
	NVML_POWER,
	NVML_POWER_LIMIT,
	NVML_ENERGY,
	NVML_TEMPERATURE,
	NVML_THRESHOLD,
	NVML_CLOCK,
	NVML_CLOCK_MAX,
	NVML_FAN,
	NVML_PERFORMANCE_STATE,
	NVML_CLOCK_REASONS,
	NVML_ENCODER,
	NVML_DECODER,
	NVML_PCIE_THROUGHPUT,
	NVML_PCIE_REPLAYS,
	NVML_PCIE_GENERATION,
	NVML_PCIE_WIDTH,
	NVML_ECC,
	NVML_REMAPPED_ROWS,
	NVML_VIOLATION,
	NVML_FIELDS,
	NVML_LINK_STATE,
	NVML_PROCESSES,
	NVML_PROCESS_USE,
	NVML_PROCESS_USE_V2,
	NVML_SYMBOL_NUMBER_OF
};

/* What functions return; the rest is only passed on (source/gpu/nvidia_units.c has the words). */
enum {
	NVML_SUCCESS,
	NVML_INVALID_ARGUMENT = 2,
	NVML_NOT_SUPPORTED,
	NVML_NOT_FOUND = 6,
	NVML_INSUFFICIENT_SIZE
};

typedef struct nvml_device *nvml_handle;
typedef void (*nvml_function)(void);

struct nvml_utilization {
	unsigned gpu, memory; /* percent */
};

struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_memory_v2 {
	unsigned version; /* NVML_MEMORY_V2_VERSION */
	unsigned long long total, reserved, free, used;
};
#define NVML_MEMORY_V2_VERSION ((unsigned)sizeof(struct nvml_memory_v2) | 2U << 24)

struct nvml_bar1 {
	unsigned long long total, free, used;
};

struct nvml_violation {
	unsigned long long reference_us, violation_ns;
};

/* nvmlPciInfo_t begins so in all its versions; the largest has 68 bytes. */
struct nvml_pci {
	char legacy_id[16];
	unsigned domain, bus, device, rest[13];
};

struct nvml_field {
	unsigned id, scope;
	long long timestamp_us, latency_us;
	int type, code;
	union {
		double real;
		unsigned u32;
		unsigned long ulong;
		unsigned long long u64;
		long long i64;
		int i32;
		unsigned short u16;
	} value;
};
_Static_assert(sizeof(struct nvml_field) == 40, "as the library has it");

/* Percent of the time since the sample before. */
struct nvml_process_use {
	unsigned pid;
	unsigned long long timestamp_us;
	unsigned sm, memory, encoder, decoder;
};
_Static_assert(sizeof(struct nvml_process_use) == 32, "as the library has it");

struct nvml_process_use_v2 {
	unsigned long long timestamp_us;
	unsigned pid, sm, memory, encoder, decoder, jpeg, optical_flow;
};
_Static_assert(sizeof(struct nvml_process_use_v2) == 40, "as the library has it");

/* nvmlProcessesUtilizationInfo_v1_t: the list of the second call, and how long it may be. */
struct nvml_process_uses_v2 {
	unsigned version, count; /* version: NVML_PROCESS_USES_V2_VERSION */
	unsigned long long last_seen_us;
	struct nvml_process_use_v2 *use;
};
#define NVML_PROCESS_USES_V2_VERSION ((unsigned)sizeof(struct nvml_process_uses_v2) | 1U << 24)

struct nvml_api {
	void *library;
	nvml_function function[NVML_SYMBOL_NUMBER_OF]; /* NULL: the library has none */
	const char *name[NVML_SYMBOL_NUMBER_OF];       /* under which it was found, or looked for */
};

/* Load the library: $SONDE_NVML alone when it is set, else by its usual names. 0, or the symbol's
 * number + 1 when one is missing that nothing goes without; -1: no library (why says why). */
int nvml_load(struct nvml_api *api, char *why, unsigned size);

/*
 * A GPU or MIG device, and what of it is asked of the library.
 *
 * Every call says first, on the page, what it is about to do: who gives this process up can name
 * it. What is not supported is asked once; what fails or is forbidden is asked again.
 */
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

/* processes.c: who has a context, and who used the SMs in the last second. */
void unit_read_processes(struct nvml_session *s, struct nvml_unit *u);
void unit_read_uses(struct nvml_session *s, struct nvml_unit *u);

#endif
