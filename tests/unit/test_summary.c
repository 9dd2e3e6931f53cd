/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"
#include "summary_made.h"
#include "unit/same_verdicts.h"

static void test_what_the_recorder_said_at_the_end_stands(void **state)
{
	struct synthetic *x = synthetic_new(1);
	struct summary s;

	(void)state;
	meta_text(x, "job.command", "make");
	meta_text(x, "job.peak_memory_kind", "cgroup");
	meta_text(x, "job.survivors", "");
	meta_int(x, 1, "job.exit_code", 3);
	meta_int(x, 1, "job.wall_ns", 8 * NS_PER_S);
	meta_int(x, 1, "job.cpu_ns", 4 * NS_PER_S);
	meta_int(x, 1, "job.cpu_user_ns", 3 * NS_PER_S);
	meta_int(x, 1, "job.cpu_system_ns", NS_PER_S);
	meta_int(x, 1, "job.cpu_attributed_ns", 3 * NS_PER_S);
	meta_int(x, 1, "job.processes_started", 7);
	meta_int(x, 1, "job.peak_memory_bytes", 1000);
	meta_int(x, 1, "node.cores_present", 2);
	meta_int(x, 1, "node.memory_bytes", 5000);
	meta_int(x, 1, "monitor.samples", 22);
	meta_int(x, 1, "run.interval_ns", NS_PER_S / 2);
	one(x, 1, metric(x, "job.cpu_seconds", NULL, KIND_COUNTER, UNIT_SECONDS), 99);
	one(x, 1, metric(x, "job.resident_bytes", NULL, KIND_GAUGE, UNIT_BYTES), 99);
	s = made(x);
	assert_string_equal(s.command, "make");
	assert_string_equal(s.path, "sonde_x");
	assert_null(s.survivors);
	assert_null(s.job_id);
	assert_true(s.exit_code == 3 && isnan(s.signal));
	assert_true(s.wall_s == 8 && s.cpu_s == 4 && s.cpu_user_s == 3 && s.cpu_system_s == 1);
	assert_true(s.attributed_ratio == 0.75 && s.cores_used_mean == 0.5);
	assert_true(s.processes_started == 7 && s.peak_memory_bytes == 1000);
	assert_string_equal(s.peak_memory_kind, "cgroup");
	assert_true(s.cores_present == 2 && s.memory_present == 5000 && s.interval_s == 0.5);
	assert_true(isnan(s.cores_asked) && isnan(s.read_bytes) && isnan(s.monitor_cpu_s));
	assert_true(s.monitor_samples == 22 && s.complete);
	assert_int_equal(s.nnodes, 1);
	assert_string_equal(s.nodes[0].host, "n1");
	assert_int_equal(s.nodes[0].samples, ROWS);
	done(&s, x);
}

static void test_series_speak_when_the_recorder_was_killed(void **state)
{
	struct synthetic *x = synthetic_new(1);
	uint32_t rss = metric(x, "job.resident_bytes", NULL, KIND_GAUGE, UNIT_BYTES), sid;
	struct summary s;

	(void)state;
	x->node[1].complete = false;
	meta_int(x, 1, "node.memory_bytes", 950);
	one(x, 1, metric(x, "job.cpu_seconds", NULL, KIND_COUNTER, UNIT_SECONDS), 5);
	one(x, 1, metric(x, "job.attributed_cpu_seconds", NULL, KIND_COUNTER, UNIT_SECONDS), 4);
	one(x, 1, metric(x, "job.processes_started", NULL, KIND_COUNTER, UNIT_COUNT), 12);
	one(x, 1, metric(x, "job.processes_live_count", NULL, KIND_GAUGE, UNIT_COUNT), 6);
	one(x, 1, metric(x, "monitor.cpu_seconds", NULL, KIND_COUNTER, UNIT_SECONDS), 1);
	sid = series(x, 1, rss, 0);
	put(x, sid, 1, 700);
	put(x, sid, 2, 900);
	put(x, sid, 3, 100);
	s = made(x);
	assert_true(s.wall_s == 20 && s.cpu_s == 5 && s.attributed_ratio == 0.8);
	assert_true(s.processes_started == 12 && s.processes_peak == 6);
	assert_string_equal(s.peak_memory_kind, "rss");
	assert_true(s.peak_memory_bytes == 900 && s.tight_limit_bytes == 950);
	assert_true(s.monitor_cpu_s == 1 && s.monitor_samples == ROWS);
	assert_true(isnan(s.exit_code) && isnan(s.signal) && isnan(s.cpu_user_s));
	assert_false(s.complete);
	summary_free(&s);

	one(x, 1, metric(x, "node.memory_free_bytes", NULL, KIND_GAUGE, UNIT_BYTES), 90);
	s = made(x);
	assert_string_equal(s.peak_memory_kind, "node");
	assert_true(s.peak_memory_bytes == 860 && isnan(s.tight_peak_bytes));
	summary_free(&s);

	one(x, 1, metric(x, "job.pss_bytes", NULL, KIND_GAUGE, UNIT_BYTES), 400);
	s = made(x);
	assert_true(s.peak_memory_bytes == 400);
	assert_string_equal(s.peak_memory_kind, "pss");
	done(&s, x);
}

