/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entropy.h - random bytes of the kernel's, which nobody can guess. It never blocks.
 */
#ifndef SONDE_BASE_ENTROPY_H
#define SONDE_BASE_ENTROPY_H

#include <stdbool.h>
#include <stddef.h>

/* False, with errno, when the kernel gives none. */
bool entropy_fill(void *out, size_t n);

#endif
