/* SPDX-License-Identifier: Apache-2.0 */
#include "job/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void joins_to(char *const *argv, const char *expected)
{
	struct bytes b = { 0 };

	words_join(NULL, &b, argv);
	bytes_u8(&b, '\0');
	assert_string_equal((const char *)b.data, expected);
	bytes_free(&b);
}

static void words_are_quoted_for_a_shell(void **state)
{
	(void)state;
	joins_to((char *[]){ "./app", "two words", "it's", NULL }, "./app 'two words' 'it'\\''s'");
}

static void secrets_are_masked(void **state)
{
	(void)state;
	joins_to((char *[]){ "app", "--password=hunter2", NULL }, "app --password=***");
	joins_to((char *[]){ "env", "API_KEY=abc", "DB_PASSWORD=x", "app", NULL },
		 "env API_KEY=*** DB_PASSWORD=*** app");
	joins_to((char *[]){ "env", "MYSQL_PWD=x", "key=3", "app", NULL },
		 "env MYSQL_PWD=*** 'key=3' app");
	joins_to((char *[]){ "sh", "-c", "app --password=x", NULL }, "sh -c 'app --password=***'");
	joins_to((char *[]){ "app", "--token", "abc", "--size", "3", NULL },
		 "app --token *** --size 3");
	joins_to((char *[]){ "app", "--token", "--size", "3", NULL }, "app --token --size 3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_quoted_for_a_shell),
		cmocka_unit_test(secrets_are_masked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
