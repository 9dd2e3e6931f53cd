/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/punycode.h"

#include <stdint.h>
#include <string.h>

/* Of the RFC, by its names. */
enum {
	BASE = 36,
	TMIN = 1,
	TMAX = 26,
	SKEW = 38,
	DAMP = 700,
	INITIAL_BIAS = 72,
	INITIAL_N = 128,
	CHARACTERS_MAX = 128,
	VALUE_MAX = 1 << 25, /* no sum or product of it overflows */
};

/* BASE: it is none. */
static uint32_t digit_of(char c)
{
	return c >= 'a' && c <= 'z'   ? (uint32_t)(c - 'a')
	       : c >= '0' && c <= '9' ? (uint32_t)(c - '0' + 26)
				      : BASE;
}

static uint32_t adapt(uint32_t delta, uint32_t n, bool is_first)
{
	uint32_t k = 0;

	delta /= is_first ? DAMP : 2;
	delta += delta / n;
	for (; delta > (BASE - TMIN) * TMAX / 2; k += BASE)
		delta /= BASE - TMIN;
	return k + (BASE - TMIN + 1) * delta / (delta + SKEW);
}

/* How far the place moves on. False: there is no such number. */
static bool take_number(const char **at, const char *end, uint32_t bias, uint32_t *number)
{
	uint32_t weight = 1, digit, least, k = BASE;

	*number = 0;
	do {
		least = k <= bias ? TMIN : k >= bias + TMAX ? TMAX : k - bias;
		digit = *at < end ? digit_of(*(*at)++) : BASE;
		if (digit == BASE || weight > VALUE_MAX || *number > VALUE_MAX)
			return false;
		*number += digit * weight;
		weight *= BASE - least;
		k += BASE;
	} while (digit >= least);
	return *number <= VALUE_MAX;
}

/* Bytes of UTF-8; 0: it is no character. */
static size_t encode(uint32_t c, char to[4])
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		to[i] = (char)(0x80 | (c & 0x3f));
	to[0] = (char)(n == 1 ? c : (0xf00u >> n & 0xff) | c);
	return n;
}

bool punycode_decode(const char *text, size_t n, char *out, size_t size)
{
	uint32_t to[CHARACTERS_MAX], count = 0, c = INITIAL_N, i = 0, bias = INITIAL_BIAS, moved;
	bool is_first = true;
	const char *end = text + n, *ascii = end, *at;
	size_t length = 0, bytes;

	while (ascii > text && ascii[-1] != '_')
		ascii--;
	if (ascii - text > CHARACTERS_MAX)
		return false;
	for (at = text; at + 1 < ascii; at++)
		to[count++] = (unsigned char)*at;
	for (at = ascii; at < end; i++) {
		if (count == CHARACTERS_MAX || !take_number(&at, end, bias, &moved))
			return false;
		count++;
		bias = adapt(moved, count, is_first);
		is_first = false;
		i += moved;
		c += i / count;
		i %= count;
		memmove(to + i + 1, to + i, (count - 1 - i) * sizeof *to);
		to[i] = c;
	}
	for (i = 0; i < count; i++, length += bytes) {
		bytes = length + 4 < size ? encode(to[i], out + length) : 0;
		if (!bytes)
			return false;
	}
	out[length] = '\0';
	return count > 0;
}
