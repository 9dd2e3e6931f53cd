/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lake.h - a file of a lake: the series of one job as Parquet, in the order in which they are asked
 * for (metric, node, instance, time), with the job in every row.
 */
#ifndef SONDE_SINK_LAKE_H
#define SONDE_SINK_LAKE_H

#include "sink/sink.h"

/* The frame is of the tidy series, not in windows. As sink_run. */
int lake_write(struct frame *f, const char *job, FILE *out, struct err *e);

#endif
