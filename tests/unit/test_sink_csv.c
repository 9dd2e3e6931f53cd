/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/sink_text.h"

static void test_every_type_and_hostile_text(void **state)
{
	char *text = sink_text(sink_find("csv"));

	(void)state;
	assert_string_equal(
		text, "name,\"a,\"\"b\"\"\",v,at\r\n"
		      "plain,0,0.1,1970-01-01T00:00:00Z\r\n"
		      "'=1+1,9223372036854775807,0.3333333333333333,2023-11-14T22:13:20.123Z\r\n"
		      "\"a\"\"b,\r\nc\",-9223372036854775808,1.7976931348623157e+308,"
		      "2023-11-14T22:13:20.123456789Z\r\n"
		      "\xef\xbf\xbd[31m\xef\xbf\xbd<script>,,,\r\n"
		      ",-1,100000,1969-12-31T23:59:59.999999999Z\r\n");
	free(text);
}

static void test_full_disk(void **state)
{
	(void)state;
	check_full_disk(sink_find("csv"), 1);
	check_full_disk(sink_find("csv"), 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_type_and_hostile_text),
		cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