/* Cores on average by the totals, at most by the samples: these missed short processes. */
static void test_a_peak_below_the_mean_is_not_known(void **state)
{
	static const struct {
		int cpu_s;
		double mean, peak;
	} cases[] = { { 20, 1, 1 }, { 21, 1.05, 1.05 }, { 60, 3, NAN } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct synthetic *x = synthetic_new(1);
		uint32_t cpu = series(
			x, 1, metric(x, "job.cpu_seconds", NULL, KIND_COUNTER, UNIT_SECONDS), 0);
		struct summary s;

		for (int row = 0; row < ROWS; row++)
			put(x, cpu, row, row);
		meta_int(x, 1, "job.wall_ns", 20 * NS_PER_S);
		meta_int(x, 1, "job.cpu_ns", cases[i].cpu_s * NS_PER_S);
		s = made(x);
		assert_float_equal(s.cores_used_mean, cases[i].mean, 1e-3);
		if (isnan(cases[i].peak))
			assert_true(isnan(s.cores_used_peak) && isnan(s.host_cores_used_peak));
		else
			assert_float_equal(s.cores_used_peak, cases[i].peak, 1e-3);
		done(&s, x);
	}
}

static void test_a_signal_leaves_no_exit_code(void **state)
{
	struct synthetic *x = synthetic_new(1);
	struct summary s;

	(void)state;
	meta_int(x, 1, "job.signal", 9);
	meta_int(x, 1, "job.exit_code", 0);
	s = made(x);
	assert_true(s.signal == 9 && isnan(s.exit_code));
	done(&s, x);
}

static void test_nothing_known_stays_unknown(void **state)
{
	struct synthetic *x = synthetic_new(1);
	struct summary s;

	(void)state;
	x->node[1].rows = 0;
	s = made(x);
	assert_true(isnan(s.wall_s) && isnan(s.cpu_s) && isnan(s.cores_used_mean));
	assert_true(isnan(s.attributed_ratio) && isnan(s.peak_memory_bytes));
	assert_true(isnan(s.idle_head_s) && isnan(s.cores_used_peak) && isnan(s.monitor_late));
	assert_null(s.command);
	assert_null(s.peak_memory_kind);
	assert_int_equal(s.nmetrics + s.ncommands + s.nby_cpu, 0);
	done(&s, x);
}

static void test_the_bound_of_what_was_started_is_of_all_nodes(void **state)
{
	struct synthetic *x = synthetic_new(2);
	struct summary s;

	(void)state;
	meta_int(x, 1, "job.processes_started", 7);
	meta_int(x, 1, "job.processes_started_at_most", 40);
	meta_int(x, 1, "job.births_exact", 0);
	meta_int(x, 2, "job.processes_started", 5); /* interrupted, but each start was recorded */
	meta_int(x, 2, "job.births_exact", 1);
	s = made(x);
	assert_true(s.processes_started == 12 && s.processes_at_most == 45);
	done(&s, x);
	x = synthetic_new(1);
	meta_int(x, 1, "job.processes_started", 7);
	meta_int(x, 1, "job.births_exact", 0); /* interrupted, not all were seen */
	s = made(x);
	assert_true(isinf(s.processes_at_most));
	done(&s, x);
}

