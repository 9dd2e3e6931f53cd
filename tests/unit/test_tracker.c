/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tracker.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static double figure(const struct tracker *t, const char *name)
{
	for (size_t i = 0; i < TRACKER_FIGURES; i++)
		if (!strcmp(tracker_figures[i].name, name))
			return tracker_value(t, &tracker_figures[i]);
	fail_msg("there is no figure %s", name);
	return NAN;
}

static void holds(const struct tracker *t, const char *name, double want)
{
	double got = figure(t, name);

	if (!(fabs(got - want) < 1e-9) && !(isnan(got) && isnan(want)))
		fail_msg("%s is %.17g, wanted %.17g", name, got, want);
}

/* A second of idleness, three of half, then a late sample: six seconds of all CPUs. */
static struct tracker_sample sample_of(double seconds, double stands_s, double cpu)
{
	struct tracker_sample s = tracker_sample_at(1.7e9 + seconds, seconds);

	s.stands_s = stands_s;
	s.value[TRACKER_CPU_MEAN] = cpu;
	s.value[TRACKER_CPU_MIN] = cpu / 2;
	s.value[TRACKER_CPU_MAX] = fmin(cpu * 2, 1);
	return s;
}

static struct tracker worked(void)
{
	struct tracker_sample s = tracker_sample_at(1.7e9, 0);
	struct tracker t;

	tracker_init(&t);
	s.value[TRACKER_MEMORY] = 0.25;
	s.value[TRACKER_DISK_READ] = 5e12; /* since the machine started */
	s.value[TRACKER_NETWORK_SENT] = 7 << 20;
	tracker_add(&t, &s);
	s = sample_of(1, 1, 0);
	s.value[TRACKER_DISK_READ] = 5e12 + (3 << 20);
	tracker_add(&t, &s);
	s = sample_of(4, 3, 0.5);
	s.value[TRACKER_MEMORY] = 0.75;
	s.value[TRACKER_DISK_READ] = 1 << 20; /* it began anew */
	s.value[TRACKER_NETWORK_SENT] = 7 << 20;
	tracker_add(&t, &s);
	s = sample_of(10, 6, 0.9996);
	s.value[TRACKER_MEMORY] = 0.5;
	s.value[TRACKER_DISK_READ] = 2 << 20;
	tracker_add(&t, &s);
	t.said[TRACKER_CPUS] = 8;
	return t;
}

static void test_means_are_weighted_by_time(void **state)
{
	struct tracker t = worked();

	(void)state;
	holds(&t, "cpu_avg_utilization_pct", 10 * (0 * 1 + 0.5 * 3 + 0.9996 * 6));
	holds(&t, "cpu_avg_utilization_at100_pct", 60); /* 99.96 is 100.0 with one place */
	holds(&t, "cpu_avg_utilization_over80_pct", 60);
	holds(&t, "cpu_avg_utilization_over40_pct", 90);
	holds(&t, "cpu_avg_utilization_over20_pct", 90);
	holds(&t, "max_t_cpu_pct_per_cpu_avg", 99.96);
	holds(&t, "max_t_cpu_pct_per_cpu_min", 49.98);
	holds(&t, "max_t_cpu_pct_per_cpu_max", 100);
	holds(&t, "max_t_mem_percent", 75);
}

static void test_hours_are_of_the_nodes_own_cpus(void **state)
{
	struct tracker t = worked();

	(void)state;
	holds(&t, "node_cpu_hours", 80. / 3600);
	holds(&t, "node_unused_cpu_hours", (80 - 8 * (1.5 + 0.9996 * 6)) / 3600);
	t.said[TRACKER_CPUS] = NAN;
	holds(&t, "node_cpu_hours", NAN);
}

static void test_totals_are_of_the_job_not_since_boot(void **state)
{
	struct tracker t = worked();

	(void)state;
	holds(&t, "total_disk_io_read_mb", 4); /* 3, an unknown rise, 1 */
	holds(&t, "total_net_io_ext_sent_mb", 0);
	holds(&t, "total_net_io_ext_recv_mb", NAN); /* it was never there: not 0 */
}

