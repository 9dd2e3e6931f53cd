/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvidia_helper.h - the helper process sonde-nvml, as the recorder sees it.
 *
 * It may hang or crash inside NVIDIA's library; nothing here waits for it. Whoever has waited long
 * enough stops it: a process that hangs in the kernel is left behind.
 */
#ifndef SONDE_SOURCE_GPU_NVIDIA_HELPER_H
#define SONDE_SOURCE_GPU_NVIDIA_HELPER_H

#include "base/err.h"
#include "source/gpu/nvidia_page.h"

#include <stdbool.h>
#include <sys/types.h>

struct nvidia_helper {
	pid_t pid;
	int socket;
	uint32_t asked;
	struct nvidia_page *page; /* NULL: not started */
};

/* left_out: bit i set = GPU i is not to be touched. 0, or -errno with a sentence. */
int nvidia_helper_start(struct nvidia_helper *h, uint32_t left_out, struct err *e);
/* Ask for an answer whose reading begins at due_ns (monotonic). 0, or -errno when it has died. */
int nvidia_helper_ask(struct nvidia_helper *h, int64_t due_ns);
enum nvidia_stage nvidia_helper_stage(const struct nvidia_helper *h);
bool nvidia_helper_answered(const struct nvidia_helper *h);
/* Has it ended by itself? It is reaped then. */
bool nvidia_helper_died(struct nvidia_helper *h);
void nvidia_helper_stop(struct nvidia_helper *h);

#endif