static void test_samples_that_saw_no_process_know_no_peak(void **state)
{
	struct synthetic *x = synthetic_new(1);
	struct summary s;

	(void)state;
	meta_int(x, 1, "job.processes_started", 1);
	one(x, 1, metric(x, "job.processes_live_count", NULL, KIND_GAUGE, UNIT_COUNT), 0);
	one(x, 1, metric(x, "job.resident_bytes", NULL, KIND_GAUGE, UNIT_BYTES), 0);
	one(x, 1, metric(x, "job.pss_bytes", NULL, KIND_GAUGE, UNIT_BYTES), 0);
	s = made(x);
	assert_true(s.processes_started == 1 && isnan(s.processes_peak));
	assert_true(isnan(s.peak_memory_bytes) && !s.peak_memory_kind);
	done(&s, x);
}

static void test_nodes_add_up_when_all_are_known(void **state)
{
	struct synthetic *x = synthetic_new(2);
	struct summary s;

	(void)state;
	meta_int(x, 1, "job.cpu_ns", 4 * NS_PER_S);
	meta_int(x, 2, "job.cpu_ns", 6 * NS_PER_S);
	meta_int(x, 1, "job.wall_ns", 4 * NS_PER_S);
	meta_int(x, 2, "job.wall_ns", 5 * NS_PER_S);
	meta_int(x, 1, "job.read_bytes", 4);
	meta_int(x, 1, "job.exit_code", 0);
	meta_int(x, 2, "job.exit_code", 1);
	meta_int(x, 1, "monitor.max_rss_bytes", 10);
	meta_int(x, 2, "monitor.max_rss_bytes", 20);
	meta_int(x, 1, "job.peak_memory_bytes", 1);
	meta_int(x, 2, "job.peak_memory_bytes", 2);
	meta_text(x, "job.peak_memory_kind", "cgroup");
	x->meta[x->run.nmetas++] = (struct run_meta){
		.node = 2, .type = META_TEXT, .key = "job.peak_memory_kind", .text = "rss"
	};
	s = made(x);
	assert_int_equal(s.nnodes, 2);
	assert_true(s.cpu_s == 10 && s.wall_s == 5 && s.cores_used_mean == 2);
	assert_true(isnan(s.read_bytes));
	assert_true(s.exit_code == 1);
	assert_true(s.monitor_rss_bytes == 20 && s.monitor_samples == 2 * ROWS);
	assert_true(s.peak_memory_bytes == 3);
	assert_string_equal(s.peak_memory_kind, "rss");
	done(&s, x);
}

/* Two recordings of n1: 10 GB for 4 s, and 12 GB for 5 s from second `start` on. */
static struct synthetic *steps_of_a_host(int64_t start)
{
	struct synthetic *x = synthetic_new(2);

	x->node[2].host = "n1";
	x->node[2].first_ns += start * NS_PER_S;
	for (uint32_t node = 1; node <= 2; node++) {
		meta_int(x, node, "job.wall_ns", (3 + node) * NS_PER_S);
		meta_int(x, node, "job.cpu_ns", 6 * NS_PER_S);
		meta_int(x, node, "job.peak_memory_bytes", 8 + 2 * (int64_t)node);
		meta_int(x, node, "node.cores_present", 2);
		meta_int(x, node, "node.memory_bytes", 16);
		one(x, node, metric(x, "job.processes_live_count", NULL, KIND_GAUGE, UNIT_COUNT),
		    3);
	}
	return x;
}

