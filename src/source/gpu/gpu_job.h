/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_job.h - looks at the job's processes for what says which GPUs are theirs.
 *
 * One process at a time, in turn: its environment's CUDA_VISIBLE_DEVICES, and which of /dev/nvidiaN
 * and /dev/dri/renderDN it has open, among its first GPU_JOB_FILES files. Another user's process
 * tells neither.
 */
#ifndef SONDE_SOURCE_GPU_GPU_JOB_H
#define SONDE_SOURCE_GPU_GPU_JOB_H

#include "source/source.h"

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

#endif
