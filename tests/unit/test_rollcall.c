/* SPDX-License-Identifier: Apache-2.0 */
/* Where each rank is: equal ones are said together, of several nodes and of one, and what is not
 * the same of all is not said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "core/stacks/rollcall.h"
#include "waits/say.h"

static void add(struct rollcall *r, uint32_t rank, const char *functions, const char *in,
		const char *kind, const char *wait)
{
	const char *const text[ROLLCALL_TEXTS] = { "app", functions, in, kind, wait };

	assert_true(rollcall_add(r, rank, text));
}

static void says(const struct rollcall *r, void (*how)(struct bytes *, const struct rollcall *),
		 const char *wanted)
{
	struct bytes b = { 0 };

	how(&b, r);
	bytes_u8(&b, 0);
	assert_string_equal((const char *)b.data, wanted);
	bytes_free(&b);
}

static void add_sixty_four(struct rollcall *r)
{
	r->ranks = 64;
	for (uint32_t i = 64; i-- > 0;)
		if (i != 17)
			add(r, i, "MPI_Allreduce < norm", "MPI_Allreduce < norm (solve.c:412)", "",
			    "");
	add(r, 17, "read < load", "read < load (io.c:88)", "waits for storage",
	    "waits for storage: /scratch/b.h5");
}

static const char sixty_four[] =
	"63 of 64 ranks (0-16, 18-63) in MPI_Allreduce < norm (solve.c:412); "
	"rank 17 in read < load (io.c:88): waits for storage: /scratch/b.h5";

static void test_one_is_elsewhere(void **state)
{
	struct rollcall r = { 0 };

	(void)state;
	add_sixty_four(&r);
	assert_true(rollcall_fold(&r));
	assert_int_equal(r.n, 2);
	assert_int_equal(rollcall_answered(&r), 64);
	says(&r, rollcall_say, sixty_four);
	assert_true(rollcall_is_mpi(rollcall_find(&r, 63)));
	assert_false(rollcall_is_mpi(rollcall_find(&r, 17)));
	assert_null(rollcall_find(&r, 64));
	rollcall_free(&r);
}

static void test_what_differs_is_not_said(void **state)
{
	struct rollcall r = { 0 };

	(void)state;
	add(&r, 0, "read < load", "read < load (io.c:88)", "waits for storage",
	    "waits for storage: /a");
	add(&r, 1, "read < load", "read < load (io.c:91)", "waits for storage",
	    "waits for storage: /b");
	add(&r, 2, "read < load", "read < load (io.c:91)", "waits for data from a pipe",
	    "waits for data from a pipe, written by\ngen (pid 3)");
	r.ranks = 5;
	assert_true(rollcall_fold(&r));
	says(&r, rollcall_list,
	     "2 of 5 ranks (0, 1) in read < load: waits for storage\n"
	     "rank 2 in read < load (io.c:91): waits for data from a pipe, written by?gen (pid 3)\n"
	     "no process was seen of ranks 3, 4\n");
	rollcall_free(&r);
}

static void test_nodes_are_told_apart_and_come_together(void **state)
{
	struct rollcall whole = { 0 }, again = { 0 };
	struct bytes b = { 0 };
	struct json j = { .out = &b };

	(void)state;
	add_sixty_four(&whole);
	assert_true(rollcall_fold(&whole));
	rollcall_put(&j, &whole);
	bytes_u8(&b, 0);
	assert_true(rollcall_take(&again, (const char *)b.data));
	assert_true(rollcall_fold(&again));
	says(&again, rollcall_say, sixty_four);
	/* the same rank of two nodes counts once in a group */
	assert_true(rollcall_take(&again, (const char *)b.data));
	assert_true(rollcall_fold(&again));
	says(&again, rollcall_say, sixty_four);
	bytes_free(&b);
	rollcall_free(&whole);
	rollcall_free(&again);
}