static void test_steps_of_a_host_do_not_multiply_it(void **state)
{
	struct synthetic *x = steps_of_a_host(10);
	struct summary s;

	(void)state;
	s = made(x);
	assert_int_equal(s.nnodes, 2);
	assert_int_equal(s.nhosts, 1);
	assert_true(s.cores_present == 2 && s.memory_present == 16);
	assert_true(s.wall_s == 15 && s.cpu_s == 12);
	assert_true(s.peak_memory_bytes == 12 && s.processes_peak == 3);
	assert_true(s.nodes[0].cores == 2 && s.nodes[1].cores == 2);
	assert_true(!s.nodes[0].again && s.nodes[1].again);
	done(&s, x);
}

static void test_steps_at_the_same_time_add_up_their_peaks(void **state)
{
	struct synthetic *x = steps_of_a_host(2);
	struct summary s;

	(void)state;
	s = made(x);
	assert_true(s.wall_s == 7 && s.cores_present == 2);
	assert_true(s.peak_memory_bytes == 22 && s.processes_peak == 6);
	done(&s, x);
}

static void test_the_ten_largest_processes(void **state)
{
	static const int64_t cpu[] = { 5, 14, 3, 12, 1, 10, 9, 8, 7, 6, 11, 4, 13, 2, 0 };
	struct synthetic *x = synthetic_new(1);
	struct summary s;

	(void)state;
	for (size_t i = 0; i < sizeof cpu / sizeof cpu[0]; i++) {
		uint32_t p = instance(x, 1, "process", "p", true);

		final(x, p, "process.cpu_seconds", cpu[i]);
		final(x, p, "process.read_bytes", 20 - cpu[i]);
	}
	x->label[x->run.nlabels] = (struct run_label){ "pid", "4711" };
	x->instance[2].first_label = x->run.nlabels++;
	x->instance[2].nlabels = 1;
	s = made(x);
	assert_int_equal(s.nby_cpu, SUMMARY_TOP);
	for (uint32_t i = 0; i < SUMMARY_TOP; i++)
		assert_true(s.by_cpu[i].cpu_s == 14 - (double)i);
	for (uint32_t i = 0; i < SUMMARY_TOP; i++)
		assert_true(s.by_io[i].cpu_s == (double)i);
	assert_int_equal(s.nby_memory, 0);
	assert_true(s.by_cpu[0].pid == 4711 && isnan(s.by_cpu[1].pid));
	assert_true(s.by_cpu[0].start_s == 1 && s.by_cpu[0].end_s == 3);
	assert_true(isnan(s.by_cpu[0].written_bytes) && isnan(s.by_cpu[0].peak_rss_bytes));
	done(&s, x);
}

static void test_the_living_count_with_what_was_last_seen(void **state)
{
	struct synthetic *x = synthetic_new(1);
	uint32_t cpu = metric(x, "process.cpu_seconds", "process", KIND_COUNTER, UNIT_SECONDS);
	uint32_t rss = metric(x, "process.resident_bytes", "process", KIND_GAUGE, UNIT_BYTES);
	uint32_t p = instance(x, 1, "process", "sleep", false), sid = series(x, 1, cpu, p);
	struct summary s;

	(void)state;
	put(x, sid, 1, 2);
	put(x, sid, 2, 3);
	sid = series(x, 1, rss, p);
	put(x, sid, 1, 500);
	put(x, sid, 2, 300);
	s = made(x);
	assert_int_equal(s.nby_cpu, 1);
	assert_true(s.by_cpu[0].cpu_s == 3 && isnan(s.by_cpu[0].end_s));
	assert_true(s.by_memory[0].peak_rss_bytes == 500);
	assert_int_equal(s.ncommands, 1);
	assert_string_equal(s.commands[0].name, "sleep");
	assert_true(s.commands[0].processes == 1 && s.commands[0].cpu_s == 3);
	done(&s, x);
}

