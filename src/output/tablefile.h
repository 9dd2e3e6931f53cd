/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tablefile.h - a recording as files: tables, and profiles for viewers of these.
 */
#ifndef SONDE_OUTPUT_TABLEFILE_H
#define SONDE_OUTPUT_TABLEFILE_H

#include "core/frame/frame.h"
#include "core/frame/run.h"
#include "output/outfile.h"
#include "sink/lake.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Where a table goes: a file of its own, one that holds those of many jobs, a lake,
 * or standard output.
 *
 * A file that tables of several recordings are added to, a collection, is locked, copied, added to,
 * and the copy takes its place when it is whole: who reads it meanwhile has the old one, and so has
 * everybody when something fails. The lock goes with its holder.
 */

struct tablefile {
	const char *directory; /* NULL: standard output, or file */
	FILE *file;            /* that tables are added to, each named after its job; or NULL */
	const char *job;
	struct outputs *written;
};

/* Pull the frame through the sink, to table.EXTENSION, to `file` as the table table_JOB, or to
 * standard output; then rewind it. 0 or -errno. */
int tablefile_write(const struct tablefile *to, const char *table, const struct sink *k,
		    struct frame *f, struct err *e);
/* What a job's number, else its recording's name, is; borrowed from either. */
const char *tablefile_job(const struct run *r, const char *path);

struct collection {
	struct outfile out; /* the copy */
	const char *path;
	int lock;
	bool made; /* there was nothing in it */
};

/* Wait for the lock for so long at most; tell() once when there is something to wait for. 0,
 * -EAGAIN when it was waited for in vain, or -errno. path is borrowed. */
int collection_open(struct collection *c, const char *path, int64_t wait_ns,
		    void (*tell)(const char *path, int64_t wait_ns), struct err *e);
/* As outfile_close. */
int collection_close(struct collection *c, int failed, struct err *e);

/* Write the frame (sink/lake.h) there; written is set to the file's path. It replaces the one of
 * the same job, whole or not at all. 0 or -errno. */
int lakefile_write(const char *root, const struct lake_job *job, const struct run *r,
		   struct frame *f, char written[PATH_MAX], struct err *e);

/* Nothing is written where nothing was lost that matters, or not into a directory. 0 or -errno. */
int lossfile_write(const struct tablefile *to, const struct run *r, struct err *e);

/*
 * A recording as files for viewers of profiles: its stacks in their formats, or the
 * run as a database of Scanner's with one job, directory/jobs/ID/profile_*.bin and the descriptors.
 */

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
