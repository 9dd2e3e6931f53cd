/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/sink_text.h"

static void test_every_type_and_hostile_text(void **state)
{
	char *text = sink_text(sink_find("json"));

	(void)state;
	assert_string_equal(
		text,
		"{\"schema\":\"sonde/table/1\",\"table\":\"series\",\"columns\":["
		"{\"name\":\"name\",\"type\":\"text\",\"unit\":\"\",\"help\":\"Who.\"},"
		"{\"name\":\"a,\\\"b\\\"\",\"type\":\"integer\",\"unit\":\"count\",\"help\":\"How "
		"many.\"},"
		"{\"name\":\"v\",\"type\":\"real\",\"unit\":\"bytes/s\",\"help\":\"How much.\"},"
		"{\"name\":\"at\",\"type\":\"time\",\"unit\":\"\",\"help\":\"\"}],\"rows\":["
		"\n[\"plain\",0,0.1,\"1970-01-01T00:00:00Z\"]"
		"\n,[\"=1+1\",9223372036854775807,0.3333333333333333,\"2023-11-14T22:13:20.123Z\"]"
		"\n,[\"a\\\"b,\\r\\nc\",-9223372036854775808,1.7976931348623157e+308,"
		"\"2023-11-14T22:13:20.123456789Z\"]"
		"\n,[\"\\u001b[31m\xef\xbf\xbd\\u003cscript\\u003e\",null,null,null]"
		"\n,[\"\",-1,100000,\"1969-12-31T23:59:59.999999999Z\"]\n]}\n");
	free(text);
}

static void test_full_disk(void **state)
{
	(void)state;
	check_full_disk(sink_find("json"), 1);
	check_full_disk(sink_find("json"), 10000);
}

static void test_find(void **state)
{
	(void)state;
	assert_null(sink_find("xml"));
	for (size_t i = 0; i < nsinks; i++)
		assert_ptr_equal(sink_find(sinks[i]->name), sinks[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_type_and_hostile_text),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
