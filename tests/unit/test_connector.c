/* SPDX-License-Identifier: Apache-2.0 */
/* Datagrams that are made, and those of the kernel where it answers. */
#include "sampler/tree/exits.h"

#include "base/clock.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { CHILDREN = 50, CN_AT = 16, EVENT_AT = 36, DATAGRAM = EVENT_AT + sizeof(struct proc_event) };

struct seen {
	pid_t pid, ppid, tid; /* of the last record */
	int64_t at_ns;
	int forked, named, exited, mine, mine_named, mine_exited;
	pid_t child[CHILDREN];
};

static bool is_child(const struct seen *s, pid_t pid)
{
	for (int i = 0; i < CHILDREN; i++)
		if (pid && s->child[i] == pid)
			return true;
	return false;
}

static void forked(void *ctx, pid_t pid, pid_t ppid, pid_t tid, int64_t at_ns)
{
	struct seen *s = ctx;

	s->pid = pid;
	s->ppid = ppid;
	s->tid = tid;
	s->at_ns = at_ns;
	s->forked++;
	s->mine += ppid == getpid() && is_child(s, pid) && pid == tid;
}

static void named(void *ctx, pid_t pid, pid_t tid, const char *comm, bool exec)
{
	struct seen *s = ctx;

	assert_true(exec && !comm);
	s->pid = pid;
	s->tid = tid;
	s->named++;
	s->mine_named += is_child(s, pid);
}

static void exited(void *ctx, pid_t pid, pid_t tid, int64_t at_ns)
{
	struct seen *s = ctx;

	s->pid = pid;
	s->tid = tid;
	s->at_ns = at_ns;
	s->exited++;
	s->mine_exited += is_child(s, pid);
}

static struct exits_handler handler(struct seen *s)
{
	return (struct exits_handler){ s, forked, named, exited, NULL };
}

static void make(char out[DATAGRAM], const struct proc_event *ev)
{
	const struct nlmsghdr h = { .nlmsg_len = DATAGRAM, .nlmsg_type = NLMSG_DONE };
	const struct cn_msg m = { .id = { CN_IDX_PROC, CN_VAL_PROC }, .len = sizeof *ev };

	memcpy(out, &h, sizeof h);
	memcpy(out + CN_AT, &m, sizeof m);
	memcpy(out + EVENT_AT, ev, sizeof *ev);
}

static void each_kind_is_handed_out(void **state)
{
	struct seen s = { 0 };
	const struct exits_handler h = handler(&s);
	char d[DATAGRAM];

	(void)state;
	make(d, &(struct proc_event){ .what = PROC_EVENT_FORK,
				      .timestamp_ns = 77,
				      .event_data.fork = { .parent_pid = 1,
							   .parent_tgid = 2,
							   .child_pid = 3,
							   .child_tgid = 4 } });
	connector_parse(d, sizeof d, &h);
	assert_true(s.forked == 1 && s.pid == 4 && s.ppid == 2 && s.tid == 3 && s.at_ns == 77);
	make(d, &(struct proc_event){ .what = PROC_EVENT_EXEC,
				      .event_data.exec = { .process_pid = 5, .process_tgid = 6 } });
	connector_parse(d, sizeof d, &h);
	assert_true(s.named == 1 && s.pid == 6 && s.tid == 5);
	make(d, &(struct proc_event){ .what = PROC_EVENT_EXIT,
				      .timestamp_ns = 78,
				      .event_data.exit = { .process_pid = 7, .process_tgid = 8 } });
	connector_parse(d, sizeof d, &h);
	assert_true(s.exited == 1 && s.pid == 8 && s.tid == 7 && s.at_ns == 78);
	make(d, &(struct proc_event){ .what = PROC_EVENT_UID });
	connector_parse(d, sizeof d, &h);
	assert_int_equal(s.forked + s.named + s.exited, 3);
}

