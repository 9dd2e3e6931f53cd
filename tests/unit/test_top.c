/* SPDX-License-Identifier: Apache-2.0 */
/* The table of processes as a tree and with a search, keys as other monitors have them, and what a
 * process waits for. */
#include "live/request.h"
#include "top/cells.h"
#include "top/grid.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct column columns[] = {
	{ 'C', COLUMN_FIGURE, NOW_CPU, 6, 0, "CORES", "" },
	{ 0, COLUMN_WAIT, 0, 8, 1, "WAITS FOR", "" },
	{ 'N', COLUMN_NAME, 0, 8, 0, "COMMAND", "" },
};

static double figure[8][NOW_FIGURE_NUMBER_OF];

static void add(struct grid *t, uint32_t id, uint32_t parent, const char *name, double cores)
{
	const struct row r = { .id = id, .parent = parent, .name = name, .figure = figure[id] };

	figure[id][NOW_CPU] = cores;
	assert_true(grid_add(t, &r));
}

static void order_is(const struct grid *t, const char *want)
{
	char text[200] = "";

	for (uint32_t i = 0; i < t->n; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d%s", i ? " " : "",
			 t->row[i].depth, t->row[i].name);
	assert_string_equal(text, want);
}

static void fill(struct grid *t)
{
	grid_begin(t);
	add(t, 1, 0, "sh", 0);
	add(t, 2, 1, "make", 0.1);
	add(t, 3, 2, "cc1", 1);
	add(t, 4, 2, "ld", 2);
	add(t, 5, 99, "stray", 0.5); /* its parent is not there */
	add(t, 6, 7, "loop", 0.2);   /* each other's parents */
	add(t, 7, 6, "pool", 0.3);
	grid_end(t);
}

static void children_stand_behind_their_parent(void **state)
{
	struct grid t = { .column = columns, .ncolumns = 3 };

	(void)state;
	fill(&t);
	order_is(&t, "0ld 0cc1 0stray 0pool 0loop 0make 0sh");
	t.tree = true;
	fill(&t);
	order_is(&t, "0stray 0loop 1pool 0sh 1make 2ld 2cc1");
	grid_begin(&t);
	grid_end(&t);
	assert_int_equal(t.n, 0);
	grid_free(&t);
}

static void a_search_goes_round(void **state)
{
	struct grid t = { .column = columns, .ncolumns = 3, .sort = 2 };

	(void)state;
	fill(&t); /* cc1 ld loop make pool sh stray */
	grid_find(&t, "oo", true);
	assert_string_equal(grid_chosen(&t)->name, "loop");
	grid_find(&t, "OO", true);
	assert_string_equal(grid_chosen(&t)->name, "loop");
	grid_find(&t, "oo", false);
	assert_string_equal(grid_chosen(&t)->name, "pool");
	grid_find(&t, "oo", false);
	assert_string_equal(grid_chosen(&t)->name, "loop");
	t.row[0].line = "cc1 -quiet main.c";
	grid_find(&t, "main.c", false);
	assert_string_equal(grid_chosen(&t)->name, "cc1");
	grid_find(&t, "nothing", false);
	grid_find(&t, "", false);
	assert_string_equal(grid_chosen(&t)->name, "cc1");
	grid_begin(&t);
	grid_end(&t);
	grid_find(&t, "cc1", true);
	grid_free(&t);
}

static void sorting_steps_over_what_cannot_be_sorted_by(void **state)
{
	struct grid t = { .column = columns, .ncolumns = 3 };

	(void)state;
	fill(&t);
	assert_true(grid_key(&t, '>', false));
	assert_int_equal(t.sort, 2);
	assert_true(grid_key(&t, '<', false));
	assert_int_equal(t.sort, 0);
	grid_free(&t);
}

static int key_of(const char *sent)
{
	struct keys k = { 0 };
	int key = KEY_NONE;

	for (; *sent; sent++)
		key = keys_take(&k, *sent);
	return key;
}

static void function_keys(void **state)
{
	(void)state;
	assert_int_equal(key_of("\033OP"), KEY_F1);
	assert_int_equal(key_of("\033[11~"), KEY_F1);
	assert_int_equal(key_of("\033OR"), KEY_F3);
	assert_int_equal(key_of("\033[15~"), KEY_F5);
	assert_int_equal(key_of("\033[17~"), KEY_F6);
	assert_int_equal(key_of("\033[21~"), KEY_F10);
	assert_int_equal(key_of("\033[A"), KEY_UP);
}

static void waits(char state, const char *function, const char *want)
{
	char text[WAIT_TEXT];

	assert_string_equal(wait_words_of(text, sizeof text, state, function), want);
}

static void what_a_process_waits_for(void **state)
{
	char text[WAIT_TEXT];

	(void)state;
	waits('R', "0", "runs");
	waits('S', "futex_wait_queue", "a lock or thread");
	waits('S', "do_wait", "a child");
	waits('S', "anon_pipe_read", "a pipe");
	waits('S', "hrtimer_nanosleep", "a timer");
	waits('S', "inet_csk_accept", "a connection");
	waits('D', "folio_wait_bit_common", "storage");
	waits('D', "rpc_wait_bit_killable", "a file server");
	waits('S', "some_new_function_with_a_name_that_is_much_too_long",
	      "some_new_function_with_a_name_that_is_m");
	waits('S', "0", "sleeps");
	waits('S', NULL, "sleeps");
	waits('T', "", "stopped");
	waits('?', "", "-");
	assert_string_equal(wait_words(text, sizeof text, 0), "-");
	assert_string_equal(wait_words(text, sizeof text, INT64_MAX), "-");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_stand_behind_their_parent),
		cmocka_unit_test(a_search_goes_round),
		cmocka_unit_test(sorting_steps_over_what_cannot_be_sorted_by),
		cmocka_unit_test(function_keys),
		cmocka_unit_test(what_a_process_waits_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