static void test_commands_of_all_nodes_are_one(void **state)
{
	struct synthetic *x = synthetic_new(2);
	uint32_t n = metric(x, "command.processes", "command", KIND_COUNTER, UNIT_COUNT);
	uint32_t cpu = metric(x, "command.cpu_seconds", "command", KIND_COUNTER, UNIT_SECONDS);
	uint32_t peak = metric(x, "command.peak_resident_bytes", "command", KIND_GAUGE, UNIT_BYTES);
	static const char *const names[] = { "awk", "cc1", "cc1" };
	uint32_t read = metric(x, "command.read_bytes", "command", KIND_COUNTER, UNIT_BYTES);
	struct summary s;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t node = 1 + (i > 1), c = instance(x, node, "command", names[i], false);

		put(x, series(x, node, n, c), 5, 10);
		put(x, series(x, node, cpu, c), 5, 7);
		put(x, series(x, node, peak, c), 5, 100 + i);
		put(x, series(x, node, read, c), 5, 1000);
	}
	s = made(x);
	assert_int_equal(s.ncommands, 2);
	assert_string_equal(s.commands[0].name, "cc1");
	assert_true(s.commands[0].processes == 20 && s.commands[0].cpu_s == 14);
	assert_true(s.commands[0].peak_rss_bytes == 102);
	assert_true(s.commands[0].read_bytes == 2000 && isnan(s.commands[0].written_bytes));
	assert_string_equal(s.commands[1].name, "awk");
	done(&s, x);
}

static const struct summary_metric *find(const struct summary *s, const char *name)
{
	for (uint32_t i = 0; i < s->nmetrics; i++)
		if (strcmp(s->metrics[i].name, name) == 0)
			return &s->metrics[i];
	return NULL;
}

static void test_what_the_recorder_waited_in_vain_is_not_the_jobs_time(void **state)
{
	struct synthetic *x = with_work(1);
	struct summary s;

	(void)state;
	meta_int(x, 1, "monitor.waited_ns", 4 * NS_PER_S);
	s = made(x);
	assert_true(fabs(s.idle_tail_s - 1) < 1e-6);
	assert_true(fabs(s.wall_s - 16) < 1e-6);
	done(&s, x);
	x = with_work(1);
	meta_int(x, 1, "monitor.waited_ns", INT64_MAX); /* a lie */
	s = made(x);
	assert_true(fabs(s.idle_tail_s - 5) < 1e-6);
	done(&s, x);
}

static void test_idle_head_and_tail_and_rates(void **state)
{
	struct synthetic *x = with_work(1);
	struct summary s = made(x);
	const struct summary_metric *m = find(&s, "job.cpu_cores");

	(void)state;
	assert_true(fabs(s.idle_head_s - 5) < 1e-6);
	assert_true(fabs(s.idle_tail_s - 5) < 1e-6);
	assert_true(fabs(s.cores_used_peak - 1) < 1e-9);
	assert_true(s.cpu_s == 10);
	assert_non_null(m);
	assert_int_equal(m->unit, UNIT_CORES);
	assert_int_equal(m->stats.n, 20);
	assert_true(fabs(stats_mean(&m->stats) - 0.5) < 1e-9);
	assert_true(fabs(m->stats.weighted_sum - 10) < 1e-9);
	done(&s, x);

	x = with_work(2);
	s = made(x);
	assert_true(fabs(s.cores_used_peak - 2) < 1e-9);
	assert_int_equal(s.metrics[0].node, 1);
	assert_int_equal(s.metrics[1].node, 2);
	done(&s, x);
}

static void test_no_work_is_idle_throughout(void **state)
{
	struct synthetic *x = synthetic_new(1);
	uint32_t sid =
		series(x, 1, metric(x, "job.cpu_seconds", NULL, KIND_COUNTER, UNIT_SECONDS), 0);
	struct summary s;

	(void)state;
	for (int row = 0; row < ROWS; row++)
		put(x, sid, row, 1);
	s = made(x);
	assert_true(s.idle_head_s == 20 && s.idle_tail_s == 0);
	done(&s, x);
}

/* Ten samples a second; all CPU time is in the last of them. */
static struct synthetic *with_an_end(int64_t cpu_ms)
{
	struct synthetic *x = synthetic_new(1);
	uint32_t id = metric(x, "job.cpu_seconds", NULL, KIND_COUNTER, UNIT_SECONDS);
	uint32_t sid = series(x, 1, id, 0);

