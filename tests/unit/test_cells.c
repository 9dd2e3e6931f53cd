/* SPDX-License-Identifier: Apache-2.0 */
/* A screen of cells: what is put in its columns, what is painted, and which keys there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <string.h>

#include "base/text/escape.h"
#include "top/cells.h"

static struct cells screen(unsigned rows, unsigned columns)
{
	struct cells c = { .utf8 = true };

	assert_int_equal(cells_resize(&c, rows, columns), 0);
	return c;
}

static void assert_bytes(struct bytes *b, const char *wanted)
{
	bytes_u8(b, '\0');
	assert_false(b->failed);
	assert_string_equal((const char *)b->data, wanted);
	bytes_free(b);
}

static void assert_lines(const struct cells *c, const char *wanted)
{
	struct bytes b = { 0 };

	cells_lines(c, &b);
	assert_bytes(&b, wanted);
}

static void assert_painted(struct cells *c, const char *wanted)
{
	struct bytes b = { 0 };

	cells_paint(c, &b);
	assert_bytes(&b, wanted);
}

static void characters_have_their_width(void **state)
{
	static const struct {
		uint32_t c;
		unsigned wanted;
	} rows[] = { { 'a', 1 },     { 0xe9, 1 },    { 0x300, 0 },   { 0x36f, 0 },   { 0x370, 1 },
		     { 0x200d, 0 },  { 0x1100, 2 },  { 0x1160, 0 },  { 0x2500, 1 },  { 0x3000, 2 },
		     { 0x3042, 2 },  { 0x4e00, 2 },  { 0xac00, 2 },  { 0xfe0f, 0 },  { 0xff21, 2 },
		     { 0xff61, 1 },  { 0x1f389, 2 }, { 0x20000, 2 }, { 0x3fffd, 1 }, { 0xe0100, 0 },
		     { 0x10ffff, 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (escape_columns(rows[i].c) != rows[i].wanted)
			fail_msg("U+%04X: %u", rows[i].c, escape_columns(rows[i].c));
}

static void text_is_cut_at_its_width(void **state)
{
	struct cells c = screen(3, 10);

	(void)state;
	assert_int_equal(cells_put(&c, 0, 0, 10, 0, "\xe6\x97\xa5\xe6\x9c\xac"), 4);
	assert_int_equal(cells_put(&c, 1, 0, 3, 0, "\xe6\x97\xa5\xe6\x9c\xac"), 2);
	assert_int_equal(cells_put(&c, 2, 8, 10, 0, "abc"), 2);
	cells_put_right(&c, 2, 0, 5, 0, "xy");
	assert_lines(&c, "\xe6\x97\xa5\xe6\x9c\xac\n\xe6\x97\xa5\n   xy   ab\n");
	/* outside */
	assert_int_equal(cells_put(&c, 3, 0, 5, 0, "x"), 0);
	assert_int_equal(cells_put(&c, 0, 10, 5, 0, "x"), 0);
	cells_style(&c, 7, 0, 5, STYLE_BOLD);
	cells_free(&c);
}

static void hostile_text_is_escaped(void **state)
{
	struct cells c = screen(1, 60);

	(void)state;
	cells_put(&c, 0, 0, 60, 0,
		  "\033[2J\n\xff"
		  "e\xcc\x81\xe2\x80\xae\xf3\xa0\x84\x80");
	assert_lines(&c, "\\x1b[2J\\n\\xffe\\u0301\\u202e\\U000e0100\n");
	cells_clear(&c);
	c.utf8 = false;
	cells_put(&c, 0, 0, 60, 0, "gr\xc3\xbc\xc3\x9f \xe6\x97\xa5!");
	assert_lines(&c, "gr?? ?"
			 "?!\n");
	cells_free(&c);
}

static void half_a_character_does_not_stay(void **state)
{
	struct cells c = screen(1, 6);

	(void)state;
	cells_put(&c, 0, 0, 6, 0, "\xe6\x97\xa5\xe6\x9c\xac");
	cells_put(&c, 0, 1, 1, 0, "a");
	assert_lines(&c, " a\xe6\x9c\xac\n");
	cells_put(&c, 0, 2, 1, 0, "b");
	assert_lines(&c, " ab\n");
	cells_free(&c);
}

