/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/escape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void decodes_to(const char *text, const void *wanted, size_t n)
{
	struct bytes out = { 0 };

	assert_true(base64_decode(&out, text));
	assert_int_equal(out.len, n);
	if (n)
		assert_memory_equal(out.data, wanted, n);
	bytes_free(&out);
}

/* The examples of RFC 4648. */
static void known_texts(void **state)
{
	static const char *const texts[][2] = {
		{ "", "" },
		{ "f", "Zg==" },
		{ "fo", "Zm8=" },
		{ "foo", "Zm9v" },
		{ "foob", "Zm9vYg==" },
		{ "fooba", "Zm9vYmE=" },
		{ "foobar", "Zm9vYmFy" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct bytes out = { 0 };

		base64_encode(&out, texts[i][0], strlen(texts[i][0]));
		bytes_u8(&out, 0);
		assert_string_equal((char *)out.data, texts[i][1]);
		bytes_free(&out);
		decodes_to(texts[i][1], texts[i][0], strlen(texts[i][0]));
	}
	decodes_to("+/8=", "\xfb\xff", 2);
}

static void what_is_none_is_refused(void **state)
{
	static const char *const texts[] = {
		"Z", "Zg=", "Zg", "====", "Zg==Zg==", "Zm 9", "Zm9v\n"
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct bytes out = { 0 };

		assert_false(base64_decode(&out, texts[i]));
		bytes_free(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(known_texts),
					    cmocka_unit_test(what_is_none_is_refused) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
