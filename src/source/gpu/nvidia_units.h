/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvidia_units.h - NVIDIA's GPUs and MIG devices as the sample knows them.
 *
 * What they are called, what was put or refused last, whose they are, who has memory on them. Told
 * from the page of the helper, whose texts and numbers are checked here.
 */
#ifndef SONDE_SOURCE_GPU_NVIDIA_UNITS_H
#define SONDE_SOURCE_GPU_NVIDIA_UNITS_H

#include "core/metric.h"
#include "source/gpu/gpu.h"
#include "source/gpu/nvidia_page.h"
#include "source/source.h"

/*
 * What a return code of NVIDIA's library means: a state, and a sentence.
 *
 * Its codes do not change between versions. A code that is not known is a failure.
 */

/* code: NVML's, or one of ours (source/gpu/nvidia_page.h). */
const char *nvidia_code_text(int code);
/* As a source's open returns it. */
int nvidia_code_errno(int code);

/* How it is known that a GPU is the job's; the later, the surer. */
enum gpu_evidence {
	EVIDENCE_NONE,
	EVIDENCE_CGROUP,
	EVIDENCE_OPEN_FILE,
	EVIDENCE_ENVIRONMENT,
	EVIDENCE_CONTEXT,
	EVIDENCE_NUMBER_OF
};

struct nvidia_unit {
	uint32_t gpu, instance, slot; /* slot 0: no series */
	int32_t mig, mig_gpu, minor;
	char uuid[96];
	bool mig_on;
	enum gpu_evidence evidence;
	int16_t code[GPU_MEASURED]; /* as the sample was told last */
};

struct nvidia_units {
	uint32_t n;
	bool pids_known; /* the driver's pids are those of env->proc */
	struct nvidia_unit unit[NVIDIA_DEVICES_MAX];
	struct gpu_holders holders; /* they are told by the GPU's place in unit[] */
};

/* Tell of what the page lists; again after the helper was started anew: what is known keeps its
 * instance. */
void nvidia_units_announce(struct nvidia_units *u, const struct nvidia_page *p, struct sample *s);
/* What is told of the job's GPUs by how many of the node's the driver shows: ngpus of nboards. */
void nvidia_units_shown(struct nvidia_units *u, uint32_t ngpus, uint32_t nboards, struct sample *s);
/* Put the values of an answer. */
void nvidia_units_take(struct nvidia_units *u, const struct nvidia_page *p,
		       const struct source_env *env, struct sample *s);
/* No more values of this GPU (-1: of any), for this reason. */
void nvidia_units_fail(struct nvidia_units *u, int32_t gpu, const char *reason, struct sample *s);
/* What was seen of a process of the job. */
void nvidia_units_saw(struct nvidia_units *u, const struct gpu_job *j, struct sample *s);

#endif
