/* SPDX-License-Identifier: Apache-2.0 */
/* Sums for hash tables: what was made to collide under a checksum does not collide here. */
#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TEXTS = 4096, LENGTH = 12 };

/* Eight bytes of a number, then four that make the checksum 0: a CRC is linear, so that a search
 * over the 32 bits of the end is a solution of 32 equations. */
static void collide(uint8_t text[LENGTH], uint32_t number)
{
	uint32_t column[32], vector[32], zero, rest, end = 0;

	memset(text, 0, LENGTH);
	memcpy(text, &number, sizeof number);
	zero = crc32c(0, text, LENGTH);
	for (uint32_t i = 0; i < 32; i++) {
		uint32_t bit = UINT32_C(1) << i;

		memcpy(text + 8, &bit, sizeof bit);
		column[i] = crc32c(0, text, LENGTH) ^ zero;
		vector[i] = bit;
	}
	rest = zero;
	for (uint32_t i = 0; i < 32; i++) {
		uint32_t pivot = column[i], with = vector[i], low = pivot & -pivot;

		for (uint32_t k = 0; k < 32; k++)
			if (k != i && column[k] & low) {
				column[k] ^= pivot;
				vector[k] ^= with;
			}
		if (rest & low) {
			rest ^= pivot;
			end ^= with;
		}
	}
	memcpy(text + 8, &end, sizeof end);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void made_to_collide(void **state)
{
	uint64_t *sum = calloc(TEXTS, sizeof *sum), *bucket = calloc(TEXTS, sizeof *bucket);
	uint32_t most = 0, same = 0;

	(void)state;
	assert_true(sum && bucket);
	for (uint32_t i = 0; i < TEXTS; i++) {
		uint8_t text[LENGTH];

		collide(text, i);
		assert_int_equal(crc32c(0, text, LENGTH), 0);
		sum[i] = hash_bytes(0, text, LENGTH);
		bucket[i] = sum[i] % TEXTS;
	}
	qsort(sum, TEXTS, sizeof *sum, by_value);
	qsort(bucket, TEXTS, sizeof *bucket, by_value);
	for (uint32_t i = 1; i < TEXTS; i++) {
		assert_true(sum[i - 1] != sum[i]);
		same = bucket[i - 1] == bucket[i] ? same + 1 : 0;
		most = same > most ? same : most;
	}
	assert_in_range(most, 0, 20); /* a chance below one in 10^15 for more */
	free(sum);
	free(bucket);
}

static void of_parts(void **state)
{
	(void)state;
	assert_true(hash_text(0, NULL) == hash_text(0, ""));
	assert_true(hash_text(0, "a") == hash_bytes(0, "a", 1));
	assert_true(hash_text(0, "abcdefg") != hash_text(0, "abcdefgh"));
	assert_true(hash_bytes(0, "a\0", 2) != hash_bytes(0, "a", 1));
	assert_true(hash_text(hash_text(0, "a"), "b") != hash_text(hash_text(0, "b"), "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(made_to_collide),
		cmocka_unit_test(of_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
