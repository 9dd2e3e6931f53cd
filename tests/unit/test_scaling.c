/* SPDX-License-Identifier: Apache-2.0 */
/* How runs scale (report/scaling/scaling.h), and the fits below (core/statistics/stats.h). */
#include "base/random.h"
#include "core/statistics/stats.h"
#include "report/scaling/scaling.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void near(double got, double wanted, double off)
{
	if (!(fabs(got - wanted) <= off))
		fail_msg("%.17g, and not %.17g", got, wanted);
}

static void test_f_agrees_with_what_is_known_in_closed_form(void **state)
{
	(void)state;
	for (double f = 0.1; f < 50; f *= 1.7)
		for (double df = 1; df < 300; df *= 2.3) {
			near(f_above(f, 2, df), pow(1 + 2 * f / df, -df / 2), 1e-11);
			near(f_above(f, 1, df), student_beyond(sqrt(f), df), 1e-11);
		}
	near(f_above(0, 3, 4), 1, 0);
	assert_true(isnan(f_above(1, 0, 4)) && isnan(f_above(NAN, 1, 4)));
}

/* y = 1, 3, 2, 5 at 0, 1, 2, 3, by hand: 1.1 + 1.1 x; residual squares 2.7, of two degrees. */
static void test_a_line_by_hand(void **state)
{
	const double x[4][FIT_MOST] = { { 1, 0 }, { 1, 1 }, { 1, 2 }, { 1, 3 } };
	const double y[] = { 1, 3, 2, 5 }, weight[] = { 1, 1, 1, 1 }, t = 4.302652729911275;
	struct fitted at;
	struct fit f;

	(void)state;
	assert_int_equal(fit_linear(&f, x, y, weight, 4, 2), 0);
	near(f.c[0], 1.1, 1e-12);
	near(f.c[1], 1.1, 1e-12);
	near(f.s2, 1.35, 1e-12);
	near(f.covariance[1][1], 1.35 / 5, 1e-12);
	at = fit_at(&f, (const double[]){ 1, 0, 0 }, 0.95);
	near(at.high - at.value, t * sqrt(1.35 * 0.7), 1e-9);
	near(at.value - at.low, t * sqrt(1.35 * 0.7), 1e-9);
}

static void test_what_determines_no_line(void **state)
{
	const double same[2][FIT_MOST] = { { 1, 2 }, { 1, 2 } }, y[] = { 1, 2 }, w[] = { 1, 1 };
	struct fit f;

	(void)state;
	assert_int_equal(fit_linear(&f, same, y, w, 2, 2), -EDOM);
	assert_int_equal(fit_linear(&f, same, y, w, 1, 2), -EDOM);
	assert_int_equal(
		fit_linear(&f, (const double[2][FIT_MOST]){ { 1, 0 }, { 1, 1 } }, y, w, 2, 2), 0);
	assert_true(isnan(fit_at(&f, same[0], 0.95).low));
}

/* ---- runs ---- */

static void add(struct scaling *x, double cores, double wall_s, double cpu_s)
{
	struct summary s = { .path = "run",
			     .command = "solve",
			     .wall_s = wall_s,
			     .cpu_s = cpu_s,
			     .energy_j = NAN,
			     .cores_asked = cores,
			     .cores_allowed = NAN,
			     .cores_limit = NAN,
			     .cores_present = NAN,
			     .tasks_asked = NAN,
			     .nhosts = 1 };

	s.account.whole_s = wall_s * cores;
	for (uint32_t i = 0; i < ACCOUNT_PARTS; i++)
		s.account.part_s[i] = NAN;
	s.account.part_s[ACCOUNT_USER] = cpu_s;
	s.account.part_s[ACCOUNT_IDLE] = wall_s * cores - cpu_s;
	scaling_add(x, &s, NAN);
}

static void judge(struct scaling *x)
{
	struct err e = { "" };

	x->level = 0.95;
	x->wanted = 0.7;
	if (scaling_judge(x, &e))
		fail_msg("%s", e.text);
}

/* Idle cores of the serial part are all that is lost. */
static void test_amdahls_law_without_noise(void **state)
{
	struct scaling x = { 0 };

	(void)state;
	for (double p = 1; p <= 32; p *= 2)
		add(&x, p, 100 * (0.1 + 0.9 / p), 100);
	judge(&x);
	assert_int_equal(x.by, SCALING_CORES);
	assert_int_equal(x.nsteps, 6);
	near(x.serial.value, 0.1, 1e-9);
	near(x.step[3].speedup.value, 1 / (0.1 + 0.9 / 8), 1e-9);
	for (uint32_t i = 0; i < x.nsteps; i++) {
		near(x.step[i].lost[ACCOUNT_IDLE], 1 - x.step[i].efficiency.value, 1e-9);
		near(x.step[i].lost_sum, 1 - x.step[i].efficiency.value, 1e-9);
	}
	assert_false(x.has_crosstalk);
	near(x.step[x.ask].amount, 4, 0);
	near(x.next_time.value, 100 * (0.1 + 0.9 / 64), 1e-6);
	scaling_free(&x);
}