	x->metric[id].row.div = 1000;
	for (int row = 0; row < ROWS; row++) {
		x->mono_ns[row] = 100 * NS_PER_S + row * NS_PER_S / 10;
		x->utc_ns[row] = x->run.t0_utc_ns + row * NS_PER_S / 10;
		put(x, sid, row, row < ROWS - 1 ? 0 : cpu_ms);
	}
	x->node[1].last_ns = x->mono_ns[ROWS - 1];
	return x;
}

static void test_the_end_of_a_process_is_no_work(void **state)
{
	struct synthetic *x = with_an_end(24);
	struct summary s = made(x);

	(void)state;
	assert_true(fabs(s.idle_head_s - 2) < 1e-6 && s.idle_tail_s == 0);
	assert_true(fabs(s.cores_used_peak - 0.048) < 1e-6);
	done(&s, x);

	x = with_an_end(26);
	s = made(x);
	assert_true(fabs(s.idle_head_s - 1.5) < 1e-6 && fabs(s.idle_tail_s) < 1e-6);
	done(&s, x);
}

static void test_devices_combine_and_processes_are_left_out(void **state)
{
	struct synthetic *x = synthetic_new(1);
	uint32_t util = metric(x, "disk.util_ratio", "disk", KIND_GAUGE, UNIT_RATIO);
	uint32_t depth = metric(x, "disk.depth", "disk", KIND_GAUGE, UNIT_ONE);
	uint32_t rss = metric(x, "process.resident_bytes", "process", KIND_GAUGE, UNIT_BYTES);
	static const char *const disks[] = { "sda", "sdb" };
	struct summary s;

	(void)state;
	x->metric[util].row.over_instances = COMBINE_NONE;
	for (int i = 0; i < 2; i++) {
		uint32_t d = instance(x, 1, "disk", disks[i], false);

		put(x, series(x, 1, util, d), 1, i + 1);
		put(x, series(x, 1, depth, d), 1, i + 1);
	}
	put(x, series(x, 1, rss, instance(x, 1, "process", "p", false)), 1, 7);
	s = made(x);
	assert_non_null(find(&s, "disk.util_ratio[sda]"));
	assert_true(find(&s, "disk.util_ratio[sdb]")->stats.max == 2);
	assert_null(find(&s, "disk.util_ratio"));
	assert_true(find(&s, "disk.depth")->stats.max == 3);
	assert_null(find(&s, "process.resident_bytes"));
	done(&s, x);
}

static void test_it_opens_with_a_verdict(void **state)
{
	struct synthetic *x = synthetic_new(1);
	struct summary s;

	(void)state;
	meta_int(x, 1, "job.exit_code", 2);
	x->node[1].complete = false;
	s = made(x);
	assert_true(s.nverdicts >= 2);
	assert_string_equal(s.verdicts[0].rule, "failed");
	assert_string_equal(s.verdicts[1].rule, "recording-incomplete");
	done(&s, x);
}

/* What rules look at over time: a value in every row of every node, or none; scaled by the seed. */
static void look_at(struct synthetic *x, const char *name, enum kind kind, unsigned how)
{
	uint32_t id = metric(x, name, NULL, kind, UNIT_ONE);

	x->metric[id].row.div = 100;
	for (uint32_t node = 1; node < x->run.nnodes && how % 4; node++) {
		uint32_t sid = series(x, node, id, 0);

		for (int row = 0; row < ROWS; row++)
			put(x, sid, row,
			    kind == KIND_COUNTER ? row * 10 * (int64_t)(how % 4)
						 : (int64_t)row << 12 * (how % 4));
	}
}

static void take_twice_as_long(struct synthetic *x)
{
	for (int row = 0; row < ROWS; row++) {
		x->mono_ns[row] += row * NS_PER_S;
		x->utc_ns[row] += row * NS_PER_S;
	}
	for (uint32_t node = 1; node < x->run.nnodes; node++)
		x->node[node].last_ns = x->mono_ns[ROWS - 1];
}

