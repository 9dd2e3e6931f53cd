/* SPDX-License-Identifier: Apache-2.0 */
/* What the helper sonde-unwind knows of processes is bounded: where they have what, their threads,
 * and pages that they touch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "unwind/space.h"
#include "unwind/touch.h"

static void test_rows_of_processes_are_given_again(void **state)
{
	enum { MOST = 3, SAME = 1 << 14 }; /* pids SAME apart have one hash */
	const pid_t pid[MOST] = { 7, 7 + SAME, 7 + 2 * SAME };
	struct pids p;
	uint32_t row[MOST];
	bool fresh;

	(void)state;
	assert_int_equal(pids_make(&p, MOST), 0);
	for (int i = 0; i < MOST; i++) {
		row[i] = pids_get(&p, pid[i], &fresh);
		assert_true(fresh);
		assert_in_range(row[i], 1, MOST);
	}
	assert_int_equal(pids_get(&p, 8, &fresh), 0);
	for (int i = 0; i < MOST; i++) {
		assert_int_equal(pids_get(&p, pid[i], &fresh), row[i]);
		assert_false(fresh);
	}
	pids_drop(&p, row[1]);
	assert_int_equal(pids_get(&p, pid[0], &fresh), row[0]);
	assert_int_equal(pids_get(&p, pid[2], &fresh), row[2]);
	assert_int_equal(pids_get(&p, 8, &fresh), row[1]);
	assert_true(fresh);
	assert_int_equal(p.row[row[1]].pid, 8);
	pids_free(&p);
}

struct threads_seen {
	pid_t first;
	int n, most;
};

static bool see_thread(void *of, pid_t tid)
{
	struct threads_seen *s = of;

	s->first = s->n++ ? s->first : tid;
	return s->n < s->most;
}

static void test_ended_processes_make_room(void **state)
{
	enum { LIVE = 100, MANY = 3 * SPACES_MAX };
	struct spaces *s = calloc(1, sizeof *s);

	(void)state;
	assert_non_null(s);
	for (pid_t pid = 1; pid <= LIVE; pid++)
		spaces_exec(s, pid);
	for (pid_t pid = LIVE + 1; pid <= MANY; pid++) {
		spaces_exec(s, pid);
		spaces_get(s, pid)->ended = true;
	}
	for (pid_t pid = 1; pid <= LIVE; pid++)
		assert_true(spaces_get(s, pid)->known);
	/* All live: the one that was used the longest ago. */
	for (pid_t pid = MANY + 1; pid <= MANY + SPACES_MAX - LIVE + 1; pid++)
		spaces_exec(s, pid);
	for (pid_t pid = MANY + 1; pid <= MANY + SPACES_MAX - LIVE + 1; pid++)
		assert_true(spaces_get(s, pid)->known);
	for (pid_t pid = 2; pid <= LIVE; pid++)
		assert_true(spaces_get(s, pid)->known);
	assert_false(spaces_get(s, 1)->known);
	free(s);
}

/* Of the last few that ended, and of one whose other threads go on. */
static void test_what_ended_processes_had_is_forgotten(void **state)
{
	enum { GOES_ON = 7, MANY = 5 * SPACES_ENDED };
	struct spaces *s = calloc(1, sizeof *s);
	uint32_t known = 0;

	(void)state;
	assert_non_null(s);
	for (pid_t pid = 1; pid <= MANY; pid++) {
		spaces_exec(s, pid);
		spaces_end(s, pid);
		assert_true(spaces_get(s, GOES_ON)->known || pid < GOES_ON);
	}
	for (pid_t pid = 1; pid <= MANY; pid++)
		known += spaces_get(s, pid)->known;
	assert_int_equal(known, 1 + SPACES_ENDED);
	free(s);
}

static void test_threads_are_listed_until_enough(void **state)
{
	struct threads_seen all = { .most = INT_MAX }, one = { .most = 1 };
	struct root proc;

	(void)state;
	assert_int_equal(root_open(&proc, "/proc"), 0);
	assert_true(pids_threads(&proc, getpid(), see_thread, &all));
	assert_int_equal(all.first, getpid());
	assert_true(all.n >= 1);
	assert_false(pids_threads(&proc, getpid(), see_thread, &one));
	assert_int_equal(one.n, 1);
	root_close(&proc);
}

/* ---- pages that were given back and touched again ---- */

enum { PERIOD = 127, PAGE = 4096, TOUCHES = 200 };

static int by_address(const void *a, const void *b)
{
	const struct touch *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* So many samples of a node from there on, in the order of addresses or anywhere in the range. */
static uint32_t put_touches(struct touch *x, uint32_t n, uint64_t from, int64_t at_ns,
			    struct random *anywhere)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t page = anywhere ? random_u64(anywhere) % (n * PERIOD) : i * PERIOD;

		x[i] = (struct touch){ .address = from + page * PAGE,
				       .at_ns = at_ns + i,
				       .faults = PERIOD,
				       .pages = 1,
				       .here = true };
	}
	return n;
}

static uint32_t count_reused(struct touch *x, uint32_t n, int64_t before_ns)
{
	uint32_t reused = 0;

	qsort(x, n, sizeof *x, by_address);
	touch_mark_reused(x, n, PAGE);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(!x[i].reused || x[i].at_ns < before_ns);
		reused += x[i].reused;
	}
	return reused;
}

static void test_pages_that_are_used_again_count_once(void **state)
{
	const uint64_t at = UINT64_C(0x7f0000000000), part = (uint64_t)TOUCHES * PERIOD * PAGE;
	struct touch x[5 * TOUCHES];
	struct random random = { 7 };
	uint32_t n, passes;

	(void)state;
	n = put_touches(x, TOUCHES, at, 1000, NULL);
	assert_int_equal(count_reused(x, n, 0), 0);
	n = put_touches(x, TOUCHES, at, 1000, &random);
	assert_in_range(count_reused(x, n, INT64_MAX), 0, TOUCHES / 20);
	for (passes = 2; passes <= 4; passes++) {
		/* Right before and behind it is memory that is older, and stays. */
		n = put_touches(x, TOUCHES / 2, at - part / 2, 1000, NULL);
		n += put_touches(&x[n], TOUCHES / 2, at + part, 1000, NULL);
		for (uint32_t i = 0; i < passes; i++)
			n += put_touches(&x[n], TOUCHES, at + 5 * i * PAGE, 10000 * (i + 1), NULL);
		assert_in_range(count_reused(x, n, 10000 * passes), (passes - 1) * TOUCHES * 0.85,
				(passes - 1) * TOUCHES);
		for (uint32_t i = 0; i < n; i++)
			assert_false(x[i].reused && x[i].at_ns < 10000);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_rows_of_processes_are_given_again),
	cmocka_unit_test(test_ended_processes_make_room),
	cmocka_unit_test(test_what_ended_processes_had_is_forgotten),
	cmocka_unit_test(test_threads_are_listed_until_enough),
	cmocka_unit_test(test_pages_that_are_used_again_count_once),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
