/* SPDX-License-Identifier: Apache-2.0 */
/* Which of several hosts makes the others wait. */
#include "summary_made.h"

/* Three hosts, the last of which has a slow clock and used so much CPU time. */
static struct summary slow_clock(int64_t cpu_seconds)
{
	struct synthetic *x = synthetic_new(3);
	uint32_t clock = metric(x, "cpu.frequency_hertz", "cpu", KIND_GAUGE, UNIT_HERTZ);
	struct summary s;

	for (uint32_t node = 1; node <= 3; node++) {
		uint32_t id = series(x, node, clock, instance(x, node, "cpu", "0", false));

		meta_int(x, node, "job.cpu_ns", (node == 3 ? cpu_seconds : 100) * NS_PER_S);
		for (int row = 0; row < ROWS; row++)
			put(x, id, row, node == 3 ? 1200000000 : 2600000000);
	}
	s = made(x);
	free(x);
	return s;
}

static void test_a_host_that_works_at_a_low_clock_is_a_straggler(void **state)
{
	struct summary s = slow_clock(90);

	(void)state;
	assert_string_equal(s.story.straggler_host, "n3");
	assert_string_equal(s.story.straggler_cause, "clock 1.2 GHz, the others 2.6 GHz");
	summary_free(&s);
}

static void test_a_host_that_hardly_works_has_a_low_clock_for_that(void **state)
{
	struct summary s = slow_clock(40);

	(void)state;
	assert_string_equal(s.story.straggler_host, "");
	summary_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_host_that_works_at_a_low_clock_is_a_straggler),
		cmocka_unit_test(test_a_host_that_hardly_works_has_a_low_clock_for_that),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
