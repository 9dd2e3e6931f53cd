/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drm_fdinfo.h - what a GPU's driver tells of one client in /proc/PID/fdinfo/FD of a /dev/dri file:
 * the kernel's Documentation/gpu/drm-usage-stats.rst.
 *
 * Pure. Several descriptors, of several processes too, may be one client: they tell the same id.
 */
#ifndef SONDE_SOURCE_GPU_DRM_FDINFO_H
#define SONDE_SOURCE_GPU_DRM_FDINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
