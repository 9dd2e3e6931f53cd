/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink.h - an output format: one const struct in its own file, one line in sinks.def.
 *
 * A sink sees tables (core/frame/frame.h) and never /proc, argv or a metric's name. It streams: its
 * memory does not grow with the table. It escapes every text cell for its own format.
 */
#ifndef SONDE_SINK_SINK_H
#define SONDE_SINK_SINK_H

#include "core/frame/frame.h"

#include <stdio.h>

struct sink {
	const char *name; /* "csv"; also the file's extension, where that is not given */
	const char *extension;
	const char *what; /* a few words for people */
	bool collects; /* a file may hold tables of several recordings: one that is there is added
			  to */
	bool series_only; /* it takes the series as readings, of what lasts: selection.lasting */
	size_t size;      /* of its private state, zeroed before begin */
	int (*begin)(void *state, const struct frame_schema *schema, FILE *out, struct err *e);
	int (*batch)(void *state, const struct batch *b, struct err *e);
	int (*end)(void *state,
		   struct err *e); /* completes the output; not called after a failure */
	void (*free)(void *state); /* lets go of what begin took; always called */
};

/* All of sinks.def, in its order. */
extern const struct sink *const sinks[];
extern const size_t nsinks;
const struct sink *sink_find(const char *name); /* NULL when unknown */

/* Of the files it writes, without the point. */
const char *sink_extension(const struct sink *k);

/* Where a table comes from that is no frame. */
struct table_source {
	const struct frame_schema *schema;
	int (*next)(void *ctx, struct batch *b, struct err *e); /* as frame_next */
	void *ctx;
};
/* As sink_run. */
int sink_pull(const struct sink *k, const struct table_source *from, FILE *out, struct err *e);

/* Pull the frame through the sink into out and flush it. 0 or -errno; what could not be written is
 * reported without a name, which the caller knows. */
int sink_run(const struct sink *k, struct frame *f, FILE *out, struct err *e);
/* The same under another name than the table's. */
int sink_run_as(const struct sink *k, struct frame *f, const char *table, FILE *out, struct err *e);

#endif
