/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/columnar/parquet_format.h"

#include <string.h>

/* ---- Thrift ---- */

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

/* ---- hybrid runs ---- */

enum { RUN_LEAST = 16 }; /* a shorter run costs more than its bits */

unsigned hybrid_width(uint32_t max)
{
	return max ? 32U - (unsigned)__builtin_clz(max) : 1;
}

static void put_run(struct bytes *out, uint32_t v, uint32_t n, unsigned width)
{
	bytes_varint(out, (uint64_t)n << 1);
	for (unsigned i = 0; i < width; i += 8)
		bytes_u8(out, (uint8_t)(v >> i));
}

/* n is a multiple of 8 but at the end, which is filled up with zeros. */
static void put_packed(struct bytes *out, const uint32_t *v, uint32_t n, unsigned width)
{
	size_t groups = (n + 7) / 8, size = groups * width;
	uint64_t gathered = 0;
	unsigned bits = 0;
	uint8_t *at, *end;

	if (!n)
		return;
	bytes_varint(out, groups << 1 | 1);
	if (!bytes_room(out, size))
		return;
	at = out->data + out->len;
	end = at + size;
	for (uint32_t i = 0; i < n; i++) {
		gathered |= (uint64_t)v[i] << bits;
		for (bits += width; bits >= 8; bits -= 8, gathered >>= 8)
			*at++ = (uint8_t)gathered;
	}
	for (; at < end; gathered >>= 8)
		*at++ = (uint8_t)gathered;
	out->len += size;
}

void hybrid_put(struct bytes *out, const uint32_t *v, uint32_t n, unsigned width)
{
	uint32_t packed = 0, at = 0;

	while (at < n) {
		uint32_t end = at + 1, begin;

		while (end < n && v[end] == v[at])
			end++;
		begin = packed + (at - packed + 7) / 8 * 8;
		if (end >= begin + RUN_LEAST) {
			put_packed(out, v + packed, begin - packed, width);
			put_run(out, v[at], end - begin, width);
			packed = end;
		}
		at = end;
	}
	put_packed(out, v + packed, n - packed, width);
}

void hybrid_bits(struct bytes *out, const uint8_t *bits, uint32_t n, uint32_t clear)
{
	if (!n || !clear || clear == n) {
		put_run(out, !clear, n, 1);
		return;
	}
	bytes_varint(out, (uint64_t)((n + 7) / 8) << 1 | 1);
	bytes_put(out, bits, (n + 7) / 8);
}
