/* SPDX-License-Identifier: Apache-2.0 */
/* Constants are SciPy's; tests/interop holds the same against it on random data. */
#include "core/describe.h"
#include "core/statistics/compare.h"
#include "core/statistics/stats.h"
#include "report/comparison/comparison.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

static const double old[] = { 10.1, 10.4, 9.8, 10.0, 10.2, 9.9, 10.3, 10.05, 12.5, 10.15 };
static const double new[] = { 10.6, 10.9, 10.2, 10.45, 10.7, 10.3, 10.8, 10.55, 10.65, 10.5 };

static bool near(double got, double wanted)
{
	return fabs(got - wanted) <= 1e-9 * fabs(wanted);
}

static struct compared compare(const double *a, uint32_t na, const double *b, uint32_t nb,
			       double margin)
{
	const struct compare_wish w = { .margin_ratio = margin, .level = 0.95 };
	struct compared c;

	assert_int_equal(compare_groups(&c, &(struct sample_group){ a, NULL, na },
					&(struct sample_group){ b, NULL, nb }, &w),
			 0);
	return c;
}

static void test_student(void **state)
{
	(void)state;
	assert_true(near(student_beyond(2, 5), 0.10193947882985835));
	assert_true(near(student_beyond(-2, 5), 0.10193947882985835));
	assert_true(near(student_beyond(40, 3), 3.4380680789158506e-05));
	assert_true(near(student_beyond(12.5, 117.25), 2.6330054807722398e-23));
	assert_true(near(student_beyond(0.001, 2.5), 0.9992763827207849));
	assert_true(near(student_beyond(5, 1e6), 5.733997870890745e-07));
	assert_true(near(student_quantile(0.025, 1), 12.706204736174705));
	assert_true(near(student_quantile(0.975, 9), -2.2621571627982053));
	assert_true(near(student_quantile(1e-10, 4), 416.1751403296041));
	assert_true(near(student_quantile(0.4, 1e5), 0.25334777715718015));
	assert_true(student_above(-INFINITY, 4) == 1 && student_beyond(INFINITY, 4) == 0);
	assert_true(isnan(student_quantile(0, 4)) && isnan(student_beyond(NAN, 4)));
}

static void test_description(void **state)
{
	double v[10];
	struct description d;

	(void)state;
	for (int i = 0; i < 10; i++)
		v[i] = old[i];
	d = describe(v, 10);
	assert_true(near(d.sd, 0.7795297727904089) && near(d.sem, 0.24650895859312424));
	assert_true(near(d.q1, 10.0125) && near(d.median, 10.125) && near(d.q3, 10.275));
	assert_true(near(d.skew, 2.8581727040652365));
	d = describe(v, 1);
	assert_true(d.mean == 9.8 && isnan(d.sd) && isnan(d.skew) && d.iqr == 0);
	assert_true(isnan(describe(v, 0).mean));
	for (int e = -300; e <= 300; e += 600) { /* neither squares nor cubes leave the doubles */
		for (int i = 0; i < 10; i++)
			v[i] = old[i] * pow(10, e);
		d = describe(v, 10);
		assert_true(near(d.sd, 0.7795297727904089 * pow(10, e)));
		assert_true(near(d.skew, 2.8581727040652365));
	}
	v[0] = v[1] = v[2] = 1.7e308;
	assert_true(near(describe(v, 3).mean, 1.7e308));
}

static void test_interval_is_yuens(void **state)
{
	struct compared c = compare(old, 10, new, 10, 0.01);

	(void)state;
	assert_true(near(c.low, 0.23535760656256263) && near(c.high, 0.6479757267707738));
	assert_true(near(c.p, 0.0007960303082476143) && near(c.p_ranks, 0.007240669524924551));
	assert_int_equal(c.finding, COMPARE_MORE);
	c = compare(old, 5, new, 5, 0.01); /* too few to trim: Welch's */
	assert_true(near(c.low, 0.11184129078137323) && near(c.high, 0.8281587092186244));
	assert_int_equal(compare(new, 10, old, 10, 0.01).finding, COMPARE_LESS);
}

/* Differences of parts add up; means of ten are not trimmed, and Student's spread is of both. */
static void test_parts_are_compared_by_means(void **state)
{
	const struct compare_wish w = { .level = 0.95, .parts = true };
	const struct sample_group a = { old, NULL, 10 }, b = { new, NULL, 10 };
	struct compared c;
	double mean_a = 0, mean_b = 0, squares = 0, reach;

	(void)state;
	for (int i = 0; i < 10; i++) {
		mean_a += old[i] / 10;
		mean_b += new[i] / 10;
	}
	for (int i = 0; i < 10; i++)
		squares += pow(old[i] - mean_a, 2) + pow(new[i] - mean_b, 2);
	reach = sqrt(squares / 18 * 0.2) * student_quantile(0.025, 18);
	assert_int_equal(compare_groups(&c, &a, &b, &w), 0);
	assert_true(near(c.a, mean_a) && near(c.b, mean_b));
	assert_true(near(c.low, mean_b - mean_a - reach) && near(c.high, mean_b - mean_a + reach));
}

