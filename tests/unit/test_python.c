/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of Python's code by the tables of 3.11 and later, whole and torn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/python.h"

/* Entries of Objects/locations.md: a short one, then lines by one byte, in the long form, by one
 * byte again, of six instructions. */
static const uint8_t table[] = { 0x80, 0x00, 0xe0, 0x08, 0x09, 0xf0, 0x03,
				 0x00, 0x05, 0x06, 0xdd, 0x00, 0x0f };

static void test_lines_of_instructions(void **state)
{
	(void)state;
	/* 0x80: one instruction, one line on for code 0 is none. 0xe0: code 12, two lines on. */
	assert_int_equal(python_line(table, sizeof table, 10, 0), 10);
	assert_int_equal(python_line(table, sizeof table, 10, 2), 12);
	/* 0xf0: a long form of one instruction: a signed number of lines, 3 is one back. */
	assert_int_equal(python_line(table, sizeof table, 10, 4), 11);
	/* 0xdd: code 11, one line on, six instructions. */
	assert_int_equal(python_line(table, sizeof table, 10, 6), 12);
	assert_int_equal(python_line(table, sizeof table, 10, 17), 12);
	assert_int_equal(python_line(table, sizeof table, 10, 18), 0); /* behind the code */
}

static void test_a_torn_table_gives_no_wrong_memory(void **state)
{
	(void)state;
	for (size_t n = 0; n <= sizeof table; n++) {
		uint8_t *copy = malloc(n ? n : 1); /* of its very size: a sanitizer watches */

		assert_non_null(copy);
		memcpy(copy, table, n);
		for (uint64_t at = 0; at < 40; at += 2)
			assert_in_range(python_line(copy, n, 10, at), 0, 12);
		free(copy);
	}
	assert_int_equal(python_line((const uint8_t[]){ 0xf8 }, 1, 10, 0), 0); /* no line */
	assert_int_equal(python_line((const uint8_t[]){ 0xe8, 0x7f, 0x7f }, 3, 1, 0),
			 0); /* below 1 */
}

/* Two entries: instructions 3 to 9 with depth 1, 10 to 11 with depth 2 and the flag. */
static void test_depths_of_the_stack(void **state)
{
	static const uint8_t entries[] = { 0x83, 0x07, 0x20, 0x02, 0x8a, 0x02, 0x20, 0x05,
					   /* 70, by two parts, with depth 40 */
					   0xc1, 0x06, 0x01, 0x20, 0x41, 0x10 };

	(void)state;
	assert_int_equal(python_depth(entries, sizeof entries, 2), 0);
	assert_int_equal(python_depth(entries, sizeof entries, 3), 1);
	assert_int_equal(python_depth(entries, sizeof entries, 9), 1);
	assert_int_equal(python_depth(entries, sizeof entries, 10), 2);
	assert_int_equal(python_depth(entries, sizeof entries, 12), 0);
	assert_int_equal(python_depth(entries, sizeof entries, 70), 40);
	for (size_t n = 0; n <= sizeof entries; n++)
		for (uint64_t at = 0; at < 80; at++)
			assert_in_range(python_depth(entries, n, at), 0, 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_of_instructions),
		cmocka_unit_test(test_depths_of_the_stack),
		cmocka_unit_test(test_a_torn_table_gives_no_wrong_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
