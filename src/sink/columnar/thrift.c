/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/columnar/thrift.h"

#include <string.h>

enum { TYPE_TRUE = 1, TYPE_FALSE = 2, TYPE_LIST = 9 };

static void field(struct thrift *t, int id, unsigned type)
{
	int *last = &t->last[t->depth];

	if (id > *last && id - *last <= 15) {
		bytes_u8(t->out, (uint8_t)((unsigned)(id - *last) << 4 | type));
	} else {
		bytes_u8(t->out, (uint8_t)type);
		bytes_zigzag(t->out, id);
	}
	*last = id;
}

void thrift_bool(struct thrift *t, int id, bool v)
{
	field(t, id, v ? TYPE_TRUE : TYPE_FALSE);
}

void thrift_i32(struct thrift *t, int id, int32_t v)
{
	field(t, id, THRIFT_I32);
	bytes_zigzag(t->out, v);
}

void thrift_i64(struct thrift *t, int id, int64_t v)
{
	field(t, id, THRIFT_I64);
	bytes_zigzag(t->out, v);
}

static void put_binary(struct thrift *t, const void *data, size_t n)
{
	bytes_varint(t->out, n);
	bytes_put(t->out, data, n);
}

void thrift_binary(struct thrift *t, int id, const void *data, size_t n)
{
	field(t, id, THRIFT_BINARY);
	put_binary(t, data, n);
}

void thrift_text(struct thrift *t, int id, const char *text)
{
	thrift_binary(t, id, text, strlen(text));
}

void thrift_struct(struct thrift *t, int id)
{
	if (id)
		field(t, id, THRIFT_STRUCT);
	t->last[++t->depth] = 0;
}

void thrift_struct_end(struct thrift *t)
{
	bytes_u8(t->out, 0);
	t->depth--;
}

void thrift_empty_struct(struct thrift *t, int id)
{
	thrift_struct(t, id);
	thrift_struct_end(t);
}

void thrift_list(struct thrift *t, int id, enum thrift_type of, size_t n)
{
	field(t, id, TYPE_LIST);
	if (n < 15) {
		bytes_u8(t->out, (uint8_t)(n << 4 | of));
	} else {
		bytes_u8(t->out, (uint8_t)(0xf0U | of));
		bytes_varint(t->out, n);
	}
}

void thrift_element_i32(struct thrift *t, int32_t v)
{
	bytes_zigzag(t->out, v);
}

void thrift_element_text(struct thrift *t, const char *text)
{
	put_binary(t, text, strlen(text));
}
