/* SPDX-License-Identifier: Apache-2.0 */
/* Each token of what is JSON, a sentence with the line for what is none, and every prefix of a
 * document is refused. */
#include "base/text/jsondoc.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Tokens as text: {k"a" 1 2.5 s"x" t f n } and so on; "!" and the sentence for what is bad. */
static void tokens_of(struct jsondoc *j, char *out, size_t size)
{
	static const char plain[] = "  {}[]  #tfn";
	enum jsondoc_token t;
	struct err e = { "" };
	size_t n = 0;

	out[0] = '\0';
	while ((t = jsondoc_next(j, &e)) != JSONDOC_END && n < size) {
		if (t == JSONDOC_BAD) {
			snprintf(out + n, size - n, "!%s", e.text);
			assert_int_equal(jsondoc_next(j, &e), JSONDOC_BAD);
			return;
		}
		if (t == JSONDOC_KEY || t == JSONDOC_STRING)
			n += (size_t)snprintf(out + n, size - n, "%c'%s'",
					      t == JSONDOC_KEY ? 'k' : 's', j->text);
		else if (t == JSONDOC_NUMBER && j->whole)
			n += (size_t)snprintf(out + n, size - n, "i%lld", (long long)j->integer);
		else if (t == JSONDOC_NUMBER)
			n += (size_t)snprintf(out + n, size - n, "r%.17g", j->number);
		else
			n += (size_t)snprintf(out + n, size - n, "%c", plain[t]);
	}
	assert_int_equal(jsondoc_next(j, &e), JSONDOC_END);
}

static void check(const char *text, const char *wanted)
{
	struct jsondoc j;
	char got[1024];

	jsondoc_open_text(&j, text, strlen(text));
	tokens_of(&j, got, sizeof got);
	jsondoc_close(&j);
	assert_string_equal(got, wanted);
}

static void test_tokens(void **state)
{
	(void)state;
	check("{}", "{}");
	check(" [ ] \n", "[]");
	check("{\"a\":[1,-2,2.5,1e3],\"b\":{\"c\":\"x\"}}", "{k'a'[i1i-2r2.5r1000]k'b'{k'c's'x'}}");
	check("[true,false,null,NaN,Infinity,-Infinity]", "[tfnnnn]");
	check("\"\\\"\\\\\\/\\b\\n\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"",
	      "s'\"\\/\b\nA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80'");
	check("\"\\u0000\\ud800x\\udc00\\ud800\\ud83d\\ude00\\ud800\\n\"",
	      "s'\xef\xbf\xbd\xef\xbf\xbdx\xef\xbf\xbd\xef\xbf\xbd\xf0\x9f\x98\x80\xef\xbf\xbd\n'");
	check("9223372036854775807", "i9223372036854775807");
	check("9223372036854775808", "r9.2233720368547758e+18");
	check("-0", "i0");
	check("[1e999,1e-999]", "[rinfr0]");
	check("[1,{\"a\":1,\"a\":2}]", "[i1{k'a'i1k'a'i2}]");
}

static void test_what_is_none(void **state)
{
	(void)state;
	check("", "!it is not JSON: its end comes too soon in line 1");
	check("[1,\n2,]", "[i1i2!it is not JSON: an unexpected character in line 2");
	check("[1 2]", "[i1!it is not JSON: a comma is missing in line 1");
	check("{\"a\" 1}", "{!it is not JSON: a colon is missing in line 1");
	check("{a:1}", "{!it is not JSON: a key is missing in line 1");
	check("{\"a\":1,}", "{k'a'i1!it is not JSON: a key is missing in line 1");
	check("[1}", "[i1!it is not JSON: a comma is missing in line 1");
	check("01", "!it is not JSON: a malformed number in line 1");
	check("1.", "!it is not JSON: a malformed number in line 1");
	check("-", "!it is not JSON: a malformed number in line 1");
	check("1e", "!it is not JSON: a malformed number in line 1");
	check("tru", "!it is not JSON: an unknown word in line 1");
	check("nul1", "!it is not JSON: an unknown word in line 1");
	check("\"\\x\"", "!it is not JSON: an unknown escape in a text in line 1");
	check("\"\\u12g4\"", "!it is not JSON: an unknown escape in a text in line 1");
	check("\"\n\"", "!it is not JSON: a control character in a text in line 2");
	check("\"a", "!it is not JSON: a text without end in line 1");
	check("{} {}", "{}!it is not JSON: something behind its end in line 1");
}

