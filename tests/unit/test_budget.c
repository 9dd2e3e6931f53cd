/* SPDX-License-Identifier: Apache-2.0 */
/* What is given up, in which order, when Sonde costs more than it may; by made-up clocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "sampler/budget.h"

struct run {
	struct budget b;
	int64_t mono_ns, cpu_ns, walks_ns;
};

static void begin(struct run *r, double limit, int64_t interval_ns)
{
	*r = (struct run){ .mono_ns = 1000 * NS_PER_S };
	budget_init(&r->b, limit, interval_ns);
	budget_step(&r->b, r->mono_ns, 0, 0);
}

/* Samples for some seconds, each of which costs so much; the steps that were taken. */
static int go(struct run *r, double seconds, int64_t cost_ns, int64_t walk_ns)
{
	int64_t end = r->mono_ns + (int64_t)(seconds * 1e9);
	int changes = 0;

	while (r->mono_ns < end) {
		r->mono_ns += budget_cadence(&r->b).interval_ns;
		r->cpu_ns += cost_ns + walk_ns;
		r->walks_ns += walk_ns;
		changes += budget_step(&r->b, r->mono_ns, r->cpu_ns, r->walks_ns);
	}
	return changes;
}

static void cheap_sampling_is_left_alone(void **state)
{
	struct run r;
	struct cadence c;

	(void)state;
	begin(&r, budget_default(NS_PER_S), NS_PER_S);
	assert_int_equal(go(&r, 3600, 4 * NS_PER_MS, 0), 0);
	c = budget_cadence(&r.b);
	assert_int_equal(c.interval_ns, NS_PER_S);
	assert_int_equal(c.refresh, 10);
	assert_true(c.stat_ns < NS_PER_S && c.io_ns < NS_PER_S && c.node_ns < NS_PER_S);
}

static void one_costly_window_is_no_reason(void **state)
{
	struct run r;

	(void)state;
	begin(&r, 0.005, NS_PER_S);
	go(&r, 32, NS_PER_MS, 0);
	assert_int_equal(go(&r, 16, 50 * NS_PER_MS, 0), 0); /* one window: a sealing, a storm */
	assert_int_equal(go(&r, 600, NS_PER_MS, 0), 0);
}

static void costly_readings_go_first_and_the_rate_last(void **state)
{
	struct run r;
	struct cadence c, before;
	int steps = 0;

	(void)state;
	begin(&r, 0.005, NS_PER_S);
	before = budget_cadence(&r.b);
	for (int i = 0; i < 100 && !steps; i++)
		steps += go(&r, 16, 20 * NS_PER_MS, 0);
	c = budget_cadence(&r.b);
	assert_true(c.refresh > before.refresh);
	assert_true(c.io_ns == before.io_ns && c.interval_ns == before.interval_ns);
	for (steps = 0; !steps;)
		steps += go(&r, 16, 20 * NS_PER_MS, 0);
	c = budget_cadence(&r.b);
	assert_true(c.io_turns == 4 && c.turns == 1 && c.interval_ns == before.interval_ns);
	for (steps = 0; !steps;)
		steps += go(&r, 16, 20 * NS_PER_MS, 0);
	c = budget_cadence(&r.b);
	assert_true(c.turns == 4 && c.node_ns == 4 * NS_PER_S);
	for (steps = 0; !steps;)
		steps += go(&r, 16, 20 * NS_PER_MS, 0);
	c = budget_cadence(&r.b);
	assert_true(c.turns == 8 && c.io_turns == 8);
	assert_int_equal(c.interval_ns, before.interval_ns);
	/* 20 ms a sample is 0.5 % of a core at one in 4 s */
	go(&r, 1000, 20 * NS_PER_MS, 0);
	assert_int_equal(budget_cadence(&r.b).interval_ns, 4 * NS_PER_S);
}

/* Samples of many processes, each of which costs 1 ms and what their files take: at first that of
 * all of them, and more when it opens them. */
static int settle(struct budget *b, int samples, int64_t files_ns, int64_t *used_ns, int64_t *at_ns)
{
	int changes = 0;

	for (int i = 0; i < samples; i++) {
		int64_t now = files_ns / (int64_t)budget_cadence(b).turns;

		*used_ns += NS_PER_MS + now + (i ? 0 : 20 * NS_PER_MS);
		changes += budget_settle(b, *at_ns, *used_ns, i ? now : -1);
		budget_step(b, *at_ns, *used_ns, 0);
		budget_slow_down(b, *at_ns, *used_ns);
		*at_ns += budget_cadence(b).interval_ns;
	}
	return changes;
}

