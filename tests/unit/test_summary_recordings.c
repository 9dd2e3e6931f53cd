/* SPDX-License-Identifier: Apache-2.0 */
/* Several recordings of one machine at the same time: what they saw of it counts once. */
#include "report/judging/variables.h"
#include "summary_made.h"

#include <math.h>
#include <string.h>

/* Two recordings that see the same GPUs and the same machine, of one host or of two. */
static struct synthetic *two(bool one_host)
{
	struct synthetic *x = synthetic_new(2);
	uint32_t affinity = metric(x, "job.affinity_cpus_count", NULL, KIND_GAUGE, UNIT_COUNT);
	uint32_t threads = metric(x, "job.threads_running_count", NULL, KIND_GAUGE, UNIT_COUNT);
	uint32_t pressure = metric(x, "node.pressure_io_some_seconds", NULL, KIND_COUNTER,
				   UNIT_ELAPSED_SECONDS);
	uint32_t waited = metric(x, "job.run_queue_seconds", NULL, KIND_COUNTER, UNIT_SECONDS);
	uint32_t use = metric(x, "gpu.utilization_ratio", "gpu", KIND_GAUGE, UNIT_RATIO);

	if (one_host)
		x->node[2].host = "n1";
	for (uint32_t node = 1; node <= 2; node++) {
		uint32_t gpu[] = { instance(x, node, "gpu", "gpu0", false),
				   instance(x, node, "gpu", "gpu1", false) };
		uint32_t of[] = { series(x, node, affinity, 0), series(x, node, threads, 0),
				  series(x, node, pressure, 0), series(x, node, waited, 0),
				  series(x, node, use, gpu[0]), series(x, node, use, gpu[1]) };

		for (int row = 0; row < ROWS; row++) {
			const int64_t value[] = { node == 1 ? 4 : 2,     3, row, 2 * row,
						  row == 7 && node == 1, 0 };

			for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
				put(x, of[i], row, value[i]);
		}
	}
	return x;
}

static double grown(const struct summary *s, const char *metric)
{
	for (uint32_t i = 0; i < s->ngrowth; i++)
		if (strcmp(s->growth[i].metric, metric) == 0)
			return s->growth[i].grown;
	return NAN;
}

static double samples(const struct summary *s)
{
	return variable_find("samples")->make(s);
}

static void test_a_machine_that_two_recordings_saw_counts_once(void **state)
{
	struct synthetic *x = two(true);
	struct summary s = made(x);

	(void)state;
	assert_int_equal(s.nhosts, 1);
	assert_true(s.affinity_cpus == 4 && s.host_threads_running_peak == 6);
	assert_true(s.gpus == 2 && s.gpus_used == 1 && s.host_gpus_used == 1);
	assert_true(grown(&s, "node.pressure_io_some_seconds") == 20);
	assert_true(grown(&s, "job.run_queue_seconds") == 80);
	assert_true(samples(&s) == 2 * ROWS);
	done(&s, x);
}

static void test_machines_add_up(void **state)
{
	struct synthetic *x = two(false);
	struct summary s = made(x);

	(void)state;
	assert_int_equal(s.nhosts, 2);
	assert_true(s.affinity_cpus == 6 && s.host_threads_running_peak == 3);
	assert_true(s.gpus == 4 && s.gpus_used == 1 && s.host_gpus_used == 1);
	assert_true(grown(&s, "node.pressure_io_some_seconds") == 40);
	assert_true(samples(&s) == ROWS);
	done(&s, x);
}

/* One step after the other: each saw the machine at its own time. */
static void test_what_was_seen_one_after_the_other_adds_up(void **state)
{
	struct synthetic *x = two(true);
	struct summary s;

	(void)state;
	x->node[2].utc0_ns += 30 * NS_PER_S;
	s = made(x);
	assert_true(s.host_threads_running_peak == 3 && s.gpus == 2);
	assert_true(grown(&s, "node.pressure_io_some_seconds") == 40);
	done(&s, x);
}

