/* SPDX-License-Identifier: Apache-2.0 */
#include "source/procfile.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char stat_line[] =
	"4242 (a) b) (c) S 17 4242 17 34816 4242 4194304 100 200 3 4 50 60 70 80 20 0 12 0 987654 "
	"1048576000 2500 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0 0 0 0\n";

static void a_comm_may_hold_parentheses_and_blanks(void **state)
{
	struct proc_stat st;

	(void)state;
	assert_int_equal(proc_stat_parse(stat_line, &st), 0);
	assert_string_equal(st.comm, "a) b) (c");
	assert_int_equal(st.pid, 4242);
	assert_int_equal(st.state, 'S');
	assert_int_equal(st.ppid, 17);
	assert_int_equal(st.minflt, 100);
	assert_int_equal(st.cminflt, 200);
	assert_int_equal(st.majflt, 3);
	assert_int_equal(st.cmajflt, 4);
	assert_int_equal(st.utime, 50);
	assert_int_equal(st.stime, 60);
	assert_int_equal(st.cutime, 70);
	assert_int_equal(st.cstime, 80);
	assert_int_equal(st.num_threads, 12);
	assert_int_equal(st.starttime, 987654);
	assert_int_equal(st.vsize_bytes, 1048576000);
	assert_int_equal(st.rss_pages, 2500);
}

static void a_cut_stat_is_refused_at_every_byte_before_rss(void **state)
{
	const char *rss = strstr(stat_line, " 2500 ");
	char cut[sizeof stat_line];
	struct proc_stat st;

	(void)state;
	for (size_t n = 0; n <= (size_t)(rss - stat_line); n++) {
		memcpy(cut, stat_line, n);
		cut[n] = '\0';
		assert_int_equal(proc_stat_parse(cut, &st), -EBADMSG);
	}
}

/* What has no room in nanoseconds or bytes once it is multiplied and summed up. */
static void numbers_that_no_machine_reaches_are_refused(void **state)
{
	static const char *const bad[] = {
		"1 (a) S 1 1 1 0 -1 0 1 2 3 4 922337203686 0 0 0 20 0 1 0 9 4096 1 ",
		"1 (a) S 1 1 1 0 -1 0 1 2 3 4 9223372036854775807 9223372036854775807 0 0 20 0 1 0 9 0 1 ",
		"1 (a) S 1 1 1 0 -1 0 1 2 3 4 -1 0 0 0 20 0 1 0 9 4096 1 ",
		"1 (a) S 1 1 1 0 -1 0 9223372036854775807 2 3 4 1 0 0 0 20 0 1 0 9 4096 1 ",
		"1 (a) S 1 1 1 0 -1 0 1 2 3 4 1 0 0 0 20 0 9223372036854775807 0 9 4096 1 ",
		"1 (a) S 1 1 1 0 -1 0 1 2 3 4 1 0 0 0 20 0 1 0 9 4096 9223372036854775807 ",
		"1 (a) S 1 1 1 0 -1 0 1 2 3 4 1 0 0 0 20 0 1 0 9 4096 -1 ",
	};
	struct proc_smaps smaps;
	struct proc_stat st;
	struct proc_io io;
	struct proc_statm statm;

	(void)state;
	assert_int_equal(proc_stat_parse("1 (a) S 1 1 1 0 -1 0 1 2 3 4 922337203684 1 0 0 20 0 1 0 "
					 "9 4096 1 ",
					 &st),
			 0);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_int_equal(proc_stat_parse(bad[i], &st), -EBADMSG);
	assert_int_equal(proc_smaps_parse("Pss: 1 kB\nPrivate_Clean: 9007199254740991 kB\n"
					  "Private_Dirty: 9007199254740991 kB\n",
					  &smaps),
			 -EBADMSG);
	assert_int_equal(proc_io_parse("rchar: 9223372036854775807\nwchar: 2\nsyscr: 3\nsyscw: 4\n"
				       "read_bytes: 5\nwrite_bytes: 6\n",
				       &io),
			 -EBADMSG);
	assert_int_equal(proc_statm_parse("1 1 9223372036854775807 1\n", &statm), -EBADMSG);
}

static void garbage_stat_is_refused(void **state)
{
	static const char *const bad[] = { "",          "\n",
					   "x (y) S 1", "1 y S 1",
					   "1 )y( S 1", "-1 (y) S 1",
					   "1 (y)S 1",  "99999999999999999999 (y) S 1 1" };
	struct proc_stat st;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_int_equal(proc_stat_parse(bad[i], &st), -EBADMSG);
}

static void io_fields_are_found_by_name(void **state)
{
	struct proc_io io;

	(void)state;
	assert_int_equal(proc_io_parse("new_one: 9\nwrite_bytes: 6\nrchar: 1\nwchar: 2\nsyscr: 3\n"
				       "syscw: 4\nread_bytes: 5\n",
				       &io),
			 0);
	assert_int_equal(io.rchar, 1);
	assert_int_equal(io.wchar, 2);
	assert_int_equal(io.syscr, 3);
	assert_int_equal(io.syscw, 4);
	assert_int_equal(io.read_bytes, 5);
	assert_int_equal(io.write_bytes, 6);
	assert_int_equal(proc_io_parse("rchar: 1\n", &io), -EBADMSG);
	assert_int_equal(proc_io_parse("rchar: -1\n", &io), -EBADMSG);
}

