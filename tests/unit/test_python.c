/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of Python's code by the tables of each version, whole and torn, and what 3.13 says of its
 * structures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/interpreted.h"
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

/* co_lnotab of 3.9: def f(): on line 1, "a = (", "1)" with a step back, and 300 lines further. */
static void test_lines_by_steps(void **state)
{
	static const uint8_t steps[] = { 0, 1, 4, 2, 2, 0xff, 0, 127, 6, 127 };

	(void)state;
	assert_int_equal(python_line_by_steps(steps, sizeof steps, 1, 0), 2);
	assert_int_equal(python_line_by_steps(steps, sizeof steps, 1, 3), 2);
	assert_int_equal(python_line_by_steps(steps, sizeof steps, 1, 4), 4);
	assert_int_equal(python_line_by_steps(steps, sizeof steps, 1, 6), 130);
	assert_int_equal(python_line_by_steps(steps, sizeof steps, 1, 12), 257);
	assert_int_equal(python_line_by_steps(NULL, 0, 7, 8), 7); /* a lambda: all of one line */
	assert_int_equal(python_line_by_steps(steps, 3, 1, 12),
			 2); /* cut in the middle of a pair */
	assert_int_equal(python_line_by_steps((const uint8_t[]){ 0, 0x80 }, 2, 5, 0), 0);
}

/* co_linetable of 3.10: the lines come before the bytes that they are of; -128 is no line. */
static void test_lines_by_ranges(void **state)
{
	static const uint8_t ranges[] = { 4, 1, 2, 0x80, 0, 127, 6, 3, 2, 0xfe };

	(void)state;
	assert_int_equal(python_line_by_ranges(ranges, sizeof ranges, 1, 0), 2);
	assert_int_equal(python_line_by_ranges(ranges, sizeof ranges, 1, 4), 0);
	assert_int_equal(python_line_by_ranges(ranges, sizeof ranges, 1, 6), 132);
	assert_int_equal(python_line_by_ranges(ranges, sizeof ranges, 1, 12), 130);
	assert_int_equal(python_line_by_ranges(ranges, sizeof ranges, 1, 14), 0); /* behind it */
	assert_int_equal(python_line_by_ranges(ranges, 1, 1, 0), 0);
}

static void test_an_instruction_of_each_version(void **state)
{
	uint8_t frame[128] = { 0 };
	const struct python_layout *l = python_layout_of(0x030a0df0);

	(void)state;
	assert_null(python_layout_of(0x03070df0));
	assert_null(python_layout_of(0x030e00f0));
	memcpy(frame + l->instruction, &(int32_t){ 7 }, 4);
	assert_int_equal(python_instruction(l, frame, 0x1000), 14); /* 3.10 counts in pairs */
	l = python_layout_of(0x030812f0);
	memcpy(frame + l->instruction, &(int32_t){ -1 }, 4);
	assert_int_equal(python_instruction(l, frame, 0x1000), -1);
	assert_int_equal(python_line_at(l, NULL, 0, 9, -1), 9); /* before the first: its def */
	l = python_layout_of(0x030b07f0);
	memcpy(frame + l->instruction, &(uint64_t){ 0x1000 + l->bytecode + 6 }, 8);
	assert_int_equal(python_instruction(l, frame, 0x1000), 6);
	assert_int_equal(python_line_at(l, table, sizeof table, 9, -2), 0);
}

static void put(uint8_t *raw, size_t at, uint64_t v)
{
	memcpy(raw + 8 * at, &v, sizeof v);
}

/* As an interpreter of 3.13.0 has it, but for the words that its table of this test changes. */
static void describe(uint8_t raw[PYTHON_DESCRIBED])
{
	static const uint16_t words[][2] = { { 5, 632 },  { 9, 7344 }, { 14, 16 },  { 17, 16 },
					     { 18, 8 },   { 21, 8 },   { 22, 16 },  { 23, 72 },
					     { 25, 160 }, { 29, 8 },   { 30, 0 },   { 31, 56 },
					     { 32, 72 },  { 33, 70 },  { 35, 112 }, { 37, 128 },
					     { 38, 136 }, { 39, 68 },  { 43, 200 }, { 45, 8 },
					     { 47, 24 },  { 65, 16 },  { 66, 32 },  { 68, 32 },
					     { 69, 16 },  { 70, 40 } };

	memset(raw, 0, PYTHON_DESCRIBED);
	memcpy(raw, "xdebugpy", 8);
	put(raw, 1, 0x030d00f0);
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		put(raw, words[i][0], words[i][1]);
}

