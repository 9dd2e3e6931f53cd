/* SPDX-License-Identifier: Apache-2.0 */
/* Where in a file whoever reads it again and again is, after so many bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sampler/rereads.h"

static void test_what_was_read_leads_to_the_place(void **state)
{
	(void)state;
	assert_true(reread_agrees(1000, 200, 300, 500));
	assert_true(reread_agrees(1000, 200, 7300, 500));
	assert_true(reread_agrees(1000, 900, 200, 100));
	/* passed the end a moment before, or not yet */
	assert_true(reread_agrees(1000, 900, 80, 10));
	assert_true(reread_agrees(1000, 900, 120, 1000));
	assert_true(reread_agrees(1000, 200, 300, 550));
	assert_false(reread_agrees(1000, 200, 300, 551));
	assert_false(reread_agrees(1000, 200, 300, 449));
	assert_false(reread_agrees(1000, 0, 7300, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_was_read_leads_to_the_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
