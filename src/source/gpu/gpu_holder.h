/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_holder.h - processes on GPUs as the sample knows them: an instance for each process and GPU,
 * announced when it is met first, ended when it is met no more.
 *
 * Beyond GPU_HOLDERS_MAX they are left out; sums over them are made elsewhere.
 */
#ifndef SONDE_SOURCE_GPU_GPU_HOLDER_H
#define SONDE_SOURCE_GPU_GPU_HOLDER_H

#include "source/gpu/gpu.h"
#include "source/source.h"

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
