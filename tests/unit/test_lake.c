/* SPDX-License-Identifier: Apache-2.0 */
/* A value of a Parquet file's own is found in its footer, whatever stands before it and wherever
 * the footer is cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "sink/columnar/parquet.h"

enum { MANY = 20 }; /* a list's length stands behind its head from 15 on */

static void put_pair(struct thrift *t, const char *key, const char *value)
{
	thrift_struct(t, 0);
	thrift_text(t, 1, key);
	thrift_text(t, 2, value);
	thrift_struct_end(t);
}

/* Of every type that the writer has, and what other writers put there. */
static void put_others(struct thrift *t)
{
	thrift_i32(t, 1, -2);
	thrift_list(t, 2, THRIFT_STRUCT, MANY);
	for (int i = 0; i < MANY; i++) {
		thrift_struct(t, 0);
		thrift_bool(t, 1, i % 2);
		thrift_i64(t, 40, INT64_MIN); /* too far from the id before for a short head */
		thrift_list(t, 41, THRIFT_I32, 1);
		thrift_element_i32(t, 7);
		thrift_struct_end(t);
	}
	bytes_put(t->out, "\x1b\x01\x88\x01k\x01v", 7); /* field 3: a map of one text to another */
	bytes_put(t->out,
		  "\x17"
		  "01234567",
		  9); /* field 4: a double */
	t->last[t->depth] = 4;
}

static void put_footer(struct bytes *out)
{
	struct thrift t = { .out = out };

	thrift_struct(&t, 0);
	put_others(&t);
	thrift_list(&t, 5, THRIFT_STRUCT, 2);
	put_pair(&t, "sonde", "columns");
	put_pair(&t, PARQUET_RUN_KEY, "{}");
	thrift_text(&t, 6, "behind it");
	thrift_struct_end(&t);
}

static const uint8_t *find(const struct bytes *b, size_t n, const char *key, size_t *len)
{
	return parquet_find_value(b->data, n, key, len);
}

static void a_value_is_found_behind_anything(void **state)
{
	struct bytes b = { 0 };
	const uint8_t *value;
	size_t n = 0;

	(void)state;
	put_footer(&b);
	value = find(&b, b.len, PARQUET_RUN_KEY, &n);
	assert_true(value && n == 2 && !memcmp(value, "{}", 2));
	value = find(&b, b.len, "sonde", &n);
	assert_true(value && n == 7 && !memcmp(value, "columns", 7));
	n = 0;
	assert_null(find(&b, b.len, "sonde.ru", &n));
	assert_int_equal(n, 0);
	bytes_free(&b);
}

/* Exactly so many bytes, so that the sanitizers see who reads behind them. */
static void a_footer_may_be_cut_anywhere(void **state)
{
	struct bytes b = { 0 };
	uint32_t found = 0;
	size_t n;

	(void)state;
	put_footer(&b);
	for (size_t i = 0; i < b.len; i++) {
		uint8_t *cut = malloc(i + 1);

		memcpy(cut + 1, b.data, i);
		found += parquet_find_value(cut + 1, i, PARQUET_RUN_KEY, &n) != NULL;
		free(cut);
	}
	assert_int_equal(found, sizeof "behind it" - 1 + 3); /* once the pair is whole */
	bytes_free(&b);
}

static void nonsense_is_no_value(void **state)
{
	static const char *const footers[] = {
		"",
		"\x59\xfc\xff\xff\xff\xff\xff\xff\xff\xff\x01", /* 2^64 - 1 pairs */
		"\x1d",                                         /* no such type */
		"\x1b\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", /* a map without an end */
		"\x19\x99\x99\x99\x99\x99\x99\x99\x99\x99\x99\x99\x99\x99\x99\x99\x99\x99\x99",
	};
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof footers / sizeof footers[0]; i++)
		assert_null(parquet_find_value((const uint8_t *)footers[i], strlen(footers[i]),
					       PARQUET_RUN_KEY, &n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_is_found_behind_anything),
		cmocka_unit_test(a_footer_may_be_cut_anywhere),
		cmocka_unit_test(nonsense_is_no_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