static void test_more_computing_for_the_same_work_is_lost_in_user_mode(void **state)
{
	struct scaling x = { 0 };

	(void)state;
	add(&x, 1, 100, 100);
	add(&x, 4, 50, 200);
	judge(&x);
	near(x.step[1].efficiency.value, 0.5, 1e-12);
	near(x.step[1].lost[ACCOUNT_USER], 0.5, 1e-12);
	near(x.step[1].lost[ACCOUNT_IDLE], 0, 1e-12);
	assert_true(isnan(x.step[1].efficiency.low) && isnan(x.spread));
	scaling_free(&x);
}

/* 1,000 sets of runs with a true serial part and noise of 2 %: its interval has it in 95 of 100,
 * and crosstalk that is not there is seen in less than one of 20. */
static void test_the_interval_has_the_true_serial_part(void **state)
{
	struct random r = { .state = 7 };
	int inside = 0, crosstalk = 0, misfits = 0, all = 1000;

	(void)state;
	for (int i = 0; i < all; i++) {
		double serial = 0.3 * random_unit(&r);
		struct scaling x = { 0 };

		for (double p = 1; p <= 16; p *= 2)
			for (int j = 0; j < 2; j++)
				add(&x, p,
				    100 * (serial + (1 - serial) / p) *
					    (1 + 0.02 * random_normal(&r)),
				    100);
		judge(&x);
		inside += x.serial.low <= serial && serial <= x.serial.high;
		crosstalk += x.has_crosstalk;
		misfits += x.p_misfit < 0.01;
		scaling_free(&x);
	}
	assert_in_range(inside, 930, 970);
	assert_in_range(crosstalk, 0, 40);
	assert_in_range(misfits, 0, 25);
}

/* USL: contention 0.05, crosstalk 0.001: fastest at 30.8. */
static void test_crosstalk_is_found(void **state)
{
	struct random r = { .state = 3 };
	struct scaling x = { 0 };

	(void)state;
	for (double p = 1; p <= 64; p *= 2)
		for (int j = 0; j < 3; j++)
			add(&x, p,
			    100 / p * (1 + 0.05 * (p - 1) + 0.001 * p * (p - 1)) *
				    (1 + 0.01 * random_normal(&r)),
			    100);
	judge(&x);
	assert_true(x.has_crosstalk);
	assert_true(x.contention.low < 0.05 && 0.05 < x.contention.high);
	assert_true(x.crosstalk.low < 0.001 && 0.001 < x.crosstalk.high);
	near(x.best, sqrt(0.95 / 0.001), 2);
	scaling_free(&x);
}

static void test_weak_scaling(void **state)
{
	struct scaling x = { .weak = true };

	(void)state;
	for (double p = 1; p <= 8; p *= 2)
		add(&x, p, 100 + 5 * log2(p), 100 * p);
	judge(&x);
	near(x.step[3].efficiency.value, 100.0 / 115, 1e-12);
	near(x.step[3].speedup.value, 8 * 100.0 / 115, 1e-12);
	near(x.step[3].lost[ACCOUNT_IDLE], 1 - 100.0 / 115, 1e-12);
	near(x.doubling.value, 0.05, 1e-9);
	scaling_free(&x);
}

static void test_runs_that_do_not_differ(void **state)
{
	struct scaling x = { 0 }, unknown = { 0 };
	struct err e = { "" };

	(void)state;
	add(&x, 4, 10, 10);
	add(&x, 4, 11, 10);
	assert_int_equal(scaling_judge(&x, &e), -EINVAL);
	add(&unknown, 1, NAN, 10);
	add(&unknown, 2, 11, 10);
	assert_int_equal(scaling_judge(&unknown, &e), -EINVAL);
	scaling_free(&x);
	scaling_free(&unknown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_f_agrees_with_what_is_known_in_closed_form),
		cmocka_unit_test(test_a_line_by_hand),
		cmocka_unit_test(test_what_determines_no_line),
		cmocka_unit_test(test_amdahls_law_without_noise),
		cmocka_unit_test(test_more_computing_for_the_same_work_is_lost_in_user_mode),
		cmocka_unit_test(test_the_interval_has_the_true_serial_part),
		cmocka_unit_test(test_crosstalk_is_found),
		cmocka_unit_test(test_weak_scaling),
		cmocka_unit_test(test_runs_that_do_not_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