static void the_step_that_fits_is_known_after_three_samples(void **state)
{
	static const struct {
		int64_t files_ns;
		uint64_t turns;
	} cases[] = { { 12 * NS_PER_MS, 4 }, { 20 * NS_PER_MS, 8 } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		int64_t used_ns = 0, at_ns = 1000 * NS_PER_S, begin_ns, before;
		struct budget b;

		budget_init(&b, 0.005, NS_PER_S);
		budget_begin_quickly(&b);
		assert_int_equal(settle(&b, 3, cases[i].files_ns, &used_ns, &at_ns), 1);
		assert_int_equal(budget_cadence(&b).turns, cases[i].turns);
		assert_int_equal(budget_cadence(&b).interval_ns, NS_PER_S);
		begin_ns = at_ns;
		before = used_ns;
		assert_int_equal(settle(&b, 60, cases[i].files_ns, &used_ns, &at_ns), 0);
		/* but for what opening them took */
		before += 20 * NS_PER_MS;
		assert_true(used_ns - before < (at_ns - begin_ns) / 200);
	}
}

static void what_fits_is_left_alone_from_the_begin(void **state)
{
	int64_t used_ns = 0, at_ns = 1000 * NS_PER_S;
	struct budget b;

	(void)state;
	budget_init(&b, 0.005, NS_PER_S);
	budget_begin_quickly(&b);
	assert_int_equal(settle(&b, 60, NS_PER_MS / 2, &used_ns, &at_ns), 0);
	/* Many that end are no reason to go on reading the others rarely. */
	budget_init(&b, 0.005, NS_PER_S);
	assert_int_equal(settle(&b, 3, 20 * NS_PER_MS, &used_ns, &at_ns), 1);
	settle(&b, 40, NS_PER_MS / 2, &used_ns, &at_ns);
	assert_int_equal(b.step, 0);
}

static void the_rate_has_a_lowest(void **state)
{
	struct run r;
	char does[128];

	(void)state;
	begin(&r, 0.0001, NS_PER_S);
	go(&r, 100000, 10 * NS_PER_S, 0);
	assert_int_equal(budget_cadence(&r.b).interval_ns, 60 * NS_PER_S);
	budget_describe(&r.b, r.b.worst, does, sizeof does);
	assert_non_null(strstr(does, "every 1m"));
	begin(&r, 0.0001, 600 * NS_PER_S);
	go(&r, 1000000, 10 * NS_PER_S, 0);
	assert_int_equal(budget_cadence(&r.b).interval_ns, 600 * NS_PER_S);
}

static void what_was_given_up_comes_back(void **state)
{
	struct run r;
	int early, late;

	(void)state;
	begin(&r, 0.005, NS_PER_S);
	go(&r, 200, 20 * NS_PER_MS, 0);
	assert_true(r.b.step > 0);
	go(&r, 2000, NS_PER_MS, 0);
	assert_int_equal(r.b.step, 0);
	/* A load that comes and goes does not make it swing for ever. */
	begin(&r, 0.005, NS_PER_S);
	early = late = 0;
	for (int i = 0; i < 100; i++)
		*(i < 50 ? &early : &late) +=
			go(&r, 40, 8 * NS_PER_MS, 0) + go(&r, 150, NS_PER_MS, 0);
	assert_true(late < early / 2);
}

static void no_limit_means_none(void **state)
{
	struct run r;

	(void)state;
	begin(&r, 0, NS_PER_S);
	assert_int_equal(go(&r, 1000, 900 * NS_PER_MS, 0), 0);
	assert_true(budget_for_walks(&r.b) > 0.0049);
}

static void pss_is_paid_from_what_is_left(void **state)
{
	struct run r;

	(void)state;
	begin(&r, 0.005, NS_PER_S);
	/* its own cost takes nothing down */
	assert_int_equal(go(&r, 160, 2 * NS_PER_MS, 40 * NS_PER_MS), 0);
	assert_true(budget_for_walks(&r.b) > 0.0029 && budget_for_walks(&r.b) < 0.0031);
	go(&r, 16, 6 * NS_PER_MS, 0);
	assert_true(budget_for_walks(&r.b) == 0);
	begin(&r, 0.2, 10 * NS_PER_MS);
	go(&r, 10, NS_PER_MS / 10, 0);
	assert_true(budget_for_walks(&r.b) < 0.0051);
}

