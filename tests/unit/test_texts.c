/* SPDX-License-Identifier: Apache-2.0 */
/* Sections of texts: how small they become, and what that takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/random.h"
#include "recording/block.h"

/* As the sentences of metrics are: words that come again, each time beside others. */
static void sentences(struct bytes *raw)
{
	enum { WORDS = 15 };
	static const char *const word[WORDS] = { "bytes ",     "that ", "the ",     "node's ",
						 "processes ", "read ", "written ", "time ",
						 "share ",     "of ",   "CPU ",     "memory ",
						 "pages.\n",   "all ",  "while " };
	struct random random = { 7 };

	while (raw->len < 50000)
		bytes_puts(raw, word[(size_t)(random_unit(&random) * WORDS)]);
}

static void test_texts_become_smaller(void **state)
{
	struct bytes raw = { 0 }, numbers = { 0 }, texts = { 0 };
	struct compressor c;

	(void)state;
	assert_int_equal(compressor_init(&c), 0);
	sentences(&raw);
	section_put(&numbers, &c, raw.data, raw.len);
	section_put_texts(&texts, &c, raw.data, raw.len);
	assert_in_range(texts.len, 1, numbers.len * 9 / 10);
	compressor_free(&c);
	bytes_free(&raw);
	bytes_free(&numbers);
	bytes_free(&texts);
}

/* Their bytes, and the pages that the compressor has used for them. */
static size_t texts_put(const struct bytes *raw,
			void (*put)(struct bytes *, struct compressor *, const uint8_t *, size_t),
			size_t *pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n;
	struct bytes out = { 0 };
	struct compressor c;
	unsigned char *there;

	assert_int_equal(compressor_init(&c), 0);
	n = (c.size + page - 1) / page;
	there = calloc(n, 1);
	assert_non_null(there);
	put(&out, &c, raw->data, raw->len);
	assert_int_equal(mincore(c.memory, c.size, there), 0);
	*pages = 0;
	for (size_t i = 0; i < n; i++)
		*pages += there[i] & 1;
	n = out.len;
	free(there);
	bytes_free(&out);
	compressor_free(&c);
	return n;
}

/* The end of a short command waits for them: each page is zeroed first. */
static void test_what_a_recording_begins_with_needs_little_memory(void **state)
{
	size_t pages, pages_of_texts, bytes, bytes_of_texts;
	struct bytes raw = { 0 };

	(void)state;
	sentences(&raw);
	bytes_of_texts = texts_put(&raw, section_put_texts, &pages_of_texts);
	bytes = texts_put(&raw, section_put_opening, &pages);
	assert_in_range(pages, 1, pages_of_texts * 2 / 3);
	assert_in_range(bytes, 1, bytes_of_texts * 3 / 2);
	bytes_free(&raw);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts_become_smaller),
		cmocka_unit_test(test_what_a_recording_begins_with_needs_little_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
