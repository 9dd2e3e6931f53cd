/* SPDX-License-Identifier: Apache-2.0 */
/* Exit records of real processes. Where perf events are not permitted, the tests are skipped. */
#include "sampler/tree/exits.h"

#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { CHILDREN = 20, SPIN_MS = 5 };

struct seen {
	pid_t pid[CHILDREN];
	int forked, exited, named, counted;
	int64_t cpu_ns, last_ns;
	bool in_order;
};

static bool is_child(const struct seen *s, pid_t pid)
{
	for (int i = 0; i < CHILDREN; i++)
		if (s->pid[i] == pid)
			return true;
	return false;
}

static void forked(void *ctx, pid_t pid, pid_t ppid, pid_t tid, int64_t at_ns)
{
	struct seen *s = ctx;

	s->in_order &= at_ns >= s->last_ns;
	s->last_ns = at_ns;
	s->forked += is_child(s, pid) && ppid == getpid() && tid == pid;
}

static void named(void *ctx, pid_t pid, pid_t tid, const char *comm, bool exec)
{
	struct seen *s = ctx;

	(void)tid;
	s->named += is_child(s, pid) && !exec && !strcmp(comm, "spinner (1)");
}

static void exited(void *ctx, pid_t pid, pid_t tid, int64_t at_ns)
{
	struct seen *s = ctx;

	(void)tid;
	s->in_order &= at_ns >= s->last_ns;
	s->last_ns = at_ns;
	s->exited += is_child(s, pid);
}

static void counted(void *ctx, pid_t pid, int64_t cpu_ns)
{
	struct seen *s = ctx;

	if (!is_child(s, pid))
		return;
	s->counted++;
	s->cpu_ns += cpu_ns;
}

static _Noreturn void spin(void)
{
	prctl(PR_SET_NAME, "spinner (1)");
	while (clock_cpu_ns() < SPIN_MS * NS_PER_MS)
		;
	_exit(0);
}

static void every_child_is_forked_named_counted_and_ended(void **state)
{
	struct seen s = { .in_order = true };
	const struct exits_handler h = { &s, forked, named, exited, counted };
	pid_t self = getpid();
	struct exits *x;
	struct err e;

	(void)state;
	assert_int_equal(exits_open(&x, &self, 1, EXITS_CPUS_MAX, &e), 0);
	for (int i = 0; i < CHILDREN; i++) {
		s.pid[i] = fork();
		if (!s.pid[i])
			spin();
		waitpid(s.pid[i], NULL, 0);
	}
	assert_int_equal(exits_drain(x, &h, INT64_MAX), 0);
	assert_int_equal(s.forked, CHILDREN);
	assert_int_equal(s.named, CHILDREN);
	assert_int_equal(s.exited, CHILDREN);
	assert_int_equal(s.counted, CHILDREN * (int)exits_cpus(x));
	assert_true(s.in_order);
	assert_in_range(s.cpu_ns, CHILDREN * SPIN_MS * NS_PER_MS * 95 / 100,
			CHILDREN * SPIN_MS * NS_PER_MS * 120 / 100);
	exits_close(x);
}

struct tally {
	long forked, exited, counted;
};

static void tally_fork(void *ctx, pid_t pid, pid_t ppid, pid_t tid, int64_t at_ns)
{
	(void)pid, (void)ppid, (void)tid, (void)at_ns;
	((struct tally *)ctx)->forked++;
}

static void tally_name(void *ctx, pid_t pid, pid_t tid, const char *comm, bool exec)
{
	(void)ctx, (void)pid, (void)tid, (void)comm, (void)exec;
}

static void tally_exit(void *ctx, pid_t pid, pid_t tid, int64_t at_ns)
{
	(void)pid, (void)tid, (void)at_ns;
	((struct tally *)ctx)->exited++;
}

static void tally_count(void *ctx, pid_t pid, int64_t cpu_ns)
{
	(void)pid, (void)cpu_ns;
	((struct tally *)ctx)->counted++;
}

enum { BATCH = 100 };

