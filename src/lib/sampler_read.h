/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler_read.h - what a sampler in the process reads of the node. Private to src/lib.
 *
 * The numbers come from the same sources as a recording's. Counters are what they rose by since
 * node_reader_open. Nothing is allocated after that.
 */
#ifndef SONDE_LIB_SAMPLER_READ_H
#define SONDE_LIB_SAMPLER_READ_H

#include "base/err.h"
#include "core/tracker.h"

#include <stdint.h>

struct node_reader;

/* 0, or -errno with a sentence when nothing of the node can be read. Takes a first reading. */
int node_reader_open(struct node_reader **r, struct err *e);
void node_reader_close(struct node_reader *r);
/* CPU figures of the next sample are of the time from now on. */
void node_reader_window(struct node_reader *r);
void node_reader_sample(struct node_reader *r, struct tracker_sample *out);
unsigned node_reader_cpus(const struct node_reader *r);

/*
 * Samples of a whole run in a bounded place. Private to src/lib.
 *
 * Each sample belongs to a slice of time; slices are equally long. When the place is full, slices
 * become twice as long and samples that share one are merged (tracker_merge), so that extremes
 * stay. The newest slice is the one that is still open. Nothing is allocated after store_init.
 */
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
