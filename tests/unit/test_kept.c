/* SPDX-License-Identifier: Apache-2.0 */
/* A kept file: its buffer has room for what it had and for some more, whatever its size. */
#include "source/kept.h"
#include "unit/tree.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static char text[1 << 18], more[1 << 18];

/* n bytes of whole lines. */
static void put_lines(char *out, size_t n, char letter)
{
	for (size_t i = 0; i < n; i++)
		out[i] = i % 50 == 49 || i + 1 == n ? '\n' : letter;
	out[n] = '\0';
}

static void open_kept(struct kept *k, const char *content, size_t room)
{
	struct root root;
	struct err e;

	tree_put("kept", "file", "%s", content);
	assert_int_equal(root_open(&root, "kept"), 0);
	assert_int_equal(kept_open(k, &root, "file", room, &e), 0);
	root_close(&root);
}

/* Around the places where the first buffer, and those that double, are full. */
static void it_has_all_whatever_its_size(void **state)
{
	static const size_t sizes[] = { 1,     100,   4095,  4096,  16382, 16383,
					16384, 16385, 32766, 32767, 32768, 200000 };

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct kept k;

		put_lines(text, sizes[i], 'a');
		open_kept(&k, text, 0);
		assert_int_equal(k.len, sizes[i]);
		assert_string_equal(k.text, text);
		assert_false(k.cut);
		assert_int_equal(kept_read(&k), 0);
		assert_int_equal(kept_read_same(&k), 1);
		assert_string_equal(k.text, text);
		kept_close(&k);
	}
}

static void what_is_added_within_the_room_is_read(void **state)
{
	static const size_t sizes[] = { 100, 16000, 16384, 40000 };
	enum { ROOM = 30000 };

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct kept k;

		put_lines(text, sizes[i], 'a');
		put_lines(more, sizes[i] + ROOM, 'b');
		open_kept(&k, text, ROOM);
		assert_int_equal(kept_read_same(&k), 0); /* the text of the opening */
		tree_put("kept", "file", "%s", more);
		assert_int_equal(kept_read_same(&k), 0);
		assert_string_equal(k.text, more);
		assert_false(k.cut);
		assert_int_equal(kept_read_same(&k), 1);
		tree_put("kept", "file", "%s", text);
		assert_int_equal(kept_read_same(&k), 0);
		assert_string_equal(k.text, text);
		kept_close(&k);
	}
}

/* Numbers that get more digits, without room that anybody asked for. */
static void a_small_file_may_grow_by_half(void **state)
{
	struct kept k;

	(void)state;
	put_lines(text, 8000, 'a');
	put_lines(more, 12000, 'b');
	open_kept(&k, text, 0);
	kept_read(&k);
	tree_put("kept", "file", "%s", more);
	assert_int_equal(kept_read(&k), 0);
	assert_string_equal(k.text, more);
	assert_false(k.cut);
	kept_close(&k);
}

static void what_outgrows_it_is_cut_at_a_line(void **state)
{
	struct kept k;

	(void)state;
	put_lines(text, 100, 'a');
	put_lines(more, 100000, 'b');
	open_kept(&k, text, 0);
	kept_read(&k);
	tree_put("kept", "file", "%s", more);
	assert_int_equal(kept_read(&k), 0);
	assert_true(k.cut);
	assert_int_equal(k.text[k.len - 1], '\n');
	assert_memory_equal(k.text, more, k.len);
	kept_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_has_all_whatever_its_size),
		cmocka_unit_test(what_is_added_within_the_room_is_read),
		cmocka_unit_test(a_small_file_may_grow_by_half),
		cmocka_unit_test(what_outgrows_it_is_cut_at_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
