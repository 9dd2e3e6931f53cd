/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the kernel's log about crashes: real ones of several versions, and hostile ones. */
#include "sampler/crash_log.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define KERNEL "6,1234,26432543229,-;"
#define IP     " ip 00005632b140017d sp 00007ffefb2d4e98 error "

static const struct {
	const char *record, *comm, *file;
	pid_t tid;
	int signal;
	enum crash_kind kind;
	uint64_t at, size;
	int64_t offset;
} real[] = {
	/* Linux 6.18 */
	{ KERNEL "crasher[5498]: segfault at c" IP
		 "6 in crasher[117d,5632b1400000+1000] likely on CPU 1 (core 1, socket 0)\n",
	  "crasher", "crasher", 5498, SIGSEGV, CRASH_NULL_WRITE, 0x17d, 0x1000, 0x1000 },
	{ KERNEL "crasher[5497]: segfault at c" IP "4 in crasher[117d,5632b1400000+1000]",
	  "crasher", "crasher", 5497, SIGSEGV, CRASH_NULL_READ, 0x17d, 0x1000, 0x1000 },
	{ KERNEL "crasher[5499]: segfault at 7ffd42e3cfb0 ip 000055b1dbee918c sp "
		 "00007ffd42e3cfb0 error 6 in crasher[118c,55b1dbee9000+1000] likely on CPU 1",
	  "crasher", "crasher", 5499, SIGSEGV, CRASH_STACK, 0x18c, 0x1000, 0x1000 },
	{ KERNEL "traps: crasher[5500] trap divide error ip:562a78f771b4 sp:7ffc4779b788 "
		 "error:0 in crasher[11b4,562a78f77000+1000]\n",
	  "crasher", "crasher", 5500, SIGFPE, CRASH_DIVISION, 0x1b4, 0x1000, 0x1000 },
	{ KERNEL "crasher[5505]: segfault at 0 ip 0000000000000000 sp 00007ffd2dcd9f68 "
		 "error 14 likely on CPU 1 (core 1, socket 0)\n",
	  "crasher", "", 5505, SIGSEGV, CRASH_NULL_CALL, 0, 0, -1 },
	{ KERNEL "crasher[5506]: segfault at 123456789 ip 0000000123456789 sp "
		 "00007ffdb65d93c8 error 14 likely on CPU 1 (core 1, socket 0)\n",
	  "crasher", "", 5506, SIGSEGV, CRASH_JUMP, 0, 0, -1 },
	{ KERNEL "crasher[5507]: segfault at 5580d3013004 ip 00005580d30122d8 sp "
		 "00007ffe156be230 error 7 in crasher[12d8,5580d3012000+1000] likely on CPU 1",
	  "crasher", "crasher", 5507, SIGSEGV, CRASH_READ_ONLY, 0x2d8, 0x1000, 0x1000 },
	{ KERNEL "traps: crasher[5508] general protection fault ip:55ec05480179 "
		 "sp:7ffe21963d18 error:0 in crasher[1179,55ec05480000+1000]\n",
	  "crasher", "crasher", 5508, SIGSEGV, CRASH_GENERAL, 0x179, 0x1000, 0x1000 },
	{ KERNEL "traps: crasher[5509] trap invalid opcode ip:55b9984842f9 "
		 "sp:7ffe821a1890 error:0 in crasher[12f9,55b998484000+1000]\n",
	  "crasher", "crasher", 5509, SIGILL, CRASH_INSTRUCTION, 0x2f9, 0x1000, 0x1000 },
	{ KERNEL "crasher[5511]: segfault at 7f1234567000" IP "4", "crasher", "", 5511, SIGSEGV,
	  CRASH_READ, 0, 0, -1 },
	{ KERNEL "crasher[5512]: segfault at 7f1234567000" IP "6", "crasher", "", 5512, SIGSEGV,
	  CRASH_WRITE, 0, 0, -1 },
	{ KERNEL "crasher[5513]: segfault at 7f1234567000" IP "5", "crasher", "", 5513, SIGSEGV,
	  CRASH_FORBIDDEN_READ, 0, 0, -1 },
	{ KERNEL "crasher[5514]: segfault at 7f12fab44000 ip 00007f12fab44000 sp "
		 "00007ffdc6f4f1b8 error 15 likely on CPU 0 (core 0, socket 0)\n",
	  "crasher", "", 5514, SIGSEGV, CRASH_DATA_RUN, 0, 0, -1 },
	/* Linux 4.18, with the caller that newer ones may name, too */
	{ "6,905,1187261,-,caller=T4711;a.out[4711]: segfault at 0 ip 0000000000401136 sp "
	  "00007ffe4e5f2a10 error 4 in a.out[401000+1000]\n",
	  "a.out", "a.out", 4711, SIGSEGV, CRASH_NULL_READ, 0x136, 0x1000, -1 },
	{ "6,906,1187261,-;traps: a.out[4712] general protection ip:40113c sp:7ffe4e5f2a10 "
	  "error:0 in a.out[401000+1000]\n",
	  "a.out", "a.out", 4712, SIGSEGV, CRASH_GENERAL, 0x13c, 0x1000, -1 },
	{ "6,907,1187261,-;lmp[99]: segfault at 8 ip 00007f1f2a5e9d44 sp 00007ffc33af2a38 error "
	  "4 in libc-2.28.so[7f1f2a4b0000+1bc000]\n SUBSYSTEM=none\n",
	  "lmp", "libc-2.28.so", 99, SIGSEGV, CRASH_NULL_READ, 0x139d44, 0x1bc000, -1 },
};

