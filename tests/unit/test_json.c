/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/text/json.h"

/* jansson, which reads what was written, has some of the same names. */
#define json_object jansson_object
#define json_array  jansson_array
#define json_real   jansson_real
#define json_null   jansson_null
#include <jansson.h>
#undef json_object
#undef json_array
#undef json_real
#undef json_null

static void write_all(struct json *j)
{
	json_object(j);
	json_key(j, "text");
	json_text(j, "a\"</b>");
	json_key(j, "none");
	json_text(j, NULL);
	json_key(j, "empty");
	json_array(j);
	json_array_end(j);
	json_key(j, "hollow");
	json_object(j);
	json_object_end(j);
	json_key(j, "list");
	json_array(j);
	json_int(j, INT64_MAX);
	json_int(j, INT64_MIN);
	json_bool(j, true);
	json_bool(j, false);
	json_null(j);
	json_real(j, NAN);
	json_real(j, -INFINITY);
	json_object(j);
	json_key(j, "\xff\n");
	json_real(j, 0.1);
	json_object_end(j);
	json_array_end(j);
	json_key(j, "when");
	json_time(j, INT64_C(1700000000123000000));
	json_object_end(j);
}

static void tokens_are_separated(void **state)
{
	struct bytes b = { 0 };
	struct json j = { .out = &b };

	(void)state;
	write_all(&j);
	bytes_u8(&b, '\0');
	assert_string_equal(
		b.data,
		"{\"text\":\"a\\\"\\u003c/b\\u003e\",\"none\":null,\"empty\":[],\"hollow\":{},"
		"\"list\":[9223372036854775807,-9223372036854775808,true,false,null,null,null,"
		"{\"\xef\xbf\xbd\\n\":0.1}],\"when\":\"2023-11-14T22:13:20.123Z\"}");
	assert_int_equal(j.depth, 0);
	bytes_free(&b);
}

static void times_have_the_digits_that_they_need(void **state)
{
	static const struct {
		int64_t utc_ns;
		const char *text;
	} cases[] = {
		{ 0, "1970-01-01T00:00:00Z" },
		{ INT64_C(1709164799000000000), "2024-02-28T23:59:59Z" },
		{ INT64_C(1709164800050000000), "2024-02-29T00:00:00.050Z" },
		{ INT64_C(1709164800050000001), "2024-02-29T00:00:00.050000001Z" },
		{ -1, "1969-12-31T23:59:59.999999999Z" },
		{ INT64_MAX, "2262-04-11T23:47:16.854775807Z" },
		{ INT64_MIN, "1677-09-21T00:12:43.145224192Z" },
	};
	char text[40], cut[8];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(clock_iso(cases[i].utc_ns, text, sizeof text), cases[i].text);
	assert_string_equal(clock_iso(0, cut, sizeof cut), "1970-01");
}

/* Of all days there are, at an hour that differs from day to day. */
static void days_are_those_of_the_calendar(void **state)
{
	const int64_t step_s = 86400 + 977, most_s = INT64_MAX / NS_PER_S;
	char text[40], stamp[CLOCK_STAMP], wanted[40];

	(void)state;
	for (int64_t s = -most_s; s <= most_s; s += step_s) {
		time_t seconds = (time_t)s;
		struct tm tm;

		assert_non_null(gmtime_r(&seconds, &tm));
		assert_int_not_equal(strftime(wanted, sizeof wanted, "%Y-%m-%dT%H:%M:%SZ", &tm), 0);
		assert_string_equal(clock_iso(s * NS_PER_S, text, sizeof text), wanted);
		assert_int_not_equal(strftime(wanted, sizeof wanted, "%Y%m%dT%H%M%SZ", &tm), 0);
		assert_string_equal(clock_stamp(s * NS_PER_S, stamp), wanted);
	}
}

static void times_are_read_as_they_are_written(void **state)
{
	static const int64_t times[] = { 0, INT64_C(1709164799000000000),
					 INT64_C(1709164800050000000),
					 INT64_C(1709164800050000001) };
	static const char *const none[] = { "",
					    "soon",
					    "2024-02-28",
					    "1969-12-31T23:59:59Z",
					    "2262-04-11T23:47:16Z",
					    "9999-01-01T00:00:00Z" };
	char text[40];
	int64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		assert_string_equal(clock_of_iso(clock_iso(times[i], text, sizeof text), &ns), "Z");
		assert_int_equal(ns, times[i]);
	}
	assert_string_equal(clock_of_iso("2024-02-29T00:00:00.0500000019+00:00", &ns), "+00:00");
	assert_int_equal(ns, INT64_C(1709164800050000001));
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		assert_null(clock_of_iso(none[i], &ns));
}

static void indented_text_means_the_same(void **state)
{
	struct bytes plain = { 0 }, pretty = { 0 };
	struct json j = { .out = &plain }, k = { .out = &pretty, .indent = true };
	json_t *one, *two;

	(void)state;
	write_all(&j);
	write_all(&k);
	one = json_loadb((const char *)plain.data, plain.len, JSON_REJECT_DUPLICATES, NULL);
	two = json_loadb((const char *)pretty.data, pretty.len, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(one);
	assert_int_equal(json_equal(one, two), 1);
	assert_non_null(memmem(pretty.data, pretty.len,
			       "\n  \"empty\": [],\n  \"hollow\": {},\n  \"list\": [\n    9223",
			       50));
	json_decref(one);
	json_decref(two);
	bytes_free(&plain);
	bytes_free(&pretty);
}

static void numbers_come_back_as_they_were(void **state)
{
	static const double values[] = { 0,
					 1.0 / 3,
					 0.1,
					 1e300,
					 1e-300,
					 5e-324,
					 1.7976931348623157e308,
					 123456789.123456789,
					 -2.5,
					 9007199254740993.0 };

	(void)state;
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		struct bytes b = { 0 };
		struct json j = { .out = &b };
		json_t *list;
		double back;

		json_array(&j);
		json_real(&j, values[i]);
		json_array_end(&j);
		list = json_loadb((const char *)b.data, b.len, 0, NULL);
		assert_non_null(list);
		back = json_number_value(json_array_get(list, 0));
		assert_memory_equal(&back, &values[i], sizeof back);
		json_decref(list);
		bytes_free(&b);
	}
}

static void numbers_are_short(void **state)
{
	struct bytes b = { 0 };
	struct json j = { .out = &b };

	(void)state;
	json_array(&j);
	json_real(&j, 0.1);
	json_real(&j, 3);
	json_real(&j, -0.0);
	json_real(&j, 1.0 / 3);
	json_array_end(&j);
	bytes_u8(&b, '\0');
	assert_string_equal(b.data, "[0.1,3,0,0.3333333333333333]");
	bytes_free(&b);
}

static void lack_of_memory_is_seen_once_at_the_end(void **state)
{
	uint8_t room[16];
	struct bytes b = { .data = room, .cap = sizeof room, .fixed = true };
	struct json j = { .out = &b };

	(void)state;
	write_all(&j);
	assert_true(b.failed);
	assert_true(b.len <= sizeof room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tokens_are_separated),
		cmocka_unit_test(times_have_the_digits_that_they_need),
		cmocka_unit_test(days_are_those_of_the_calendar),
		cmocka_unit_test(times_are_read_as_they_are_written),
		cmocka_unit_test(indented_text_means_the_same),
		cmocka_unit_test(numbers_come_back_as_they_were),
		cmocka_unit_test(numbers_are_short),
		cmocka_unit_test(lack_of_memory_is_seen_once_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
