/* SPDX-License-Identifier: Apache-2.0 */
/* Counters that go round: what is counted is exact, and what cannot be known is said. */
#include "source/energy.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 100 * 1000000 };
static const int64_t RANGE = INT64_C(4294967295) * 15;

/* The counter's own step is not known to the reader, and so is missing from each round. */
static void a_thousand_rounds_lose_a_thousand_steps(void **unused)
{
	struct wrap w = { .range = RANGE, .most_per_s = MOST };
	uint64_t truth = 0;
	int64_t now_ns = 0, rounds = 0;

	(void)unused;
	srandom(1);
	assert_int_equal(wrap_step(&w, 0, now_ns), WRAP_BEGUN);
	while (rounds < 1000) {
		uint64_t before = truth;

		truth += (uint64_t)random() % ((uint64_t)MOST * 60);
		rounds += truth / ((uint64_t)RANGE + 15) != before / ((uint64_t)RANGE + 15);
		now_ns += 60 * NS_PER_S;
		assert_int_equal(wrap_step(&w, (int64_t)(truth % ((uint64_t)RANGE + 15)), now_ns),
				 WRAP_GREW);
		assert_int_equal((uint64_t)w.total + 15 * (uint64_t)rounds, truth);
	}
}

static void too_long_a_time_is_a_break(void **unused)
{
	struct wrap w = { .range = RANGE, .most_per_s = MOST };
	int64_t longest_ns = RANGE / MOST * NS_PER_S - NS_PER_S;

	(void)unused;
	assert_false(wrap_is_lost(&w, longest_ns));
	assert_true(wrap_is_lost(&w, longest_ns + NS_PER_S));
	wrap_step(&w, 5, 0);
	assert_int_equal(wrap_step(&w, 7, longest_ns), WRAP_GREW);
	assert_int_equal(w.total, 7);
	assert_int_equal(wrap_step(&w, 9, 2 * longest_ns + NS_PER_S), WRAP_BREAK);
	assert_int_equal(wrap_step(&w, 10, 2 * longest_ns + 2 * NS_PER_S), WRAP_GREW);
	assert_int_equal(w.total, 10);
}

/* From near its end to near 0 is a round; from anywhere else to 0 it was set back. */
static void what_was_set_back_did_not_go_round(void **unused)
{
	struct wrap w = { .range = RANGE, .most_per_s = MOST };

	(void)unused;
	wrap_step(&w, RANGE - 10, 0);
	assert_int_equal(wrap_step(&w, 20, NS_PER_S), WRAP_GREW);
	assert_int_equal(w.total, RANGE + 20);
	assert_int_equal(wrap_step(&w, RANGE / 2, 2 * NS_PER_S), WRAP_BREAK);
	assert_int_equal(wrap_step(&w, 3, 3 * NS_PER_S), WRAP_BREAK);
	assert_int_equal(w.total, 3);
}

static void a_wide_counter_never_goes_round(void **unused)
{
	struct wrap w = { .most_per_s = MOST };

	(void)unused;
	wrap_step(&w, 100, 0);
	assert_false(wrap_is_lost(&w, INT64_MAX / 2));
	assert_int_equal(wrap_step(&w, 200, 3600 * NS_PER_S), WRAP_GREW);
	assert_int_equal(wrap_step(&w, 50, 3601 * NS_PER_S), WRAP_BREAK);
	assert_int_equal(wrap_step(&w, 60, 3600 * NS_PER_S), WRAP_BREAK);
	assert_int_equal(w.total, 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thousand_rounds_lose_a_thousand_steps),
		cmocka_unit_test(too_long_a_time_is_a_break),
		cmocka_unit_test(what_was_set_back_did_not_go_round),
		cmocka_unit_test(a_wide_counter_never_goes_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