static void high_rates_do_not_read_what_cannot_change(void **state)
{
	struct run r;
	struct cadence c;

	(void)state;
	begin(&r, budget_default(NS_PER_MS), NS_PER_MS);
	c = budget_cadence(&r.b);
	assert_int_equal(c.stat_ns, 40 * NS_PER_MS);
	assert_int_equal(c.node_ns, 100 * NS_PER_MS);
	assert_int_equal(c.refresh, 6400);
	begin(&r, budget_default(100 * NS_PER_MS), 100 * NS_PER_MS);
	c = budget_cadence(&r.b);
	assert_int_equal(c.refresh, 64);
	assert_int_equal(c.shared, 300);
	begin(&r, budget_default(60 * NS_PER_S), 60 * NS_PER_S);
	c = budget_cadence(&r.b);
	assert_true(c.refresh == 1 && c.shared == 1);
	assert_true(budget_default(NS_PER_MS) == 0.2);
	assert_true(budget_default(100 * NS_PER_MS) > 0.0499 &&
		    budget_default(100 * NS_PER_MS) < 0.0501);
	assert_true(budget_default(60 * NS_PER_S) == 0.005);
}

/* Samples for ten seconds and more, each of which costs so much; the interval in each second, in
 * milliseconds. */
static int begin_quickly(int64_t at_ms[13], double limit, int64_t interval_ns, int64_t cost_ns)
{
	struct budget b;
	int64_t mono_ns = 1000 * NS_PER_S, cpu_ns = 0, begin_ns = mono_ns;
	int samples = 0;

	budget_init(&b, limit, interval_ns);
	budget_begin_quickly(&b);
	while (mono_ns < begin_ns + 12 * NS_PER_S) {
		/* the first ones do what is done once */
		cpu_ns += samples++ < 2 ? 20 * NS_PER_MS : cost_ns;
		budget_slow_down(&b, mono_ns, cpu_ns);
		budget_step(&b, mono_ns, cpu_ns, 0);
		at_ms[(mono_ns - begin_ns) / NS_PER_S] = budget_cadence(&b).interval_ns / NS_PER_MS;
		mono_ns += budget_cadence(&b).interval_ns;
	}
	return samples;
}

static void a_job_begins_with_short_intervals(void **state)
{
	int64_t at[13];
	int samples;

	(void)state;
	samples = begin_quickly(at, 0.005, NS_PER_S, NS_PER_MS / 5);
	assert_int_equal(samples, 20 + 10 + 12 + 10 + 2);
	assert_int_equal(at[0], 50);
	assert_int_equal(at[1], 100);
	assert_int_equal(at[3], 250);
	assert_int_equal(at[8], 500);
	assert_int_equal(at[10], 1000);
	/* no more than asked for, and none where the one asked for is as short */
	begin_quickly(at, 0.02, NS_PER_S / 4, NS_PER_MS / 5);
	assert_int_equal(at[1], 100);
	assert_int_equal(at[2], 250);
	begin_quickly(at, 0, 20 * NS_PER_MS, NS_PER_MS / 5);
	assert_int_equal(at[0], 20);
}

static void costly_samples_come_as_often_as_the_limit_allows(void **state)
{
	int64_t at[13];

	(void)state;
	begin_quickly(at, 0.005, NS_PER_S, NS_PER_MS); /* 1 ms of 200 */
	assert_int_equal(at[0], 250);
	assert_int_equal(at[4], 250);
	begin_quickly(at, 0.005, NS_PER_S, 4 * NS_PER_MS);
	assert_int_equal(at[0], 1000);
	begin_quickly(at, 0, NS_PER_S, 4 * NS_PER_MS); /* no limit */
	assert_int_equal(at[0], 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cheap_sampling_is_left_alone),
		cmocka_unit_test(one_costly_window_is_no_reason),
		cmocka_unit_test(costly_readings_go_first_and_the_rate_last),
		cmocka_unit_test(the_step_that_fits_is_known_after_three_samples),
		cmocka_unit_test(what_fits_is_left_alone_from_the_begin),
		cmocka_unit_test(the_rate_has_a_lowest),
		cmocka_unit_test(what_was_given_up_comes_back),
		cmocka_unit_test(no_limit_means_none),
		cmocka_unit_test(pss_is_paid_from_what_is_left),
		cmocka_unit_test(high_rates_do_not_read_what_cannot_change),
		cmocka_unit_test(a_job_begins_with_short_intervals),
		cmocka_unit_test(costly_samples_come_as_often_as_the_limit_allows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