/* BATCH children for each byte, and a byte back. */
static _Noreturn void spawn_many(int go, int back, int batches)
{
	char c;

	for (int n = 0; n < batches * BATCH; n++) {
		pid_t pid;

		if (n % BATCH == 0 && read(go, &c, 1) != 1)
			_exit(1);
		pid = fork();
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
		if ((n + 1) % BATCH == 0 && write(back, &c, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

/* Tasks that end on several CPUs at once write their counts into the same rings. What the rings
 * bear is what is started before they are emptied, however busy the machine is. */
static void no_birth_is_missed_when_many_end_at_once(void **state)
{
	enum { SPAWNERS = 4, BATCHES = 20, EACH = BATCHES * BATCH };
	struct tally t = { 0 };
	const struct exits_handler h = { &t, tally_fork, tally_name, tally_exit, tally_count };
	pid_t spawner[SPAWNERS];
	uint64_t lost = 0;
	struct exits *x;
	struct err e;
	int go[2], back[2];
	char c[SPAWNERS];

	(void)state;
	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(back), 0);
	for (int i = 0; i < SPAWNERS; i++) {
		spawner[i] = fork();
		if (!spawner[i])
			spawn_many(go[0], back[1], BATCHES);
	}
	assert_int_equal(exits_open(&x, spawner, SPAWNERS, EXITS_CPUS_MAX, &e), 0);
	for (int n = 0; n < BATCHES; n++) {
		assert_int_equal(write(go[1], "1234", SPAWNERS), SPAWNERS);
		for (int i = 0; i < SPAWNERS; i++)
			assert_int_equal(read(back[0], &c[i], 1), 1);
		usleep(2000);
		lost += exits_drain(x, &h, clock_mono_ns() - NS_PER_MS / 2);
	}
	for (int i = 0; i < SPAWNERS; i++)
		assert_int_equal(waitpid(spawner[i], NULL, 0), spawner[i]);
	lost += exits_drain(x, &h, INT64_MAX);
	assert_int_equal(lost, 0);
	assert_int_equal(t.forked, SPAWNERS * EACH);
	assert_int_equal(t.exited, SPAWNERS * EACH + SPAWNERS);
	assert_true(t.counted > (long)exits_cpus(x) * SPAWNERS * EACH * 8 / 10);
	exits_close(x);
	close(go[0]);
	close(go[1]);
	close(back[0]);
	close(back[1]);
}

/* Each CPU costs the job something for each process that it starts. */
static void more_cpus_than_allowed_are_refused(void **state)
{
	pid_t self = getpid();
	struct exits *x;
	struct err e;

	(void)state;
	assert_int_equal(exits_open(&x, &self, 1, 0, &e), -EOPNOTSUPP);
	assert_null(x);
}

/* Nothing is written after what was lost, so that the kernel does not say it. */
static void what_a_full_ring_lost_is_said(void **state)
{
	struct tally t = { 0 };
	const struct exits_handler h = { &t, tally_fork, tally_name, tally_exit, tally_count };
	enum { MANY = 8000 };
	pid_t self = getpid();
	struct exits *x;
	struct err e;

	(void)state;
	assert_int_equal(exits_open(&x, &self, 1, EXITS_CPUS_MAX, &e), 0);
	if (exits_cpus(x) > 2) {
		exits_close(x);
		skip(); /* so many processes do not fill the rings of more CPUs */
	}
	for (int i = 0; i < MANY; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	assert_true(exits_drain(x, &h, INT64_MAX) > 0);
	assert_true(t.forked < MANY);
	exits_close(x);
}

/* Their rings are this process's own, and stay when a task that was watched has gone. */
static void tasks_that_come_later_are_watched(void **state)
{
	enum { SPAWNERS = 3, EACH = BATCH };
	struct tally t = { 0 };
	const struct exits_handler h = { &t, tally_fork, tally_name, tally_exit, tally_count };
	struct exits *x;
	struct err e;
	int go[2], back[2];

	(void)state;
	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(back), 0);
	assert_int_equal(exits_open(&x, NULL, 0, EXITS_CPUS_MAX, &e), 0);
	for (int i = 0; i < SPAWNERS; i++) {
		pid_t spawner = fork();

		if (!spawner)
			spawn_many(go[0], back[1], 1);
		assert_int_equal(exits_add(x, spawner), 0);
		assert_int_equal(write(go[1], "1", 1), 1);
		waitpid(spawner, NULL, 0);
	}
	assert_int_equal(exits_add(x, INT_MAX), -ESRCH);
	assert_int_equal(exits_drain(x, &h, INT64_MAX), 0);
	assert_int_equal(t.forked, SPAWNERS * EACH);
	assert_int_equal(t.exited, SPAWNERS * EACH + SPAWNERS);
	assert_true(t.counted >= (long)exits_cpus(x) * SPAWNERS * EACH);
	exits_close(x);
	close(go[0]);
	close(go[1]);
	close(back[0]);
	close(back[1]);
}

/* Part of the tasks watched would be births unseen. */
static void more_tasks_than_events_are_refused(void **state)
{
	enum { TASKS = 1000 };
	pid_t tids[TASKS];
	struct exits *x;
	struct err e;

	(void)state;
	for (int i = 0; i < TASKS; i++)
		tids[i] = getpid();
	assert_int_equal(exits_open(&x, tids, TASKS, EXITS_CPUS_MAX, &e), -E2BIG);
	assert_null(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_child_is_forked_named_counted_and_ended),
		cmocka_unit_test(no_birth_is_missed_when_many_end_at_once),
		cmocka_unit_test(what_a_full_ring_lost_is_said),
		cmocka_unit_test(tasks_that_come_later_are_watched),
		cmocka_unit_test(more_cpus_than_allowed_are_refused),
		cmocka_unit_test(more_tasks_than_events_are_refused),
	};
	pid_t self = getpid();
	struct exits *x;
	struct err e;

	if (exits_open(&x, &self, 1, EXITS_CPUS_MAX, &e)) {
		printf("%s\n", e.text);
		return 77;
	}
	exits_close(x);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
