/* SPDX-License-Identifier: Apache-2.0 */
/*
 * varint.h - LEB128 at a pointer, for the loops that run once a value.
 *
 * The writer's caller has made room (VARINT_MAX bytes, all of which may be written to); the reader
 * never passes end. Up to eight bytes are coded at once, without a branch on their number: it
 * changes from value to value and would be guessed wrong. Elsewhere base/bytes.h does the same with
 * checks of its own.
 */
#ifndef SONDE_RECORDING_VARINT_H
#define SONDE_RECORDING_VARINT_H

#include "base/bytes.h"

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { VARINT_MAX = 10 };

/* 28 bits to four groups of seven, each in a byte, and back; 56 bits to eight. */
static inline uint32_t varint_spread4(uint32_t v)
{
	v = (v & 0x00003fff) | (v & 0x0fffc000) << 2;
	return (v & 0x007f007f) | (v & 0x3f803f80) << 1;
}

static inline uint32_t varint_gather4(uint32_t v)
{
	v = (v & 0x007f007f) | (v & 0x7f007f00) >> 1;
	return (v & 0x00003fff) | (v & 0x3fff0000) >> 2;
}

static inline uint64_t varint_spread8(uint64_t v)
{
	return varint_spread4((uint32_t)v & 0x0fffffff) |
	       (uint64_t)varint_spread4((uint32_t)(v >> 28)) << 32;
}

static inline uint64_t varint_gather8(uint64_t v)
{
	return varint_gather4((uint32_t)v) | (uint64_t)varint_gather4((uint32_t)(v >> 32)) << 28;
}

static inline uint8_t *varint_write_long(uint8_t *at, uint64_t v)
{
	while (v >= 0x80) {
		*at++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*at++ = (uint8_t)v;
	return at;
}

/* before: bits in front of the last byte; all bytes there are marked as followed by another. */
static inline uint8_t *varint_write(uint8_t *at, uint64_t v)
{
	unsigned before;

	if (v < 1 << 28) {
		uint32_t four = varint_spread4((uint32_t)v);

		before = (31u ^ (unsigned)__builtin_clz(four | 1)) & 24;
		four = htole32(four | UINT32_C(0x40404040) >> (31 - before));
		memcpy(at, &four, sizeof four);
	} else if (v < UINT64_C(1) << 56) {
		uint64_t eight = varint_spread8(v);

		before = (63u ^ (unsigned)__builtin_clzll(eight)) & 56;
		eight = htole64(eight | UINT64_C(0x4040404040404040) >> (63 - before));
		memcpy(at, &eight, sizeof eight);
	} else {
		return varint_write_long(at, v);
	}
	return at + before / 8 + 1;
}

/* Behind the varint, or NULL when it is cut or does not fit into 64 bits. */
static inline const uint8_t *varint_read_bytes(const uint8_t *at, const uint8_t *end, uint64_t *v)
{
	*v = 0;
	for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
		uint8_t byte = *at++;

		if (shift == 63 && byte > 1)
			return NULL;
		*v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return at;
	}
	return NULL;
}

static inline const uint8_t *varint_read(const uint8_t *at, const uint8_t *end, uint64_t *v)
{
	uint64_t in, last;

	if (end - at < (ptrdiff_t)sizeof in)
		return varint_read_bytes(at, end, v);
	memcpy(&in, at, sizeof in);
	in = le64toh(in);
	last = ~in & UINT64_C(0x8080808080808080);
	if (!last)
		return varint_read_bytes(at, end, v);
	last &= -last; /* the high bit of the last byte */
	in &= (last - 1) & UINT64_C(0x7f7f7f7f7f7f7f7f);
	*v = in >> 32 ? varint_gather8(in) : varint_gather4((uint32_t)in);
	return at + (__builtin_ctzll(last) + 1) / 8;
}

/* As scan_varint and scan_zigzag: a chunk's times and footer are read also where its values are
 * not. */
static inline uint64_t varint_scan(struct scan *in)
{
	const uint8_t *at = in->at;
	uint64_t v;

	if (at < in->end && !(*at & 0x80) && !in->bad) {
		in->at++;
		return *at;
	}
	at = in->bad ? NULL : varint_read(at, in->end, &v);
	if (!at) {
		in->bad = true;
		return 0;
	}
	in->at = at;
	return v;
}

static inline int64_t zigzag_scan(struct scan *in)
{
	return zigzag_decode(varint_scan(in));
}

#endif
