/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tablefile.h - where a table goes: a file of its own, one that holds those of many jobs, or
 * standard output.
 */
#ifndef SONDE_OUTPUT_TABLEFILE_H
#define SONDE_OUTPUT_TABLEFILE_H

#include "console/written.h"
#include "sink/sink.h"

struct tablefile {
	const char *directory; /* NULL: standard output, or file */
	FILE *file;            /* that tables are added to, each named after its job; or NULL */
	const char *job;
	struct written *written;
};

/* Pull the frame through the sink, to table.EXTENSION, to `file` as the table table_JOB, or to
 * standard output; then rewind it. 0 or -errno. */
int tablefile_write(const struct tablefile *to, const char *table, const struct sink *k,
		    struct frame *f, struct err *e);
/* What a job's number, else its recording's name, is; borrowed from either. */
const char *tablefile_job(const struct run *r, const char *path);

#endif
