/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/tracking.h"
#include "unit/synthetic_run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static const struct metric used = { "cpu.used_ratio", "cpu", .unit = UNIT_RATIO, .kind = KIND_GAUGE,
				    .div = 100 };
static const struct metric bytes_read = { "disk.read_bytes", "disk", .unit = UNIT_BYTES,
					  .kind = KIND_COUNTER };
static const struct metric sent = { "network.transmitted_bytes", "network", .unit = UNIT_BYTES,
				    .kind = KIND_COUNTER };

static uint32_t device(struct synth *s, uint32_t node, const char *domain, const char *name,
		       uint32_t flags, uint32_t metric)
{
	uint32_t i = synth_instance(s, domain, name);

	s->instances[i].node = node;
	s->instances[i].flags = flags;
	return synth_series(s, node, metric, i);
}

/* alpha was recorded from second 0 to 4 and again from 2 to 6, beta from 0 to 4. */
static struct synth *two_hosts(void)
{
	struct synth *s = synth_new(16);
	uint32_t cpu = synth_metric(s, used), rd = synth_metric(s, bytes_read);
	uint32_t tx = synth_metric(s, sent);

	s->run.nnodes = 4;
	s->nodes[3] = (struct run_node){ .host = "alpha", .utc0_ns = SYNTH_T0 };
	for (uint32_t node = 1; node <= 3; node++) {
		uint32_t cpu0 = device(s, node, "cpu", "0", 0, cpu);
		uint32_t cpu1 = device(s, node, "cpu", "1", 0, cpu);
		uint32_t sda = device(s, node, "disk", "sda", 0, rd);
		uint32_t dm = device(s, node, "disk", "dm-0", INSTANCE_ASIDE, rd);
		uint32_t lo = device(s, node, "network", "lo", INSTANCE_ASIDE, tx);
		uint32_t eth = device(s, node, "network", "eth0", 0, tx);
		int begin = node == 3 ? 2 : 0;

		for (int at = begin; at <= begin + 4; at += 2) {
			synth_row(s, node, at);
			synth_put(s, cpu0, 40);
			synth_put(s, cpu1, 10 * at);
			synth_put(s, sda, 100 + at * 1048576);
			synth_put(s, dm, 100 + at * 1048576);
			synth_put(s, lo, at * 2097152);
			synth_put(s, eth, at * 4194304);
		}
		s->nodes[node].first_ns = INT64_C(1000000000) * begin;
		s->nodes[node].last_ns = INT64_C(1000000000) * (begin + 4);
	}
	return s;
}

static void make(struct tracking *t, struct synth *s, uint32_t samples)
{
	struct summary_node nodes[3] = { { .node = 1, .cores = 2 },
					 { .node = 2, .cores = NAN },
					 { .node = 3, .again = true } };
	struct summary_host hosts[2] = {
		{ .node = 1,
		  .cpu_s = 3600,
		  .peak_memory_bytes = 1 << 20,
		  .energy_j = 7,
		  .energy_job_j = NAN },
		{ .node = 2,
		  .cpu_s = NAN,
		  .peak_memory_bytes = NAN,
		  .energy_j = NAN,
		  .energy_job_j = NAN },
	};
	struct summary sum = { .nodes = nodes, .nnodes = 3, .hosts = hosts, .nhosts = 2 };
	struct err e = { "" };

	assert_int_equal(tracking_make(t, &s->run, &sum, samples, &e), 0);
}

static void holds(const struct tracking_host *h, const char *name, double want)
{
	for (size_t i = 0; i < TRACKER_FIGURES; i++) {
		double got = tracker_value(&h->tracker, &tracker_figures[i]);

		if (strcmp(tracker_figures[i].name, name))
			continue;
		if (!(fabs(got - want) < 1e-9) && !(isnan(got) && isnan(want)))
			fail_msg("%s of %s is %.17g, wanted %.17g", name, h->name, got, want);
		return;
	}
	fail_msg("there is no figure %s", name);
}