static void test_nothing_is_a_valid_result(void **state)
{
	struct tracker t;

	(void)state;
	tracker_init(&t);
	for (size_t i = 0; i < TRACKER_FIGURES; i++)
		holds(&t, tracker_figures[i].name, NAN);
}

static void test_the_time_before_the_first_sample_counts_when_it_stands_for_it(void **state)
{
	struct tracker_sample s = sample_of(1, 1, 1);
	struct tracker t;

	(void)state;
	tracker_init(&t);
	tracker_add(&t, &s);
	t.said[TRACKER_CPUS] = 3600;
	holds(&t, "node_cpu_hours", 1);
	holds(&t, "node_unused_cpu_hours", 0);
}

static void test_two_recordings_of_a_node_are_one(void **state)
{
	struct tracker a = worked(), b = worked(), none;

	(void)state;
	tracker_init(&none);
	tracker_join(&a, &none);
	tracker_join(&a, &b);
	holds(&a, "node_cpu_hours", 160. / 3600);
	holds(&a, "cpu_avg_utilization_over80_pct", 60);
	holds(&a, "total_disk_io_read_mb", 8);
	tracker_join(&none, &b);
	none.said[TRACKER_CPUS] = 8;
	holds(&none, "node_cpu_hours", 80. / 3600);
}

static void test_samples_merge_and_extremes_stay(void **state)
{
	struct tracker_sample a = sample_of(4, 3, 0.5), b = sample_of(10, 6, 0.2);

	(void)state;
	a.value[TRACKER_MEMORY] = 0.9;
	b.value[TRACKER_MEMORY] = 0.1;
	a.value[TRACKER_DISK_READ] = 10;
	b.value[TRACKER_DISK_WRITTEN] = 20;
	tracker_merge(&a, &b);
	assert_true(a.seconds == 10 && a.stands_s == 9);
	assert_true(fabs(a.value[TRACKER_CPU_MEAN] - 0.3) < 1e-12);
	assert_true(a.value[TRACKER_CPU_MIN] == 0.1 && a.value[TRACKER_CPU_MAX] == 1);
	assert_true(a.value[TRACKER_MEMORY] == 0.9);
	assert_true(a.value[TRACKER_DISK_READ] == 10 && a.value[TRACKER_DISK_WRITTEN] == 20);
	assert_true(isnan(a.value[TRACKER_NETWORK_SENT]));
}

static void test_keys_are_clean(void **state)
{
	static const struct {
		const char *name, *key;
	} cases[] = {
		{ "max_t_(cpu_pct_per_cpu_avg)", "max_t_cpu_pct_per_cpu_avg" },
		{ "system/node-1.site/cpu", "system/node-1.site/cpu" },
		{ "../../etc/passwd", "etc/passwd" },
		{ "a/./b//c/../d", "a/b/c/d" },
		{ "/a/", "a" },
		{ "a/..", "a" },
		{ "..", "_" },
		{ "...x", "x" },
		{ "", "_" },
		{ "\xc3\xa4\n", "_" },
		{ "0123456789abcdefghij", "0123456789abcde" },
		{ "0123456789abcd/fghij", "0123456789abcd" },
	};
	char out[16];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char wide[64];
		bool narrow = strlen(cases[i].name) == 20;

		assert_string_equal(tracker_key(narrow ? out : wide,
						narrow ? sizeof(out) : sizeof(wide), cases[i].name),
				    cases[i].key);
	}
	for (size_t i = 0; i < TRACKER_FIGURES; i++) {
		char key[51];

		assert_string_equal(tracker_key(key, sizeof(key), tracker_figures[i].name),
				    tracker_figures[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_means_are_weighted_by_time),
		cmocka_unit_test(test_hours_are_of_the_nodes_own_cpus),
		cmocka_unit_test(test_totals_are_of_the_job_not_since_boot),
		cmocka_unit_test(test_nothing_is_a_valid_result),
		cmocka_unit_test(
			test_the_time_before_the_first_sample_counts_when_it_stands_for_it),
		cmocka_unit_test(test_two_recordings_of_a_node_are_one),
		cmocka_unit_test(test_samples_merge_and_extremes_stay),
		cmocka_unit_test(test_keys_are_clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
