/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of this very process, as the proc connector tells of it, from the begin or after perf
 * events. Skipped where it does not. */
#include "sampler/tree/tree.h"

#include "base/clock.h"
#include "sampler/tree/exits.h"

#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { CHILDREN = 30 };

struct job {
	struct root proc;
	struct sample sample;
	struct tree *tree;
};

static void job_open(struct job *j, enum process_events how)
{
	struct tree_options o = { .launcher = getpid(), .process_events = how };
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

/* What lives on after its command has been left behind; what another task runs has not. */
static void only_what_outlives_its_command_is_left_behind(void **state)
{
	struct message over = { .kind = MESSAGE_ENDED };
	struct job j = { 0 };
	char names[200];
	pid_t pid;

	(void)state;
	job_open(&j, PROCESS_EVENTS_POLLING);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	next(&j, false);
	assert_true(tree_has(j.tree, pid));
	assert_int_equal(tree_survivors(j.tree, names, sizeof names), 0);
	assert_string_equal(names, "");
	tree_reaped(j.tree, 0, &over);
	assert_int_equal(tree_survivors(j.tree, names, sizeof names), 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	job_close(&j);
}

static void every_child_is_counted_though_none_was_seen(void **state)
{
	struct job j = { 0 };
	struct tree_totals t;

	(void)state;
	job_open(&j, PROCESS_EVENTS_CONNECTOR);
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
/* The instance of a process, 0: there is none. */
static uint32_t instance_of(const struct sample *s, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof text, "%d", (int)pid);
	for (uint32_t i = 0; i < s->nevents; i++)
		if (s->event[i].kind == EVENT_LABEL && !strcmp(s->event[i].name, "pid") &&
		    !strcmp(s->event[i].text, text))
			return s->event[i].id;
	return 0;
}

static uint32_t parent_of(const struct sample *s, uint32_t instance)
{
	for (uint32_t i = 0; i < s->nevents; i++)
		if (s->event[i].kind == EVENT_INSTANCE && s->event[i].id == instance)
			return s->event[i].parent;
	return 0;
}

/* Parent and child come and end between two samples, the parent first. */
static void a_child_that_outlives_its_parent_has_one_in_the_recording(void **state)
{
	const struct timespec while_it_ends = { .tv_nsec = 20 * NS_PER_MS };
	struct job j = { 0 };
	struct tree_totals t;
	pid_t parent, child = 0;
	int ends[2];
	char end;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	job_open(&j, PROCESS_EVENTS_PERF);
	parent = fork();
	if (!parent) {
		child = fork();
		if (child)
			_exit(write(ends[1], &child, sizeof child) != sizeof child);
		nanosleep(&while_it_ends, NULL);
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &child, sizeof child), sizeof child);
	assert_int_equal(waitpid(parent, NULL, 0), parent);
	assert_int_equal(read(ends[0], &end, 1), 0);
	nanosleep(&while_it_ends, NULL);
	t = next(&j, true);
	if (strcmp(t.starts_how, "exit records of perf events") != 0)
		skip();
	assert_int_not_equal(instance_of(&j.sample, parent), 0);
	assert_int_equal(parent_of(&j.sample, instance_of(&j.sample, child)),
			 instance_of(&j.sample, parent));
	close(ends[0]);
	job_close(&j);
}

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
	job_open(&j, PROCESS_EVENTS_CONNECTOR);
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

static bool is_by_events(const struct tree *tree)
{
	struct tree_totals t;

	tree_totals(tree, &t);
	return !strcmp(t.starts_how, "exit records of perf events");
}

/* Two that pass a byte to and fro until they are killed. */
static void start_switching(pid_t pid[2])
{
	int there[2], back[2];
	char c = 0;

	assert_int_equal(pipe(there), 0);
	assert_int_equal(pipe(back), 0);
	for (int i = 0; i < 2; i++) {
		pid[i] = fork();
		if (pid[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (bool mine = i; mine || read(i ? back[0] : there[0], &c, 1) == 1; mine = false)
			if (write(i ? there[1] : back[1], &c, 1) != 1)
				break;
		_exit(0);
	}
	for (int i = 0; i < 2; i++) {
		close(there[i]);
		close(back[i]);
	}
}

static bool has_changed(const struct tree_totals *t)
{
	return !strcmp(t->starts_how, "exit records of perf events, then the proc connector");
}

/* Each birth before, meanwhile and after it is counted, and once. */
static void a_job_that_switches_often_has_no_events_for_long(void **state)
{
	const struct timespec pause = { .tv_nsec = 20 * NS_PER_MS };
	int64_t until_ns = clock_mono_ns() + 60 * NS_PER_S, born = CHILDREN + 2;
	struct tree_totals t = { 0 };
	struct job j = { 0 };
	pid_t pid[2];

	(void)state;
	job_open(&j, PROCESS_EVENTS_AUTO);
	if (!is_by_events(j.tree)) {
		job_close(&j);
		skip();
	}
	start(CHILDREN);
	start_switching(pid);
	do {
		nanosleep(&pause, NULL);
		start(1);
		t = next(&j, false);
		born++;
	} while (!has_changed(&t) && clock_mono_ns() < until_ns);
	assert_true(has_changed(&t));
	start(CHILDREN);
	next(&j, false);
	for (int i = 0; i < 2; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	t = next(&j, true);
	assert_int_equal(t.started, born + CHILDREN);
	assert_int_equal(t.ended, born + CHILDREN);
	assert_true(t.exact_starts);
	job_close(&j);
}

/* What passes a byte now and then, or computes, keeps its exit records. */
static void a_job_that_switches_seldom_keeps_them(void **state)
{
	struct tree_totals t = { 0 };
	struct job j = { 0 };

	(void)state;
	job_open(&j, PROCESS_EVENTS_AUTO);
	if (!is_by_events(j.tree)) {
		job_close(&j);
		skip();
	}
	for (int i = 0; i < CHILDREN; i++) {
		start(1);
		t = next(&j, i + 1 == CHILDREN);
	}
	assert_string_equal(t.starts_how, "exit records of perf events");
	job_close(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_outlives_its_command_is_left_behind),
		cmocka_unit_test(every_child_is_counted_though_none_was_seen),
		cmocka_unit_test(a_child_that_outlives_its_parent_has_one_in_the_recording),
		cmocka_unit_test(a_connector_that_falls_silent_is_not_believed),
		cmocka_unit_test(a_job_that_switches_often_has_no_events_for_long),
		cmocka_unit_test(a_job_that_switches_seldom_keeps_them),
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
