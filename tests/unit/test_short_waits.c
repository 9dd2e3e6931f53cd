/* SPDX-License-Identifier: Apache-2.0 */
/* What processes waited for a core that are too short to be looked at twice. */
#include "summary_made.h"

#include "report/summary/parts.h"

#include <string.h>

static bool says(const struct summary *s, const char *rule)
{
	for (uint32_t i = 0; i < s->nverdicts; i++)
		if (strcmp(s->verdicts[i].rule, rule) == 0)
			return true;
	return false;
}

/* Short commands of a build, of which the kernel's counters have hardly any wait, on two cores, of
 * which so many are in use, by others for the most part: three or four of them want a core whenever
 * somebody looks. */
static struct summary story_of_a_build(int64_t in_use)
{
	static const char *const names[] = { "job.cpu_seconds", "job.run_queue_seconds",
					     "node.cpu_user_seconds" };
	static const char *const counts[] = { "node.cpu_used_cores", "job.threads_blocked_count",
					      "job.affinity_cpus_count",
					      "job.threads_running_count" };
	const int64_t each_ms[] = { 1000, 50, 1000 * in_use };
	struct synthetic *x = synthetic_new(1);
	uint32_t counter[3], gauge[4];
	struct summary s;

	meta_int(x, 1, "node.cores_allowed", 2);
	meta_int(x, 1, "node.cores_present", 2);
	for (int i = 0; i < 3; i++) {
		uint32_t m = metric(x, names[i], NULL, KIND_COUNTER, UNIT_SECONDS);

		x->metric[m].row.div = 1000;
		counter[i] = series(x, 1, m, 0);
	}
	for (int i = 0; i < 4; i++)
		gauge[i] = series(x, 1, metric(x, counts[i], NULL, KIND_GAUGE, UNIT_COUNT), 0);
	for (int row = 0; row < ROWS; row++) {
		const int64_t values[] = { in_use, 0, 2, 3 + row % 2 };

		for (int i = 0; i < 3; i++)
			put(x, counter[i], row, row * each_ms[i]);
		for (int i = 0; i < 4; i++)
			put(x, gauge[i], row, values[i]);
	}
	s = made(x);
	free(x);
	return s;
}

/* The bar and the verdict have it of the same place. */
static void test_what_short_processes_waited_is_told(void **state)
{
	struct summary s = story_of_a_build(2);

	(void)state;
	assert_true(summary_grown(&s, "job.run_queue_seconds") < 0.25 * s.cpu_s);
	assert_true(s.account.part_s[ACCOUNT_OTHERS] > 0.3 * s.account.whole_s);
	assert_true(says(&s, "crowded"));
	summary_free(&s);
	/* Where a core is free they sleep. */
	s = story_of_a_build(1);
	assert_true(s.account.part_s[ACCOUNT_OTHERS] < 0.1 * s.account.whole_s);
	assert_false(says(&s, "crowded"));
	summary_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_short_processes_waited_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
