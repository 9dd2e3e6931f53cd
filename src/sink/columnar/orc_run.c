/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/columnar/orc_run.h"

enum { RUN_LEAST = 3, RUN_MOST = 130, LITERALS_MOST = 128 };

static void put_number(struct bytes *out, int64_t v, enum orc_sign sign)
{
	if (sign == ORC_SIGNED)
		bytes_zigzag(out, v);
	else
		bytes_varint(out, (uint64_t)v);
}

static void put_literals(struct bytes *out, const int64_t *v, uint32_t n, enum orc_sign sign)
{
	while (n) {
		uint32_t some = n < LITERALS_MOST ? n : LITERALS_MOST;

		bytes_u8(out, (uint8_t)-some);
		for (uint32_t i = 0; i < some; i++)
			put_number(out, v[i], sign);
		v += some;
		n -= some;
	}
}

/* How many of n numbers go up or down by *step each. */
static uint32_t run_length(const int64_t *v, uint32_t n, int64_t *step)
{
	uint32_t length = 2;
	int64_t next;

	if (n < RUN_LEAST || __builtin_sub_overflow(v[1], v[0], step) || *step < INT8_MIN ||
	    *step > INT8_MAX)
		return 1;
	while (length < n && length < RUN_MOST &&
	       !__builtin_sub_overflow(v[length], v[length - 1], &next) && next == *step)
		length++;
	return length;
}

void orc_run_numbers(struct bytes *out, const int64_t *v, uint32_t n, enum orc_sign sign)
{
	uint32_t literals = 0, at = 0;

	while (at < n) {
		int64_t step;
		uint32_t length = run_length(v + at, n - at, &step);

		if (length < RUN_LEAST) {
			at++;
			continue;
		}
		put_literals(out, v + literals, at - literals, sign);
		bytes_u8(out, (uint8_t)(length - RUN_LEAST));
		bytes_u8(out, (uint8_t)step);
		put_number(out, v[at], sign);
		at += length;
		literals = at;
	}
	put_literals(out, v + literals, n - literals, sign);
}

static uint8_t reverse(uint8_t b)
{
	b = (uint8_t)(b >> 4 | b << 4);
	b = (uint8_t)((b & 0xcc) >> 2 | (b & 0x33) << 2);
	return (uint8_t)((b & 0xaa) >> 1 | (b & 0x55) << 1);
}

static void put_bytes(struct bytes *out, const uint8_t *bits, uint32_t n)
{
	while (n) {
		uint32_t some = n < LITERALS_MOST ? n : LITERALS_MOST;

		bytes_u8(out, (uint8_t)-some);
		for (uint32_t i = 0; i < some; i++)
			bytes_u8(out, reverse(bits[i]));
		bits += some;
		n -= some;
	}
}

void orc_run_bits(struct bytes *out, const uint8_t *bits, uint32_t n)
{
	uint32_t literals = 0, at = 0, nbytes = (n + 7) / 8;

	while (at < nbytes) {
		uint32_t length = 1;

		while (at + length < nbytes && length < RUN_MOST && bits[at + length] == bits[at])
			length++;
		if (length < RUN_LEAST) {
			at++;
			continue;
		}
		put_bytes(out, bits + literals, at - literals);
		bytes_u8(out, (uint8_t)(length - RUN_LEAST));
		bytes_u8(out, reverse(bits[at]));
		at += length;
		literals = at;
	}
	put_bytes(out, bits + literals, nbytes - literals);
}