/* A drift is told by p_drift and stays in the difference. */
static void test_drift_of_parts_is_not_taken_out(void **state)
{
	static const double v[] = { 1, 2.1, 3, 4.2, 5, 6, 7.1, 8, 9.2, 10, 11.1, 12 };
	int64_t at[12];
	struct compare_wish w = { .level = 0.95, .parts = true };
	struct compared c;

	(void)state;
	for (int i = 0; i < 12; i++)
		at[i] = 1 + i;
	compare_groups(&c, &(struct sample_group){ v, at, 6 },
		       &(struct sample_group){ v + 6, at + 6, 6 }, &w);
	assert_true(c.drift == 0 && near(c.difference, c.b - c.a) && c.p_drift > 0.05);
	w.parts = false;
	compare_groups(&c, &(struct sample_group){ v, at, 6 },
		       &(struct sample_group){ v + 6, at + 6, 6 }, &w);
	assert_true(c.drift > 0.9 && fabs(c.difference) < 1);
}

static void test_ties_are_ranked(void **state)
{
	static const double a[] = { 2, 3, 4, 4, 8 }, b[] = { 1, 2, 2, 3, 9 };
	struct ranks r = ranks_of(a, 5, b, 5);

	(void)state;
	assert_true(r.u == 7.5 && near(r.p, 0.3382688788696866) && near(r.delta, -0.4));
}

static void test_same_is_a_finding(void **state)
{
	(void)state;
	/* Everything within the margin is the same, also what is surely more. */
	assert_int_equal(compare(old, 10, new, 10, 0.1).finding, COMPARE_SAME);
	assert_int_equal(compare(old, 10, old, 10, 0.05).finding, COMPARE_SAME);
	/* Not seeing a difference is none. */
	assert_int_equal(compare(old, 10, old, 10, 0.01).finding, COMPARE_INCONCLUSIVE);
	assert_int_equal(compare(old, 2, new, 2, 0.01).finding, COMPARE_INCONCLUSIVE);
}

static void test_no_spread_needs_repeats(void **state)
{
	static const double four[] = { 4, 4, 4 }, six[] = { 6, 6, 6 };

	(void)state;
	assert_int_equal(compare(four, 3, six, 3, 0.05).finding, COMPARE_MORE);
	assert_int_equal(compare(four, 3, four, 3, 0.05).finding, COMPARE_SAME);
	assert_int_equal(compare(four, 2, six, 2, 0.05).finding, COMPARE_INCONCLUSIVE);
	assert_int_equal(compare(four, 1, six, 1, 0.05).finding, COMPARE_INCONCLUSIVE);
	assert_true(isnan(compare(four, 1, six, 1, 0.05).low));
	assert_int_equal(compare(four, 3, six, 0, 0.05).finding, COMPARE_UNKNOWN);
}

static void test_history_tells_spread_of_single_values(void **state)
{
	const double a = 10, b = 11;
	struct compare_wish w = {
		.margin_ratio = 0.05, .level = 0.95, .spread = 0.1, .spread_df = 9
	};
	struct compared c;
	double reach = 0.1 * sqrt(2) * student_quantile(0.025, 9);

	(void)state;
	assert_int_equal(compare_groups(&c, &(struct sample_group){ &a, NULL, 1 },
					&(struct sample_group){ &b, NULL, 1 }, &w),
			 0);
	assert_int_equal(c.finding, COMPARE_MORE);
	assert_true(near(c.low, 1 - reach) && near(c.high, 1 + reach));
	w.spread = 1;
	compare_groups(&c, &(struct sample_group){ &a, NULL, 1 },
		       &(struct sample_group){ &b, NULL, 1 }, &w);
	assert_int_equal(c.finding, COMPARE_INCONCLUSIVE);
}

/* The machine becomes slower all the while: taking turns tells that A and B are alike, and one
 * after the other it is not taken for a difference. */
static void test_drift_is_no_difference(void **state)
{
	static const double noise[] = { 0.1,   -0.2,  0.15, -0.1,  0.05, 0.2,   -0.15,
					0,     -0.05, 0.12, -0.12, 0.07, -0.03, 0.18,
					-0.18, 0.02,  0.11, -0.09, 0.04, -0.14 };
	double a[10], b[10];
	int64_t at_a[10], at_b[10];
	const struct compare_wish w = { .margin_ratio = 0.05, .level = 0.95 };
	struct compared c;

	(void)state;
	for (int turns = 0; turns < 2; turns++) {
		for (int i = 0; i < 10; i++) {
			at_a[i] = turns ? 2 * i : i;
			at_b[i] = turns ? 2 * i + 1 : 10 + i;
			a[i] = 10 + 0.3 * (double)at_a[i] + noise[at_a[i]];
			b[i] = 10 + 0.3 * (double)at_b[i] + noise[at_b[i]];
		}
		assert_int_equal(compare_groups(&c, &(struct sample_group){ a, at_a, 10 },
						&(struct sample_group){ b, at_b, 10 }, &w),
				 0);
		assert_true(fabs(c.drift - 0.3) < 0.03);
		assert_int_equal(c.finding, COMPARE_SAME);
		/* What is shown is what was measured. */
		assert_true(near(c.a, compare(a, 10, b, 10, 0.05).a));
		assert_true(near(c.b, compare(a, 10, b, 10, 0.05).b));
		assert_int_equal(compare(a, 10, b, 10, 0.05).finding,
				 turns ? COMPARE_INCONCLUSIVE : COMPARE_MORE);
	}
}

