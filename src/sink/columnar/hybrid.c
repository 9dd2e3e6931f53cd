/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/columnar/hybrid.h"

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
