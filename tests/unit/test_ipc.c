/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job/share.h"

#define FILE_NAME ".ipc-4711"

static void say(const char *text)
{
	FILE *f = fopen(FILE_NAME, "we");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void assert_says(const char *text)
{
	char got[64] = "";
	FILE *f = fopen(FILE_NAME, "re");

	assert_non_null(f);
	assert_true(fread(got, 1, sizeof got - 1, f) > 0);
	fclose(f);
	assert_string_equal(got, text);
}

static int take_away(void **state)
{
	(void)state;
	unlink(FILE_NAME);
	rmdir(FILE_NAME);
	return 0;
}

static void it_is_made_and_ends_the_job_once_it_says_so(void **state)
{
	struct err e = { "" };
	struct stat st;
	struct ipc f;

	(void)state;
	assert_int_equal(ipc_begin(&f, "4711", true, &e), 0);
	assert_says("INPROGRESS\n");
	assert_int_equal(stat(FILE_NAME, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_false(ipc_over(&f));
	say("INPROGRESS");
	assert_false(ipc_over(&f));
	say("");
	assert_false(ipc_over(&f)); /* who writes has opened it */
	say("FINISHED\n");
	assert_true(ipc_over(&f));
}

static void any_other_word_ends_it(void **state)
{
	static const char *const words[] = { "DONE", "INPROGRES", "INPROGRESS 2", "\x01",
					     "a word that is longer than anything expected here" };
	struct ipc f;

	(void)state;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		unlink(FILE_NAME);
		assert_int_equal(ipc_begin(&f, "4711", true, NULL), 0);
		say(words[i]);
		assert_true(ipc_over(&f));
	}
}

static void what_an_earlier_run_left_ends_nothing(void **state)
{
	struct ipc first, other;

	(void)state;
	say("FINISHED\n");
	assert_int_equal(ipc_begin(&other, "4711", false, NULL), 0);
	assert_says("FINISHED\n");
	assert_false(ipc_over(&other));
	assert_int_equal(ipc_begin(&first, "4711", true, NULL), 0);
	assert_says("INPROGRESS\n");
	assert_false(ipc_over(&first));
	assert_false(ipc_over(&other));
	say("FINISHED\n");
	assert_true(ipc_over(&first));
	assert_true(ipc_over(&other));
}

static void one_that_is_taken_away_says_nothing(void **state)
{
	struct ipc f;

	(void)state;
	assert_int_equal(ipc_begin(&f, "4711", true, NULL), 0);
	unlink(FILE_NAME);
	assert_false(ipc_over(&f));
	assert_int_not_equal(access(FILE_NAME, F_OK), 0);
	say("FINISHED");
	assert_true(ipc_over(&f));
}

static void what_is_no_file_is_said_and_harmless(void **state)
{
	struct err e = { "" };
	struct ipc f;

	(void)state;
	assert_int_equal(mkdir(FILE_NAME, 0700), 0);
	assert_true(ipc_begin(&f, "4711", true, &e) < 0);
	assert_non_null(strstr(e.text, FILE_NAME));
	assert_false(ipc_over(&f));
	rmdir(FILE_NAME);
	assert_int_equal(mkfifo(FILE_NAME, 0600), 0);
	assert_true(ipc_begin(&f, "4711", true, &e) < 0);
	assert_false(ipc_over(&f));
	unlink(FILE_NAME);
	/* A link is not followed by who writes. */
	assert_int_equal(symlink("elsewhere", FILE_NAME), 0);
	assert_true(ipc_begin(&f, "4711", true, &e) < 0);
	assert_int_not_equal(access("elsewhere", F_OK), 0);
}

static void an_id_cannot_lead_elsewhere(void **state)
{
	struct ipc f;

	(void)state;
	assert_int_equal(ipc_begin(&f, "/../../x", true, NULL), 0);
	assert_string_equal(f.path, ".ipc-_.._.._x");
	unlink(f.path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(it_is_made_and_ends_the_job_once_it_says_so, take_away),
		cmocka_unit_test_teardown(any_other_word_ends_it, take_away),
		cmocka_unit_test_teardown(what_an_earlier_run_left_ends_nothing, take_away),
		cmocka_unit_test_teardown(one_that_is_taken_away_says_nothing, take_away),
		cmocka_unit_test_teardown(what_is_no_file_is_said_and_harmless, take_away),
		cmocka_unit_test(an_id_cannot_lead_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
