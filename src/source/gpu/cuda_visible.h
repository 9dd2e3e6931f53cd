/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_visible.h - which GPUs a value of CUDA_VISIBLE_DEVICES names.
 *
 * Read as CUDA reads it: numbers, or (beginnings of) UUIDs of GPUs and MIG devices, by commas; the
 * first that names nothing ends the list. Numbers are taken in the order of the PCI bus, as
 * nvidia-smi shows them: CUDA's own default order differs where a node has GPUs of several kinds.
 */
#ifndef SONDE_SOURCE_GPU_CUDA_VISIBLE_H
#define SONDE_SOURCE_GPU_CUDA_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