static struct synthetic *judged_run(unsigned seed)
{
	struct synthetic *x = seed % 3 ? with_work(1 + seed % 2) : with_an_end(26);

	look_at(x, "job.swap_bytes", KIND_GAUGE, seed);
	look_at(x, "node.swap_used_bytes", KIND_GAUGE, seed / 4);
	look_at(x, "node.pressure_io_some_seconds", KIND_COUNTER, seed / 16);
	look_at(x, "node.cpu_iowait_seconds", KIND_COUNTER, seed / 64);
	look_at(x, "job.storage_read_bytes", KIND_COUNTER, seed / 16);
	look_at(x, "job.storage_written_bytes", KIND_COUNTER, seed / 16);
	look_at(x, "node.load_1min", KIND_GAUGE, 1); /* no rule does */
	x->metric[run_find_metric(&x->run, "job.storage_read_bytes")].row.mul = NS_PER_S;
	x->metric[run_find_metric(&x->run, "node.cpu_iowait_seconds")].row.unit = UNIT_SECONDS;
	x->metric[run_find_metric(&x->run, "node.pressure_io_some_seconds")].row.unit =
		UNIT_ELAPSED_SECONDS;
	meta_int(x, 1, "node.cores_present", 1 + seed % 5);
	if (seed % 7 == 0)
		meta_int(x, 1, "job.signal", 9);
	if (seed % 2)
		take_twice_as_long(x);
	x->node[1].complete = seed % 5;
	x->run.ndamages = seed % 6 == 0 ? 2 : 0;
	return x;
}

static void test_what_rules_look_at_is_enough_to_judge(void **state)
{
	static const char *const rules[] = {
		"killed",    "recording-damaged", "recording-incomplete",   "swap",
		"swap-node", "waiting-on-disk",   "waiting-on-disk-iowait", "cores-unused",
		"idle-head", "idle-tail"
	};
	enum { RULES = sizeof rules / sizeof rules[0] };
	bool seen[RULES] = { false };

	(void)state;
	for (unsigned seed = 0; seed < 256; seed++) {
		struct synthetic *x = judged_run(seed);
		struct summary s = made(x);

		assert_same_when_judged(&s, &x->run);
		for (int i = 0; i < RULES; i++)
			seen[i] |= has_verdict(&s, rules[i]);
		done(&s, x);
	}
	for (int i = 0; i < RULES; i++)
		if (!seen[i])
			fail_msg("no run was judged by %s", rules[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_the_recorder_said_at_the_end_stands),
		cmocka_unit_test(test_series_speak_when_the_recorder_was_killed),
		cmocka_unit_test(test_a_peak_below_the_mean_is_not_known),
		cmocka_unit_test(test_a_signal_leaves_no_exit_code),
		cmocka_unit_test(test_nothing_known_stays_unknown),
		cmocka_unit_test(test_the_bound_of_what_was_started_is_of_all_nodes),
		cmocka_unit_test(test_samples_that_saw_no_process_know_no_peak),
		cmocka_unit_test(test_nodes_add_up_when_all_are_known),
		cmocka_unit_test(test_steps_of_a_host_do_not_multiply_it),
		cmocka_unit_test(test_steps_at_the_same_time_add_up_their_peaks),
		cmocka_unit_test(test_the_ten_largest_processes),
		cmocka_unit_test(test_the_living_count_with_what_was_last_seen),
		cmocka_unit_test(test_commands_of_all_nodes_are_one),
		cmocka_unit_test(test_what_the_recorder_waited_in_vain_is_not_the_jobs_time),
		cmocka_unit_test(test_idle_head_and_tail_and_rates),
		cmocka_unit_test(test_no_work_is_idle_throughout),
		cmocka_unit_test(test_the_end_of_a_process_is_no_work),
		cmocka_unit_test(test_devices_combine_and_processes_are_left_out),
		cmocka_unit_test(test_it_opens_with_a_verdict),
		cmocka_unit_test(test_what_rules_look_at_is_enough_to_judge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