static void test_bounds(void **state)
{
	static char text[2 * JSONDOC_TEXT];
	struct jsondoc j;
	struct err e = { "" };

	(void)state;
	memset(text, '[', sizeof text);
	jsondoc_open_text(&j, text, sizeof text);
	for (int i = 0; i < JSONDOC_DEPTH; i++)
		assert_int_equal(jsondoc_next(&j, &e), JSONDOC_ARRAY);
	assert_int_equal(jsondoc_next(&j, &e), JSONDOC_BAD);
	assert_non_null(strstr(e.text, "more than 64 levels"));
	jsondoc_close(&j);
	memset(text + 1, 'x', sizeof text - 1);
	text[0] = '"';
	jsondoc_open_text(&j, text, sizeof text);
	assert_int_equal(jsondoc_next(&j, &e), JSONDOC_BAD);
	assert_non_null(strstr(e.text, "more than 64 KiB"));
	jsondoc_close(&j);
	memset(text, '1', 1000);
	text[1000] = ' ';
	jsondoc_open_text(&j, text, 1000);
	assert_int_equal(jsondoc_next(&j, &e), JSONDOC_BAD);
	assert_non_null(strstr(e.text, "more than 500 digits"));
	jsondoc_close(&j);
}

static void test_every_prefix_is_refused(void **state)
{
	static const char whole[] = "{\"a\":[1,-2.5e3,\"x\\u00e9\"],\"b\":{\"c\":null,\"d\":true}}";
	enum jsondoc_token t;

	(void)state;
	for (size_t n = 0; n < sizeof whole; n++) {
		struct err e = { "" };
		struct jsondoc j;

		jsondoc_open_text(&j, whole, n);
		while ((t = jsondoc_next(&j, &e)) != JSONDOC_END && t != JSONDOC_BAD)
			;
		assert_int_equal(t, n == sizeof whole - 1 ? JSONDOC_END : JSONDOC_BAD);
		jsondoc_close(&j);
	}
}

/* Blocks end in the middle of numbers, texts and escapes. */
static void test_a_file_of_many_blocks(void **state)
{
	const int n = 60000;
	char path[] = "jsondoc-XXXXXX";
	int fd = mkstemp(path), seen = 0;
	FILE *f = fdopen(dup(fd), "w");
	struct err e = { "" };
	struct jsondoc j;
	enum jsondoc_token t;

	(void)state;
	fputc('[', f);
	for (int i = 0; i < n; i++)
		fprintf(f, "%s%d,\"\\ud83d\\ude00%d\"", i ? "," : "", i, i);
	fputc(']', f);
	fclose(f);
	lseek(fd, 0, SEEK_SET);
	unlink(path);
	assert_int_equal(jsondoc_open(&j, fd), 0);
	while ((t = jsondoc_next(&j, &e)) != JSONDOC_END) {
		char text[32];

		assert_int_not_equal(t, JSONDOC_BAD);
		if (t == JSONDOC_NUMBER)
			assert_int_equal(j.integer, seen);
		snprintf(text, sizeof text, "\xf0\x9f\x98\x80%d", seen);
		if (t == JSONDOC_STRING) {
			assert_string_equal(j.text, text);
			seen++;
		}
	}
	assert_int_equal(seen, n);
	jsondoc_close(&j);
	close(fd);
}

