/* SPDX-License-Identifier: Apache-2.0 */
/*
 * varint.h - LEB128 at a pointer, for the loops that run once a value.
 *
 * The writer's caller has made room (VARINT_MAX bytes); the reader never passes end. Elsewhere
 * base/bytes.h does the same with checks of its own.
 */
#ifndef SONDE_RECORDING_VARINT_H
#define SONDE_RECORDING_VARINT_H

#include <stddef.h>
#include <stdint.h>

enum { VARINT_MAX = 10 };

static inline uint8_t *varint_write(uint8_t *at, uint64_t v)
{
	while (v >= 0x80) {
		*at++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*at++ = (uint8_t)v;
	return at;
}

static inline uint32_t varint_size(uint64_t v)
{
	return (uint32_t)(70 - __builtin_clzll(v | 1)) / 7;
}

/* Behind the varint, or NULL when it is cut or does not fit into 64 bits. */
static inline const uint8_t *varint_read(const uint8_t *at, const uint8_t *end, uint64_t *v)
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

#endif
