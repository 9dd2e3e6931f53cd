/* SPDX-License-Identifier: Apache-2.0 */
/* What was left on is known by the name of a command or by its option. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/summary/parts.h"
#include "summary_fixture.h"

static void made(struct fixture *f, const char *text, const char *name, const char *line)
{
	fixture_init(f, text);
	f->s.by_cpu[0] = (struct summary_process){ .name = name, .command_line = line, .cpu_s = 3 };
	f->s.nby_cpu = 1;
	summary_tools_make(&f->s);
}

static void test_a_command_that_runs_another_is_known_by_its_name(void **state)
{
	struct fixture f;

	(void)state;
	made(&f, "cpu_seconds=4 command:memcheck-amd64-=2 command:valgrind=1 command:sh=1", "sh",
	     "sh");
	assert_true(fabs(f.s.tool_ratio - 0.75) < 1e-9 && f.s.tool_least == f.s.tool_ratio);
	assert_true(!strncmp(f.s.tool, "Valgrind", 8));
	made(&f, "cpu_seconds=4 command:strace-log-merge=2 command:gdbm=2", "sh", "sh");
	assert_true(isnan(f.s.tool_ratio) && !f.s.tool);
}

static void test_an_option_is_a_whole_word_of_its_command(void **state)
{
	struct fixture f;

	(void)state;
	made(&f, "cpu_seconds=4 command:java=3", "java Scores", "java -Xint Scores");
	assert_true(fabs(f.s.tool_ratio - 0.75) < 1e-9 && strstr(f.s.tool, "-Xint"));
	made(&f, "cpu_seconds=4 command:java=3", "java Scores", "java -Xinter -cp a-Xint Scores");
	assert_true(isnan(f.s.tool_ratio));
	made(&f, "cpu_seconds=4 command:python3=3", "python3 a.py", "python3 a.py -Xint");
	assert_true(isnan(f.s.tool_ratio));
	made(&f, "cpu_seconds=4 command:java=3", "java Scores", NULL);
	assert_true(isnan(f.s.tool_ratio));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_command_that_runs_another_is_known_by_its_name),
		cmocka_unit_test(test_an_option_is_a_whole_word_of_its_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
