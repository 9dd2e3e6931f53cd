/* SPDX-License-Identifier: Apache-2.0 */
/* Lists on a terminal: no line is longer than it. */
#include "base/text/columns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct column_look look[] = {
	{ .heading = "START" },
	{ .heading = "NODES", .right = true, .spare = true },
	{ .heading = "USER", .shrinks = true, .spare = true },
	{ .heading = "RECORDING" },
};

/* The one row's heading and line at that width. */
static char *printed(unsigned room)
{
	static const char *const row[] = { "2026-11-23T18:11:25Z", "1024",
					   "somebody_of_a_long_name", "/scratch/a/recording" };
	struct columns c = { .look = look, .ncolumns = 4 };
	struct bytes b = { 0 };

	for (size_t i = 0; i < 4; i++)
		columns_cell(&c, row[i]);
	columns_print(&c, &b, room);
	columns_free(&c);
	bytes_u8(&b, 0);
	assert_false(b.failed);
	return (char *)b.data;
}

static void expect(unsigned room, const char *want)
{
	char *got = printed(room);

	assert_string_equal(got, want);
	free(got);
}

static void test_a_narrow_terminal(void **state)
{
	(void)state;
	expect(0, "START                 NODES  USER                     RECORDING\n"
		  "2026-11-23T18:11:25Z   1024  somebody_of_a_long_name  /scratch/a/recording\n");
	expect(60, "START                 NODES  USER                 RECORDING\n"
		   "2026-11-23T18:11:25Z   1024  somebody_of_a_long…  /scratch/…\n");
	expect(46, "START                 NODES  RECORDING\n"
		   "2026-11-23T18:11:25Z   1024  /scratch/a/recor…\n");
	expect(34, "START                 RECORDING\n"
		   "2026-11-23T18:11:25Z  /scratch/a/…\n");
	expect(24, "START                 R…\n"
		   "2026-11-23T18:11:25Z  /…\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_a_narrow_terminal) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
