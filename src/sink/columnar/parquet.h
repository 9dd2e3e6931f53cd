/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parquet.h - how Parquet writes numbers: those of its format, small ones in hybrid runs,
 * and its metadata in Thrift's compact protocol.
 */
#ifndef SONDE_SINK_COLUMNAR_PARQUET_H
#define SONDE_SINK_COLUMNAR_PARQUET_H

#include "base/bytes.h"
#include "core/frame/frame.h"

enum parquet_type { PARQUET_INT64 = 2, PARQUET_DOUBLE = 5, PARQUET_BYTE_ARRAY = 6 };
static inline enum parquet_type parquet_type(enum column_type type)
{
	return type == COLUMN_TEXT   ? PARQUET_BYTE_ARRAY
	       : type == COLUMN_REAL ? PARQUET_DOUBLE
				     : PARQUET_INT64;
}

enum parquet_encoding { PARQUET_PLAIN = 0, PARQUET_RLE = 3, PARQUET_RLE_DICTIONARY = 8 };
enum parquet_page { PARQUET_DATA_PAGE = 0, PARQUET_DICTIONARY_PAGE = 2 };
enum { PARQUET_OPTIONAL = 1, PARQUET_ZSTD = 6, PARQUET_UTF8 = 0 };

/* Of the file's own key and value: the summary of the run (frame_schema.summary). */
#define PARQUET_RUN_KEY "sonde_run"

/* The compact protocol of Apache Thrift, as far as Parquet's metadata needs it. Fields of a struct
 * come in the order of their ids. Nothing is checked: what is wrong here is wrong in the program.
 */
enum { THRIFT_DEPTH = 8 };

struct thrift {
	struct bytes *out; /* borrowed */
	unsigned depth;
	int last[THRIFT_DEPTH]; /* id of the field before, in each open struct */
};

enum thrift_type { THRIFT_I32 = 5, THRIFT_I64 = 6, THRIFT_BINARY = 8, THRIFT_STRUCT = 12 };

void thrift_bool(struct thrift *t, int id, bool v);
void thrift_i32(struct thrift *t, int id, int32_t v);
void thrift_i64(struct thrift *t, int id, int64_t v);
void thrift_binary(struct thrift *t, int id, const void *data, size_t n);
void thrift_text(struct thrift *t, int id, const char *text);
/* A struct in a field; id 0: an element of a list. */
void thrift_struct(struct thrift *t, int id);
void thrift_struct_end(struct thrift *t);
/* A list in a field: n elements of that type follow. */
void thrift_list(struct thrift *t, int id, enum thrift_type of, size_t n);
void thrift_element_i32(struct thrift *t, int32_t v);
void thrift_element_text(struct thrift *t, const char *text);

/* The value of that key among a file's own, in the `n` bytes of its footer's metadata, which may be
 * hostile: borrowed from them, *len long. NULL: there is none. */
const uint8_t *parquet_find_value(const uint8_t *footer, size_t n, const char *key, size_t *len);

/* Small numbers: runs of equal ones, and the others packed into their bits. */

/* Bits that hold 0..max; at least 1. */
unsigned hybrid_width(uint32_t max);
/* Append n numbers below 1 << width. */
void hybrid_put(struct bytes *out, const uint32_t *v, uint32_t n, unsigned width);
/* Append n bits (the lowest first; those behind are clear), of which `clear` are not set. */
void hybrid_bits(struct bytes *out, const uint8_t *bits, uint32_t n, uint32_t clear);

#endif
