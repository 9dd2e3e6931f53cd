/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check(const char *text, size_t n, const char *sum)
{
	char hex[SHA256_HEX];

	sha256_hex(hex, text, n);
	assert_string_equal(hex, sum);
}

/* The examples of FIPS 180-4, and lengths about the edge of a block. */
static void known_sums(void **state)
{
	static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	char *many = malloc(1000000);

	(void)state;
	check("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	check("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	check(two, sizeof two - 1,
	      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	memset(many, 'a', 1000000);
	check(many, 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
	check(many, 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
	check(many, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	free(many);
}

/* Cases 2 and 6 of RFC 4231. */
static void known_signatures(void **state)
{
	static const uint8_t short_one[] = { 0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e,
					     0x6a, 0x04, 0x24, 0x26, 0x08, 0x95, 0x75, 0xc7,
					     0x5a, 0x00, 0x3f, 0x08, 0x9d, 0x27, 0x39, 0x83,
					     0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43 };
	static const uint8_t long_one[] = { 0x60, 0xe4, 0x31, 0x59, 0x1e, 0xe0, 0xb6, 0x7f,
					    0x0d, 0x8a, 0x26, 0xaa, 0xcb, 0xf5, 0xb7, 0x7f,
					    0x8e, 0x0b, 0xc6, 0x21, 0x37, 0x28, 0xc5, 0x14,
					    0x05, 0x46, 0x04, 0x0f, 0x0e, 0xe3, 0x7f, 0x54 };
	static const char text[] = "what do ya want for nothing?",
			  more[] = "Test Using Larger Than Block-Size Key - Hash Key First";
	uint8_t key[131], sum[SHA256_BYTES];

	(void)state;
	memset(key, 0xaa, sizeof key);
	assert_true(sha256_hmac(sum, "Jefe", 4, text, sizeof text - 1));
	assert_memory_equal(sum, short_one, sizeof sum);
	assert_true(sha256_hmac(sum, key, sizeof key, more, sizeof more - 1));
	assert_memory_equal(sum, long_one, sizeof sum);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(known_sums),
					    cmocka_unit_test(known_signatures) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