static void test_what_two_recordings_of_a_host_saw_counts_once(void **state)
{
	struct synth *s = two_hosts();
	struct tracking t;

	(void)state;
	make(&t, s, 0);
	assert_int_equal(t.n, 2);
	assert_string_equal(t.host[0].name, "alpha");
	holds(&t.host[0], "total_disk_io_read_mb", 6);
	holds(&t.host[1], "total_disk_io_read_mb", 4);
	tracking_free(&t);
	synth_free(s);
}

static void test_figures_of_each_node(void **state)
{
	struct synth *s = two_hosts();
	struct tracking t;

	(void)state;
	make(&t, s, 0);
	holds(&t.host[1], "max_t_cpu_pct_per_cpu_avg", 40);
	holds(&t.host[1], "max_t_cpu_pct_per_cpu_min", 40);
	holds(&t.host[1], "cpu_avg_utilization_pct", 35); /* 30 and 40, two seconds each */
	holds(&t.host[1], "total_net_io_lo_sent_mb", 8);
	holds(&t.host[1], "total_net_io_ext_sent_mb", 16);
	holds(&t.host[1], "total_net_io_ext_recv_mb", NAN);
	holds(&t.host[1], "node_cpu_hours", 8. / 3600); /* its CPUs are counted */
	holds(&t.host[1], "job_core_hours", NAN);
	holds(&t.host[0], "job_core_hours", 1);
	holds(&t.host[0], "job_peak_memory_mb", 1);
	holds(&t.host[0], "node_energy_joules", 7);
	tracking_free(&t);
	synth_free(s);
}

static void test_steps_are_the_batch_systems(void **state)
{
	struct synth *s = two_hosts();
	struct run_meta metas[] = { { 0 },
				    { 1, META_INT, "job.node_index", NULL, { 5 } },
				    { 2, META_INT, "job.node_index", NULL, { 3 } } };
	struct tracking t;

	(void)state;
	s->run.metas = metas;
	s->run.nmetas = 3;
	make(&t, s, 0);
	assert_string_equal(t.host[0].name, "beta");
	assert_int_equal(t.host[0].step, 3);
	assert_int_equal(t.host[1].step, 5);
	holds(&t.host[1], "total_disk_io_read_mb", 6);
	holds(&t.host[1], "node_energy_joules", 7);
	tracking_free(&t);
	metas[2].value = 5; /* twice: it numbers no nodes */
	make(&t, s, 0);
	assert_int_equal(t.host[0].step, 0);
	assert_int_equal(t.host[1].step, 1);
	tracking_free(&t);
	synth_free(s);
}

static void test_samples_are_thinned_and_extremes_stay(void **state)
{
	struct synth *s = two_hosts();
	struct tracking t;

	(void)state;
	make(&t, s, 100);
	assert_int_equal(t.host[0].nsamples, 4);
	assert_int_equal(t.host[1].nsamples, 3);
	assert_true(isnan(t.host[1].sample[0].value[TRACKER_MEMORY]));
	assert_true(t.host[1].sample[0].value[TRACKER_DISK_READ] == 0);
	assert_true(t.host[1].sample[2].value[TRACKER_DISK_READ] == 4 << 20);
	tracking_free(&t);
	make(&t, s, 1);
	assert_true(t.host[1].nsamples <= 2);
	assert_true(t.host[1].sample[0].value[TRACKER_CPU_MIN] == 0);
	tracking_free(&t);
	synth_free(s);
}

static void test_a_run_without_any_of_it(void **state)
{
	struct synth *s = synth_new(1);
	struct tracking t;

	(void)state;
	make(&t, s, 10);
	assert_int_equal(t.n, 2);
	holds(&t.host[0], "cpu_avg_utilization_pct", NAN);
	tracking_free(&t);
	synth_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_two_recordings_of_a_host_saw_counts_once),
		cmocka_unit_test(test_figures_of_each_node),
		cmocka_unit_test(test_steps_are_the_batch_systems),
		cmocka_unit_test(test_samples_are_thinned_and_extremes_stay),
		cmocka_unit_test(test_a_run_without_any_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
