/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_permission.h - what this machine lets this user count, and why not.
 *
 * Asks the kernel by trying on this process.
 */
#ifndef SONDE_SOURCE_PERF_PERMISSION_H
#define SONDE_SOURCE_PERF_PERMISSION_H

#include "base/err.h"
#include "base/root.h"

#include <stdbool.h>

/* Else user mode alone, and nothing at all above kernel.perf_event_paranoid 2. */
bool perf_may_count_kernel(void);
/* Spins for a millisecond: a virtual machine may have counters that open and stand still. */
bool perf_cycles_advance(bool user_only);
/* A refusal of perf_event_open in words: what an administrator set, which the errno alone does not
 * tell. Returns the errno that fits. */
int perf_explain(const struct root *proc, int bad, struct err *e);

#endif
