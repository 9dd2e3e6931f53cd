/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lake.h - a file of a lake: the series of one job as Parquet, in the order in which they are asked
 * for (metric, node, instance, time), with the job in every row, and the job's summary in the
 * file's metadata, which is read without the series.
 */
#ifndef SONDE_SINK_LAKE_H
#define SONDE_SINK_LAKE_H

#include "base/bytes.h"
#include "sink/sink.h"

struct lake_job {
	const char *id;      /* in each row */
	const char *summary; /* JSON; NULL: none is in the file */
};

/* The frame is of the tidy series, not in windows. As sink_run. */
int lake_write(struct frame *f, const struct lake_job *job, FILE *out, struct err *e);

/* The summary in a file of a lake, which may be hostile, with a NUL behind it. 0; -ENODATA: it has
 * none; or -errno with a sentence. */
int lake_read_summary(const char *path, struct bytes *summary, struct err *e);

#endif
