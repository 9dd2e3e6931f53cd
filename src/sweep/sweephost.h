/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweephost.h - does this machine have what a sweep asks for?
 */
#ifndef SONDE_SWEEP_SWEEPHOST_H
#define SONDE_SWEEP_SWEEPHOST_H

#include "bench/sweep/sweepspec.h"

#include <stddef.h>

/* False, and why says all that is missing. What the machine does not tell of itself is not missed.
 */
bool sweephost_has(const struct sweep_needs *n, char *why, size_t size);

#endif
