/* SPDX-License-Identifier: Apache-2.0 */
/* What leads to the callers of a blocked thread where its frame pointer is not known: calls before
 * return addresses, and how functions begin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "unwind/blocked.h"

#if defined(__x86_64__)
static void test_calls_are_told_from_other_code(void **state)
{
	static const struct {
		uint8_t code[8];
		enum call is;
		int64_t target, slot;
	} rows[] = {
		{ { 0x90, 0x90, 0x90, 0xe8, 0x10, 0, 0, 0 }, CALL_TO, 16, 0 },
		{ { 0x90, 0x90, 0x90, 0xe8, 0xfb, 0xff, 0xff, 0xff }, CALL_TO, -5, 0 },
		{ { 0x90, 0x90, 0xff, 0x15, 0x20, 0, 0, 0 }, CALL_SOMEWHERE, 0, 32 },
		{ { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0 }, CALL_SOMEWHERE, 0, 0 },
		{ { 0x90, 0x90, 0x90, 0x90, 0x90, 0x41, 0xff, 0xd4 }, CALL_SOMEWHERE, 0, 0 },
		{ { 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x50, 0x18 }, CALL_SOMEWHERE, 0, 0 },
		{ { 0x90, 0x90, 0x90, 0x90, 0xff, 0x54, 0x24, 0x08 }, CALL_SOMEWHERE, 0, 0 },
		{ { 0x90, 0x90, 0xff, 0x90, 0x78, 1, 0, 0 }, CALL_SOMEWHERE, 0, 0 },
		{ { 0x90, 0xff, 0x94, 0xc3, 0x78, 1, 0, 0 }, CALL_SOMEWHERE, 0, 0 },
		{ { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xe0 }, CALL_NONE, 0, 0 }, /* jmp */
		{ { 0x90, 0x90, 0x90, 0xe9, 0x10, 0, 0, 0 }, CALL_NONE, 0, 0 },
		{ { 0 }, CALL_NONE, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int64_t target = 0, slot = 0;

		assert_int_equal(call_before(rows[i].code, 8, &target, &slot), rows[i].is);
		assert_int_equal(slot, rows[i].slot);
		if (rows[i].is == CALL_TO)
			assert_int_equal(target, rows[i].target);
	}
}

static void test_few_bytes_are_no_call(void **state)
{
	static const uint8_t code[] = { 0x10, 0, 0, 0 };
	int64_t target, slot;

	(void)state;
	for (size_t n = 0; n <= sizeof code; n++)
		assert_int_equal(call_before(code + sizeof code - n, n, &target, &slot), CALL_NONE);
}

static void test_room_that_a_function_makes_is_known(void **state)
{
	static const struct {
		uint8_t code[24];
		bool is;
		uint64_t size;
	} rows[] = {
		/* push %rbp; mov %rsp,%rbp; push %rbx; sub $0x18,%rsp */
		{ { 0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xec, 0x18 }, true, 32 },
		/* endbr64 before it; push %r12; sub $0x1234,%rsp */
		{ { 0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x41, 0x54, 0x48, 0x81, 0xec,
		    0x34, 0x12 },
		  true,
		  0x123c },
		{ { 0x55, 0x48, 0x89, 0xe5, 0x90 }, true, 0 },
		{ { 0x53, 0x48, 0x83, 0xec, 0x18 }, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		uint64_t size = 99;

		assert_int_equal(frame_of_prologue(rows[i].code, sizeof rows[i].code, &size),
				 rows[i].is);
		assert_int_equal(size, rows[i].size);
	}
	for (size_t n = 0; n < 4; n++) {
		uint64_t size;

		assert_false(frame_of_prologue(rows[0].code, n, &size));
	}
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
		cmocka_unit_test(test_calls_are_told_from_other_code),
		cmocka_unit_test(test_few_bytes_are_no_call),
		cmocka_unit_test(test_room_that_a_function_makes_is_known),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
