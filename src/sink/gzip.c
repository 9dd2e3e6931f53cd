/* SPDX-License-Identifier: Apache-2.0 */
/* gzip.c - RFC 1952 around RFC 1951. */
#include "sink/gzip.h"

#include "base/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	BLOCK = 32768, /* no match reaches out of it, so that each distance is one of Deflate's */
	HASH_BITS = 14,
	MATCH_MIN = 4,
	MATCH_MAX = 258,
	END_OF_BLOCK = 256,
	FIXED_CODES = 1,
};

struct gzip {
	FILE *out;
	struct bytes packed;
	uint64_t bits; /* that are no whole byte yet, the first the lowest */
	unsigned nbits;
	uint32_t crc, size;
	uint32_t crc_of[256];
	uint16_t place[1 << HASH_BITS]; /* where four bytes of this hash were last */
	uint8_t block[BLOCK];
	size_t n;
};

static void put_bits(struct gzip *z, uint32_t v, unsigned n)
{
	z->bits |= (uint64_t)v << z->nbits;
	for (z->nbits += n; z->nbits >= 8; z->nbits -= 8) {
		bytes_u8(&z->packed, (uint8_t)z->bits);
		z->bits >>= 8;
	}
}

/* Huffman codes alone go with their highest bit first. */
static void put_code(struct gzip *z, uint32_t code, unsigned n)
{
	uint32_t reversed = 0;

	for (unsigned i = 0; i < n; i++)
		reversed |= (code >> i & 1) << (n - 1 - i);
	put_bits(z, reversed, n);
}

/* RFC 1951, 3.2.6. */
static void put_symbol(struct gzip *z, uint32_t symbol)
{
	if (symbol < 144)
		put_code(z, 0x30 + symbol, 8);
	else if (symbol < 256)
		put_code(z, 0x190 + symbol - 144, 9);
	else if (symbol < 280)
		put_code(z, symbol - 256, 7);
	else
		put_code(z, 0xc0 + symbol - 280, 8);
}

/* Lengths and distances share a form: after the first few, `per` codes of each power of two, with
 * the bits below. v counts from 0. */
static uint32_t find_code(uint32_t v, unsigned per_bits, unsigned *extra)
{
	unsigned top;

	*extra = 0;
	if (v < 2U << per_bits)
		return v;
	top = 31U - (unsigned)__builtin_clz(v);
	*extra = top - per_bits;
	return (*extra << per_bits) + (v >> *extra);
}

static void put_match(struct gzip *z, uint32_t length, uint32_t distance)
{
	unsigned extra;
	uint32_t code;

	if (length == MATCH_MAX) {
		put_symbol(z, 285);
	} else {
		code = find_code(length - 3, 2, &extra);
		put_symbol(z, 257 + code);
		put_bits(z, (length - 3) & ((1U << extra) - 1), extra);
	}
	code = find_code(distance - 1, 1, &extra);
	put_code(z, code, 5);
	put_bits(z, (distance - 1) & ((1U << extra) - 1), extra);
}

static uint32_t four(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

/* How far the bytes at `at` are those at `before`; less than MATCH_MIN: they differ. */
static uint32_t match_length(const struct gzip *z, size_t before, size_t at)
{
	uint32_t n = 0;

	while (n < MATCH_MAX && at + n < z->n && z->block[before + n] == z->block[at + n])
		n++;
	return n;
}

static void put_block(struct gzip *z, uint32_t last)
{
	size_t at = 0;

	memset(z->place, 0, sizeof z->place);
	put_bits(z, last, 1);
	put_bits(z, FIXED_CODES, 2);
	while (at < z->n) {
		uint32_t length = 0;
		size_t before = 0;

		if (at + MATCH_MIN <= z->n) {
			uint16_t *place = &z->place[four(z->block + at) * UINT32_C(0x1e35a7bd) >>
						    (32 - HASH_BITS)];

			before = *place;
			*place = (uint16_t)at;
			length = before < at ? match_length(z, before, at) : 0;
		}
		if (length >= MATCH_MIN)
			put_match(z, length, (uint32_t)(at - before));
		else
			put_symbol(z, z->block[at]);
		at += length >= MATCH_MIN ? length : 1;
	}
	put_symbol(z, END_OF_BLOCK);
	z->n = 0;
}

static void sum_up(struct gzip *z, const uint8_t *data, size_t n)
{
	uint32_t crc = ~z->crc;

	for (size_t i = 0; i < n; i++)
		crc = z->crc_of[(crc ^ data[i]) & 0xff] ^ crc >> 8;
	z->crc = ~crc;
	z->size += (uint32_t)n;
}

/* Hand on what is packed. False: errno says why it was not taken. */
static bool flush(struct gzip *z)
{
	bool good = !z->packed.failed;

	if (!good)
		errno = ENOMEM;
	else if (fwrite(z->packed.data, 1, z->packed.len, z->out) != z->packed.len)
		good = false;
	bytes_reset(&z->packed);
	return good;
}

static ssize_t gzip_write(void *cookie, const char *data, size_t n)
{
	struct gzip *z = cookie;

	sum_up(z, (const uint8_t *)data, n);
	for (size_t done = 0; done < n;) {
		size_t part = n - done < BLOCK - z->n ? n - done : BLOCK - z->n;

		memcpy(z->block + z->n, data + done, part);
		z->n += part;
		done += part;
		if (z->n < BLOCK)
			break;
		put_block(z, 0);
		if (!flush(z))
			return 0;
	}
	return (ssize_t)n;
}

static int gzip_close(void *cookie)
{
	struct gzip *z = cookie;
	bool good;

	put_block(z, 1);
	if (z->nbits)
		put_bits(z, 0, 8 - z->nbits);
	bytes_u32(&z->packed, z->crc);
	bytes_u32(&z->packed, z->size);
	good = flush(z);
	bytes_free(&z->packed);
	free(z);
	return good ? 0 : EOF;
}

FILE *gzip_open(FILE *out)
{
	/* Deflate, no name and no time; made on Unix. */
	static const uint8_t head[10] = { 0x1f, 0x8b, 8, [9] = 3 };
	struct gzip *z = calloc(1, sizeof *z);
	FILE *f;

	if (!z)
		return NULL;
	z->out = out;
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;

		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ UINT32_C(0xedb88320) : crc >> 1;
		z->crc_of[i] = crc;
	}
	bytes_put(&z->packed, head, sizeof head);
	f = fopencookie(z, "w",
			(cookie_io_functions_t){ .write = gzip_write, .close = gzip_close });
	if (!f) {
		bytes_free(&z->packed);
		free(z);
	}
	return f;
}
