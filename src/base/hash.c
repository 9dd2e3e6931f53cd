/* SPDX-License-Identifier: Apache-2.0 */
/* hash.c - a polynomial modulo 2^61 - 1 at a point that nobody knows: two texts of n words have
 * the same sum with a chance of n in 2^61. */
#include "base/hash.h"

#include <stdlib.h>
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

/* The C library knows what the processor can do. The compiler's own check would ask at every start,
 * and in a virtual machine each question takes 25 us. */
#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#define HAS_SSE42 (CPU_FEATURE_ACTIVE(SSE4_2) && CPU_FEATURE_ACTIVE(PCLMULQDQ))
#elif defined(__x86_64__)
#define HAS_SSE42 (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul"))
#endif
#ifdef HAS_SSE42
#include <wmmintrin.h>
#endif

static const uint32_t table[256] = {
	0x00000000, 0xf26b8303, 0xe13b70f7, 0x1350f3f4, 0xc79a971f, 0x35f1141c, 0x26a1e7e8,
	0xd4ca64eb, 0x8ad958cf, 0x78b2dbcc, 0x6be22838, 0x9989ab3b, 0x4d43cfd0, 0xbf284cd3,
	0xac78bf27, 0x5e133c24, 0x105ec76f, 0xe235446c, 0xf165b798, 0x030e349b, 0xd7c45070,
	0x25afd373, 0x36ff2087, 0xc494a384, 0x9a879fa0, 0x68ec1ca3, 0x7bbcef57, 0x89d76c54,
	0x5d1d08bf, 0xaf768bbc, 0xbc267848, 0x4e4dfb4b, 0x20bd8ede, 0xd2d60ddd, 0xc186fe29,
	0x33ed7d2a, 0xe72719c1, 0x154c9ac2, 0x061c6936, 0xf477ea35, 0xaa64d611, 0x580f5512,
	0x4b5fa6e6, 0xb93425e5, 0x6dfe410e, 0x9f95c20d, 0x8cc531f9, 0x7eaeb2fa, 0x30e349b1,
	0xc288cab2, 0xd1d83946, 0x23b3ba45, 0xf779deae, 0x05125dad, 0x1642ae59, 0xe4292d5a,
	0xba3a117e, 0x4851927d, 0x5b016189, 0xa96ae28a, 0x7da08661, 0x8fcb0562, 0x9c9bf696,
	0x6ef07595, 0x417b1dbc, 0xb3109ebf, 0xa0406d4b, 0x522bee48, 0x86e18aa3, 0x748a09a0,
	0x67dafa54, 0x95b17957, 0xcba24573, 0x39c9c670, 0x2a993584, 0xd8f2b687, 0x0c38d26c,
	0xfe53516f, 0xed03a29b, 0x1f682198, 0x5125dad3, 0xa34e59d0, 0xb01eaa24, 0x42752927,
	0x96bf4dcc, 0x64d4cecf, 0x77843d3b, 0x85efbe38, 0xdbfc821c, 0x2997011f, 0x3ac7f2eb,
	0xc8ac71e8, 0x1c661503, 0xee0d9600, 0xfd5d65f4, 0x0f36e6f7, 0x61c69362, 0x93ad1061,
	0x80fde395, 0x72966096, 0xa65c047d, 0x5437877e, 0x4767748a, 0xb50cf789, 0xeb1fcbad,
	0x197448ae, 0x0a24bb5a, 0xf84f3859, 0x2c855cb2, 0xdeeedfb1, 0xcdbe2c45, 0x3fd5af46,
	0x7198540d, 0x83f3d70e, 0x90a324fa, 0x62c8a7f9, 0xb602c312, 0x44694011, 0x5739b3e5,
	0xa55230e6, 0xfb410cc2, 0x092a8fc1, 0x1a7a7c35, 0xe811ff36, 0x3cdb9bdd, 0xceb018de,
	0xdde0eb2a, 0x2f8b6829, 0x82f63b78, 0x709db87b, 0x63cd4b8f, 0x91a6c88c, 0x456cac67,
	0xb7072f64, 0xa457dc90, 0x563c5f93, 0x082f63b7, 0xfa44e0b4, 0xe9141340, 0x1b7f9043,
	0xcfb5f4a8, 0x3dde77ab, 0x2e8e845f, 0xdce5075c, 0x92a8fc17, 0x60c37f14, 0x73938ce0,
	0x81f80fe3, 0x55326b08, 0xa759e80b, 0xb4091bff, 0x466298fc, 0x1871a4d8, 0xea1a27db,
	0xf94ad42f, 0x0b21572c, 0xdfeb33c7, 0x2d80b0c4, 0x3ed04330, 0xccbbc033, 0xa24bb5a6,
	0x502036a5, 0x4370c551, 0xb11b4652, 0x65d122b9, 0x97baa1ba, 0x84ea524e, 0x7681d14d,
	0x2892ed69, 0xdaf96e6a, 0xc9a99d9e, 0x3bc21e9d, 0xef087a76, 0x1d63f975, 0x0e330a81,
	0xfc588982, 0xb21572c9, 0x407ef1ca, 0x532e023e, 0xa145813d, 0x758fe5d6, 0x87e466d5,
	0x94b49521, 0x66df1622, 0x38cc2a06, 0xcaa7a905, 0xd9f75af1, 0x2b9cd9f2, 0xff56bd19,
	0x0d3d3e1a, 0x1e6dcdee, 0xec064eed, 0xc38d26c4, 0x31e6a5c7, 0x22b65633, 0xd0ddd530,
	0x0417b1db, 0xf67c32d8, 0xe52cc12c, 0x1747422f, 0x49547e0b, 0xbb3ffd08, 0xa86f0efc,
	0x5a048dff, 0x8ecee914, 0x7ca56a17, 0x6ff599e3, 0x9d9e1ae0, 0xd3d3e1ab, 0x21b862a8,
	0x32e8915c, 0xc083125f, 0x144976b4, 0xe622f5b7, 0xf5720643, 0x07198540, 0x590ab964,
	0xab613a67, 0xb831c993, 0x4a5a4a90, 0x9e902e7b, 0x6cfbad78, 0x7fab5e8c, 0x8dc0dd8f,
	0xe330a81a, 0x115b2b19, 0x020bd8ed, 0xf0605bee, 0x24aa3f05, 0xd6c1bc06, 0xc5914ff2,
	0x37faccf1, 0x69e9f0d5, 0x9b8273d6, 0x88d28022, 0x7ab90321, 0xae7367ca, 0x5c18e4c9,
	0x4f48173d, 0xbd23943e, 0xf36e6f75, 0x0105ec76, 0x12551f82, 0xe03e9c81, 0x34f4f86a,
	0xc69f7b69, 0xd5cf889d, 0x27a40b9e, 0x79b737ba, 0x8bdcb4b9, 0x988c474d, 0x6ae7c44e,
	0xbe2da0a5, 0x4c4623a6, 0x5f16d052, 0xad7d5351,
};

