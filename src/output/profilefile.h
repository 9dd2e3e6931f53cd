/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profilefile.h - the stacks of a recording as files for viewers of profiles.
 */
#ifndef SONDE_OUTPUT_PROFILEFILE_H
#define SONDE_OUTPUT_PROFILEFILE_H

#include "console/written.h"
#include "core/frame/run.h"

struct profilefile {
	uint64_t formats;      /* bit i: profiles[i] (sink/profile/profile.h) */
	const char *directory; /* NULL: standard output, of one format */
	double from_s, to_s;   /* 0, 0: all of the run */
	struct written *written;
};

/* The bit of a format; 0: there is none of this name. */
uint64_t profilefile_format(const char *name, size_t n);
/* 0 or -errno with a sentence: -ENODATA where the recording has no stacks. */
int profilefile_write(const struct profilefile *p, struct run *r, struct err *e);

#endif
