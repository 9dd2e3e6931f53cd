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

struct node_reader;

/* 0, or -errno with a sentence when nothing of the node can be read. Takes a first reading. */
int node_reader_open(struct node_reader **r, struct err *e);
void node_reader_close(struct node_reader *r);
/* CPU figures of the next sample are of the time from now on. */
void node_reader_window(struct node_reader *r);
void node_reader_sample(struct node_reader *r, struct tracker_sample *out);
unsigned node_reader_cpus(const struct node_reader *r);

#endif
