/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lakefile.h - a job's place in a lake: ROOT/cluster=NAME/date=DATE/JOB.parquet.
 */
#ifndef SONDE_OUTPUT_LAKEFILE_H
#define SONDE_OUTPUT_LAKEFILE_H

#include "core/frame/frame.h"

#include <limits.h>

/* Write the frame (sink/lake.h) there; written is set to the file's path. It replaces the one of
 * the same job, whole or not at all. 0 or -errno. */
int lakefile_write(const char *root, const char *job, const struct run *r, struct frame *f,
		   char written[PATH_MAX], struct err *e);

#endif
