/* SPDX-License-Identifier: Apache-2.0 */
/* What a look at a hang says of many threads becomes a few lines. */
#include "report/lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SAYS "Hung for 12.9 s: app (pid 5) waits for a reader of its pipe. Then: timeout ended it."
#define DEADLOCK                                                                                   \
	" Deadlock: app (pid 4) waits for a child: app (pid 5), in wait4 < Popen.wait (sub.py:20)" \
	" < main (a.py:7) < ...; app (pid 5) waits for room in a pipe, read by app (pid 4), in "   \
	"write < f (<string>:1). Check the process that should read from it."

static void test_stacks_become_one_function_each_then_none(void **state)
{
	static const struct {
		const char *text;
		size_t most;
		const char *wanted;
	} cases[] = {
		{ SAYS DEADLOCK, 1000, SAYS DEADLOCK },
		{ SAYS DEADLOCK, 300,
		  SAYS
		  " Deadlock: app (pid 4) waits for a child: app (pid 5), in main (a.py:7); app "
		  "(pid 5) waits for room in a pipe, read by app (pid 4), in f (<string>:1). "
		  "Check the process that should read from it." },
		{ SAYS DEADLOCK, 270,
		  SAYS
		  " Deadlock: app (pid 4) waits for a child: app (pid 5); app (pid 5) waits for "
		  "room in a pipe, read by app (pid 4). Check the process that should read from "
		  "it." },
		{ SAYS DEADLOCK, 144,
		  "Hung for 12.9 s: app (pid 5) waits for a reader of its pipe. Then: timeout ended it "
		  "... Check the process that should read from it." },
		/* what has no stacks is no look at a hang */
		{ "Failed: it is in x (a.py:7); and more. Look.", 20,
		  "Failed: it is in x (a.py:7); and more. Look." },
		{ "2 of 2 threads of app in wait < work (a.c:3) < start_thread: waits for a lock. Look.",
		  65, "2 of 2 threads of app in work (a.c:3): waits for a lock. Look." },
		{ " in a < b", 2, "" },
		{ ", in a < b; c", 2, "; c" },
		{ "", 0, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char text[1024];

		snprintf(text, sizeof text, "%s", cases[i].text);
		sentence_shorten(text, cases[i].most);
		assert_string_equal(text, cases[i].wanted);
	}
}

/* Whatever stands in it: names are hostile. */
static void test_no_text_becomes_longer(void **state)
{
	static const char words[][8] = { " in ", " < ", "(a:1)", ";", ". ", ",", "x", ": ", " " };
	unsigned seed = 7;

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		char text[256] = "";
		size_t before, n = 0;

		for (unsigned i = 0; i < 24; i++) {
			seed = seed * 1103515245 + 12345;
			n += (size_t)snprintf(
				text + n, sizeof text - n, "%s",
				words[(seed >> 16) % (sizeof words / sizeof words[0])]);
		}
		before = strlen(text);
		sentence_shorten(text, round % 60);
		assert_true(strlen(text) <= before);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks_become_one_function_each_then_none),
		cmocka_unit_test(test_no_text_becomes_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
