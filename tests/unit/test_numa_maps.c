/* SPDX-License-Identifier: Apache-2.0 */
/* On which NUMA nodes numa_maps says that a process's pages are. */
#include "source/placement.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static int add(struct numa_maps *m, const char *text)
{
	size_t used = 0;
	int bad = numa_maps_add(m, text, 4096, &used);

	if (!bad)
		assert_int_equal(used, strlen(text));
	return bad;
}

static void pages_are_added_up_by_node(void **unused)
{
	struct numa_maps m = { 0 };

	(void)unused;
	assert_int_equal(
		add(&m,
		    "5581 default file=/usr/bin/N0=9\\0401 mapped=2 active=0 N1=2 kernelpagesize_kB=4\n"
		    "5589 bind:0-1 heap anon=3 dirty=3 N0=1 N1=2 kernelpagesize_kB=4\n"
		    "7f00 prefer (many):0 huge anon=2 dirty=2 N3=2 kernelpagesize_kB=2048\n"
		    "7f11 interleave:0-3 stack anon=1 dirty=1 active=0 N0=1\n"
		    "7f12 default\n"
		    "7f13 default anon=1 dirty=1 N255=1 kernelpagesize_kB=64\n"),
		0);
	assert_int_equal(m.bytes[0], 2 * 4096);
	assert_int_equal(m.bytes[1], 4 * 4096);
	assert_int_equal(m.bytes[2], 0);
	assert_int_equal(m.bytes[3], 4 << 20);
	assert_int_equal(m.bytes[255], 65536);
}

static void a_line_that_is_cut_is_left_for_the_next_piece(void **unused)
{
	struct numa_maps m = { 0 };
	size_t used;

	(void)unused;
	assert_int_equal(numa_maps_add(&m, "1 default N0=1\n2 default N0=12", 4096, &used), 0);
	assert_int_equal(used, 15);
	assert_int_equal(m.bytes[0], 4096);
	assert_int_equal(numa_maps_add(&m, "2 default N0=1", 4096, &used), 0);
	assert_int_equal(used, 0);
	assert_int_equal(numa_maps_add(&m, "", 4096, &used), 0);
	assert_int_equal(used, 0);
}

static void garbage_is_refused(void **unused)
{
	static const char *const texts[] = {
		"1 default N0=x\n",
		"1 default N0=-1\n",
		"1 default N0\n",
		"1 default N256=1\n",
		"1 default N0=99999999999999999999\n",
		"1 default N0=999999999999999\n",
		"1 default N0=1 kernelpagesize_kB=0\n",
		"1 default N0=1 kernelpagesize_kB=\n",
		"1 default N0=1 kernelpagesize_kB=9999999999999\n",
	};

	(void)unused;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct numa_maps m = { 0 };

		if (add(&m, texts[i]) != -EBADMSG)
			fail_msg("taken: %s", texts[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_added_up_by_node),
		cmocka_unit_test(a_line_that_is_cut_is_left_for_the_next_piece),
		cmocka_unit_test(garbage_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
