/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"

#include "base/text/decimal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VARINT_MAX = 10 };

void bytes_free(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){ 0 };
}

bool bytes_room(struct bytes *b, size_t n)
{
	size_t cap = b->cap ? b->cap : 256;
	uint8_t *data;

	if (b->failed)
		return false;
	if (n <= b->cap - b->len)
		return true;
	if (b->fixed || n > SIZE_MAX / 4 - b->len) {
		b->failed = true;
		return false;
	}
	while (cap < b->len + n)
		cap *= 2;
	data = realloc(b->data, cap);
	if (!data) {
		b->failed = true;
		return false;
	}
	b->data = data;
	b->cap = cap;
	return true;
}

void bytes_put(struct bytes *b, const void *data, size_t n)
{
	if (!n || !bytes_room(b, n))
		return;
	memcpy(b->data + b->len, data, n);
	b->len += n;
}

void bytes_puts(struct bytes *b, const char *text)
{
	bytes_put(b, text, strlen(text));
}

void bytes_printf(struct bytes *b, const char *format, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, format);
	va_copy(again, ap);
	n = decimal_vprint(NULL, 0, format, ap);
	va_end(ap);
	if (n >= 0 && bytes_room(b, (size_t)n + 1)) {
		decimal_vprint((char *)b->data + b->len, (size_t)n + 1, format, again);
		b->len += (size_t)n;
	}
	va_end(again);
}

void bytes_u8(struct bytes *b, uint8_t v)
{
	bytes_put(b, &v, 1);
}

void bytes_u32(struct bytes *b, uint32_t v)
{
	uint8_t out[4];

	for (int i = 0; i < 4; i++)
		out[i] = (uint8_t)(v >> (8 * i));
	bytes_put(b, out, sizeof out);
}

void bytes_u64(struct bytes *b, uint64_t v)
{
	bytes_u32(b, (uint32_t)v);
	bytes_u32(b, (uint32_t)(v >> 32));
}

void bytes_varint(struct bytes *b, uint64_t v)
{
	uint8_t out[VARINT_MAX], *at = out;
	bool roomy = !b->failed && b->cap - b->len >= VARINT_MAX;

	/* In place where any would fit: traces have a dozen of them an event. */
	if (roomy)
		at = b->data + b->len;
	while (v >= 0x80) {
		*at++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*at++ = (uint8_t)v;
	if (roomy)
		b->len = (size_t)(at - b->data);
	else
		bytes_put(b, out, (size_t)(at - out));
}

void bytes_zigzag(struct bytes *b, int64_t v)
{
	bytes_varint(b, zigzag_encode(v));
}

void bytes_text(struct bytes *b, const char *text)
{
	size_t n = text ? strlen(text) : 0;

	bytes_varint(b, n);
	bytes_put(b, text, n);
}

const uint8_t *scan_take(struct scan *s, size_t n)
{
	const uint8_t *at = s->at;

	if (s->bad || n > (size_t)(s->end - s->at)) {
		s->bad = true;
		return NULL;
	}
	s->at += n;
	return at;
}

uint8_t scan_u8(struct scan *s)
{
	const uint8_t *p = scan_take(s, 1);

	return p ? *p : 0;
}

uint32_t scan_u32(struct scan *s)
{
	const uint8_t *p = scan_take(s, 4);

	if (!p)
		return 0;
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint64_t scan_u64(struct scan *s)
{
	uint64_t low = scan_u32(s);

	return low | (uint64_t)scan_u32(s) << 32;
}

uint64_t scan_varint(struct scan *s)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = scan_u8(s);

		if (shift == 63 && byte > 1)
			break;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return s->bad ? 0 : v;
	}
	s->bad = true;
	return 0;
}

int64_t scan_zigzag(struct scan *s)
{
	return zigzag_decode(scan_varint(s));
}

const char *scan_text(struct scan *s, size_t *n)
{
	uint64_t len = scan_varint(s);
	const uint8_t *p = len > SIZE_MAX ? NULL : scan_take(s, (size_t)len);

	*n = p ? (size_t)len : 0;
	return (const char *)p;
}
