/* SPDX-License-Identifier: Apache-2.0 */
/* The energy of a run: each joule once, of what, and nothing where a part is not known. */
#include "summary_made.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* A zone whose counter stands at 1000 J and rises by `by` J in each of 20 s. */
static uint32_t zone(struct synthetic *x, uint32_t node, const char *name, const char *kind,
		     int64_t by)
{
	uint32_t id = metric(x, "energy.consumed_joules", "energy", KIND_COUNTER, UNIT_JOULES);
	uint32_t i = instance(x, node, "energy", name, false), s = series(x, node, id, i);

	x->label[x->run.nlabels++] = (struct run_label){ "kind", kind };
	x->instance[i].nlabels = 1;
	for (int row = 0; row < ROWS; row++)
		put(x, s, row, 1000 + row * by);
	return i;
}

static void formula(struct synthetic *x, const char *name, const char *text)
{
	x->metric[metric(x, name, NULL, KIND_GAUGE, UNIT_WATTS)].row.formula = text;
}

/* As the source of energy has them, but for the job's share. */
static void powers(struct synthetic *x, const char *job)
{
	formula(x, "node.power_watts",
		"if(known(energy.consumed_watts), energy.consumed_watts, energy.meter_watts)");
	formula(x, "job.power_apportioned_watts", job);
}

static void test_what_lies_inside_is_not_added(void **state)
{
	struct synthetic *x = synthetic_new(1);
	struct summary s;

	(void)state;
	zone(x, 1, "package-0", "package", 100);
	x->instance[zone(x, 1, "psys", "psys", 300)].flags = INSTANCE_ASIDE;
	zone(x, 1, "package-1", "package", 50);
	s = made(x);
	assert_true(s.energy_j == 20 * 150);
	assert_string_equal(s.energy_of, "processors");
	assert_true(isnan(s.energy_job_j));
	summary_free(&s);
	zone(x, 1, "package-1/dram", "dram", 10);
	powers(x, "node.power_watts * 0.25");
	s = made(x);
	assert_true(s.energy_j == 20 * 160);
	assert_string_equal(s.energy_of, "processors and memory");
	assert_true(fabs(s.energy_job_j - 20 * 40) < 1e-6);
	done(&s, x);
}

static void test_a_part_that_is_not_known_makes_all_unknown(void **state)
{
	struct synthetic *x = synthetic_new(1);
	uint32_t i, id;
	struct summary s;

	(void)state;
	s = made(x);
	assert_true(isnan(s.energy_j) && isnan(s.energy_job_j) && !s.energy_of);
	summary_free(&s);
	zone(x, 1, "package-0", "package", 100);
	i = zone(x, 1, "package-1", "package", 50);
	memset(x->present[x->run.nseries - 1], 0, sizeof x->present[0]); /* forbidden */
	s = made(x);
	assert_true(isnan(s.energy_j) && !s.energy_of);
	summary_free(&s);
	memset(x->present[x->run.nseries - 1], 1, sizeof x->present[0]);
	s = made(x);
	assert_true(s.energy_j == 20 * 150);
	summary_free(&s);
	id = x->series[x->run.nseries - 1].metric;
	put(x, series(x, 1, id, i), 20, 7); /* it began anew: what lay between is not known */
	s = made(x);
	assert_true(isnan(s.energy_j));
	done(&s, x);
}

static void test_a_counter_that_never_moved_tells_nothing(void **state)
{
	struct synthetic *x = synthetic_new(1);
	struct summary s;

	(void)state;
	zone(x, 1, "package-0", "package", 0);
	s = made(x);
	assert_true(isnan(s.energy_j) && !s.energy_of);
	done(&s, x);
}

static void test_nodes_add_up_when_all_have_it(void **state)
{
	struct synthetic *x = synthetic_new(2);
	struct summary s;

	(void)state;
	zone(x, 1, "node", "node", 100);
	s = made(x);
	assert_true(isnan(s.energy_j));
	summary_free(&s);
	zone(x, 2, "node", "node", 70);
	s = made(x);
	assert_true(s.energy_j == 20 * 170);
	assert_string_equal(s.energy_of, "whole nodes");
	done(&s, x);
}

static void test_steps_of_a_host_saw_the_same_energy(void **state)
{
	struct synthetic *x = synthetic_new(3);
	struct summary s;

	(void)state;
	x->node[2].host = "n1";
	for (uint32_t node = 1; node <= 3; node++)
		zone(x, node, "node", "node", 100);
	s = made(x);
	assert_true(s.energy_j == 2 * 20 * 100);
	summary_free(&s);
	x->node[2].first_ns += 5 * NS_PER_S; /* it ends later, too: neither saw all */
	x->node[2].last_ns += 5 * NS_PER_S;
	s = made(x);
	assert_true(isnan(s.energy_j));
	summary_free(&s);
	x->node[2].first_ns += 15 * NS_PER_S; /* one after the other */
	x->node[2].last_ns += 15 * NS_PER_S;
	s = made(x);
	assert_true(s.energy_j == 3 * 20 * 100);
	done(&s, x);
}

static void test_a_meter_of_power_counts_by_the_time(void **state)
{
	struct synthetic *x = synthetic_new(1);
	uint32_t id = metric(x, "energy.meter_watts", "energy", KIND_GAUGE, UNIT_WATTS), s_id;
	struct err e = { "" };
	struct summary s;

	(void)state;
	s_id = series(x, 1, id, instance(x, 1, "energy", "meter", false));
	for (int row = 0; row < ROWS; row++)
		put(x, s_id, row, row < 10 ? 100 : 200);
	powers(x, "node.power_watts * 0.5");
	s = made(x);
	assert_true(fabs(s.energy_j - (10 * 100 + 10 * 200)) < 1e-6);
	assert_true(fabs(s.energy_job_j - s.energy_j / 2) < 1e-6);
	assert_string_equal(s.energy_of, "what the nodes have meters for");
	summary_free(&s);
	assert_int_equal(summary_make_as(&s, &x->run, &(struct summary_wish){ 0 }, &e), 0);
	assert_true(fabs(s.energy_j - 3000) < 1e-6 && fabs(s.energy_job_j - 1500) < 1e-6);
	done(&s, x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_lies_inside_is_not_added),
		cmocka_unit_test(test_a_part_that_is_not_known_makes_all_unknown),
		cmocka_unit_test(test_a_counter_that_never_moved_tells_nothing),
		cmocka_unit_test(test_nodes_add_up_when_all_have_it),
		cmocka_unit_test(test_steps_of_a_host_saw_the_same_energy),
		cmocka_unit_test(test_a_meter_of_power_counts_by_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