static void test_skip(void **state)
{
	static const char text[] = "{\"a\":{\"b\":[1,[2]]},\"c\":3,\"d\":[]}";
	struct err e = { "" };
	struct jsondoc j;

	(void)state;
	jsondoc_open_text(&j, text, strlen(text));
	assert_int_equal(jsondoc_next(&j, &e), JSONDOC_OBJECT);
	assert_int_equal(jsondoc_next(&j, &e), JSONDOC_KEY);
	assert_true(jsondoc_skip(&j, JSONDOC_KEY, &e));
	assert_int_equal(jsondoc_next(&j, &e), JSONDOC_KEY);
	assert_string_equal(j.text, "c");
	assert_int_equal(jsondoc_next(&j, &e), JSONDOC_NUMBER);
	assert_true(jsondoc_skip(&j, JSONDOC_NUMBER, &e));
	assert_int_equal(jsondoc_next(&j, &e), JSONDOC_KEY);
	assert_int_equal(jsondoc_next(&j, &e), JSONDOC_ARRAY);
	assert_true(jsondoc_skip(&j, JSONDOC_ARRAY, &e));
	assert_int_equal(jsondoc_next(&j, &e), JSONDOC_OBJECT_END);
	assert_int_equal(jsondoc_next(&j, &e), JSONDOC_END);
	jsondoc_close(&j);
}

static ssize_t read_some(void *ctx, void *data, size_t n)
{
	const char **at = ctx;
	size_t left = strlen(*at);

	n = left < 3 ? left : 3;
	memcpy(data, *at, n);
	*at += n;
	return (ssize_t)n;
}

static void test_long_texts_are_cut_where_that_is_asked_for(void **state)
{
	const char *text = "[\"abcdefgh\", \"ab\\u00e9defgh\", \"abcd\", 12.50e1]";
	struct err e = { "" };
	struct jsondoc j;

	(void)state;
	assert_int_equal(jsondoc_open_from(&j, read_some, &text), 0);
	j.text_most = 4;
	j.shortens = true;
	assert_int_equal(jsondoc_next(&j, &e), JSONDOC_ARRAY);
	assert_int_equal(jsondoc_next(&j, &e), JSONDOC_STRING);
	assert_string_equal(j.text, "abcd");
	assert_true(j.shortened);
	assert_int_equal(jsondoc_next(&j, &e), JSONDOC_STRING);
	assert_string_equal(j.text, "ab\xc3\xa9");
	assert_true(j.shortened);
	assert_int_equal(jsondoc_next(&j, &e), JSONDOC_STRING);
	assert_string_equal(j.text, "abcd");
	assert_false(j.shortened);
	assert_int_equal(jsondoc_next(&j, &e), JSONDOC_NUMBER);
	assert_string_equal(j.text, "12.50e1");
	assert_int_equal(jsondoc_next(&j, &e), JSONDOC_ARRAY_END);
	assert_int_equal(jsondoc_next(&j, &e), JSONDOC_END);
	jsondoc_close(&j);
}

static void test_a_list_may_lack_only_its_end(void **state)
{
	static const struct {
		const char *text;
		bool only_end_missing;
	} rows[] = { { "[{},{}", true },    { "[{},{},", true },   { "[{},{}, \n", true },
		     { "[", true },         { "[{},{", false },    { "[{},{\"a\":[1", false },
		     { "[1,\"tex", false }, { "{\"a\":1", false }, { "[1]x", false },
		     { "[1 2", false },     { "", false },         { "[[1]", true } };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct err e = { "" };
		enum jsondoc_token t;
		struct jsondoc j;

		jsondoc_open_text(&j, rows[i].text, strlen(rows[i].text));
		while ((t = jsondoc_next(&j, &e)) != JSONDOC_END && t != JSONDOC_BAD)
			;
		assert_int_equal(t, JSONDOC_BAD);
		assert_int_equal(jsondoc_only_end_missing(&j), rows[i].only_end_missing);
		jsondoc_close(&j);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_what_is_none),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_every_prefix_is_refused),
		cmocka_unit_test(test_a_file_of_many_blocks),
		cmocka_unit_test(test_skip),
		cmocka_unit_test(test_long_texts_are_cut_where_that_is_asked_for),
		cmocka_unit_test(test_a_list_may_lack_only_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
