/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - a growable run of bytes.
 *
 * {0} is empty and safe to free. A failed growth is remembered: `failed` is set, later appends do
 * nothing, and one check at the end replaces a check at every append. With `fixed` the buffer never
 * grows (used while sampling, where nothing may be allocated).
 */
#ifndef SONDE_BASE_BYTES_H
#define SONDE_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
	uint8_t *data;
	size_t len, cap;
	bool failed, fixed;
};

void bytes_free(struct bytes *b);
static inline void bytes_reset(struct bytes *b)
{
	b->len = 0;
	b->failed = false;
}

/* Make room for n more bytes; false (and failed) when there is none. */
bool bytes_room(struct bytes *b, size_t n);
void bytes_put(struct bytes *b, const void *data, size_t n);
void bytes_puts(struct bytes *b, const char *text);
void bytes_printf(struct bytes *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void bytes_u8(struct bytes *b, uint8_t v);
void bytes_u32(struct bytes *b, uint32_t v);    /* little-endian */
void bytes_u64(struct bytes *b, uint64_t v);    /* little-endian */
void bytes_varint(struct bytes *b, uint64_t v); /* LEB128 */
void bytes_zigzag(struct bytes *b, int64_t v);
void bytes_text(struct bytes *b, const char *text); /* varint length, then the bytes; NULL = "" */

/* A bounds-checked reader over bytes that may be hostile: past the end every read gives 0 and sets
 * bad; one check at the end is enough. */
struct scan {
	const uint8_t *at, *end;
	bool bad;
};
uint8_t scan_u8(struct scan *s);
uint32_t scan_u32(struct scan *s);
uint64_t scan_u64(struct scan *s);
uint64_t scan_varint(struct scan *s);
int64_t scan_zigzag(struct scan *s);
/* Borrowed bytes inside the scanned buffer; *n is their number. NULL when there are too few. */
const uint8_t *scan_take(struct scan *s, size_t n);
const char *scan_text(struct scan *s, size_t *n); /* not NUL-terminated */

static inline uint64_t zigzag_encode(int64_t v)
{
	return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}
static inline int64_t zigzag_decode(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

#endif