/* Whatever power of two is taken out of huge and tiny values: the answer is that of others. */
static void test_scale(void **state)
{
	static const int powers[] = { 1019, 400, -400, -900 };
	struct compared wanted = compare(old, 10, new, 10, 0.02);

	(void)state;
	for (size_t p = 0; p < sizeof powers / sizeof powers[0]; p++) {
		double a[10], b[10];
		struct compared c;

		for (int i = 0; i < 10; i++) {
			a[i] = ldexp(old[i], powers[p]);
			b[i] = ldexp(new[i], powers[p]);
		}
		c = compare(a, 10, b, 10, 0.02);
		assert_int_equal(c.finding, wanted.finding);
		assert_true(near(c.p, wanted.p) && near(c.p_same, wanted.p_same));
		assert_true(near(ldexp(c.a, -powers[p]), wanted.a));
		assert_true(near(ldexp(c.low, -powers[p]), wanted.low));
		assert_true(near(ldexp(c.high, -powers[p]), wanted.high));
	}
}

static bool advises_turns(bool in_turns, enum verdict_of_gate verdict)
{
	struct comparison_run run[6];
	struct comparison x = { .run = run, .nruns = 6, .n = { 3, 3 }, .verdict = verdict };
	struct bytes b = { 0 };
	bool said;

	for (int i = 0; i < 6; i++)
		run[i] = (struct comparison_run){ .group = (in_turns ? i % 2 : i / 3) ? GROUP_B
										      : GROUP_A,
						  .start_utc_ns = 1000 + i };
	comparison_advice(&b, &x);
	said = b.len && memmem(b.data, b.len, "All runs of A came before all of B", 34);
	bytes_free(&b);
	return said;
}

static void test_a_drift_that_is_taken_out_is_told(void **state)
{
	struct comparison_figure figure[] = {
		{ .name = "wall_seconds", .leads = true, .result.drift = 0.5 },
		{ .name = "cpu_seconds", .leads = true },
		{ .name = "read_bytes", .result.drift = 2 },
		{ .name = "score", .leads = true, .result.drift = -1 },
	};
	struct comparison x = { .figure = figure, .nfigures = COUNT(figure), .independent = true };
	struct bytes b = { 0 };

	(void)state;
	comparison_advice(&b, &x);
	bytes_u8(&b, 0);
	assert_string_equal((const char *)b.data,
			    "A drift from run to run is removed from the difference of "
			    "wall_seconds, score; A and B are as measured. ");
	bytes_free(&b);
}

static void test_who_records_in_no_turns_is_told(void **state)
{
	(void)state;
	assert_true(advises_turns(false, GATE_INCONCLUSIVE));
	assert_false(advises_turns(true, GATE_INCONCLUSIVE));
	assert_false(advises_turns(false, GATE_FAILED));
}

static void test_holm(void **state)
{
	double p[] = { 0.01, 0.04, NAN, 0.03 };

	(void)state;
	assert_int_equal(holm(p, COUNT(p)), 0);
	assert_true(near(p[0], 0.04) && near(p[3], 0.09) && near(p[1], 0.09) && isnan(p[2]));
}

static void test_repeats(void **state)
{
	(void)state;
	assert_int_equal(compare_repeats(0.02, 0.05, 0.95), 6);
	assert_int_equal(compare_repeats(0.05, 0.05, 0.95), 28);
	assert_int_equal(compare_repeats(0, 0.05, 0.95), 2);
	assert_int_equal(compare_repeats(1000, 0.05, 0.95), 0);
	assert_int_equal(compare_repeats(NAN, 0.05, 0.95), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_student),
		cmocka_unit_test(test_description),
		cmocka_unit_test(test_interval_is_yuens),
		cmocka_unit_test(test_parts_are_compared_by_means),
		cmocka_unit_test(test_drift_of_parts_is_not_taken_out),
		cmocka_unit_test(test_ties_are_ranked),
		cmocka_unit_test(test_same_is_a_finding),
		cmocka_unit_test(test_no_spread_needs_repeats),
		cmocka_unit_test(test_history_tells_spread_of_single_values),
		cmocka_unit_test(test_drift_is_no_difference),
		cmocka_unit_test(test_a_drift_that_is_taken_out_is_told),
		cmocka_unit_test(test_who_records_in_no_turns_is_told),
		cmocka_unit_test(test_holm),
		cmocka_unit_test(test_scale),
		cmocka_unit_test(test_repeats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
