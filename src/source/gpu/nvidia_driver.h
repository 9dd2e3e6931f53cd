/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvidia_driver.h - what is seen of NVIDIA's driver without asking it: is it there, for whom.
 *
 * Nothing here touches a GPU, and nothing blocks.
 */
#ifndef SONDE_SOURCE_GPU_NVIDIA_DRIVER_H
#define SONDE_SOURCE_GPU_NVIDIA_DRIVER_H

#include "source/source.h"

/* Is there a driver to ask? 0, or -ENODEV with a sentence. $SONDE_NVML says yes. */
int nvidia_driver_find(const struct source_env *env, struct err *e);
/* How many GPUs it has, whoever may use them; 0: it does not say. */
uint32_t nvidia_driver_boards(const struct root *proc);
/* It names processes as the host does: are those the pids of env->proc? */
bool nvidia_driver_shares_pids(const struct source_env *env);

#endif