uint32_t crc32c_portable(uint32_t crc, const void *data, size_t n)
{
	const uint8_t *p = data;

	crc = ~crc;
	while (n--)
		crc = crc >> 8 ^ table[(crc ^ *p++) & 0xff];
	return ~crc;
}

#ifdef HAS_SSE42
/* The instruction takes three cycles, and one can begin in each: three lanes side by side. */
enum { LANE = 1024 };

static inline uint64_t word_at(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof word);
	return word;
}

/* The checksum behind so many zeros that `by` is x^(8 * zeros - 33). */
__attribute__((target("sse4.2,pclmul"))) static inline uint64_t behind_zeros(uint64_t crc,
									     uint32_t by)
{
	__m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((int64_t)crc),
					       _mm_cvtsi32_si128((int32_t)by), 0);

	return __builtin_ia32_crc32di(0, (uint64_t)_mm_cvtsi128_si64(product));
}

__attribute__((target("sse4.2,pclmul"))) static uint32_t crc32c_sse42(uint32_t crc,
								      const void *data, size_t n)
{
	const uint32_t lane = 0x170076fa, two_lanes = 0xa51b6135;
	const uint8_t *p = data;
	uint64_t c = ~crc;

	for (; n >= (size_t)3 * LANE; n -= (size_t)3 * LANE, p += 2 * LANE) {
		uint64_t second = 0, third = 0;

		for (const uint8_t *end = p + LANE; p < end; p += sizeof(uint64_t)) {
			c = __builtin_ia32_crc32di(c, word_at(p));
			second = __builtin_ia32_crc32di(second, word_at(p + LANE));
			third = __builtin_ia32_crc32di(third, word_at(p + (size_t)2 * LANE));
		}
		c = behind_zeros(c, two_lanes) ^ behind_zeros(second, lane) ^ third;
	}
	for (; n >= sizeof(uint64_t); n -= sizeof(uint64_t), p += sizeof(uint64_t))
		c = __builtin_ia32_crc32di(c, word_at(p));
	while (n--)
		c = __builtin_ia32_crc32qi((uint32_t)c, *p++);
	return ~(uint32_t)c;
}
#endif

uint32_t crc32c(uint32_t crc, const void *data, size_t n)
{
#ifdef HAS_SSE42
	if (HAS_SSE42)
		return crc32c_sse42(crc, data, n);
#endif
	return crc32c_portable(crc, data, n);
}

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
