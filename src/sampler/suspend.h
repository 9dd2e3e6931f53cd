/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suspend.h - notices that the machine was suspended: then the clock of samples stands still, and
 * the one that counts from the boot goes on.
 *
 * Rates and durations are by the former, so that they are right without the time of the suspend.
 */
#ifndef SONDE_SAMPLER_SUSPEND_H
#define SONDE_SAMPLER_SUSPEND_H

#include "core/sample.h"

/* {0} has seen nothing yet. */
struct suspend {
	int64_t ahead_ns; /* how far the clock from the boot is ahead, at most */
	int64_t total_ns; /* of all suspends */
	bool seen;
};

/* In each sample: a suspend since the last one becomes a mark, and metadata. */
void suspend_step(struct suspend *x, struct sample *s);

#endif
