/* SPDX-License-Identifier: Apache-2.0 */
/* Attached to a batch job, the control group is the job's: not that of one of its steps, whichever
 * process was found first. */
#include "base/clock.h"
#include "unit/node.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

extern const struct source source_cgroup;

static void reads(const char *name, pid_t pid, int64_t cpu_ns, int64_t memory, int64_t kills)
{
	struct node n = { .env = { .interval_ns = NS_PER_S, .followed = true } };
	const char *top = getenv("TOP");
	void *state = calloc(1, source_cgroup.size);
	char path[512];
	struct err e = { "" };

	snprintf(path, sizeof path, "%s/tests/fixtures/%s/proc", top ? top : ".", name);
	assert_int_equal(root_open(&n.env.proc, path), 0);
	snprintf(path, sizeof path, "%s/tests/fixtures/%s/sys", top ? top : ".", name);
	assert_int_equal(root_open(&n.env.sys, path), 0);
	assert_int_equal(sample_init(&n.sample, 16384, 4096), 0);
	n.env.roots = &pid;
	n.env.nroots = 1;
	sample_begin(&n.sample, NS_PER_S, NS_PER_S);
	assert_int_equal(source_cgroup.open(state, &n.env, &n.sample, &e), 0);
	sample_begin(&n.sample, 2 * NS_PER_S, 2 * NS_PER_S);
	n.sample.last = true;
	assert_int_equal(source_cgroup.read(state, &n.sample), 0);
	assert_int_equal(node_value(&n, "cgroup.cpu_seconds", "job"), cpu_ns);
	assert_int_equal(node_value(&n, "cgroup.memory_bytes", "job"), memory);
	assert_int_equal(node_value(&n, "cgroup.memory_oom_kills", "job"), kills);
	assert_int_equal(node_slot(&n, "cgroup.memory_bytes", "task"), 0);
	source_cgroup.close(state);
	free(state);
	sample_free(&n.sample);
	root_close(&n.env.proc);
	root_close(&n.env.sys);
}

static void the_jobs_group_is_read(void **state)
{
	(void)state;
	reads("cgroup-v1", 4100, 987654321012, 3100000000, -1);
	reads("cgroup-v2", 7100, 700000000000, 7000000000, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_jobs_group_is_read) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
