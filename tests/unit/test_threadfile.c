/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/tree/affinity.h"
#include "source/procfile.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The kernel writes a newline in a name as "\n", so that no name begins a line of its own. */
static const char status[] =
	"Name:\tx) R (\\nState:\tT\nUmask:\t0022\nState:\tD (disk sleep)\nTgid:\t7\n"
	"Cpus_allowed:\tff\nCpus_allowed_list:\t0-3,8\nMems_allowed:\t3\n"
	"Mems_allowed_list:\t0-1\nvoluntary_ctxt_switches:\t150\n"
	"nonvoluntary_ctxt_switches:\t545\n";

static void a_threads_status_is_read_by_name(void **state)
{
	struct thread_status st;

	(void)state;
	assert_int_equal(thread_status_parse(status, &st), 0);
	assert_int_equal(st.state, 'D');
	assert_int_equal(st.voluntary, 150);
	assert_int_equal(st.involuntary, 545);
	assert_memory_equal(st.cpus, "0-3,8\n", 6);
	assert_memory_equal(st.nodes, "0-1\n", 4);
}

static void who_ignores_the_end_of_children_is_told(void **state)
{
	(void)state;
	assert_false(thread_ignores_children(status));
	assert_false(thread_ignores_children("SigIgn:\t0000000000001000\n"));
	assert_true(thread_ignores_children("SigBlk:\t0\nSigIgn:\t0000000000010000\n"));
	assert_false(thread_ignores_children("Name:\tSigIgn:\t0000000000010000\n"));
	assert_false(thread_ignores_children("SigIgn:\t"));
}

static void a_status_without_its_counts_is_refused(void **state)
{
	char cut[sizeof status];
	struct thread_status st;
	size_t all = sizeof status - 1 - strlen("545\n");

	(void)state;
	for (size_t n = 0; n <= all; n++) {
		memcpy(cut, status, n);
		cut[n] = '\0';
		assert_int_equal(thread_status_parse(cut, &st), -EBADMSG);
	}
	assert_int_equal(thread_status_parse("State:\tR\nvoluntary_ctxt_switches:\t-1\n"
					     "nonvoluntary_ctxt_switches:\t1\n",
					     &st),
			 -EBADMSG);
}

static void waiting_for_a_cpu_is_the_second_figure(void **state)
{
	struct thread_times times;
	int64_t ns = 0;

	(void)state;
	assert_int_equal(thread_schedstat_parse("5000 700 3\n", &ns), 0);
	assert_int_equal(ns, 700);
	assert_int_equal(thread_times_parse("5000 700 3\n", &times), 0);
	assert_true(times.run_ns == 5000 && times.ready_ns == 700 && times.turns == 3);
	assert_int_equal(thread_times_parse("5000 700\n", &times), -EBADMSG);
	assert_int_equal(thread_schedstat_parse("5000 700", &ns), -EBADMSG);
	assert_int_equal(thread_schedstat_parse("5000 -700 3", &ns), -EBADMSG);
	assert_int_equal(thread_schedstat_parse("0 0 0\n", &ns), -EOPNOTSUPP);
	assert_int_equal(ns, 700);
}

static void migrations_are_found_in_any_kernels_sched(void **state)
{
	int64_t n = 0;

	(void)state;
	assert_int_equal(thread_sched_parse("a (1, #threads: 1)\n---\n"
					    "se.exec_start      :   1.2\n"
					    "se.nr_migrations   :                   42\n",
					    &n),
			 0);
	assert_int_equal(n, 42);
	assert_int_equal(thread_sched_parse("se.nr_migrations_cold : 3\n", &n), -EBADMSG);
	assert_int_equal(thread_sched_parse("nr_switches : 3\n", &n), -EBADMSG);
	assert_int_equal(n, 42);
}

static void what_threads_may_run_on_is_their_union(void **state)
{
	struct affinity *a = calloc(1, sizeof *a);
	struct thread row[4] = { { .state = THREAD_STATES } };
	const struct threads t = { .row = row, .used = 4 };
	char text[64];

	(void)state;
	row[1].placed = affinity_of(a, "0-3\nnext", "0\n");
	row[2].placed = affinity_of(a, "8,10\n", "1\n");
	row[3].placed = affinity_of(a, "64-65", "0\n");
	row[3].state = THREAD_STATES; /* has ended */
	assert_int_equal(affinity_of(a, "0-3\nother", "0"), row[1].placed);
	assert_true(affinity_tidy(a, &t));
	assert_true(a->whole);
	affinity_text(&a->cpus, text, sizeof text);
	assert_string_equal(text, "0-3,8,10");
	assert_int_equal(a->nodes.word[0], 3);
	assert_false(affinity_tidy(a, &t));
	row[2].state = THREAD_STATES;
	assert_true(affinity_tidy(a, &t));
	assert_int_equal(cpulist_count(&a->cpus), 4);
	row[2].state = THREAD_RUNNING; /* its list was no list, or not told */
	row[2].placed = affinity_of(a, "4-2\n", "0\n");
	assert_int_equal(row[2].placed, 0);
	affinity_tidy(a, &t);
	assert_false(a->whole);
	free(a);
}

static void places_of_sets_are_used_again(void **state)
{
	struct affinity *a = calloc(1, sizeof *a);
	struct thread row[2] = { { .state = THREAD_STATES } };
	const struct threads t = { .row = row, .used = 2 };
	char text[32];

	(void)state;
	for (int i = 0; i < 255; i++) {
		snprintf(text, sizeof text, "%d\n", i);
		row[1].placed = affinity_of(a, text, "0\n");
		assert_int_not_equal(row[1].placed, 0);
	}
	assert_int_equal(affinity_of(a, "1000\n", "0\n"), 0);
	affinity_tidy(a, &t);
	assert_int_equal(cpulist_count(&a->cpus), 1);
	assert_int_not_equal(affinity_of(a, "1000\n", "0\n"), 0);
	free(a);
}

static void a_long_list_is_cut(void **state)
{
	struct cpulist set = { { 0 } };
	char text[24];

	(void)state;
	for (int i = 0; i < CPUS_MAX; i += 2)
		set.word[i / 64] |= UINT64_C(1) << (i % 64);
	affinity_text(&set, text, sizeof text);
	assert_true(strlen(text) < sizeof text);
	assert_non_null(strstr(text, "..."));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_threads_status_is_read_by_name),
		cmocka_unit_test(who_ignores_the_end_of_children_is_told),
		cmocka_unit_test(a_status_without_its_counts_is_refused),
		cmocka_unit_test(waiting_for_a_cpu_is_the_second_figure),
		cmocka_unit_test(migrations_are_found_in_any_kernels_sched),
		cmocka_unit_test(what_threads_may_run_on_is_their_union),
		cmocka_unit_test(places_of_sets_are_used_again),
		cmocka_unit_test(a_long_list_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
