/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/protobuf.h"

#include <string.h>

enum { WIRE_VARINT = 0, WIRE_64BIT = 1, WIRE_LENGTH = 2 };

static void key(struct bytes *out, unsigned field, unsigned wire)
{
	bytes_varint(out, field << 3 | wire);
}

void protobuf_number(struct bytes *out, unsigned field, uint64_t v)
{
	key(out, field, WIRE_VARINT);
	bytes_varint(out, v);
}

void protobuf_signed(struct bytes *out, unsigned field, int64_t v)
{
	key(out, field, WIRE_VARINT);
	bytes_zigzag(out, v);
}

void protobuf_fixed(struct bytes *out, unsigned field, uint64_t v)
{
	key(out, field, WIRE_64BIT);
	bytes_u64(out, v);
}

void protobuf_real(struct bytes *out, unsigned field, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	protobuf_fixed(out, field, bits);
}

void protobuf_binary(struct bytes *out, unsigned field, const void *data, size_t n)
{
	key(out, field, WIRE_LENGTH);
	bytes_varint(out, n);
	bytes_put(out, data, n);
}

void protobuf_text(struct bytes *out, unsigned field, const char *text)
{
	protobuf_binary(out, field, text, strlen(text));
}

void protobuf_message(struct bytes *out, unsigned field, struct bytes *inner)
{
	protobuf_binary(out, field, inner->data, inner->len);
	out->failed |= inner->failed;
	bytes_reset(inner);
}
