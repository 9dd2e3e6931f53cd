/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profilefile.h - a recording as files for viewers of profiles: its stacks in their formats, or the
 * run as a database of Scanner's with one job, directory/jobs/ID/profile_*.bin and the descriptors.
 */
#ifndef SONDE_OUTPUT_PROFILEFILE_H
#define SONDE_OUTPUT_PROFILEFILE_H

#include "core/frame/run.h"
#include "output/outfile.h"

struct profilefile {
	uint64_t formats;      /* bit i: profiles[i] (sink/profile/profile.h) */
	const char *directory; /* NULL: standard output, of one format */
	double from_s, to_s;   /* 0, 0: all of the run */
	struct outputs *written;
	/* SAMPLE_CPU; SAMPLE_WAITS: files are called waits.folded then; or SAMPLE_RESIDENT, at the
	 * peak of each node: memory.folded. */
	enum sample_kind kind;
};

/* The bit of a format; 0: there is none of this name. */
uint64_t profilefile_format(const char *name, size_t n);
/* 0 or -errno with a sentence: -ENODATA where the recording has none of that kind. */
int profilefile_write(const struct profilefile *p, struct run *r, struct err *e);

/* Each file whole or not at all; directories are made when they are not there. 0 or -errno. */
int scannerfile_write(struct run *r, const char *directory, struct outputs *w, struct err *e);

#endif