static void uss_is_the_sum_of_the_private_lines(void **state)
{
	struct proc_smaps m;

	(void)state;
	assert_int_equal(
		proc_smaps_parse("5-6 ---p 00000000 00:00 0 [rollup]\nRss: 900 kB\nPss: 500 kB\n"
				 "Private_Clean: 100 kB\nPrivate_Dirty: 30 kB\n"
				 "AnonHugePages: 40 kB\nPrivate_Hugetlb: 2048 kB\nSwap: 7 kB\n",
				 &m),
		0);
	assert_int_equal(m.pss, 500 * 1024);
	assert_int_equal(m.uss, 2178 * 1024);
	assert_int_equal(m.swap, 7 * 1024);
	assert_int_equal(m.anonymous_huge, 40 * 1024);
	assert_int_equal(m.shared_memory, -1);
	assert_int_equal(proc_smaps_parse("Rss: 900 kB\n", &m), -EBADMSG);
}

static void statm_gives_its_second_and_third_field(void **state)
{
	struct proc_statm statm = { 0 };

	(void)state;
	assert_int_equal(proc_statm_parse("1000 500 321 10 0 90 0\n", &statm), 0);
	assert_int_equal(statm.resident_pages, 500);
	assert_int_equal(statm.shared_pages, 321);
	assert_int_equal(proc_statm_parse("1000 500\n", &statm), -EBADMSG);
}

static void how_it_ended_is_told_of_who_ended_only(void **state)
{
	static const char ended[] =
		"4243 (worker) %c 17 4242 17 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 987654 0 0 "
		"18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0 0 0 0 0 0 0 0 768\n";
	struct proc_stat st;
	char text[sizeof ended];

	(void)state;
	snprintf(text, sizeof text, ended, 'Z');
	assert_int_equal(proc_stat_parse(text, &st), 0);
	assert_int_equal(st.status, 768); /* exit code 3 */
	snprintf(text, sizeof text, ended, 'S');
	assert_int_equal(proc_stat_parse(text, &st), 0);
	assert_int_equal(st.status, 0);
}

static void the_last_pid_is_the_last_word_of_loadavg(void **state)
{
	pid_t pid = 0;

	(void)state;
	assert_int_equal(proc_last_pid_parse("0.20 0.18 0.12 1/80 11206\n", &pid), 0);
	assert_int_equal(pid, 11206);
	assert_int_equal(proc_last_pid_parse("", &pid), -EBADMSG);
	assert_int_equal(proc_last_pid_parse("99999999999999\n", &pid), -EBADMSG);
}

/* Of the default size is told how many are free; Hugetlb is of all sizes. */
static void huge_pages_in_use_are_those_that_are_not_free(void **state)
{
	struct proc_hugetlb h;

	(void)state;
	assert_int_equal(
		proc_hugetlb_parse("MemTotal: 9 kB\nHugePages_Total: 10\nHugePages_Free: 7\n"
				   "Hugepagesize: 2048 kB\nHugetlb: 1069056 kB\n",
				   &h),
		0);
	assert_int_equal(h.present, INT64_C(1069056) * 1024);
	assert_int_equal(h.used, (INT64_C(1069056) - 7 * 2048) * 1024);
	assert_int_equal(proc_hugetlb_parse("HugePages_Total: 3\nHugePages_Free: 1\n"
					    "Hugepagesize: 2048 kB\n",
					    &h),
			 0);
	assert_int_equal(h.present, 3 * 2048 * 1024);
	assert_int_equal(h.used, 2 * 2048 * 1024);
	assert_int_equal(proc_hugetlb_parse("MemTotal: 9 kB\n", &h), 0);
	assert_int_equal(h.present, 0);
	assert_int_equal(proc_hugetlb_parse("HugePages_Total: 1\nHugePages_Free: 2\n", &h),
			 -EBADMSG);
	assert_int_equal(proc_hugetlb_parse("HugePages_Total: 1152921504606846975\n"
					    "Hugepagesize: 1048576 kB\n",
					    &h),
			 -EBADMSG);
	assert_int_equal(proc_hugetlb("Name: x\nHugetlbPages:\t    4096 kB\n"), 4096 * 1024);
	assert_int_equal(proc_hugetlb("Name: x\n"), 0);
	assert_int_equal(proc_hugetlb("HugetlbPages: 1152921504606846975 kB\n"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_comm_may_hold_parentheses_and_blanks),
		cmocka_unit_test(a_cut_stat_is_refused_at_every_byte_before_rss),
		cmocka_unit_test(numbers_that_no_machine_reaches_are_refused),
		cmocka_unit_test(garbage_stat_is_refused),
		cmocka_unit_test(io_fields_are_found_by_name),
		cmocka_unit_test(uss_is_the_sum_of_the_private_lines),
		cmocka_unit_test(huge_pages_in_use_are_those_that_are_not_free),
		cmocka_unit_test(statm_gives_its_second_and_third_field),
		cmocka_unit_test(how_it_ended_is_told_of_who_ended_only),
		cmocka_unit_test(the_last_pid_is_the_last_word_of_loadavg),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
