/* SPDX-License-Identifier: Apache-2.0 */
/* hash.c - a polynomial modulo 2^61 - 1 at a point that nobody knows: two texts of n words have
 * the same sum with a chance of n in 2^61. */
#include "base/hash.h"

#include <string.h>
#include <sys/auxv.h>

#define PRIME ((UINT64_C(1) << 61) - 1)

__extension__ typedef unsigned __int128 wide;

/* Of the 16 random bytes that the kernel gives to each process. */
static uint64_t key(void)
{
	const void *given = (const void *)(uintptr_t)getauxval(AT_RANDOM);
	uint64_t half[2] = { UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xd1b54a32d192ed03) };

	if (given)
		memcpy(half, given, sizeof half);
	return ((half[0] ^ half[1] * UINT64_C(0x9e3779b97f4a7c15)) >> 3) | 1;
}

static uint64_t times(uint64_t a, uint64_t b)
{
	wide product = (wide)a * b;
	uint64_t sum = ((uint64_t)product & PRIME) + (uint64_t)(product >> 61);

	return sum >= PRIME ? sum - PRIME : sum;
}

uint64_t hash_bytes(uint64_t before, const void *data, size_t n)
{
	enum { WORD = 7 };
	const uint8_t *at = data;
	uint64_t k = key(), sum = before, word;

	for (size_t left = n; left; left -= left < WORD ? left : WORD) {
		word = 0;
		memcpy(&word, at, left < WORD ? left : WORD);
		at += WORD;
		sum = times(sum + word, k);
	}
	return times(sum + n, k);
}

uint64_t hash_text(uint64_t before, const char *text)
{
	return hash_bytes(before, text, text ? strlen(text) : 0);
}
