/* SPDX-License-Identifier: Apache-2.0 */
/* Where the events of each device are counted: on both kinds of cores of a hybrid CPU, on the CPUs
 * that a device names, with the job where it names none. Nothing is opened. */
#include "source/perf/perf_where.h"

#include "unit/tree.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define DEVICE "bus/event_source/devices/"

struct scene {
	char dir[32];
	struct source_env env;
	struct perf_places places;
	struct perf_where where;
	struct err e;
};

static void begin(struct scene *x)
{
	*x = (struct scene){ .dir = "perf_where.XXXXXX" };
	assert_non_null(mkdtemp(x->dir));
	tree_put(x->dir, "devices/system/cpu/online", "0-3\n");
	assert_int_equal(root_open(&x->env.proc, x->dir), 0);
	assert_int_equal(root_open(&x->env.sys, x->dir), 0);
}

/* Of a job that process 7 starts. */
static int open_places(struct scene *x, const struct perf_options *o)
{
	static const pid_t launcher = 7;

	x->env.perf = o;
	x->env.launched = true;
	x->env.roots = &launcher;
	x->env.nroots = 1;
	return perf_places_open(&x->places, &x->env, &x->e);
}

static int look(struct scene *x, enum perf_scope scope, const char *pmu)
{
	const struct perf_options o = { .scope = scope };
	struct perf_event event = { .id = "a", .pmu = pmu };
	struct perf_group group = { .name = "g", .event = &event, .nevents = 1 };
	struct perf_set set = { .group = &group, .n = 1 };
	int r;

	free(x->where.seat);
	assert_int_equal(open_places(x, &o), 0);
	r = perf_places_of(&x->places, &set, &x->where, &x->e);
	perf_places_close(&x->places);
	return r;
}

static void end(struct scene *x)
{
	char command[64];

	free(x->where.seat);
	root_close(&x->env.proc);
	root_close(&x->env.sys);
	snprintf(command, sizeof command, "rm -rf %s", x->dir);
	assert_int_equal(system(command), 0);
}

static void check_seat(const struct scene *x, size_t i, pid_t pid, int cpu, uint32_t type)
{
	assert_true(i < x->where.n);
	assert_int_equal(x->where.seat[i].pid, pid);
	assert_int_equal(x->where.seat[i].cpu, cpu);
	assert_int_equal(x->where.seat[i].type, type);
}

static void both_kinds_of_a_hybrid_cpu_count_the_task(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x);
	tree_put(x.dir, DEVICE "cpu_core/type", "4\n");
	tree_put(x.dir, DEVICE "cpu_atom/type", "10\n");
	assert_int_equal(look(&x, PERF_SCOPE_JOB, "hardware"), 0);
	assert_int_equal(x.where.n, 2);
	check_seat(&x, 0, 7, -1, 4);
	check_seat(&x, 1, 7, -1, 10);
	assert_string_equal(x.where.seat[0].kind, "cpu_core");
	assert_string_equal(x.where.seat[1].kind, "cpu_atom");
	assert_false(x.where.seat[0].again); /* its time is counted once */
	assert_true(x.where.seat[1].again);
	assert_true(x.where.inherit && x.where.at_exec);
	assert_int_equal(look(&x, PERF_SCOPE_NODE, "hardware"), 0);
	assert_int_equal(x.where.n, 8);
	end(&x);
}

static void each_kind_of_apples_and_arms_cores_counts_the_task(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x);
	tree_put(x.dir, DEVICE "apple_icestorm_pmu/type", "11\n");
	assert_int_equal(look(&x, PERF_SCOPE_JOB, "cpu"), 0);
	assert_int_equal(x.where.n, 1);
	check_seat(&x, 0, 7, -1, 0); /* one kind: the kernel's own type */
	tree_put(x.dir, DEVICE "apple_firestorm_pmu/type", "10\n");
	assert_int_equal(look(&x, PERF_SCOPE_JOB, "cpu"), 0);
	assert_int_equal(x.where.n, 2);
	check_seat(&x, 0, 7, -1, 10);
	check_seat(&x, 1, 7, -1, 11);
	tree_put(x.dir, DEVICE "armv8_cortex_a53/type", "8\n");
	tree_put(x.dir, DEVICE "armv8_cortex_a72/type", "9\n");
	tree_put(x.dir, DEVICE "arm_cmn_0/type", "7\n");
	tree_put(x.dir, DEVICE "apple_pmu/type", "6\n");
	assert_int_equal(look(&x, PERF_SCOPE_JOB, "hardware"), 0);
	assert_int_equal(x.where.n, 4);
	check_seat(&x, 0, 7, -1, 8);
	tree_put(x.dir, DEVICE "cpu_lowpower/type", "5\n"); /* more kinds than there are */
	assert_int_equal(look(&x, PERF_SCOPE_JOB, "hardware"), 0);
	assert_int_equal(x.where.n, 4);
	end(&x);
}

