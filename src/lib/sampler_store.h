/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler_store.h - samples of a whole run in a bounded place. Private to src/lib.
 *
 * Each sample belongs to a slice of time; slices are equally long. When the place is full, slices
 * become twice as long and samples that share one are merged (tracker_merge), so that extremes
 * stay. The newest slice is the one that is still open. Nothing is allocated after store_init.
 */
#ifndef SONDE_LIB_SAMPLER_STORE_H
#define SONDE_LIB_SAMPLER_STORE_H

#include "core/tracker.h"

#include <stdint.h>

struct store {
	struct tracker_sample *sample;
	uint64_t *slice; /* which slice of time each is of */
	size_t n, cap;
	uint64_t length; /* of a slice, in samples as they are asked for */
};

int store_init(struct store *t, size_t max_length); /* 0 or -ENOMEM */
void store_free(struct store *t);
/* due: the number of the sample, by the clock: one that was skipped has a number, too. */
void store_add(struct store *t, const struct tracker_sample *s, uint64_t due);

#endif
