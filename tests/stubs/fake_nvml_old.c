/* SPDX-License-Identifier: Apache-2.0 */
/* The same library as an old driver has it: half its functions, under their older names. */
#define OLD
#include "fake_nvml.c"
