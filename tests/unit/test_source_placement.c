/* SPDX-License-Identifier: Apache-2.0 */
/* On which NUMA nodes the job's memory lies, over a made /proc of a machine of two. */
#include "base/clock.h"
#include "unit/job_scene.h"

extern const struct source source_placement;

/* cpus: those it may use; its resident memory in pages. */
static void put_process(const struct scene *x, int pid, const char *cpus, int64_t pages,
			const char *maps)
{
	char name[64];

	snprintf(name, sizeof name, "%d/statm", pid);
	tree_put(x->dir, name, "9999 %lld 100 1 0 500 0\n", (long long)pages);
	snprintf(name, sizeof name, "%d/status", pid);
	tree_put(x->dir, name,
		 "Name:\tx\nState:\tS (sleeping)\nCpus_allowed_list:\t%s\nMems_allowed_list:\t0-1\n"
		 "voluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\t0\n",
		 cpus);
	snprintf(name, sizeof name, "%d/numa_maps", pid);
	tree_put(x->dir, name, "%s", maps);
}

static int set_up(void **state)
{
	struct scene *x = scene_begin();

	tree_put(x->dir, "devices/system/node/online", "0-1\n");
	tree_put(x->dir, "devices/system/node/node0/cpulist", "0-3\n");
	tree_put(x->dir, "devices/system/node/node1/cpulist", "4-7\n");
	tree_put(x->dir, "self/numa_maps", "1 default\n");
	put_process(x, 500, "0-3", 1000, "1 default N0=700 N1=300 kernelpagesize_kB=4\n");
	put_process(x, 501, "4-7", 100, "1 default N0=20 kernelpagesize_kB=4\n2 default N1=80\n");
	scene_number(x, 2);
	scene_open(x, &source_placement);
	counted = "/numa_maps";
	*state = x;
	return 0;
}

/* Seconds until the places are put; 100: never. */
static int read_until_put(struct scene *x)
{
	int seconds = 0;

	do
		one_read(&x->one);
	while (++seconds < 100 && of(x, "job.numa_local_bytes", "-") < 0);
	return seconds;
}

static void memory_is_told_by_node_and_by_cpus(void **state)
{
	struct scene *x = *state;

	assert_int_equal(read_until_put(x), 2); /* a process a second */
	assert_int_equal(of(x, "job_numa.resident_bytes", "node0"), 720 * 4096);
	assert_int_equal(of(x, "job_numa.resident_bytes", "node1"), 380 * 4096);
	assert_int_equal(of(x, "job.numa_local_bytes", "-"), 780 * 4096);
	assert_int_equal(of(x, "job.numa_remote_bytes", "-"), 320 * 4096);
	assert_int_equal(of(x, "job.numa_age_seconds", "-"), NS_PER_S);
	/* Absent until the next round is over, which begins 30 s after the first. */
	assert_in_range(read_until_put(x), 27, 31);
	assert_int_equal(opened, 4);
}

static void a_process_that_has_ended_has_no_memory(void **state)
{
	struct scene *x = *state;

	scene_number(x, 3);
	assert_int_equal(read_until_put(x), 3);
	assert_int_equal(of(x, "job.numa_local_bytes", "-"), 780 * 4096);
}

static void a_job_that_has_ended_is_not_told(void **state)
{
	struct scene *x = *state;
	char command[160];

	snprintf(command, sizeof command, "rm -r %s/500 %s/501", x->dir, x->dir);
	assert_int_equal(system(command), 0);
	assert_int_equal(read_until_put(x), 100);
}

/* 4 GB are predicted to take 45 ms: 20 ms are there at first, and half a millisecond a second comes
 * in. */
static void what_cannot_be_paid_for_waits(void **state)
{
	struct scene *x = *state;

	put_process(x, 500, "0-3", 1 << 20, "1 default N0=65536 kernelpagesize_kB=4\n");
	one_read(&x->one);
	assert_int_equal(opened, 0);
	assert_in_range(read_until_put(x), 45, 60);
}

static void what_would_hold_a_process_up_is_never_done(void **state)
{
	struct scene *x = *state;

	put_process(x, 500, "0-3", INT64_C(30) << 18, "1 default N0=1 kernelpagesize_kB=4\n");
	assert_int_equal(read_until_put(x), 100);
	assert_int_equal(opened, 0);
	assert_int_equal(one_state(&x->one, "job.numa_local_bytes", "-"), STATE_FAILED);
	assert_int_equal(one_state(&x->one, "job_numa.resident_bytes", "node1"), STATE_FAILED);
	put_process(x, 500, "0-3", 10, "1 default N0=1 kernelpagesize_kB=4\n");
	read_until_put(x);
	assert_int_equal(one_state(&x->one, "job.numa_local_bytes", "-"), STATE_PRESENT);
}

static void a_process_that_may_not_be_read_says_so(void **state)
{
	struct scene *x = *state;

	forbidden = "501/numa_maps";
	assert_int_equal(read_until_put(x), 100);
	assert_int_equal(one_state(&x->one, "job.numa_local_bytes", "-"), STATE_FORBIDDEN);
	assert_int_equal(one_state(&x->one, "job_numa.resident_bytes", "node0"), STATE_FORBIDDEN);
	forbidden = NULL;
	assert_true(read_until_put(x) < 100);
	assert_int_equal(one_state(&x->one, "job.numa_local_bytes", "-"), STATE_PRESENT);
}

static void garbage_has_failed(void **state)
{
	struct scene *x = *state;

	put_process(x, 501, "0-3", 10, "1 default N0=lots\n");
	assert_int_equal(read_until_put(x), 100);
	assert_int_equal(one_state(&x->one, "job.numa_local_bytes", "-"), STATE_FAILED);
}

/* Longer than what is read at a time, and a line longer than that. */
static void long_files_are_read_in_pieces(void **state)
{
	static char maps[100000];
	struct scene *x = *state;
	size_t n = 0;

	for (int i = 0; i < 2000; i++)
		n += (size_t)snprintf(maps + n, sizeof maps - n, "7f%010d default anon=1 N1=1\n",
				      i);
	put_process(x, 500, "0-3", 2000, maps);
	assert_int_equal(read_until_put(x), 2);
	assert_int_equal(of(x, "job_numa.resident_bytes", "node1"), 2080 * 4096);
	memset(maps, 'x', 40000);
	put_process(x, 500, "0-3", 2000, maps);
	assert_int_equal(read_until_put(x), 100);
	assert_int_equal(one_state(&x->one, "job.numa_local_bytes", "-"), STATE_FAILED);
}

static void a_machine_of_one_node_needs_none(void **unused)
{
	struct one x;

	(void)unused;
	tree_put("one", "devices/system/node/online", "0\n");
	one_open(&x, &source_placement, "one", "one");
	assert_int_equal(x.result, -ENODEV);
	one_close(&x);
	tree_put("one", "devices/system/node/online", "0-1\n");
	one_open(&x, &source_placement, "one", "one");
	assert_int_equal(x.result, -ENOENT);
	one_close(&x);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, scene_end)
	const struct CMUnitTest tests[] = {
		TEST(memory_is_told_by_node_and_by_cpus),
		TEST(a_process_that_has_ended_has_no_memory),
		TEST(a_job_that_has_ended_is_not_told),
		TEST(what_cannot_be_paid_for_waits),
		TEST(what_would_hold_a_process_up_is_never_done),
		TEST(a_process_that_may_not_be_read_says_so),
		TEST(garbage_has_failed),
		TEST(long_files_are_read_in_pieces),
		cmocka_unit_test(a_machine_of_one_node_needs_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
