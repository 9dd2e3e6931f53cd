/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/escape.h"

#define FFFD "\xef\xbf\xbd"

struct row {
	const char *text, *wanted;
};

static void assert_escaped(void (*escape)(struct bytes *, const char *), const struct row *rows,
			   size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct bytes b = { 0 };

		escape(&b, rows[i].text);
		bytes_u8(&b, '\0');
		assert_false(b.failed);
		assert_string_equal(b.data, rows[i].wanted);
		bytes_free(&b);
	}
}

#define ASSERT_ESCAPED(escape, rows) assert_escaped(escape, rows, sizeof(rows) / sizeof(rows)[0])

static void a_terminal_gets_no_control_character(void **state)
{
	static const struct row rows[] = {
		{ "", "" },
		{ "plain \\ text", "plain \\ text" },
		{ "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8e\x88",
		  "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8e\x88" },
		{ "\x1b[31mred\x07", "\\x1b[31mred\\x07" },
		{ "a\nb\tc\rd\x7f", "a\\nb\\tc\\rd\\x7f" },
		{ "\xc2\x9b"
		  "31m",
		  "\\u009b31m" }, /* C1 in UTF-8 */
		{ "\x9b"
		  "31m",
		  "\\x9b31m" }, /* C1 as one byte */
		{ "\xe2\x80\xae"
		  "gpj.exe",
		  "\\u202egpj.exe" }, /* right-to-left override */
		{ "\xe2\x81\xa6\xe2\x81\xa9\xd8\x9c\xe2\x80\x8f", "\\u2066\\u2069\\u061c\\u200f" },
		{ "\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029" },
		{ "\xc0\xaf", "\\xc0\\xaf" },                   /* overlong */
		{ "\xe0\x80\xaf", "\\xe0\\x80\\xaf" },          /* overlong */
		{ "\xf0\x80\x80\xaf", "\\xf0\\x80\\x80\\xaf" }, /* overlong */
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },          /* surrogate */
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" }, /* beyond U+10FFFF */
		{ "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf" },
		{ "\xee\x80\x80", "\xee\x80\x80" },
		{ "\xe2\x82", "\\xe2\\x82" }, /* cut short */
		{ "\xe2\x82x", "\\xe2\\x82x" },
		{ "\xff\xfe\x80", "\\xff\\xfe\\x80" },
	};

	(void)state;
	ASSERT_ESCAPED(escape_terminal, rows);
}

