/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mechanism.h - the ways the process tree is followed, each tried on this machine.
 */
#ifndef SONDE_SAMPLER_MECHANISM_H
#define SONDE_SAMPLER_MECHANISM_H

#include "base/root.h"
#include "core/finding.h"

#include <stddef.h>

enum { MECHANISMS_MAX = 8 };

/* Try each; returns how many findings were written (at most MECHANISMS_MAX). */
size_t mechanism_check(const struct root *proc, struct finding out[MECHANISMS_MAX]);

#endif
