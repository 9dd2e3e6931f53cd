/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrow.h - the messages of Apache Arrow's interprocess format: schema, batches, the footer of a
 * file.
 */
#ifndef SONDE_SINK_COLUMNAR_ARROW_H
#define SONDE_SINK_COLUMNAR_ARROW_H

#include "base/bytes.h"
#include "core/frame/frame.h"

/* A length and its nulls; where a buffer lies in the body; where a message lies in the file. */
struct arrow_node {
	int64_t rows, nulls;
};
struct arrow_buffer {
	int64_t offset, length;
};
struct arrow_block {
	uint64_t offset, body;
	uint32_t message; /* bytes before the body */
};

struct arrow_batch {
	int64_t rows, body;
	const struct arrow_node *node;
	size_t nnodes;
	const struct arrow_buffer *buffer;
	size_t nbuffers;
};

struct arrow_file {
	const struct arrow_block *dictionary, *batch;
	size_t ndictionaries, nbatches;
};

/* Append a message without its body. Texts are in dictionaries, whose id is the column's number. */
void arrow_schema(struct bytes *out, const struct frame_schema *schema);
void arrow_record(struct bytes *out, const struct arrow_batch *b);
void arrow_dictionary(struct bytes *out, const struct arrow_batch *b, uint32_t id);
/* Append what stands at the end of a file. */
void arrow_footer(struct bytes *out, const struct frame_schema *schema,
		  const struct arrow_file *file);

#endif
