/* SPDX-License-Identifier: Apache-2.0 */
#include "base/inflate.h"

#include <string.h>

enum state { MEMBER = 0, BLOCK, STORED, SYMBOLS, COPY, TRAILER, OVER };
enum { LITERALS = 288, DISTANCES = 30, END_OF_BLOCK = 256, LENGTHS = 29 };
enum { HAS_CRC = 2, HAS_EXTRA = 4, HAS_NAME = 8, HAS_COMMENT = 16, RESERVED = 0xe0 };

static bool bad(struct inflate *z, const char *what)
{
	if (!z->failed && !z->fault)
		z->fault = what;
	return false;
}

/* ---- bits ---- */

static int next_byte(struct inflate *z)
{
	if (z->at == z->len && !z->ended) {
		ssize_t n = z->read(z->ctx, z->in, sizeof z->in);

		z->failed |= n < 0;
		z->ended = n <= 0;
		z->at = 0;
		z->len = n > 0 ? (size_t)n : 0;
	}
	return z->at < z->len ? z->in[z->at++] : -1;
}

/* Look at n <= 32 bits; beyond the end there are zeros, which bits_take does not give. */
static uint32_t bits_see(struct inflate *z, unsigned n)
{
	while (z->nbits < n) {
		int c = next_byte(z);

		if (c < 0)
			break;
		z->bits |= (uint64_t)c << z->nbits;
		z->nbits += 8;
	}
	return (uint32_t)(z->bits & ((UINT64_C(1) << n) - 1));
}

static bool bits_drop(struct inflate *z, unsigned n)
{
	if (z->nbits < n)
		return bad(z, "it ends too early");
	z->bits >>= n;
	z->nbits -= n;
	return true;
}

static bool bits_take(struct inflate *z, unsigned n, uint32_t *out)
{
	*out = bits_see(z, n);
	return bits_drop(z, n);
}

/* ---- codes ---- */

static uint32_t reversed(uint32_t code, unsigned length)
{
	uint32_t out = 0;

	for (unsigned i = 0; i < length; i++)
		out |= (code >> i & 1) << (length - 1 - i);
	return out;
}

static void quick_fill(struct inflate_codes *c)
{
	uint32_t code = 0, at = 0;

	memset(c->quick, 0, sizeof c->quick);
	for (unsigned length = 1; length <= INFLATE_QUICK; length++, code <<= 1)
		for (unsigned i = 0; i < c->count[length]; i++, code++, at++)
			for (uint32_t k = reversed(code, length); k < 1u << INFLATE_QUICK;
			     k += 1u << length)
				c->quick[k] = (uint16_t)((unsigned)c->symbol[at] << 4 | length);
}

/* From the length of each symbol's code. False: more codes than there can be. One code alone, or
 * none, may be incomplete. */
static bool codes_make(struct inflate_codes *c, const uint8_t *length, unsigned n)
{
	uint16_t first[16] = { 0 };
	int left = 1;

	memset(c, 0, sizeof *c);
	for (unsigned i = 0; i < n; i++)
		c->count[length[i]]++;
	for (unsigned i = 1; i < 16; i++) {
		left = left * 2 - c->count[i];
		if (left < 0)
			return false;
		first[i] = (uint16_t)(first[i - 1] + (i > 1 ? c->count[i - 1] : 0));
	}
	for (unsigned i = 0; i < n; i++)
		if (length[i])
			c->symbol[first[length[i]]++] = (uint16_t)i;
	c->count[0] = 0;
	quick_fill(c);
	return true;
}

/* -1: no code. */
static int symbol_take(struct inflate *z, const struct inflate_codes *c)
{
	uint32_t seen = bits_see(z, 15), quick = c->quick[seen & ((1u << INFLATE_QUICK) - 1)];
	int code = 0, first = 0, index = 0;

	if (quick)
		return bits_drop(z, quick & 15) ? (int)(quick >> 4) : -1;
	for (unsigned length = 1; length < 16; length++) {
		code |= (int)(seen >> (length - 1) & 1);
		if (code - first < c->count[length])
			return bits_drop(z, length) ? c->symbol[index + code - first] : -1;
		index += c->count[length];
		first = (first + c->count[length]) << 1;
		code <<= 1;
	}
	bad(z, z->nbits < 15 ? "it ends too early" : "a code that has no symbol");
	return -1;
}

/* ---- blocks ---- */