/* A container on a large machine. */
static void test_the_limits_of_a_control_group_bound_what_is_there(void **state)
{
	struct synthetic *x = synthetic_new(1);
	uint32_t group = instance(x, 1, "cgroup", "job", false);
	uint32_t cores = metric(x, "cgroup.cpu_limit_cores", "cgroup", KIND_GAUGE, UNIT_CORES);
	uint32_t memory = metric(x, "cgroup.memory_limit_bytes", "cgroup", KIND_GAUGE, UNIT_BYTES);
	struct summary s;

	(void)state;
	put(x, series(x, 1, cores, group), 3, 2);
	put(x, series(x, 1, memory, group), 3, 1000);
	s = made(x);
	assert_true(s.cores_limit == 2 && s.memory_limit_bytes == 1000);
	done(&s, x);
}

static void test_a_reader_that_fails_is_an_error(void **state)
{
	struct synthetic *x = synthetic_new(1);
	struct summary s;
	struct err e = { "" };

	(void)state;
	x->fault = -EIO;
	assert_int_equal(summary_make(&s, &x->run, &e), -EIO);
	assert_string_equal(e.text, "it cannot be read");
	done(&s, x);
}

static void test_rules_that_were_read_before_judge(void **state)
{
	static const char text[] =
		"rule: mine\nabout: A test.\nwhen: nodes > 0\nseverity: note\nsay: There is a node.\n";
	struct synthetic *x = with_work(1);
	struct summary_wish wish = { .all = true };
	struct rules *mine;
	struct summary s;

	(void)state;
	assert_int_equal(rules_parse(&mine, "mine", text, sizeof text - 1, NULL), 0);
	wish.builtin = mine;
	assert_int_equal(summary_make_as(&s, &x->run, &wish, NULL), 0);
	rules_free(mine);
	assert_int_equal(s.nverdicts, 1);
	assert_string_equal(s.verdicts[0].rule, "mine");
	done(&s, x);
}

static void test_a_recorder_that_saw_nothing_of_the_job_is_named(void **state)
{
	struct synthetic *x = with_work(3);
	struct bytes words = { 0 };
	struct summary s;

	(void)state;
	meta_int(x, 2, "monitor.unseen_ns", 60 * NS_PER_S);
	meta_int(x, 3, "monitor.unseen_ns", 60 * NS_PER_S);
	s = made(x);
	assert_true(isnan(s.hosts[0].unseen_s) && fabs(s.hosts[1].unseen_s - 60) < 1e-6);
	summary_nodes_words(&s, &words);
	bytes_u8(&words, 0);
	assert_non_null(strstr((const char *)words.data,
			       "stopped after 1 min 00 s without a process of the job: n2, n3"));
	bytes_free(&words);
	done(&s, x);
}

/* On the other node no sample saw a process. */
static void test_the_memory_of_some_nodes_is_a_lower_bound(void **state)
{
	struct synthetic *x = synthetic_new(2);
	struct summary s;

	(void)state;
	meta_int(x, 2, "job.peak_memory_bytes", 5);
	s = made(x);
	assert_true(s.peak_memory_bytes == 5 && s.peak_memory_is_bound);
	done(&s, x);
	x = synthetic_new(2);
	meta_int(x, 2, "job.peak_memory_bytes", 5);
	x->node[1].complete = false;
	s = made(x);
	assert_true(isnan(s.peak_memory_bytes) && !s.peak_memory_is_bound);
	done(&s, x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_memory_of_some_nodes_is_a_lower_bound),
		cmocka_unit_test(test_a_machine_that_two_recordings_saw_counts_once),
		cmocka_unit_test(test_machines_add_up),
		cmocka_unit_test(test_what_was_seen_one_after_the_other_adds_up),
		cmocka_unit_test(test_the_limits_of_a_control_group_bound_what_is_there),
		cmocka_unit_test(test_a_reader_that_fails_is_an_error),
		cmocka_unit_test(test_rules_that_were_read_before_judge),
		cmocka_unit_test(test_a_recorder_that_saw_nothing_of_the_job_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