static void test_a_thousand_ranks_of_many_nodes(void **state)
{
	struct rollcall r = { 0 };
	char text[400];

	(void)state;
	for (int node = 0; node < 125; node++) {
		snprintf(
			text, sizeof text,
			"{\"ranks\":1000,\"groups\":[{\"ranks\":\"%d-%d\",\"process\":\"app\","
			"\"functions\":\"f%d\",\"in\":\"f%d (x.c:%d)\",\"kind\":\"\",\"waits\":\"\"}]}",
			8 * node, 8 * node + 7, node % 6, node % 6, node % 6);
		assert_true(rollcall_take(&r, text));
	}
	assert_true(rollcall_fold(&r));
	assert_int_equal(rollcall_answered(&r), 1000);
	says(&r, rollcall_say,
	     "168 of 1000 ranks (0-7, 48-55, 96-103, 144-151, 192-199, 240-247 and 120 more) in f0 (x.c:0); "
	     "168 of 1000 ranks (8-15, 56-63, 104-111, 152-159, 200-207, 248-255 and 120 more) in f1 (x.c:1); "
	     "336 ranks in 2 other places; "
	     "168 of 1000 ranks (32-39, 80-87, 128-135, 176-183, 224-231, 272-279 and 120 more) in f4 (x.c:4); "
	     "160 of 1000 ranks (40-47, 88-95, 136-143, 184-191, 232-239, 280-287 and 112 more) in f5 (x.c:5)");
	rollcall_free(&r);
}

static void test_what_makes_no_sense_adds_nothing(void **state)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{\"groups\":3}",
		"{\"groups\":[{\"ranks\":\"0\"}]}",
	};
	static const char *const ranks[] = { "", "5-3", "0-99999999", "x", "1;2", "-1", "1-" };
	struct rollcall r = { 0 };
	char text[300];

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(rollcall_take(&r, bad[i]));
	for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
		snprintf(text, sizeof text,
			 "{\"groups\":[{\"ranks\":\"%s\",\"process\":\"a\",\"functions\":\"f\","
			 "\"in\":\"f\",\"kind\":\"\",\"waits\":\"\"}]}",
			 ranks[i]);
		assert_false(rollcall_take(&r, text));
	}
	assert_int_equal(r.n, 0);
	rollcall_free(&r);
}

/* ---- from threads ---- */

static struct wait_thread *thread(struct waits *w, int32_t rank, pid_t pid, pid_t tid)
{
	struct wait_thread *t = waits_add(w);

	assert_non_null(t);
	t->rank = rank;
	t->pid = pid;
	t->tid = tid;
	t->stack = WAIT_STACK_WHOLE;
	snprintf(t->process, sizeof t->process, "app");
	return t;
}

static void frame(struct wait_thread *t, const char *function, const char *module, uint32_t line)
{
	const struct wait_frame f = { (char *)(uintptr_t)function, (char *)"/src/solve.c",
				      (char *)(uintptr_t)module, line };

	assert_true(wait_add_frame(t, &f));
}

static void test_a_rank_speaks_by_whom_its_main_thread_waits_for(void **state)
{
	const struct wait_holder worker = { 20, 21, "app" };
	struct waits w = { .ranks = 2 };
	struct rollcall r = { 0 };
	struct wait_thread *t;

	(void)state;
	t = thread(&w, 0, 10, 10);
	t->state = WAIT_READY;
	frame(t, "poll", "/lib/libc.so.6", 0);
	frame(t, "opal_progress", "/lib/libopen-pal.so.40", 0);
	frame(t, "PMPI_Allreduce", "/lib/libmpi.so.40", 0);
	frame(t, "norm", "/app", 412);
	t = thread(&w, 1, 20, 20);
	t->state = WAIT_WAITS;
	t->kind = WAIT_THREAD_END;
	wait_add_holder(t, &worker);
	frame(t, "main", "/app", 3);
	t = thread(&w, 1, 20, 21);
	t->state = WAIT_RUNS;
	frame(t, "compute", "/app", 7);
	frame(t, "MPI_Op_apply", "/lib/libmpi.so.40", 0);
	frame(t, "MPI_Reduce", "/lib/libmpi.so.40", 0);
	frame(t, "sum", "/app", 9);
	assert_true(say_ranks(&r, &w));
	says(&r, rollcall_say,
	     "rank 0 in MPI_Allreduce < norm (solve.c:412); "
	     "rank 1 in compute (solve.c:7) < MPI_Op_apply < MPI_Reduce < sum (solve.c:9): runs");
	rollcall_free(&r);
	waits_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_is_elsewhere),
		cmocka_unit_test(test_what_differs_is_not_said),
		cmocka_unit_test(test_nodes_are_told_apart_and_come_together),
		cmocka_unit_test(test_a_thousand_ranks_of_many_nodes),
		cmocka_unit_test(test_what_makes_no_sense_adds_nothing),
		cmocka_unit_test(test_a_rank_speaks_by_whom_its_main_thread_waits_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