static void test_real_records_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof real / sizeof real[0]; i++) {
		struct crash_line l;

		if (!crash_line_parse(&l, real[i].record))
			fail_msg("row %zu is not read", i);
		assert_string_equal(l.comm, real[i].comm);
		assert_string_equal(l.file, real[i].file);
		assert_int_equal(l.tid, real[i].tid);
		assert_int_equal(l.signal, real[i].signal);
		assert_string_equal(crash_name(l.kind), crash_name(real[i].kind));
		assert_int_equal(l.at, real[i].at);
		assert_int_equal(l.size, real[i].size);
		assert_int_equal(l.offset, real[i].offset);
	}
}

static void test_other_records_are_passed_over(void **state)
{
	static const char *const rows[] = {
		"",
		"6",
		"6,1,2,-",
		KERNEL,
		"nonsense",
		/* of a program, which may write there as root */
		"14,1,2,-;a.out[4711]: segfault at 0 ip 401136 sp 7ffe error 4 in a.out[401000+1000]",
		"-1,1,2,-;a.out[4711]: segfault at 0 ip 401136 sp 7ffe error 4",
		"6,1,2,-\na.out;a.out[4711]: segfault at 0 ip 401136 sp 7ffe error 4",
		KERNEL "usb 1-1: new device",
		KERNEL "Code: 01 5d c3 0f 1f 00 <40> 88 3c 24",
		KERNEL "a.out[4711]: segfault at 0 ip 401136 sp 7ffe error",
		KERNEL "a.out[4711]: segfault at 0 ip -1 sp 7ffe error 4",
		KERNEL "a.out[4711]: segfault at 0 ip 99999999999999999 sp 7ffe error 4",
		KERNEL "a.out[0]: segfault at 0 ip 401136 sp 7ffe error 4",
		KERNEL "a.out[99999999999999999999]: segfault at 0 ip 401136 sp 7ffe error 4",
		KERNEL "a.out[+1]: segfault at 0 ip 401136 sp 7ffe error 4",
		KERNEL "a.out: segfault at 0 ip 401136 sp 7ffe error 4",
		KERNEL "traps: a.out[1] trap int3 ip:401136 sp:7ffe error:0",
		KERNEL "traps: a.out[1] trap divide error ip:401136",
		KERNEL "traps: a.out[1] trap divide error ip:401136\n sp:7ffe error:0",
		KERNEL "Out of memory: Killed process 4711 (a.out)",
	};
	struct crash_line l;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (crash_line_parse(&l, rows[i]))
			fail_msg("row %zu is read", i);
}

/* Names of processes and files are anyone's. */
static void test_names_forge_nothing(void **state)
{
	struct crash_line l;

	(void)state;
	assert_true(crash_line_parse(&l, KERNEL "a[1]: segfault [777]: segfault at 0" IP "4"));
	assert_int_equal(l.tid, 777);
	assert_string_equal(l.comm, "a[1]: segfault ");
	assert_true(crash_line_parse(
		&l, KERNEL "x[9]: segfault at 0" IP
			   "4 in y[117d,5632b1400000+1000] likely on CPU 1[217d,5632b1400000+2000] "
			   "likely on CPU 0"));
	assert_string_equal(l.file, "y[117d,5632b1400000+1000] likely on CPU 1");
	assert_int_equal(l.offset, 0x2000);
	assert_true(crash_line_parse(&l, KERNEL
				     "traps: [8] trap divide error ip:5632b140017d sp:0 error:0 in "
				     "[7]: segfault at 0[117d,5632b1400000+1000]"));
	assert_int_equal(l.tid, 8);
	assert_int_equal(l.signal, SIGFPE);
	assert_true(crash_line_parse(
		&l, KERNEL "traps: [8] trap divide error ip:10000 sp:0 error:0 in "
			   "[7] trap divide error ip:1 sp:1 error:0 in z[10000,10000+1000]"));
	assert_int_equal(l.tid, 8);
	assert_true(crash_line_parse(
		&l, KERNEL "\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff"
			   "\\xff\\xff[6]: segfault at 0" IP "4"));
	assert_int_equal(l.tid, 6);
	/* Where brackets make no sense, there is no file. */
	static const char *const files[] = {
		" in y",
		" in [117d,5632b1400000+1000]",
		" in y[117d,5632b1400000+1000",
		" in y[+]",
		" in y[0+1000]",
		" in y[117d,+1000]",
		"in y[117d,5632b1400000+1000]",
		" in y[117d;5632b1400000+1000]",
		"[117d,5632b1400000+1000]",
		"[",
		" in y[",
	};

	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		char record[256];

		snprintf(record, sizeof record, KERNEL "x[9]: segfault at 0" IP "4%s", files[i]);
		assert_true(crash_line_parse(&l, record));
		assert_string_equal(l.file, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real_records_are_read),
		cmocka_unit_test(test_other_records_are_passed_over),
		cmocka_unit_test(test_names_forge_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
