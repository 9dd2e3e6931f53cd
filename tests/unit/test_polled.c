/* SPDX-License-Identifier: Apache-2.0 */
/* Which descriptors a thread polls: from its own memory, as another process's, and from made-up
 * files. */
#include "source/program/waiting.h"

#include "tree.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/select.h>
#include <sys/syscall.h>

#include <cmocka.h>

static int read_mine(long call, const uint64_t *arg, struct polled *out)
{
	struct root proc;
	int bad;

	assert_int_equal(root_open(&proc, "/proc"), 0);
	bad = polled_read(&proc, getpid(), call, arg, out);
	root_close(&proc);
	return bad;
}

static void poll_names_what_it_waits_for(void **state)
{
	const struct pollfd fds[] = { { .fd = 7 }, { .fd = -1 }, { .fd = 12 } };
	const uint64_t arg[6] = { (uintptr_t)fds, 3 };
	const uint64_t none[6] = { 0 }, wrong[6] = { 8, 3 }, wild[6] = { UINT64_MAX, 3 };
	struct polled p;

	(void)state;
	assert_int_equal(read_mine(SYS_ppoll, arg, &p), 0);
	assert_int_equal(p.n, 2); /* a descriptor below 0 is left out */
	assert_int_equal(p.fd[0], 7);
	assert_int_equal(p.fd[1], 12);
	assert_false(p.by_epoll);
	assert_int_equal(read_mine(SYS_ppoll, none, &p), 0); /* as one that sleeps */
	assert_int_equal(p.n, 0);
	assert_int_equal(read_mine(SYS_ppoll, wrong, &p), -EIO);
	assert_int_equal(read_mine(SYS_ppoll, wild, &p), -EIO);
	assert_int_equal(read_mine(SYS_read, arg, &p), -ENOENT);
}

static void more_than_fit_are_passed_over(void **state)
{
	struct pollfd fds[POLLED_MAX + 9];
	const uint64_t arg[6] = { (uintptr_t)fds, POLLED_MAX + 9 };
	struct polled p;

	(void)state;
	for (int i = 0; i < POLLED_MAX + 9; i++)
		fds[i] = (struct pollfd){ .fd = i };
	assert_int_equal(read_mine(SYS_ppoll, arg, &p), 0);
	assert_int_equal(p.n, POLLED_MAX);
}

static void select_names_those_of_all_its_sets(void **state)
{
	fd_set in, out;
	const uint64_t arg[6] = { 71, (uintptr_t)&in, (uintptr_t)&out, 0 };
	struct polled p;

	(void)state;
	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_SET(3, &in);
	FD_SET(70, &out);
	FD_SET(99, &out); /* beyond what it says there are */
	assert_int_equal(read_mine(SYS_pselect6, arg, &p), 0);
	assert_int_equal(p.n, 2);
	assert_int_equal(p.fd[0], 3);
	assert_int_equal(p.fd[1], 70);
}

static void epoll_names_what_its_descriptor_watches(void **state)
{
	const uint64_t arg[6] = { 4, 0, 0, 350 }, other[6] = { 5, 0, 0, UINT32_MAX };
	struct root proc;
	struct polled p;

	(void)state;
	tree_put("polled.proc", "12/fdinfo/4",
		 "pos:\t0\nflags:\t02\ntfd:        9 events:       19 data: 9\n"
		 "tfd: x events: 19\ntfd:       11 events:       19 data: b\n");
	assert_int_equal(root_open(&proc, "polled.proc"), 0);
	assert_int_equal(polled_read(&proc, 12, SYS_epoll_pwait, arg, &p), 0);
	assert_int_equal(p.n, 2);
	assert_int_equal(p.fd[0], 9);
	assert_int_equal(p.fd[1], 11);
	assert_true(p.by_epoll);
	assert_int_equal(p.wait_ms, 350);
	assert_int_equal(polled_read(&proc, 12, SYS_epoll_pwait, other, &p), -ENOENT);
	assert_int_equal(p.wait_ms, -1); /* for ever */
	root_close(&proc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(poll_names_what_it_waits_for),
		cmocka_unit_test(more_than_fit_are_passed_over),
		cmocka_unit_test(select_names_those_of_all_its_sets),
		cmocka_unit_test(epoll_names_what_its_descriptor_watches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
