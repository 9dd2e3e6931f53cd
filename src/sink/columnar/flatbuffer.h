/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flatbuffer.h - FlatBuffers, as far as Arrow's metadata needs them.
 *
 * A buffer is built from its end to its begin: what something refers to is made before it. `ref` is
 * where a thing lies, counted from the end; 0 is none. Tables do not nest: one is ended before the
 * next begins. {0} is empty.
 */
#ifndef SONDE_SINK_COLUMNAR_FLATBUFFER_H
#define SONDE_SINK_COLUMNAR_FLATBUFFER_H

#include "base/bytes.h"

enum { FLATBUFFER_FIELDS = 8 };

typedef uint32_t flatbuffer_ref;

struct flatbuffer {
	struct bytes reversed;                   /* the last byte first */
	flatbuffer_ref field[FLATBUFFER_FIELDS]; /* of the open table */
	uint32_t begin;
};

flatbuffer_ref flatbuffer_text(struct flatbuffer *f, const char *text);
flatbuffer_ref flatbuffer_binary_text(struct flatbuffer *f, const void *text, size_t n);

/* A vector: begin, its elements from the last to the first, end. */
void flatbuffer_vector(struct flatbuffer *f, size_t bytes);
flatbuffer_ref flatbuffer_vector_end(struct flatbuffer *f, size_t n);
flatbuffer_ref flatbuffer_vector_of_refs(struct flatbuffer *f, const flatbuffer_ref *refs,
					 size_t n);
/* A number by itself: an element of a vector or of a struct in it. */
void flatbuffer_put(struct flatbuffer *f, uint64_t v, size_t size);

void flatbuffer_table(struct flatbuffer *f);
void flatbuffer_number(struct flatbuffer *f, unsigned field, uint64_t v, size_t size);
void flatbuffer_refer(struct flatbuffer *f, unsigned field, flatbuffer_ref ref);
flatbuffer_ref flatbuffer_table_end(struct flatbuffer *f);

/* Append the buffer whose root is that table to out, a multiple of 8 bytes, and empty it. */
void flatbuffer_end(struct flatbuffer *f, flatbuffer_ref root, struct bytes *out);
void flatbuffer_free(struct flatbuffer *f);

#endif
