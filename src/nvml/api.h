/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.h - the part of NVIDIA's management library that is used, loaded while running.
 *
 * Own declarations of NVML's binary interface, as of version 12 (driver 570), whose functions and
 * structs of older drivers (from 418 on) are the same but where a symbol has two names. A function
 * that the library lacks loses what it would have told and nothing else.
 */
#ifndef SONDE_NVML_API_H
#define SONDE_NVML_API_H

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

#endif
