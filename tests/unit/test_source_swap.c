/* SPDX-License-Identifier: Apache-2.0 */
/* Pages to swap and back: found by name, each second, and what a kernel does not have. */
#include "unit/one_source.h"
#include "unit/tree.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

extern const struct source source_swap;

static void pages_are_found_by_name(void **unused)
{
	struct one x;

	(void)unused;
	tree_put("swap.proc", "vmstat",
		 "nr_free_pages 7\npswpin 100\npswpout 2000\npgmajfault 30\npgfault 1\n");
	one_open(&x, &source_swap, "swap.proc", NULL);
	assert_int_equal(x.result, 0);
	one_read(&x);
	assert_int_equal(node_value(&x.n, "node.swap_in_pages", "-"), 100);
	assert_int_equal(node_value(&x.n, "node.swap_out_pages", "-"), 2000);
	assert_int_equal(node_value(&x.n, "node.major_faults", "-"), 30);
	tree_put("swap.proc", "vmstat",
		 "nr_free_pages 7\npswpin 5100\npswpout 2000\npgmajfault 60\npgfault 1\n");
	one_read(&x);
	assert_int_equal(x.result, 0);
	assert_int_equal(node_value(&x.n, "node.swap_in_pages", "-"), 5100);
	one_close(&x);
}

static void a_kernel_without_swap_lacks_its_rows(void **unused)
{
	struct one x;

	(void)unused;
	tree_put("swapless.proc", "vmstat", "nr_free_pages 7\npgmajfault 30\npgfault 1\n");
	one_open(&x, &source_swap, "swapless.proc", NULL);
	assert_int_equal(x.result, 0);
	one_read(&x);
	assert_int_equal(node_value(&x.n, "node.major_faults", "-"), 30);
	assert_int_equal(node_state(&x.n, "node.swap_in_pages", "-"), STATE_UNSUPPORTED);
	one_close(&x);
	tree_put("swapless.proc", "vmstat", "pswpin none\n");
	one_open(&x, &source_swap, "swapless.proc", NULL);
	assert_int_equal(x.result, -EBADMSG);
	one_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_found_by_name),
		cmocka_unit_test(a_kernel_without_swap_lacks_its_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
