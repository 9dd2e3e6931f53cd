/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign.h - a format that a helper writes, since it takes a library that Sonde itself does
 * without: SQLite, HDF5 (src/sqlite/, src/hdf5/).
 *
 * The helper (base/helper.h) gets the table (the stream) and the file. A file that has
 * something in it already is added to.
 */
#ifndef SONDE_SINK_FOREIGN_H
#define SONDE_SINK_FOREIGN_H

#include "base/bytes.h"
#include "core/frame/frame.h"
#include "sink/columnar/sorted.h"
#include "sink/sink.h"

/*
 * A table as bytes, for a helper that writes a format with a library of its own.
 *
 * Blocks, each a kind and its length in 32 bits: the schema once, batches, the end. Numbers are
 * little-endian. A batch has the texts that are new in it, which are numbered from 1 on in the
 * whole stream, and then its columns: of text a number each (0: absent), else a byte of state and 8
 * bytes each. What is read is not trusted.
 */

enum stream_kind { STREAM_SCHEMA = 1, STREAM_BATCH, STREAM_END };
enum { STREAM_HEAD = 8, STREAM_BLOCK_MAX = 256 << 20, STREAM_CACHE = 1024 };

/* The writing end: blocks, to be sent by somebody else. {0} is empty. */
struct stream_writer {
	const struct frame_schema *schema;
	struct dictionary texts;
	uint32_t known; /* texts that the reader has */
	uint32_t stamp; /* of the batch, while which a text stays where it is */
	struct stream_cache {
		const char *text;
		uint32_t number, stamp;
	} cache[STREAM_CACHE];
	struct bytes codes, block; /* block: the whole of the one made last */
};

/* 0 or -errno, in e as well. */
int stream_put_schema(struct stream_writer *w, const struct frame_schema *schema, struct err *e);
int stream_put_batch(struct stream_writer *w, const struct batch *b, struct err *e);
int stream_put_end(struct stream_writer *w, struct err *e);
void stream_writer_free(struct stream_writer *w);

/* The reading end. Texts stay where they are until it is freed. {0} is empty. */
struct stream_reader {
	struct frame_schema schema;
	struct column *columns, *metrics;
	struct cells *cells;
	uint32_t room; /* rows that the cells have room for */
	char **text;   /* [ntexts]; 0 is none */
	uint32_t ntexts, text_cap;
	struct bytes names; /* of the schema */
	struct batch batch; /* the one read last */
};

/* A block without its head. 0; -EPROTO for what no writer makes; -ENOMEM. */
int stream_get(struct stream_reader *r, enum stream_kind kind, const uint8_t *data, size_t n,
	       struct err *e);
/* The number of a text that the reader gave. */
uint32_t stream_number(const char *text);
void stream_reader_free(struct stream_reader *r);

/* The helper's part: its whole main. k writes into the file that FILE *out names by descriptor:
 * foreign_path. */
int foreign_serve(const struct sink *k);
/* A path by which the library can open the file. Returns out. */
const char *foreign_path(FILE *out, char *path, size_t size);

#endif
