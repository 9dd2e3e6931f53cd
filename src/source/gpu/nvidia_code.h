/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvidia_code.h - what a return code of NVIDIA's library means: a state, and a sentence.
 *
 * Its codes do not change between versions. A code that is not known is a failure.
 */
#ifndef SONDE_SOURCE_GPU_NVIDIA_CODE_H
#define SONDE_SOURCE_GPU_NVIDIA_CODE_H

#include "core/value.h"

/* code: NVML's, or one of ours (source/gpu/nvidia_page.h). ABSENT: there is no value this time, and
 * nothing is wrong. */
enum state nvidia_code_state(int code);
const char *nvidia_code_text(int code);
/* As a source's open returns it. */
int nvidia_code_errno(int code);

#endif
