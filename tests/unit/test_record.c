/* SPDX-License-Identifier: Apache-2.0 */
/* Records that no recorder writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "recording/record.h"

/* What a later Sonde writes into a bit that has no field yet ends what can be read of a record. */
static void test_fields_that_are_not_known_are_ignored(void **state)
{
	/* The id; bit 23, then bit 24 (items); and bit 25 alone. */
	static const uint8_t data[] = { 9, EVENT_STACKS, 0x82, 0x80, 0x80, 0x0c, 7, 9, 9, 9,
					7, EVENT_MARK,   0x80, 0x80, 0x80, 0x10, 3, 2 };
	struct pool pool = { 0 };
	struct record r;
	struct scan in = { .at = data, .end = data + sizeof data };

	(void)state;
	assert_int_equal(record_get(&in, &r, &pool), 1);
	assert_int_equal(r.event.id, 7);
	assert_null(r.event.items);
	assert_int_equal(record_get(&in, &r, &pool), 1);
	assert_int_equal(r.event.kind, EVENT_MARK);
	assert_int_equal(record_get(&in, &r, &pool), 0);
	pool_free(&pool);
}

/* Ids beyond 32 bits, and more items than a set may have. */
static void test_items_that_lie_are_refused(void **state)
{
	static const uint8_t below[] = { 9, EVENT_SAMPLES, 0x88, 0x80, 0x80, 0x08, 1, 1, 0, 1 };
	struct event_item items[1] = { { 1, 1, 1 } };
	struct event many = { .kind = EVENT_STACKS, .node = 1, .count = EVENT_ITEMS_MAX + 1 };
	struct event last = {
		.kind = EVENT_STACKS, .node = 1, .id = UINT32_MAX, .count = 1, .items = items
	};
	struct bytes out = { 0 };
	struct pool pool = { 0 };
	struct record r;
	struct scan in = { .at = below, .end = below + sizeof below };

	(void)state;
	assert_int_equal(record_get(&in, &r, &pool), -EBADMSG);
	record_put(&out, &many, 0);
	in = (struct scan){ .at = out.data, .end = out.data + out.len };
	assert_int_equal(record_get(&in, &r, &pool), -EBADMSG);
	bytes_reset(&out);
	record_put(&out, &last, 0);
	in = (struct scan){ .at = out.data, .end = out.data + out.len };
	assert_int_equal(record_get(&in, &r, &pool), -EBADMSG);
	bytes_free(&out);
	pool_free(&pool);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_fields_that_are_not_known_are_ignored),
	cmocka_unit_test(test_items_that_lie_are_refused),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
