/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drm_gpu.h - GPUs of the kernel's DRM as the sample knows them: an instance for each that has a
 * render node, and one for each of its engines that a client was seen to use.
 */
#ifndef SONDE_SOURCE_GPU_DRM_GPU_H
#define SONDE_SOURCE_GPU_DRM_GPU_H

#include "core/sample.h"
#include "source/procfile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a GPU's driver tells of one client in /proc/PID/fdinfo/FD of a /dev/dri file:
 * the kernel's Documentation/gpu/drm-usage-stats.rst.
 *
 * Pure. Several descriptors, of several processes too, may be one client: they tell the same id.
 */

enum { DRM_ENGINES_MAX = 16, DRM_NAME_SIZE = 24 };

/* Times or cycles; -1: the driver does not report it. */
struct drm_engine {
	char name[DRM_NAME_SIZE];
	int64_t busy_ns;
	int64_t cycles, total_cycles; /* of the client, and of the engine meanwhile */
	int64_t capacity;             /* how many alike it stands for; 1 when that is not told */
};

struct drm_fdinfo {
	char driver[DRM_NAME_SIZE];
	uint64_t client;
	size_t nengines;
	struct drm_engine engine[DRM_ENGINES_MAX]; /* more are left out */
	/* Resident memory, else what is allocated, by where it is; -1: the driver does not tell. */
	int64_t device_bytes, host_bytes;
};

/* 0; -ENODATA when it tells of no client; -EBADMSG when a number is none. */
int drm_fdinfo_parse(const char *text, struct drm_fdinfo *out);

enum { DRM_GPUS_MAX = 32 };

enum drm_metric {
	DRM_CLIENTS,
	DRM_DEVICE_MEMORY,
	DRM_HOST_MEMORY,
	DRM_GPU_SERIES,
	DRM_ENGINE_BUSY = DRM_GPU_SERIES,
	DRM_ENGINE_CYCLES,
	DRM_ENGINE_TOTAL_CYCLES,
	DRM_ENGINE_COUNT,
	DRM_MEASURED,
	DRM_ENGINE_SERIES = DRM_MEASURED - DRM_GPU_SERIES,
	DRM_ENGINE_RATIO = DRM_MEASURED,
	DRM_NUMBER_OF
};

extern const struct metric drm_metrics[DRM_NUMBER_OF];

/* What the job's clients did there since they were seen first. It never goes back. */
struct drm_gpu_engine {
	char name[DRM_NAME_SIZE];
	uint32_t slot;
	bool told;                             /* which of them the driver tells */
	int64_t busy_ns, cycles, total_cycles; /* -1: the driver does not report it */
	int64_t capacity;
};

struct drm_gpu {
	int render, card; /* N of /dev/dri/renderDN and cardN; card -1: none */
	uint32_t instance, slot;
	enum state told[DRM_GPU_SERIES];
	/* of the round that goes on */
	int64_t clients, device_bytes, host_bytes;
	size_t nengines;
	struct drm_gpu_engine engine[DRM_ENGINES_MAX];
};

struct drm_gpus {
	uint32_t n;
	struct drm_gpu gpu[DRM_GPUS_MAX];
};

/* Those that sysfs shows, but NVIDIA's, whose driver tells nothing so. */
void drm_gpus_find(struct drm_gpus *g, const struct root *sys, struct sample *s);
/* The one that an open file leads to; NULL for any other file. */
struct drm_gpu *drm_gpu_behind(struct drm_gpus *g, const char *target);
/* The engine of this name, told to the sample when it is new; NULL when there is no room. */
struct drm_gpu_engine *drm_gpu_engine(struct drm_gpu *v, const char *name, struct sample *s);
/* Nothing was found of it yet. */
void drm_gpu_begin(struct drm_gpu *v);
/* All was looked at: put what was found. */
void drm_gpu_put(struct drm_gpu *v, struct sample *s);
/* It cannot be known, and why. Said once. */
void drm_gpu_refuse(struct drm_gpu *v, enum state state, const char *reason, struct sample *s);

#endif