static void test_what_an_interpreter_says_of_itself(void **state)
{
	const struct python_layout *table_of = python_layout_of(0x030d00f0);
	struct python_layout l = *table_of;
	uint8_t raw[PYTHON_DESCRIBED];

	(void)state;
	describe(raw);
	assert_true(python_layout_described(&l, raw));
	assert_memory_equal(&l, table_of, sizeof l); /* the table has what it says */
	put(raw, 25, 168);
	put(raw, 2, 1);
	assert_true(python_layout_described(&l, raw));
	assert_int_equal(l.native_id, 168);
	assert_true(l.free_threads);
	l = *table_of;
	for (size_t word = 0; word < PYTHON_DESCRIBED / 8;
	     word++) { /* nothing beyond what is read */
		describe(raw);
		put(raw, word, UINT64_C(0x100000000));
		if (python_layout_described(&l, raw))
			assert_true(l.frame_size <= 128 && l.code_size <= 256);
		l = *table_of;
		put(raw, word, 60000);
		if (python_layout_described(&l, raw))
			assert_true(l.frame_size <= 128 && l.code_size <= 256 &&
				    l.name < l.code_size && l.owner < l.frame_size &&
				    l.ascii <= 96);
		l = *table_of;
	}
	describe(raw);
	raw[0] = 'y';
	assert_false(python_layout_described(&l, raw));
	describe(raw);
	put(raw, 1, 0x030e00f0);
	assert_false(python_layout_described(&l, raw));
}

/* Gaps until a second has passed, of which the threads use such a part of the time, by samples of
 * 20 ms: how many looks there are in a minute. */
static uint32_t looks_of(double part)
{
	const int64_t ms = 1000000, minute_ns = 60000 * ms, period_ns = 20 * ms;
	int64_t gap_ns = 0, now_ns = 0, told_ns = 0, cpu_ns;
	uint32_t n = 0;

	for (; now_ns < minute_ns; n++) {
		cpu_ns = (int64_t)(part * (double)now_ns) - told_ns;
		cpu_ns -= cpu_ns % period_ns;
		told_ns += cpu_ns;
		gap_ns = interpreted_gap_ns(gap_ns, cpu_ns, gap_ns);
		now_ns += gap_ns;
	}
	return n;
}

static void test_looks_go_by_cpu_time(void **state)
{
	(void)state;
	assert_in_range(looks_of(1), 1150, 1200); /* twenty a second */
	assert_in_range(looks_of(3), 1150, 1200);
	assert_in_range(looks_of(0.5), 650, 800);
	assert_in_range(looks_of(0.1), 148, 220);
	assert_in_range(looks_of(0), 148, 180); /* they do not end */
	assert_int_equal(interpreted_gap_ns(400000000, 50000000, 0), 213333333);
}

enum { PAGE = 4096 };

/* A ring whose last record is the n-th of these. */
static enum standing stands(uint64_t n, uint16_t misc, uint32_t type)
{
	static union {
		struct perf_event_mmap_page head;
		char bytes[2 * PAGE];
	} ring;
	const struct perf_event_header last = { type, misc, sizeof last };

	memset(&ring, 0, sizeof ring);
	ring.head.data_head = n * sizeof last;
	if (n)
		memcpy(ring.bytes + PAGE + (n - 1) * sizeof last % PAGE, &last, sizeof last);
	return interpreted_standing(&ring, PAGE);
}

static void test_the_last_switch_tells_where_a_thread_stands(void **state)
{
	const uint16_t out = PERF_RECORD_MISC_SWITCH_OUT,
		       lost = PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	const uint32_t type = PERF_RECORD_SWITCH;

	(void)state;
	assert_int_equal(stands(0, 0, type), STANDS_UNKNOWN);
	assert_int_equal(stands(1, 0, type), STANDS_RUNNING);
	assert_int_equal(stands(1, out, type), STANDS_BLOCKED);
	assert_int_equal(stands(1, out | lost, type), STANDS_TAKEN);
	/* at the end of the page, and written over */
	assert_int_equal(stands(512, out | lost, type), STANDS_TAKEN);
	assert_int_equal(stands(513, out | lost, type), STANDS_TAKEN);
	assert_int_equal(stands(1 << 20, out, type), STANDS_BLOCKED);
	assert_int_equal(stands(7, out | lost, PERF_RECORD_THROTTLE), STANDS_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_last_switch_tells_where_a_thread_stands),
		cmocka_unit_test(test_looks_go_by_cpu_time),
		cmocka_unit_test(test_lines_of_instructions),
		cmocka_unit_test(test_depths_of_the_stack),
		cmocka_unit_test(test_lines_by_steps),
		cmocka_unit_test(test_lines_by_ranges),
		cmocka_unit_test(test_an_instruction_of_each_version),
		cmocka_unit_test(test_what_an_interpreter_says_of_itself),
		cmocka_unit_test(test_a_torn_table_gives_no_wrong_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