static void a_cut_never_splits_a_character(void **state)
{
	static const struct {
		const char *text;
		size_t size;
		const char *wanted;
	} rows[] = {
		{ "abcdef", 7, "abcdef" },
		{ "abcdef", 6, "ab..." },
		{ "abcdef", 4, "..." },
		{ "abcdef", 3, ".." },
		{ "abcdef", 1, "" },
		{ "a\x1b"
		  "b",
		  7, "a\\x1bb" },
		{ "a\x1b"
		  "bcd",
		  7, "a..." },
		{ "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", 9, "\xe2\x82\xac..." },
		{ "\xe2\x82\xac\xe2\x82\xac", 7, "\xe2\x82\xac\xe2\x82\xac" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char *out = malloc(rows[i].size);

		assert_non_null(out);
		assert_string_equal(escape_terminal_into(out, rows[i].size, rows[i].text),
				    rows[i].wanted);
		free(out);
	}
	assert_null(escape_terminal_into(NULL, 0, "x"));
}

static void json_is_safe_inside_a_script(void **state)
{
	static const struct row rows[] = {
		{ "</script><!--&", "\\u003c/script\\u003e\\u003c!--\\u0026" },
		{ "\"\\\b\f\n\r\t\x01\x7f", "\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u007f" },
		{ "\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029" },
		{ "a\xff"
		  "b\xed\xa0\x80",
		  "a" FFFD "b" FFFD FFFD FFFD },
		{ "\xf0\x9f\x8e\x88", "\xf0\x9f\x8e\x88" },
		{ "\xc2\x85\xe2\x80\xae", "\\u0085\\u202e" },
	};

	(void)state;
	ASSERT_ESCAPED(escape_json, rows);
}

static void json_means_the_text_it_was_made_from(void **state)
{
	static const char text[] =
		"</script>\"\\\n\x01\x7f\xc2\x85\xe2\x80\xae\xe2\x80\xa8 \xf0\x9f\x8e\x88 '=+-@";
	struct bytes b = { 0 };
	json_t *value;

	(void)state;
	bytes_u8(&b, '"');
	escape_json(&b, text);
	bytes_u8(&b, '"');
	value = json_loadb((const char *)b.data, b.len, JSON_DECODE_ANY, NULL);
	assert_string_equal(json_string_value(value), text);
	json_decref(value);
	bytes_free(&b);
}

static void html_gets_no_tag_and_no_attribute_end(void **state)
{
	static const struct row rows[] = {
		{ "<script>alert('x')</script>",
		  "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;" },
		{ "\" onload=\"x & y", "&quot; onload=&quot;x &amp; y" },
		{ "a\tb\nc\x1b\xc2\x9b\xe2\x80\xae", "a\tb\nc" FFFD FFFD FFFD },
		{ "\xc0\xbc"
		  "script>",
		  FFFD FFFD "script&gt;" }, /* an overlong < */
		{ "\xe2\x82\xac", "\xe2\x82\xac" },
	};

	(void)state;
	ASSERT_ESCAPED(escape_html, rows);
}

static void markdown_gets_no_mark(void **state)
{
	static const struct row rows[] = {
		{ "wall_seconds > 5 %, node-1.x", "wall_seconds &gt; 5 %, node-1.x" },
		{ "[a](http://b) | `c` *d* _e_", "&#91;a&#93;(http&#58;//b) &#124; &#96;c&#96; "
						 "&#42;d&#42; &#95;e&#95;" },
		{ "@all #1 www.x $y$ ~~z~~ \\",
		  "&#64;all &#35;1 www&#46;x &#36;y&#36; &#126;&#126;z&#126;&#126; &#92;" },
		{ "a\nb\xff", "a" FFFD "b" FFFD },
	};

	(void)state;
	ASSERT_ESCAPED(escape_markdown, rows);
}

static void csv_is_quoted_and_no_formula(void **state)
{
	static const struct row rows[] = {
		{ "", "" },
		{ "plain", "plain" },
		{ "a,b", "\"a,b\"" },
		{ "a\"b", "\"a\"\"b\"" },
		{ "a\r\nb", "\"a\r\nb\"" },
		{ "=1+1", "'=1+1" },
		{ "+1", "'+1" },
		{ "-1", "'-1" },
		{ "@SUM(A1)", "'@SUM(A1)" },
		{ "\t=1", "'\t=1" },
		{ "\r=1", "\"'\r=1\"" },
		{ "\n=1", "\"'\n=1\"" },
		{ "=cmd|' /C calc'!A0,\"x", "\"'=cmd|' /C calc'!A0,\"\"x\"" },
		{ "\xef\xbc\x9d"
		  "1",
		  "'\xef\xbc\x9d"
		  "1" }, /* full-width = */
		{ "a=b", "a=b" },
		{ "a b ~", "a b ~" },
		{ "\xc3\xbc,\"", "\"\xc3\xbc,\"\"\"" },
		{ "-a\"b", "\"'-a\"\"b\"" },
		{ "a\x1b\x01\xc2\x9b\xff", "a" FFFD FFFD FFFD FFFD },
	};

	(void)state;
	ASSERT_ESCAPED(escape_csv, rows);
}

static void shell_words_are_one_word(void **state)
{
	static const struct row rows[] = {
		{ "", "''" },
		{ "./app-1.2_x", "./app-1.2_x" },
		{ "a b", "'a b'" },
		{ "it's", "'it'\\''s'" },
		{ "$(rm -rf /)`x`\n;&|", "'$(rm -rf /)`x`\n;&|'" },
		{ "A=b", "'A=b'" }, /* else an assignment */
		{ "~", "'~'" },
		{ "\xff", "'\xff'" },
	};

	(void)state;
	ASSERT_ESCAPED(escape_shell, rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_terminal_gets_no_control_character),
		cmocka_unit_test(a_cut_never_splits_a_character),
		cmocka_unit_test(json_is_safe_inside_a_script),
		cmocka_unit_test(json_means_the_text_it_was_made_from),
		cmocka_unit_test(html_gets_no_tag_and_no_attribute_end),
		cmocka_unit_test(markdown_gets_no_mark),
		cmocka_unit_test(csv_is_quoted_and_no_formula),
		cmocka_unit_test(shell_words_are_one_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
