/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thrift.h - the compact protocol of Apache Thrift, as far as Parquet's metadata needs it.
 *
 * Fields of a struct come in the order of their ids. Nothing is checked: what is wrong here is
 * wrong in the program.
 */
#ifndef SONDE_SINK_COLUMNAR_THRIFT_H
#define SONDE_SINK_COLUMNAR_THRIFT_H

#include "base/bytes.h"

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
void thrift_empty_struct(struct thrift *t, int id);
/* A list in a field: n elements of that type follow. */
void thrift_list(struct thrift *t, int id, enum thrift_type of, size_t n);
void thrift_element_i32(struct thrift *t, int32_t v);
void thrift_element_text(struct thrift *t, const char *text);

#endif
