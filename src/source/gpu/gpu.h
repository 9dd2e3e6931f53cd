/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.h - GPUs: their metrics, and the processes that use them.
 */
#ifndef SONDE_SOURCE_GPU_GPU_H
#define SONDE_SOURCE_GPU_GPU_H

#include "core/metric.h"
#include "source/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where each metric of a GPU lies in the catalogue of source/gpu/gpu.c.
 *
 * The first GPU_COMMON rows are what GPUs of every maker have; the rest is told by NVIDIA's driver.
 * The sources nvidia, amdgpu and drm fill them; this file reads nothing.
 */

enum gpu_metric {
	GPU_UTILIZATION,
	GPU_MEMORY_UTILIZATION,
	GPU_MEMORY_USED,
	GPU_MEMORY_TOTAL,
	GPU_POWER,
	GPU_POWER_LIMIT,
	GPU_TEMPERATURE,
	GPU_MEMORY_TEMPERATURE,
	GPU_CLOCK,
	GPU_MEMORY_CLOCK,
	GPU_COMMON,
	GPU_MEMORY_FREE = GPU_COMMON,
	GPU_MEMORY_RESERVED,
	GPU_BAR1_USED,
	GPU_BAR1_TOTAL,
	GPU_ENERGY,
	GPU_TEMPERATURE_LIMIT,
	GPU_GRAPHICS_CLOCK,
	GPU_VIDEO_CLOCK,
	GPU_CLOCK_LIMIT,
	GPU_FAN,
	GPU_PERFORMANCE_STATE,
	GPU_CLOCK_REASONS,
	GPU_ENCODER,
	GPU_DECODER,
	GPU_PCIE_SENT,
	GPU_PCIE_RECEIVED,
	GPU_PCIE_SENT_SAMPLED,
	GPU_PCIE_RECEIVED_SAMPLED,
	GPU_PCIE_REPLAYS,
	GPU_PCIE_GENERATION,
	GPU_PCIE_WIDTH,
	GPU_ECC_CORRECTED,
	GPU_ECC_UNCORRECTED,
	GPU_ROWS_CORRECTED,
	GPU_ROWS_UNCORRECTED,
	GPU_THROTTLED_POWER,
	GPU_THROTTLED_THERMAL,
	GPU_THROTTLED_SYNC,
	GPU_THROTTLED_BOARD,
	GPU_THROTTLED_IDLE,
	GPU_THROTTLED_RELIABILITY,
	GPU_BELOW_APPLICATION_CLOCK,
	GPU_BELOW_BASE_CLOCK,
	GPU_NVLINK_SENT,
	GPU_NVLINK_RECEIVED,
	GPU_NVLINK_CRC_ERRORS,
	GPU_NVLINK_REPLAYS,
	GPU_NVLINK_RECOVERIES,
	GPU_NVLINK_ACTIVE,
	GPU_PROCESSES,
	/* what follows is made from the driver's list of processes */
	GPU_JOB_PROCESSES,
	GPU_JOB_MEMORY,
	GPU_OTHER_PROCESSES,
	GPU_OTHER_MEMORY,
	/* and from what it says of their use of the SMs */
	GPU_JOB_SM,
	GPU_OTHER_SM,
	GPU_MEASURED,
	GPU_MEMORY_USED_RATIO = GPU_MEASURED,
	GPU_POWER_USED_RATIO,
	GPU_DERIVED_END,
	/* of a process on a GPU: those of NVIDIA's begin at the second, the others end with it */
	GPU_PROCESS_ENGINES = GPU_DERIVED_END,
	GPU_PROCESS_MEMORY,
	GPU_PROCESS_SM,
	GPU_NUMBER_OF
};

extern const struct metric *const gpu_metrics; /* GPU_NUMBER_OF rows */

/* Processes and the GPUs that they may use, have open, or have memory on. */

/*
 * Which GPUs a value of CUDA_VISIBLE_DEVICES names.
 *
 * Read as CUDA reads it: numbers, or (beginnings of) UUIDs of GPUs and MIG devices, by commas; the
 * first that names nothing ends the list. Numbers are taken in the order of the PCI bus, as
 * nvidia-smi shows them: CUDA's own default order differs where a node has GPUs of several kinds.
 */

struct cuda_device {
	uint32_t gpu;     /* as nvidia-smi numbers it */
	bool is_mig;      /* a part of that GPU */
	const char *uuid; /* "GPU-..." or "MIG-...": borrowed */
	bool named;       /* the answer */
};

/* Sets named of each of the n devices; returns how many are. */
size_t cuda_visible(const char *value, struct cuda_device *devices, size_t n);
/* The value of name in the text of /proc/PID/environ, up to its NUL; NULL: it is not set there. */
const char *environ_find(const char *text, size_t len, const char *name);

/*
 * Looks at the job's processes for what says which GPUs are theirs.
 *
 * One process at a time, in turn: its environment's CUDA_VISIBLE_DEVICES, and which of /dev/nvidiaN
 * and /dev/dri/renderDN it has open, among its first GPU_JOB_FILES files. Another user's process
 * tells neither.
 */

enum { GPU_JOB_ENVIRON = 64 * 1024, GPU_JOB_PIDS = 1024, GPU_JOB_FILES = 256 };

struct gpu_job {
	size_t turn;
	pid_t pids[GPU_JOB_PIDS];
	char environ[GPU_JOB_ENVIRON];
	/* of the process that was looked at */
	const char *visible; /* CUDA_VISIBLE_DEVICES; NULL: not set, or not readable */
	uint64_t minors;     /* bit i: it has /dev/nvidia<i> open */
	uint64_t renders;    /* bit i: it has /dev/dri/renderD<128 + i> open */
};

/* Look at the next one. False when there is none. */
bool gpu_job_look(struct gpu_job *j, const struct source_env *env);

/*
 * Processes on GPUs as the sample knows them: an instance for each process and GPU,
 * announced when it is met first, ended when it is met no more.
 *
 * Beyond GPU_HOLDERS_MAX they are left out; sums over them are made elsewhere.
 */

enum { GPU_HOLDERS_MAX = 64, GPU_HOLDER_SERIES = 2 };

struct gpu_holder {
	pid_t pid; /* 0: a free row */
	uint32_t gpu, instance, slot;
	bool seen;
	/* the source's own */
	int64_t memory_bytes, engine_ns; /* memory: -1 at first */
	int lacks;                       /* why it was said to have no value */
};

struct gpu_holders {
	const struct root *proc; /* where a process has its name */
	enum gpu_metric first;   /* of the rows that are told: GPU_HOLDER_SERIES of them */
	struct gpu_holder row[GPU_HOLDERS_MAX];
};

/* This process on this GPU, whose instance is parent. NULL when there is no room. */
struct gpu_holder *gpu_holder_meet(struct gpu_holders *h, pid_t pid, uint32_t gpu, uint32_t parent,
				   bool is_jobs, struct sample *s);
void gpu_holder_put(const struct gpu_holders *h, const struct gpu_holder *v, enum gpu_metric metric,
		    int64_t value, struct sample *s);
/* It has no such value, and why. */
void gpu_holder_refuse(const struct gpu_holders *h, const struct gpu_holder *v,
		       enum gpu_metric metric, enum state state, const char *reason,
		       struct sample *s);
/* Those not met since the last time have ended. */
void gpu_holders_sweep(struct gpu_holders *h, struct sample *s);

#endif
