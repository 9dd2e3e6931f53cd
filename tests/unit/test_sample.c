/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <string.h>

#include "core/sample.h"

static const struct metric rows[EVENT_SET_MAX] = { { .name = "a.b" } };

static void test_a_new_reading_has_nothing_in_it(void **state)
{
	struct sample s;
	uint32_t slot;

	(void)state;
	assert_int_equal(sample_init(&s, 64, 8), 0);
	slot = sample_series(&s, rows, 3, 0);
	sample_put(&s, slot, 7);
	sample_put(&s, 0, 9);
	assert_int_equal(s.state[slot], STATE_PRESENT);
	assert_int_equal(s.value[slot], 7);
	assert_int_equal(s.state[slot + 1], STATE_ABSENT);
	assert_int_equal(s.state[0], STATE_ABSENT);
	sample_begin(&s, 2, 1);
	assert_int_equal(s.state[slot], STATE_ABSENT);
	assert_int_equal(s.nevents, 1);
	sample_free(&s);
}

static void test_what_is_held_stands_as_before(void **state)
{
	struct sample s;
	uint32_t slot, other;

	(void)state;
	assert_int_equal(sample_init(&s, 64, 8), 0);
	slot = sample_series(&s, rows, 3, 1);
	other = sample_series(&s, rows, 3, 2);
	sample_put(&s, slot, 7);
	sample_put(&s, slot + 2, 8);
	sample_put(&s, other, 9);
	for (int again = 0; again < 3; again++) {
		sample_begin(&s, 2, 1);
		sample_hold(&s, slot, 3);
		sample_hold(&s, 0, 3);
		assert_int_equal(s.state[slot], STATE_PRESENT);
		assert_int_equal(s.value[slot], 7);
		assert_int_equal(s.state[slot + 1], STATE_ABSENT);
		assert_int_equal(s.state[slot + 2], STATE_PRESENT);
		assert_int_equal(s.state[other], STATE_ABSENT);
		assert_int_equal(s.state[0], STATE_ABSENT);
	}
	sample_free(&s);
}

static void test_slots_are_reused_and_series_ids_never(void **state)
{
	struct sample s;
	uint32_t a, b, c;

	(void)state;
	assert_int_equal(sample_init(&s, 64, 64), 0);
	a = sample_series(&s, rows, 3, 1);
	b = sample_series(&s, rows, 3, 2);
	sample_put(&s, a, 5);
	sample_series_end(&s, a, 3);
	assert_int_equal(s.state[a], STATE_ABSENT);
	assert_int_equal(s.slot[a].series, 0);
	c = sample_series(&s, rows, 3, 3);
	assert_int_equal(c, a);
	assert_int_equal(s.slot[c].series, 7);
	assert_int_equal(s.slot[c + 2].series, 9);
	assert_int_equal(s.slot[c].instance, 3);
	assert_ptr_equal(s.slot[c + 2].metric, &rows[2]);
	assert_true(b != c);
	assert_int_equal(s.event[2].kind, EVENT_SERIES_END);
	assert_int_equal(s.event[2].id, 1);
	assert_int_equal(s.event[2].count, 3);
	sample_free(&s);
}

static void test_what_does_not_fit_is_refused_and_counted(void **state)
{
	struct sample s;
	uint32_t slot;

	(void)state;
	assert_int_equal(sample_init(&s, 8, 3), 0);
	slot = sample_series(&s, rows, 7, 0);
	assert_true(slot != 0);
	assert_int_equal(sample_series(&s, rows, 1, 0), 0);
	assert_int_equal(s.refused, 1);
	assert_int_equal(s.nevents, 1);
	assert_true(sample_instance(&s, "d", "n", 0, 0, 0) == 1);
	sample_label(&s, 1, "k", "v");
	assert_int_equal(sample_instance(&s, "d", "n", 0, 0, 0), 0);
	assert_int_equal(s.refused, 2);
	/* An end that nobody would hear of does not free the slots. */
	sample_series_end(&s, slot, 7);
	assert_int_equal(s.slot[slot].series, 1);
	sample_clear_events(&s);
	sample_series_end(&s, slot, 7);
	assert_int_equal(s.slot[slot].series, 0);
	assert_int_equal(sample_series(&s, rows, 7, 0), slot);
	sample_free(&s);
}

static void test_sizes_beyond_a_set_are_refused(void **state)
{
	struct sample s;
	int64_t values[1] = { 0 };

	(void)state;
	assert_int_equal(sample_init(&s, 256, 8), 0);
	assert_int_equal(sample_series(&s, rows, EVENT_SET_MAX + 1, 0), 0);
	assert_int_equal(sample_series(&s, rows, 0, 0), 0);
	sample_final(&s, 1, rows, EVENT_SET_MAX + 1, values, 1);
	sample_series_end(&s, 200, 3);
	sample_series_end(&s, 0, 1);
	sample_refuse(&s, 200, STATE_FAILED, "x");
	sample_end(&s, 0, 1);
	sample_label(&s, 0, "k", "v");
	assert_int_equal(s.nevents, 0);
	sample_free(&s);
}

