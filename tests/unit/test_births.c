/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of this very process, as the proc connector tells of it. Skipped where it does not. */
#include "sampler/tree.h"

#include "base/clock.h"
#include "sampler/connector.h"

#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { CHILDREN = 30 };

struct job {
	struct root proc;
	struct sample sample;
	struct tree *tree;
};

static void job_open(struct job *j)
{
	struct tree_options o = { .launcher = getpid(),
				  .process_events = PROCESS_EVENTS_CONNECTOR };
	struct err e = { "" };

	assert_int_equal(root_open(&j->proc, "/proc"), 0);
	assert_int_equal(sample_init(&j->sample, 32768, 4096), 0);
	sample_begin(&j->sample, 0, clock_mono_ns());
	o.proc = &j->proc;
	assert_int_equal(tree_open(&j->tree, &o, &j->sample, &e), 0);
}

static void job_close(struct job *j)
{
	tree_close(j->tree);
	sample_free(&j->sample);
	root_close(&j->proc);
}

static void start(int children)
{
	for (int i = 0; i < children; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
}

static struct tree_totals next(struct job *j, bool last)
{
	struct tree_totals t;

	sample_clear_events(&j->sample);
	sample_begin(&j->sample, 0, clock_mono_ns());
	tree_sample(j->tree, &j->sample, last);
	tree_totals(j->tree, &t);
	return t;
}

static void every_child_is_counted_though_none_was_seen(void **state)
{
	struct job j = { 0 };
	struct tree_totals t;

	(void)state;
	job_open(&j);
	start(CHILDREN);
	tree_drain(j.tree);
	start(CHILDREN);
	t = next(&j, true);
	assert_int_equal(t.started, 2 * CHILDREN);
	assert_int_equal(t.ended, 2 * CHILDREN);
	assert_int_equal(t.started_at_most, 2 * CHILDREN);
	assert_true(t.exact_starts);
	assert_string_equal(t.starts_how, "the proc connector");
	job_close(&j);
}

/* As another listener's leave can do. */
static void hush(int fd)
{
	const struct nlmsghdr h = { .nlmsg_len = 40, .nlmsg_type = NLMSG_DONE };
	const struct cn_msg m = { .id = { CN_IDX_PROC, CN_VAL_PROC }, .len = 4 };
	const uint32_t op = PROC_CN_MCAST_IGNORE;
	char q[40];

	memcpy(q, &h, sizeof h);
	memcpy(q + 16, &m, sizeof m);
	memcpy(q + 36, &op, sizeof op);
	assert_int_equal(send(fd, q, sizeof q, 0), sizeof q);
}

static void a_connector_that_falls_silent_is_not_believed(void **state)
{
	struct job j = { 0 };
	struct tree_totals t;
	size_t n;

	(void)state;
	job_open(&j);
	start(1);
	next(&j, false);
	hush(tree_fds(j.tree, &n)[0]);
	assert_int_equal(n, 1);
	next(&j, false);
	for (int i = 0; i < 3; i++) {
		start(1);
		t = next(&j, i == 2);
	}
	assert_false(t.exact_starts);
	assert_true(t.lost_records > 0);
	assert_string_equal(t.starts_how, "new pids at each sample");
	assert_true(t.started_at_most >= 4);
	job_close(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_child_is_counted_though_none_was_seen),
		cmocka_unit_test(a_connector_that_falls_silent_is_not_believed),
	};
	struct connector c;
	struct err e = { "" };

	if (connector_open(&c, &e)) {
		printf("%s\n", e.text);
		return 77;
	}
	connector_close(&c);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
