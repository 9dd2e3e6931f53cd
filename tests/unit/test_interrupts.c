/* SPDX-License-Identifier: Apache-2.0 */
/* How many interrupts each CPU took, as /proc/interrupts says: fed in pieces of every size. */
#include "source/core.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char usual[] =
	"            CPU0       CPU2       CPU11\n"
	"   0:         33          0          1  IO-APIC   2-edge      timer\n"
	"  12:          5          6          7  PCI-MSIX-0000:00:02.0   0-edge  8 9\n"
	" NMI:          0          0          0   Non-maskable interrupts\n"
	" LOC:       1000       2000       3000   Local timer interrupts\n"
	" ERR:          4\n"
	" MIS:          0\n";

static bool feed(struct interrupts *x, const char *text, size_t piece)
{
	size_t n = strlen(text);

	interrupts_begin(x);
	for (size_t at = 0; at < n; at += piece)
		interrupts_feed(x, text + at, n - at < piece ? n - at : piece);
	return interrupts_end(x);
}

static void columns_are_summed_up(void **unused)
{
	struct interrupts x;

	(void)unused;
	assert_int_equal(interrupts_init(&x), 0);
	for (size_t piece = 1; piece <= sizeof usual; piece++) {
		assert_true(feed(&x, usual, piece));
		assert_int_equal(x.ncolumns, 3);
		assert_int_equal(x.cpu[0], 0);
		assert_int_equal(x.cpu[1], 2);
		assert_int_equal(x.cpu[2], 11);
		assert_int_equal(x.sum[0], 1038);
		assert_int_equal(x.sum[1], 2006);
		assert_int_equal(x.sum[2], 3008);
	}
	interrupts_free(&x);
}

static void what_is_no_row_counts_for_none(void **unused)
{
	struct interrupts x;

	(void)unused;
	assert_int_equal(interrupts_init(&x), 0);
	assert_true(feed(&x,
			 " CPU0 CPU1\n 1: 5 6x timer\n 2: 99999999999999999999 1\n 3: -1 4\n"
			 " 4: 7 8\n5 6\n 6: 1 2\n",
			 5));
	assert_int_equal(x.sum[0], 8);
	assert_int_equal(x.sum[1], 10);
	/* On a machine with one CPU the controllers' faults look like its interrupts. */
	assert_true(
		feed(&x, " CPU0\n 1: 5 timer\nERR: 40\nMIS: 70\n Err: 80\nBAD: 90\nMOS: 2\n", 3));
	assert_int_equal(x.sum[0], 7);
	/* A file that is cut is no whole one; one without CPUs is none at all. */
	assert_false(feed(&x, " CPU0 CPU1\n 1: 5 6 timer", 100));
	assert_false(feed(&x, " CPU0 CPU1\n 1: 5", 100));
	assert_false(feed(&x, "", 100));
	assert_false(feed(&x, "\n 1: 5 6\n", 100));
	assert_false(feed(&x, " CPU99999999\n 1: 5\n", 100));
	assert_false(feed(&x, " CPU0 CPU1\n", 100));
	assert_false(feed(&x, " CPU0 x1\n 1: 5 6\n", 100));
	interrupts_free(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_summed_up),
		cmocka_unit_test(what_is_no_row_counts_for_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