static void what_is_not_the_connectors_is_passed_over(void **state)
{
	static const struct {
		size_t at;
		uint32_t value;
	} lies[] = {
		{ 0, DATAGRAM + 1 },    { 0, EVENT_AT - 1 },        { 0, 0 },
		{ 4, NLMSG_ERROR },     { CN_AT, CN_IDX_PROC + 1 }, { CN_AT + 4, CN_VAL_PROC + 1 },
		{ CN_AT + 16, 0xffff }, { CN_AT + 16, 8 },
	};
	struct seen s = { 0 };
	const struct exits_handler h = handler(&s);
	char d[DATAGRAM];

	(void)state;
	for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
		make(d, &(struct proc_event){ .what = PROC_EVENT_FORK });
		memcpy(d + lies[i].at, &lies[i].value, lies[i].at == 0 ? 4 : 2);
		connector_parse(d, sizeof d, &h);
		assert_int_equal(s.forked, 0);
	}
	make(d, &(struct proc_event){ .what = PROC_EVENT_FORK });
	for (size_t n = 0; n < sizeof d; n++)
		connector_parse(d, n, &h);
	assert_int_equal(s.forked, 0);
	connector_parse(d, sizeof d, &h);
	assert_int_equal(s.forked, 1);
}

static void spawn(struct seen *s, int n)
{
	char *argv[] = { "true", NULL };

	for (int i = 0; i < n; i++) {
		assert_int_equal(posix_spawn(&s->child[i % CHILDREN], "/bin/true", NULL, NULL, argv,
					     environ),
				 0);
		assert_int_equal(waitpid(s->child[i % CHILDREN], NULL, 0), s->child[i % CHILDREN]);
	}
}

static int open_connector(void **state)
{
	static struct connector c;
	struct err e = { "" };

	if (connector_open(&c, &e))
		printf("not checked with the kernel's own: %s\n", e.text);
	*state = &c;
	return 0;
}

static int close_connector(void **state)
{
	connector_close(*state);
	return 0;
}

static struct connector *opened(void **state)
{
	struct connector *c = *state;

	if (!c->fd)
		skip();
	return c;
}

static void every_child_is_forked_executed_and_ended(void **state)
{
	struct connector *c = opened(state);
	struct seen s = { 0 };
	const struct exits_handler h = handler(&s);
	int64_t began = clock_mono_ns();

	spawn(&s, CHILDREN);
	assert_int_equal(connector_drain(c, &h, false), 0);
	assert_int_equal(s.mine, CHILDREN);
	assert_int_equal(s.mine_named, CHILDREN);
	assert_int_equal(s.mine_exited, CHILDREN);
	assert_true(s.at_ns > began && s.at_ns < clock_mono_ns());
}

/* A buffer that was full is said, and what comes later is told again. */
static void lost_records_are_said(void **state)
{
	struct connector *c = opened(state);
	struct seen s = { 0 };
	const struct exits_handler h = handler(&s);
	const int small = 4096;

	assert_int_equal(setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
	spawn(&s, CHILDREN);
	assert_true(connector_drain(c, &h, false) > 0);
	assert_true(s.mine < CHILDREN);
	s = (struct seen){ 0 };
	spawn(&s, 1);
	connector_drain(c, &h, false);
	assert_int_equal(s.mine, 1);
}

/* Whatever others start, not more than so many are looked at in a second; but in the end, all. */
static void no_more_than_so_many_a_second(void **state)
{
	struct connector *c = opened(state);
	struct seen s = { 0 };
	const struct exits_handler h = handler(&s);

	c->taken = CONNECTOR_RECORDS_PER_S;
	c->second_ns = clock_mono_ns() + NS_PER_S;
	spawn(&s, CHILDREN);
	assert_int_equal(connector_drain(c, &h, false), 0);
	assert_int_equal(s.forked + s.named + s.exited, 0);
	assert_int_equal(connector_drain(c, &h, true), 0);
	assert_int_equal(s.mine, CHILDREN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_is_handed_out),
		cmocka_unit_test(what_is_not_the_connectors_is_passed_over),
		cmocka_unit_test_setup_teardown(every_child_is_forked_executed_and_ended,
						open_connector, close_connector),
		cmocka_unit_test_setup_teardown(lost_records_are_said, open_connector,
						close_connector),
		cmocka_unit_test_setup_teardown(no_more_than_so_many_a_second, open_connector,
						close_connector),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
