/* SPDX-License-Identifier: Apache-2.0 */
/* When the events of page faults are on, of made jobs, a millisecond after the other. */
#include "base/clock.h"
#include "unwind/touched.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

enum { MS = 1000000, PERIOD = 50, LOOK_MS = 20, START_PAGES = 20000 };

struct job {
	struct gate gate;
	int64_t now_ns;
	uint64_t resident, unseen, faults,
		said; /* faults: that it had; said: that samples stand for */
	uint64_t rest, off_ms;
};

static struct job begun(void)
{
	struct job j = { .now_ns = NS_PER_S, .resident = START_PAGES };

	(void)gate_sample(&j.gate, getpid(), 1, true, j.now_ns);
	return j;
}

/* So many faults each millisecond, of which some make its memory grow. */
static void run(struct job *j, int64_t ms, uint64_t faults, uint64_t grows)
{
	for (int64_t i = 0; i < ms; i++) {
		j->now_ns += MS;
		j->faults += faults;
		j->resident += grows;
		j->unseen += j->gate.off ? grows : 0;
		j->off_ms += j->gate.off;
		for (j->rest += j->gate.off ? 0 : faults; j->rest >= PERIOD; j->rest -= PERIOD)
			j->said +=
				PERIOD + gate_sample(&j->gate, getpid(), PERIOD, false, j->now_ns);
		if (gate_due_ns(&j->gate) <= j->now_ns)
			gate_step(&j->gate, j->now_ns);
		if (i % LOOK_MS == 0)
			gate_look(&j->gate, j->resident, j->unseen, j->now_ns);
	}
}

static void churn_is_sampled_in_windows(void **state)
{
	struct job j = begun();

	(void)state;
	run(&j, 30000, 500, 0);
	assert_int_equal(j.gate.state, GATE_WINDOWS);
	assert_in_range(j.off_ms, 28000, 29700);
	assert_in_range(j.said, j.faults * 8 / 10, j.faults * 12 / 10);
	/* It stops: they are on again before long. */
	run(&j, 10000, 0, 0);
	assert_false(j.gate.state == GATE_WINDOWS || j.gate.off);
}

static void less_of_it_is_sampled_more(void **state)
{
	struct job j = begun();

	(void)state;
	run(&j, 20000, 43, 0);
	assert_in_range(j.off_ms, 11000, 15000);
	assert_in_range(j.said, j.faults * 9 / 10, j.faults * 11 / 10);
	j = begun();
	run(&j, 20000, 20, 0); /* too little to matter */
	assert_int_equal(j.off_ms, 0);
}

static void growth_is_sampled_whole(void **state)
{
	struct job j = begun();
	uint64_t said, off;

	(void)state;
	run(&j, 3000, 500, 500);
	assert_int_equal(j.off_ms, 0);
	run(&j, 20000, 500, 0);
	assert_in_range(j.off_ms, 10000, 20000);
	assert_int_equal(j.gate.blind, 0);
	said = j.said;
	off = j.off_ms;
	run(&j, 4000, 500, 500);
	assert_in_range(j.off_ms - off, 0, 4 * LOOK_MS * 5);
	assert_in_range(j.said - said, 4000 * 500 * 95 / 100, 4000 * 500 * 105 / 100);
	/* Some of it no sample may be near: as much as it has grown by. */
	assert_in_range(j.gate.blind, 3000 * 500 + 4000 * 500 * 9 / 10, 7000 * 500);
}

/* Where less memory is in use by now, it may grow to less than there once was. */
static void growth_after_a_fall_is_growth(void **state)
{
	struct job j = begun();
	uint64_t off;

	(void)state;
	run(&j, 3000, 500, 500);
	j.resident = START_PAGES;
	run(&j, 20000, 500, 0);
	assert_int_equal(j.gate.state, GATE_WINDOWS);
	off = j.off_ms;
	run(&j, 1000, 500, 500);
	assert_in_range(j.off_ms - off, 0, 200);
}

static void another_process_is_sampled_whole(void **state)
{
	struct job j = begun();

	(void)state;
	run(&j, 10000, 500, 0);
	assert_int_equal(j.gate.state, GATE_WINDOWS);
	gate_started(&j.gate, 1, j.now_ns);
	assert_false(j.gate.state == GATE_WINDOWS || j.gate.off);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(churn_is_sampled_in_windows),
		cmocka_unit_test(less_of_it_is_sampled_more),
		cmocka_unit_test(growth_is_sampled_whole),
		cmocka_unit_test(growth_after_a_fall_is_growth),
		cmocka_unit_test(another_process_is_sampled_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