static void test_texts_are_copied_and_the_long_ones_cut(void **state)
{
	static char longest[40000];
	struct sample s;
	char name[8] = "name";

	(void)state;
	assert_int_equal(sample_init(&s, 8, 64), 0);
	memset(longest, 'x', sizeof longest - 1);
	sample_instance(&s, "domain", name, 0, 5, 0);
	name[0] = 'X';
	sample_meta_text(&s, "key", longest);
	sample_meta_text(&s, "none", NULL);
	assert_string_equal(s.event[0].name, "name");
	assert_string_equal(s.event[0].domain, "domain");
	assert_int_equal(strlen(s.event[1].text), 16384);
	assert_string_equal(s.event[2].text, "");
	for (int i = 0; i < 60 && !s.refused; i++)
		sample_meta_text(&s, "key", longest);
	assert_true(s.refused > 0); /* the pool is full before the events are */
	sample_free(&s);
}

static void test_final_values_are_copied(void **state)
{
	struct sample s;
	int64_t values[3] = { 1, INT64_MIN, 3 };

	(void)state;
	assert_int_equal(sample_init(&s, 8, 8), 0);
	sample_label(&s, 1, "odd", "x");
	sample_final(&s, 1, rows, 3, values, 5);
	values[1] = 0;
	assert_int_equal(s.event[1].values[1], INT64_MIN);
	assert_int_equal(s.event[1].mask, 5);
	assert_int_equal((uintptr_t)s.event[1].values % sizeof(int64_t), 0);
	sample_free(&s);
}

static void test_a_refused_series_is_absent_until_it_is_put_again(void **state)
{
	struct sample s;
	uint32_t slot;

	(void)state;
	assert_int_equal(sample_init(&s, 8, 8), 0);
	slot = sample_series(&s, rows, 1, 0);
	sample_begin(&s, 10, 20);
	sample_put(&s, slot, 1);
	sample_refuse(&s, slot, STATE_FORBIDDEN, "no");
	assert_int_equal(s.state[slot], STATE_ABSENT);
	assert_int_equal(s.event[1].state, STATE_FORBIDDEN);
	assert_int_equal(s.event[1].id, 1);
	assert_int_equal(s.event[1].t0, 20);
	assert_string_equal(s.event[1].text, "no");
	sample_put(&s, slot, 2);
	assert_int_equal(s.state[slot], STATE_PRESENT);
	sample_free(&s);
}

static void test_a_catalogue_is_taken_back(void **state)
{
	static const struct metric other[2] = { { .name = "c.d" } };
	struct sample s;

	(void)state;
	assert_int_equal(sample_init(&s, 64, 8), 0);
	sample_catalogue(&s, rows, 3);
	sample_meta_bool(&s, "before", true);
	sample_catalogue(&s, other, 2);
	sample_meta_bool(&s, "behind", true);
	sample_catalogue_drop(&s, other);
	sample_catalogue_drop(&s, other);
	assert_int_equal(s.nevents, 3);
	assert_ptr_equal(s.event[0].metric, rows);
	assert_string_equal(s.event[1].name, "before");
	assert_string_equal(s.event[2].name, "behind");
	sample_free(&s);
}

static void test_stacks_are_copied_and_wait_for_room(void **state)
{
	static struct event_item items[EVENT_ITEMS_MAX + 1] = { { 1, 2, 3 } };
	const struct samples_head head = { 7, SAMPLE_FAULTS, "app", 4096, 5, 6 };
	const struct frame_row row = { .id = 4,
				       .module = 3,
				       .outer = 2,
				       .line = 9,
				       .flags = FRAME_CUT,
				       .address = UINT64_MAX,
				       .function = "f",
				       .file = NULL };
	struct sample s;
	uint32_t n = 0;

	(void)state;
	assert_int_equal(sample_init(&s, 8, 64), 0);
	assert_true(sample_module(&s, 3, "/bin/app", "ab"));
	assert_true(sample_frame(&s, &row));
	assert_true(sample_stacks(&s, 11, items, 2));
	assert_true(sample_samples(&s, &head, items, 1));
	items[0].task = 0;
	assert_string_equal(s.event[0].text, "ab");
	assert_int_equal(s.event[1].value, -1);
	assert_int_equal(s.event[1].mask, 2);
	assert_int_equal(s.event[1].count, 9);
	assert_string_equal(s.event[1].text, "");
	assert_int_equal(s.event[2].id, 11);
	assert_int_equal(s.event[2].count, 2);
	assert_int_equal(s.event[2].items[0].task, 1);
	assert_int_equal(s.event[3].items[0].weight, 3);
	assert_int_equal(s.event[3].parent, 7);
	assert_int_equal(s.event[3].flags, SAMPLE_FAULTS);
	assert_false(sample_stacks(&s, 1, items, EVENT_ITEMS_MAX + 1));
	items[0].task = 1;
	while (n < 64 && sample_samples(&s, &head, items, EVENT_ITEMS_MAX))
		n++;
	assert_in_range(n, 1, 63); /* the pool is full before the events are */
	assert_int_equal(s.nevents, 4 + n);
	assert_int_equal(s.refused, 0);
	sample_free(&s);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_a_new_reading_has_nothing_in_it),
	cmocka_unit_test(test_what_is_held_stands_as_before),
	cmocka_unit_test(test_slots_are_reused_and_series_ids_never),
	cmocka_unit_test(test_what_does_not_fit_is_refused_and_counted),
	cmocka_unit_test(test_sizes_beyond_a_set_are_refused),
	cmocka_unit_test(test_texts_are_copied_and_the_long_ones_cut),
	cmocka_unit_test(test_final_values_are_copied),
	cmocka_unit_test(test_a_refused_series_is_absent_until_it_is_put_again),
	cmocka_unit_test(test_a_catalogue_is_taken_back),
	cmocka_unit_test(test_stacks_are_copied_and_wait_for_room),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
