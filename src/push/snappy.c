/* SPDX-License-Identifier: Apache-2.0 */
#include "push/snappy.h"

#include <string.h>

enum { LITERAL = 0, COPY_2 = 2, BLOCK = 65536, SHORT_LITERAL = 60, COPY_MAX = 64, HASH_BITS = 13 };

static void put_literal(struct bytes *out, const uint8_t *from, size_t n)
{
	if (!n)
		return;
	if (n <= SHORT_LITERAL) {
		bytes_u8(out, (uint8_t)((n - 1) << 2 | LITERAL));
	} else { /* the length in two bytes: a block has no more */
		bytes_u8(out, (uint8_t)((SHORT_LITERAL + 1) << 2 | LITERAL));
		bytes_u8(out, (uint8_t)((n - 1) & 0xff));
		bytes_u8(out, (uint8_t)((n - 1) >> 8));
	}
	bytes_put(out, from, n);
}

static void put_copy(struct bytes *out, size_t offset, size_t n)
{
	while (n) {
		size_t part = n < COPY_MAX ? n : COPY_MAX;

		bytes_u8(out, (uint8_t)((part - 1) << 2 | COPY_2));
		bytes_u8(out, (uint8_t)(offset & 0xff));
		bytes_u8(out, (uint8_t)(offset >> 8));
		n -= part;
	}
}

static uint32_t four(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

/* Copies never reach out of the block, so that an offset fits two bytes. */
static void put_block(struct bytes *out, const uint8_t *data, size_t n)
{
	uint16_t table[1 << HASH_BITS] = { 0 }; /* where four bytes of this hash were last */
	size_t literal = 0, at = 1;

	while (at + 4 <= n) {
		uint32_t v = four(data + at), hash = v * UINT32_C(0x1e35a7bd) >> (32 - HASH_BITS);
		size_t before = table[hash], length = 4;

		table[hash] = (uint16_t)at;
		if (before >= at || four(data + before) != v) {
			at++;
			continue;
		}
		while (at + length < n && data[before + length] == data[at + length])
			length++;
		put_literal(out, data + literal, at - literal);
		put_copy(out, at - before, length);
		at += length;
		literal = at;
	}
	put_literal(out, data + literal, n - literal);
}

void snappy_put(struct bytes *out, const uint8_t *data, size_t n)
{
	bytes_varint(out, n);
	for (size_t at = 0; at < n; at += BLOCK)
		put_block(out, data + at, n - at < BLOCK ? n - at : BLOCK);
}
