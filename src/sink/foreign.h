/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign.h - a format that a helper writes, since it takes a library that Sonde itself does
 * without.
 *
 * The helper sonde-NAME gets the table (sink/stream.h) on its standard input and the file as
 * descriptor 3, and answers on its standard output: an errno and a sentence. It ends with this
 * process. A file that has something in it already is added to.
 */
#ifndef SONDE_SINK_FOREIGN_H
#define SONDE_SINK_FOREIGN_H

#include "sink/sink.h"
#include "sink/stream.h"

#include <sys/types.h>

struct foreign_format {
	const char *helper;      /* the program sonde-HELPER */
	const char *development; /* Debian's packages that it is built with */
	const char *library;     /* those that it needs to run */
};

struct foreign {
	const struct foreign_format *format;
	struct stream_writer writer;
	pid_t pid; /* 0: not started */
	int table, answer;
};

/* What a sink of such a format does; its private state begins with struct foreign, whose format is
 * set by begin. */
int foreign_begin(struct foreign *x, const struct foreign_format *format,
		  const struct frame_schema *schema, FILE *out, struct err *e);
int foreign_batch(void *state, const struct batch *b, struct err *e);
int foreign_end(void *state, struct err *e);
void foreign_free(void *state);

enum { FOREIGN_FILE = 3 };
/* The helper's part: its whole main. k writes into the file that FILE *out names by descriptor:
 * foreign_path. */
int foreign_serve(const struct sink *k);
/* A path by which the library can open the file. Returns out. */
const char *foreign_path(FILE *out, char *path, size_t size);

#endif