static void a_device_counts_on_the_cpus_that_it_names(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x);
	tree_put(x.dir, DEVICE "uncore_imc_0/type", "20\n");
	tree_put(x.dir, DEVICE "uncore_imc_0/cpumask", "0,2\n");
	tree_put(x.dir, DEVICE "uncore_imc_free_running_0/type", "21\n");
	tree_put(x.dir, DEVICE "uncore_imc_free_running_0/cpumask", "1\n");
	assert_int_equal(look(&x, PERF_SCOPE_JOB, "uncore_imc_#"), 0);
	assert_int_equal(x.where.n, 2);
	check_seat(&x, 0, -1, 0, 20);
	check_seat(&x, 1, -1, 2, 20);
	assert_false(x.where.inherit || x.where.at_exec);
	assert_int_equal(look(&x, PERF_SCOPE_JOB, "uncore_imc_free_running_0"), 0);
	assert_int_equal(x.where.n, 1);
	check_seat(&x, 0, -1, 1, 21);
	tree_put(x.dir, DEVICE "uncore_imc_0/cpumask", "0-\n");
	assert_int_equal(look(&x, PERF_SCOPE_JOB, "uncore_imc_#"), -EBADMSG);
	end(&x);
}

static void a_device_without_cpus_counts_the_job(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x);
	tree_put(x.dir, DEVICE "msr/type", "9\n");
	assert_int_equal(look(&x, PERF_SCOPE_JOB, "msr"), 0);
	assert_int_equal(x.where.n, 1);
	check_seat(&x, 0, 7, -1, 9);
	assert_true(x.where.inherit && x.where.at_exec);
	assert_int_equal(look(&x, PERF_SCOPE_NODE, "msr"), 0);
	assert_int_equal(x.where.n, 4);
	check_seat(&x, 3, -1, 3, 9);
	end(&x);
}

static void what_is_not_there_is_refused(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x);
	tree_put(x.dir, DEVICE "msr/type", "no number\n");
	assert_int_equal(look(&x, PERF_SCOPE_JOB, "tracepoint"), -ENODEV);
	assert_int_equal(look(&x, PERF_SCOPE_JOB, "msr"), -ENODEV);
	assert_int_equal(look(&x, PERF_SCOPE_JOB, "hardware"), -ENOENT);
	assert_int_equal(look(&x, PERF_SCOPE_JOB, "software"), 0);
	end(&x);
}

static void put_cgroup(const struct scene *x, const char *job)
{
	char here[256];

	assert_non_null(getcwd(here, sizeof here));
	tree_put(x->dir, "self/mountinfo",
		 "30 1 0:26 / %s/%s/v1 rw - cgroup cgroup rw,perf_event\n"
		 "31 1 0:27 / %s/%s/v2 rw - cgroup2 cgroup2 rw\n",
		 here, x->dir, here, x->dir);
	tree_put(x->dir, "7/cgroup", "%s", job);
}

static void the_group_of_the_whole_machine_is_not_the_jobs(void **unused)
{
	const struct perf_options o = { .scope = PERF_SCOPE_CGROUP };
	struct scene x;

	(void)unused;
	begin(&x);
	tree_put(x.dir, "v1/release_agent", "\n");
	tree_put(x.dir, "v1/job/cgroup.procs", "7\n");
	tree_put(x.dir, "v2/cgroup.procs", "7\n");
	tree_put(x.dir, "v2/job/cgroup.events", "populated 1\n");
	put_cgroup(&x, "3:perf_event:/\n");
	assert_int_equal(open_places(&x, &o), -ENODEV);
	assert_non_null(strstr(x.e.text, "--perf-scope node"));
	perf_places_close(&x.places);
	put_cgroup(&x, "0::/\n");
	assert_int_equal(open_places(&x, &o), -ENODEV);
	perf_places_close(&x.places);
	put_cgroup(&x, "3:perf_event:/job\n");
	assert_int_equal(open_places(&x, &o), 0);
	assert_int_equal(x.places.job.n, 4);
	perf_places_close(&x.places);
	put_cgroup(&x, "0::/job\n");
	assert_int_equal(open_places(&x, &o), 0);
	perf_places_close(&x.places);
	end(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_kinds_of_a_hybrid_cpu_count_the_task),
		cmocka_unit_test(each_kind_of_apples_and_arms_cores_counts_the_task),
		cmocka_unit_test(a_device_counts_on_the_cpus_that_it_names),
		cmocka_unit_test(a_device_without_cpus_counts_the_job),
		cmocka_unit_test(what_is_not_there_is_refused),
		cmocka_unit_test(the_group_of_the_whole_machine_is_not_the_jobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
