/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts to connect that failed are counted for all of a node: they are a job's that woke about
 * as often, and not of one that slept all the while. */
#include "summary_made.h"

#include <string.h>

static bool tells_attempts(int wakes_a_second)
{
	struct synthetic *x = with_work(1);
	uint32_t id = metric(x, "job.voluntary_switches", NULL, KIND_COUNTER, UNIT_COUNT);
	uint32_t switches = series(x, 1, id, 0);
	struct summary s;
	bool told;

	for (int row = 0; row < ROWS; row++)
		put(x, switches, row, row * wakes_a_second);
	meta_int(x, 0, "run.watch_hang_ns", 300 * NS_PER_S);
	meta_int(x, 1, "job.waited.timer_ns", 8 * NS_PER_S);
	meta_text(x, "job.waited.timer_in", "app (pid 7) sleeps (timer)");
	meta_int(x, 1, "job.waited.connects_failed", 10);
	s = made(x);
	told = strstr(s.story.wait[STALL_TIMER].in, "10 attempts to connect failed") != NULL;
	done(&s, x);
	return told;
}

static void test_attempts_of_others_on_the_node_are_not_the_jobs(void **state)
{
	(void)state;
	assert_true(tells_attempts(1));
	assert_false(tells_attempts(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attempts_of_others_on_the_node_are_not_the_jobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
