/* SPDX-License-Identifier: Apache-2.0 */
/* The same library with the newer of the two functions that tell who used the SMs, and that only.
 */
#define NEW
#include "fake_nvml.c"
