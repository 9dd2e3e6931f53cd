/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64, ROUNDS = 64 };

static const uint32_t round_constant[ROUNDS] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t rotated(uint32_t v, unsigned bits)
{
	return v >> bits | v << (32 - bits);
}

static void schedule(uint32_t w[ROUNDS], const uint8_t block[BLOCK])
{
	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < ROUNDS; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + (rotated(a, 7) ^ rotated(a, 18) ^ a >> 3) + w[i - 7] +
		       (rotated(b, 17) ^ rotated(b, 19) ^ b >> 10);
	}
}

static void add_block(uint32_t hash[8], const uint8_t block[BLOCK])
{
	uint32_t w[ROUNDS], v[8];

	schedule(w, block);
	memcpy(v, hash, sizeof v);
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t s1 = rotated(v[4], 6) ^ rotated(v[4], 11) ^ rotated(v[4], 25);
		uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
		uint32_t one = v[7] + s1 + choice + round_constant[i] + w[i];
		uint32_t s0 = rotated(v[0], 2) ^ rotated(v[0], 13) ^ rotated(v[0], 22);
		uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);

		memmove(v + 1, v, 7 * sizeof *v);
		v[4] += one;
		v[0] = one + s0 + majority;
	}
	for (int i = 0; i < 8; i++)
		hash[i] += v[i];
}

void sha256(uint8_t out[SHA256_BYTES], const void *data, size_t n)
{
	uint32_t hash[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
	const uint8_t *in = data;
	uint8_t last[2 * BLOCK] = { 0 };
	size_t whole = n / BLOCK * BLOCK, left = n - whole;
	size_t end = left < BLOCK - 8 ? BLOCK : 2 * (size_t)BLOCK;

	for (size_t i = 0; i < whole; i += BLOCK)
		add_block(hash, in + i);
	if (left)
		memcpy(last, in + whole, left);
	last[left] = 0x80;
	for (unsigned i = 0; i < 8; i++)
		last[end - 1 - i] = (uint8_t)((uint64_t)n * 8 >> 8 * i);
	for (size_t i = 0; i < end; i += BLOCK)
		add_block(hash, last + i);
	for (unsigned i = 0; i < SHA256_BYTES; i++)
		out[i] = (uint8_t)(hash[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_hex(char out[SHA256_HEX], const void *data, size_t n)
{
	uint8_t sum[SHA256_BYTES];

	sha256(sum, data, n);
	for (unsigned i = 0; i < SHA256_BYTES; i++) {
		*out++ = "0123456789abcdef"[sum[i] >> 4];
		*out++ = "0123456789abcdef"[sum[i] & 15];
	}
	*out = '\0';
}

/* What is signed stands behind a block that the key makes. */
static bool sign(uint8_t out[SHA256_BYTES], const uint8_t key[BLOCK], uint8_t with,
		 const void *data, size_t n)
{
	uint8_t *text = n < SIZE_MAX - BLOCK ? malloc(BLOCK + n) : NULL;

	if (!text)
		return false;
	for (unsigned i = 0; i < BLOCK; i++)
		text[i] = key[i] ^ with;
	if (n)
		memcpy(text + BLOCK, data, n);
	sha256(out, text, BLOCK + n);
	explicit_bzero(text, BLOCK);
	free(text);
	return true;
}

bool sha256_hmac(uint8_t out[SHA256_BYTES], const void *key, size_t key_n, const void *data,
		 size_t n)
{
	uint8_t block[BLOCK] = { 0 }, inner[SHA256_BYTES];
	bool signs;

	if (key_n > BLOCK)
		sha256(block, key, key_n);
	else if (key_n)
		memcpy(block, key, key_n);
	signs = sign(inner, block, 0x36, data, n) && sign(out, block, 0x5c, inner, sizeof inner);
	explicit_bzero(block, sizeof block);
	return signs;
}