static void only_what_changed_is_painted(void **state)
{
	struct cells c = screen(3, 20);

	(void)state;
	cells_put(&c, 0, 0, 20, 0, "CPU 12 %");
	cells_put(&c, 2, 0, 20, STYLE_BOLD, "keys");
	assert_painted(&c, "\033[m\033[H\033[J\033[1;1HCPU 12 %\033[3;1H\033[;1mkeys\033[m");
	assert_painted(&c, "");
	cells_put(&c, 0, 4, 20, 0, "19 %");
	assert_painted(&c, "\033[1;6H9");
	cells_put(&c, 0, 0, 20, 0, "cPU 17 %"); /* a short gap is painted anew */
	assert_painted(&c, "\033[1;1HcPU 17");
	cells_clear(&c);
	cells_put(&c, 2, 0, 20, STYLE_BOLD, "keys");
	assert_painted(&c, "\033[1;1H\033[K");
	cells_forget(&c);
	assert_painted(&c, "\033[m\033[H\033[J\033[3;1H\033[;1mkeys\033[m");
	cells_free(&c);
}

/* Terminals differ in how wide they think that such is: the cursor is put where it belongs. */
static void the_cursor_is_placed_behind_what_is_not_ascii(void **state)
{
	struct cells c = screen(1, 20);

	(void)state;
	cells_put(&c, 0, 0, 20, 0,
		  "a\xe6\x97\xa5"
		  "bc");
	assert_painted(&c, "\033[m\033[H\033[J\033[1;1Ha\xe6\x97\xa5\033[1;4Hbc");
	cells_free(&c);
}

static void colour_only_where_it_may_be(void **state)
{
	struct cells c = screen(1, 4);

	(void)state;
	cells_put(&c, 0, 0, 4, STYLE_RED | STYLE_REVERSE, "a");
	assert_painted(&c, "\033[m\033[H\033[J\033[1;1H\033[;7ma\033[m");
	c.colour = true;
	cells_put(&c, 0, 0, 4, STYLE_RED | STYLE_REVERSE, "a");
	assert_painted(&c, "\033[1;1H\033[;7;31ma\033[m");
	cells_free(&c);
}

static void keys_come_in_parts(void **state)
{
	static const struct {
		const char *bytes;
		int wanted[4];
	} rows[] = {
		{ "q", { 'q' } },
		{ "\r", { KEY_ENTER } },
		{ "\x7f", { KEY_BACK } },
		{ "\033[A\033OB", { KEY_UP, KEY_DOWN } },
		{ "\033[1;5C\033[D", { KEY_RIGHT, KEY_LEFT } },
		{ "\033[5~\033[6~\033[H", { KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_HOME } },
		{ "\033[999~\033[1;2;3;4;5;6;7;8;9Ax", { 'x' } },
		{ "\033x\xc3\xa9\001y", { 'y' } },
		{ "\033\033[B", { KEY_DOWN } },
	};
	struct keys k = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		size_t n = 0;

		for (const char *p = rows[i].bytes; *p; p++) {
			int key = keys_take(&k, *p);

			if (key)
				assert_int_equal(key, rows[i].wanted[n++]);
		}
		assert_int_equal(rows[i].wanted[n], 0);
	}
	assert_int_equal(keys_take(&k, '\033'), KEY_NONE);
	assert_true(keys_waits(&k));
	assert_int_equal(keys_wait_over(&k), KEY_ESCAPE);
	assert_false(keys_waits(&k));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(characters_have_their_width),
		cmocka_unit_test(text_is_cut_at_its_width),
		cmocka_unit_test(hostile_text_is_escaped),
		cmocka_unit_test(half_a_character_does_not_stay),
		cmocka_unit_test(only_what_changed_is_painted),
		cmocka_unit_test(the_cursor_is_placed_behind_what_is_not_ascii),
		cmocka_unit_test(colour_only_where_it_may_be),
		cmocka_unit_test(keys_come_in_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