static bool fixed_codes(struct inflate *z)
{
	uint8_t length[LITERALS];

	for (unsigned i = 0; i < LITERALS; i++)
		length[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
	codes_make(&z->literals, length, LITERALS);
	memset(length, 5, DISTANCES);
	codes_make(&z->distances, length, DISTANCES);
	z->state = SYMBOLS;
	return true;
}

/* The lengths of both codes, themselves in a code. */
static bool lengths_take(struct inflate *z, uint8_t *length, unsigned n)
{
	for (unsigned i = 0; i < n;) {
		int symbol = symbol_take(z, &z->literals);
		uint32_t more = 0;
		uint8_t again = symbol == 16 && i ? length[i - 1] : 0;

		if (symbol < 0 || (symbol == 16 && !i))
			return bad(z, "lengths of codes that are none");
		if (symbol < 16) {
			length[i++] = (uint8_t)symbol;
			continue;
		}
		if (!bits_take(z, symbol == 16 ? 2 : symbol == 17 ? 3 : 7, &more))
			return false;
		more += symbol == 18 ? 11 : 3;
		if (more > n - i)
			return bad(z, "too many lengths of codes");
		memset(length + i, again, more);
		i += more;
	}
	return true;
}

static bool own_codes(struct inflate *z)
{
	static const uint8_t order[19] = { 16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
					   11, 4,  12, 3, 13, 2, 14, 1, 15 };
	uint8_t length[LITERALS + 32] = { 0 };
	uint32_t literals, distances, lengths, v;

	if (!bits_take(z, 5, &literals) || !bits_take(z, 5, &distances) ||
	    !bits_take(z, 4, &lengths))
		return false;
	literals += 257;
	distances++;
	if (literals > 286 || distances > DISTANCES)
		return bad(z, "too many codes");
	for (unsigned i = 0; i < lengths + 4; i++) {
		if (!bits_take(z, 3, &v))
			return false;
		length[order[i]] = (uint8_t)v;
	}
	if (!codes_make(&z->literals, length, 19))
		return bad(z, "more codes than there can be");
	if (!lengths_take(z, length, literals + distances))
		return false;
	if (!length[END_OF_BLOCK])
		return bad(z, "a block without end");
	if (!codes_make(&z->distances, length + literals, distances) ||
	    !codes_make(&z->literals, length, literals))
		return bad(z, "more codes than there can be");
	z->state = SYMBOLS;
	return true;
}

static bool stored(struct inflate *z)
{
	uint32_t n, other;

	if (!bits_drop(z, z->nbits & 7) || !bits_take(z, 16, &n) || !bits_take(z, 16, &other))
		return false;
	if (n != (other ^ 0xffff))
		return bad(z, "a stored block whose length is wrong");
	z->left = n;
	z->state = STORED;
	return true;
}

static bool block_begin(struct inflate *z)
{
	uint32_t last, type;

	if (z->last) {
		z->state = TRAILER;
		return bits_drop(z, z->nbits & 7);
	}
	if (!bits_take(z, 1, &last) || !bits_take(z, 2, &type))
		return false;
	z->last = last;
	switch (type) {
	case 0:
		return stored(z);
	case 1:
		return fixed_codes(z);
	case 2:
		return own_codes(z);
	default:
		return bad(z, "a block of an unknown kind");
	}
}

/* ---- members ---- */

static bool text_skip(struct inflate *z)
{
	uint32_t c;

	do
		if (!bits_take(z, 8, &c))
			return false;
	while (c);
	return true;
}

static bool member_begin(struct inflate *z)
{
	uint32_t magic, flags, n;

	if (z->any && (bits_see(z, 8), !z->nbits)) {
		z->state = OVER;
		return true;
	}
	if (!bits_take(z, 24, &magic) || magic != 0x088b1f)
		return bad(z, z->any ? "something behind its end" : "it is not gzip");
	if (!bits_take(z, 8, &flags) || flags & RESERVED)
		return bad(z, "an unknown kind of gzip");
	if (!bits_take(z, 32, &n) || !bits_take(z, 16, &n))
		return false;
	if (flags & HAS_EXTRA) {
		if (!bits_take(z, 16, &n))
			return false;
		for (uint32_t c; n; n--)
			if (!bits_take(z, 8, &c))
				return false;
	}
	if ((flags & HAS_NAME && !text_skip(z)) || (flags & HAS_COMMENT && !text_skip(z)) ||
	    (flags & HAS_CRC && !bits_take(z, 16, &n)))
		return false;
	z->any = true;
	z->last = false;
	z->crc = 0;
	z->total = 0;
	z->state = BLOCK;
	return true;
}

static uint32_t crc_add(uint32_t crc, const uint8_t *data, size_t n)
{
	/* Four bits at a time: crc of each, by RFC 1952's polynomial. */
	static const uint32_t of[16] = { 0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
					 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
					 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
					 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c };

	crc = ~crc;
	for (size_t i = 0; i < n; i++) {
		crc ^= data[i];
		crc = crc >> 4 ^ of[crc & 15];
		crc = crc >> 4 ^ of[crc & 15];
	}
	return ~crc;
}

static bool member_end(struct inflate *z)
{
	uint32_t crc, total;

	if (!bits_take(z, 32, &crc) || !bits_take(z, 32, &total))
		return false;
	if (crc != z->crc || total != (uint32_t)z->total)
		return bad(z, "its checksum is wrong");
	z->state = MEMBER;
	return true;
}

/* ---- bytes ---- */

static bool copy_begin(struct inflate *z, unsigned symbol)
{
	static const uint16_t length[LENGTHS] = { 3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
						  15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
						  67, 83, 99, 115, 131, 163, 195, 227, 258 };
	static const uint16_t far[DISTANCES] = { 1,    2,    3,    4,     5,     7,    9,    13,
						 17,   25,   33,   49,    65,    97,   129,  193,
						 257,  385,  513,  769,   1025,  1537, 2049, 3073,
						 4097, 6145, 8193, 12289, 16385, 24577 };
	unsigned more = symbol < 8 || symbol == 28 ? 0 : (symbol - 4) / 4;
	uint32_t extra;
	int d;

	if (symbol >= LENGTHS)
		return bad(z, "a length that is none");
	if (!bits_take(z, more, &extra))
		return false;
	z->left = length[symbol] + extra;
	d = symbol_take(z, &z->distances);
	if (d < 0)
		return false;
	if (!bits_take(z, d < 4 ? 0 : ((unsigned)d - 2) / 2, &extra))
		return false;
	z->distance = far[d] + extra;
	if (z->distance > z->total)
		return bad(z, "a copy from in front of its begin");
	z->state = COPY;
	return true;
}

static void give(struct inflate *z, uint8_t **out, uint8_t c)
{
	z->window[z->total++ % INFLATE_WINDOW] = c;
	*(*out)++ = c;
}

static bool give_symbols(struct inflate *z, uint8_t **out, const uint8_t *end)
{
	while (*out < end) {
		int symbol = symbol_take(z, &z->literals);

		if (symbol < 0)
			return false;
		if (symbol > END_OF_BLOCK)
			return copy_begin(z, (unsigned)symbol - END_OF_BLOCK - 1);
		if (symbol == END_OF_BLOCK) {
			z->state = BLOCK;
			return true;
		}
		give(z, out, (uint8_t)symbol);
	}
	return true;
}

static bool give_left(struct inflate *z, uint8_t **out, const uint8_t *end)
{
	bool is_copy = z->state == COPY;
	uint32_t c;

	for (; z->left && *out < end; z->left--) {
		if (is_copy)
			c = z->window[(z->total - z->distance) % INFLATE_WINDOW];
		else if (!bits_take(z, 8, &c))
			return false;
		give(z, out, (uint8_t)c);
	}
	if (!z->left)
		z->state = is_copy ? SYMBOLS : BLOCK;
	return true;
}

static bool go_on(struct inflate *z, uint8_t **out, const uint8_t *end)
{
	uint8_t *from = *out;
	bool well;

	switch ((enum state)z->state) {
	case MEMBER:
		return member_begin(z);
	case BLOCK:
		return block_begin(z);
	case SYMBOLS:
		well = give_symbols(z, out, end);
		break;
	case TRAILER:
		return member_end(z);
	default:
		well = give_left(z, out, end);
		break;
	}
	z->crc = crc_add(z->crc, from, (size_t)(*out - from));
	return well;
}

ssize_t inflate_read(struct inflate *z, void *data, size_t n)
{
	uint8_t *out = data, *end = out + n;

	while (out < end && z->state != OVER && !z->fault && !z->failed)
		if (!go_on(z, &out, end))
			break;
	return out > (uint8_t *)data || (!z->fault && !z->failed) ? out - (uint8_t *)data : -1;
}
