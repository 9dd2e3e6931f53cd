/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of threads that were hardly ever looked at, or never twice. */
#include "summary_made.h"

#include <math.h>
#include <string.h>

static bool says(const struct summary *s, const char *rule)
{
	for (uint32_t i = 0; i < s->nverdicts; i++)
		if (strcmp(s->verdicts[i].rule, rule) == 0)
			return true;
	return false;
}

/* So many threads that they were looked at before they ran and after it, and never between: what is
 * ready to run on the node tells, less what others have. */
/* 201 threads on two cores, which nobody looks at while they work. */
static struct summary unseen_threads(bool ready_is_known)
{
	struct synthetic *x = synthetic_new(1);
	uint32_t cpu = metric(x, "job.cpu_seconds", NULL, KIND_COUNTER, UNIT_SECONDS);
	uint32_t queue = metric(x, "job.run_queue_seconds", NULL, KIND_COUNTER, UNIT_SECONDS);
	uint32_t running = metric(x, "job.threads_running_count", NULL, KIND_GAUGE, UNIT_COUNT);
	uint32_t count = metric(x, "job.threads_count", NULL, KIND_GAUGE, UNIT_COUNT);
	uint32_t ready = metric(x, "node.procs_running", NULL, KIND_GAUGE, UNIT_COUNT);
	uint32_t cpu_series = series(x, 1, cpu, 0), queue_series = series(x, 1, queue, 0);
	uint32_t running_series = series(x, 1, running, 0), count_series = series(x, 1, count, 0);
	uint32_t ready_series = series(x, 1, ready, 0);
	struct summary s;

	meta_int(x, 1, "node.cores_allowed", 2);
	meta_int(x, 1, "node.cores_present", 2);
	for (int row = 0; row < ROWS; row++) {
		bool at_work = row > 0 && row < ROWS - 1;

		put(x, cpu_series, row, row);
		put(x, count_series, row, at_work ? 201 : 0);
		if (ready_is_known || !at_work)
			put(x, ready_series, row, at_work ? 190 : 7);
		if (at_work)
			continue;
		put(x, running_series, row, 0);
		put(x, queue_series, row, 0);
	}
	s = made(x);
	free(x);
	return s;
}

static void test_threads_that_are_too_many_to_look_at_are_estimated(void **state)
{
	struct summary s = unseen_threads(true);

	(void)state;
	assert_true(s.host_threads_running_peak == 183);
	assert_true(fabs(s.story.waited_s - 19 * 182) < 1);
	assert_true(says(&s, "oversubscribed"));
	assert_false(says(&s, "single-core"));
	summary_free(&s);
}

static void test_what_was_ready_is_not_made_up(void **state)
{
	struct summary s = unseen_threads(false);

	(void)state;
	assert_false(s.story.waited_s > 0);
	summary_free(&s);
}

/* 50 processes got one core of two, others the rest, and for 12 s nobody looked at any of them; or
 * so many were seen ready all the time, whose waits are not known. */
static struct summary unseen_for_long(int ready_of_others, int seen_ready)
{
	struct synthetic *x = synthetic_new(1);
	uint32_t cpu = metric(x, "job.cpu_seconds", NULL, KIND_COUNTER, UNIT_SECONDS);
	uint32_t running = metric(x, "job.threads_running_count", NULL, KIND_GAUGE, UNIT_COUNT);
	uint32_t ready = metric(x, "node.procs_running", NULL, KIND_GAUGE, UNIT_COUNT);
	uint32_t cpu_series = series(x, 1, cpu, 0), running_series = series(x, 1, running, 0);
	uint32_t ready_series = series(x, 1, ready, 0);
	uint32_t used = metric(x, "node.cpu_used_cores", NULL, KIND_GAUGE, UNIT_CORES);
	uint32_t used_series = series(x, 1, used, 0);
	struct summary s;

	meta_int(x, 1, "node.cores_allowed", 2);
	meta_int(x, 1, "node.cores_present", 2);
	for (int row = 0; row < ROWS; row++) {
		put(x, cpu_series, row, row);
		put(x, used_series, row, 2);
		put(x, ready_series, row, row > 0 && row < 13 ? 57 : ready_of_others);
		if (seen_ready)
			put(x, running_series, row, seen_ready);
		else if (row < 1 || row > 12)
			put(x, running_series, row, row > 0 && row < ROWS - 1);
	}
	s = made(x);
	free(x);
	return s;
}

static void test_one_core_is_no_serial_phase_where_more_were_ready_unseen(void **state)
{
	struct summary s = unseen_for_long(7, 0);

	(void)state;
	assert_true(s.story.serial_s < 9);
	summary_free(&s);
	s = unseen_for_long(57, 0); /* they were others' */
	assert_true(s.story.serial_s > 19);
	summary_free(&s);
	s = unseen_for_long(57, 1);
	assert_true(s.story.serial_s > 19);
	summary_free(&s);
	s = unseen_for_long(57, 2);
	assert_false(s.story.serial_s > 0);
	summary_free(&s);
}

/* Programs of a moment, as of a build, none of which is looked at twice: each second look finds
 * `ready` of them ready to run, the others `odd`. */
static struct summary short_programs(int ready, int odd, int node_cores)
{
	struct synthetic *x = synthetic_new(1);
	uint32_t cpu = metric(x, "job.cpu_seconds", NULL, KIND_COUNTER, UNIT_SECONDS);
	uint32_t queue = metric(x, "job.run_queue_seconds", NULL, KIND_COUNTER, UNIT_SECONDS);
	uint32_t running = metric(x, "job.threads_running_count", NULL, KIND_GAUGE, UNIT_COUNT);
	uint32_t used = metric(x, "node.cpu_used_cores", NULL, KIND_GAUGE, UNIT_CORES);
	uint32_t cpu_series = series(x, 1, cpu, 0), running_series = series(x, 1, running, 0);
	uint32_t queue_series = series(x, 1, queue, 0), used_series = series(x, 1, used, 0);
	struct summary s;

	meta_int(x, 1, "node.cores_allowed", 2);
	meta_int(x, 1, "node.cores_present", 2);
	for (int row = 0; row < ROWS; row++) {
		put(x, cpu_series, row, row);
		put(x, queue_series, row, 0);
		put(x, used_series, row, node_cores);
		put(x, running_series, row, row % 2 ? odd : ready);
	}
	s = made(x);
	free(x);
	return s;
}

static void test_what_short_programs_waited_is_estimated(void **state)
{
	struct summary s = short_programs(2, 2, 2);

	(void)state;
	assert_true(s.story.waited_s > 17 && s.story.waited_s < 20);
	summary_free(&s);
	s = short_programs(3, 1, 2); /* two errors of looks that differ are half a thread */
	assert_true(s.story.waited_s > 9 && s.story.waited_s < 13);
	summary_free(&s);
	s = short_programs(1, 1, 2);
	assert_true(s.story.waited_s == 0);
	summary_free(&s);
	s = short_programs(2, 2, 1); /* a core was free */
	assert_true(s.story.waited_s == 0);
	summary_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_that_are_too_many_to_look_at_are_estimated),
		cmocka_unit_test(test_what_was_ready_is_not_made_up),
		cmocka_unit_test(test_one_core_is_no_serial_phase_where_more_were_ready_unseen),
		cmocka_unit_test(test_what_short_programs_waited_is_estimated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
