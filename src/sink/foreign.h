/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign.h - a format that a helper writes, since it takes a library that Sonde itself does
 * without.
 *
 * The helper (base/helper_talk.h) gets the table (sink/stream.h) and the file. A file that has
 * something in it already is added to.
 */
#ifndef SONDE_SINK_FOREIGN_H
#define SONDE_SINK_FOREIGN_H

#include "base/helper_talk.h"
#include "sink/sink.h"
#include "sink/stream.h"

struct foreign {
	struct helper_talk talk;
	struct stream_writer writer;
};

/* What a sink of such a format does; its private state begins with struct foreign. */
int foreign_begin(struct foreign *x, const struct helper_program *program,
		  const struct frame_schema *schema, FILE *out, struct err *e);
int foreign_batch(void *state, const struct batch *b, struct err *e);
int foreign_end(void *state, struct err *e);
void foreign_free(void *state);

/* The helper's part: its whole main. k writes into the file that FILE *out names by descriptor:
 * foreign_path. */
int foreign_serve(const struct sink *k);
/* A path by which the library can open the file. Returns out. */
const char *foreign_path(FILE *out, char *path, size_t size);

#endif
