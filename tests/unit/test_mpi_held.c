/* SPDX-License-Identifier: Apache-2.0 */
/* For which rank the others waited, of ranks on two nodes whose clocks began at other times and are
 * a little apart (report/summary/mpi_held.c). Real ranks: tests/cli/mpi-is-counted.py. */
#include "report/summary/mpi.h"
#include "report/summary/mpi_curves.h"
#include "unit/synthetic_run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { RANKS = 3, SECONDS = 40, HALF = SECONDS / 2, EACH = 4, SAMPLES = SECONDS * EACH };
/* Of each second, one rank computes for the first part and the others for the second. */
static const double busy = 0.8, idle = 0.1;

struct job {
	struct synth *run;
	struct mpi m;
	struct mpi_rank rank[RANKS];
	struct mpi_curves curves;
	struct mpi_curve curve[2 * RANKS];
};

/* Rank 0 holds the others up in the first half, rank 2 in the second. */
static double computed(uint32_t rank, double at_s)
{
	double sum = 0;

	for (int i = 0; i < SECONDS && i < at_s; i++)
		sum += fmin(at_s - i, rank == (i < HALF ? 0u : 2u) ? busy : idle);
	return sum;
}

/* Its node's clock says this much more than it is. */
static void curves_make(struct job *j, uint32_t rank, double shift_s, double ahead_s)
{
	const struct run_node *n = &j->run->nodes[j->rank[rank].node];
	struct mpi_curve *elapsed = &j->curve[(size_t)2 * rank], *inside = elapsed + 1;

	*elapsed = (struct mpi_curve){ .rank = rank, .what = CURVE_ELAPSED };
	*inside = (struct mpi_curve){ .rank = rank, .what = CURVE_INSIDE };
	for (struct mpi_curve *c = elapsed; c <= inside; c++) {
		c->at_ns = calloc(SAMPLES + 1, sizeof *c->at_ns);
		c->value = calloc(SAMPLES + 1, sizeof *c->value);
		c->n = SAMPLES + 1;
	}
	for (int i = 0; i <= SAMPLES; i++) {
		double at_s = fmin(SECONDS, (double)i / EACH + (i ? shift_s : 0));

		elapsed->at_ns[i] = inside->at_ns[i] =
			n->mono0_ns + (int64_t)((at_s + ahead_s) * 1e9);
		elapsed->value[i] = at_s;
		inside->value[i] = at_s - computed(rank, at_s);
	}
}

/* error_ns: what is known of the second node's clock. */
static void make(struct job *j, double ahead_s, int64_t error_ns)
{
	*j = (struct job){ .run = synth_new(16) };
	j->run->nodes[1].clock_error_ns = 1000000;
	j->run->nodes[2].mono0_ns = INT64_C(7000000000000);
	j->run->nodes[2].clock_error_ns = error_ns;
	j->run->run.t0_utc_ns = SYNTH_T0;
	for (uint32_t i = 0; i < RANKS; i++) {
		j->rank[i] = (struct mpi_rank){ .rank = i, .node = i < 2 ? 1 : 2, .held_s = NAN };
		curves_make(j, i, i < 2 ? 0 : 0.1, i < 2 ? 0 : ahead_s);
	}
	j->m = (struct mpi){
		.rank = j->rank, .nranks = RANKS, .ranks = RANKS, .held_s = NAN, .held_of_s = NAN
	};
	j->curves = (struct mpi_curves){ .curve = j->curve, .n = 2 * RANKS };
	assert_int_equal(mpi_held_make(&j->m, &j->curves, &j->run->run), 0);
}

static void end(struct job *j)
{
	for (uint32_t i = 0; i < j->curves.n; i++) {
		free(j->curve[i].at_ns);
		free(j->curve[i].value);
	}
	free(j->m.stretch);
	synth_free(j->run);
}

/* At least so much of what is true, and never more. */
static void holds(const struct job *j, double share)
{
	const double truth = HALF * (busy - idle);

	for (uint32_t i = 0; i < RANKS; i += 2)
		if (!(j->rank[i].held_s >= share * truth && j->rank[i].held_s <= truth + 1e-6))
			fail_msg("rank %u: %g s of %g", i, j->rank[i].held_s, truth);
	assert_true(j->rank[1].held_s <= 1e-6);
}

static void test_ranks_of_two_nodes(void **state)
{
	struct job j;

	(void)state;
	make(&j, 0, 1000000);
	holds(&j, 0.6);
	assert_true(fabs(j.m.held_of_s - SECONDS) < 10);
	assert_int_equal(j.m.nstretches, 2);
	assert_int_equal(j.m.stretch[0].rank, 0);
	assert_int_equal(j.m.stretch[1].rank, 2);
	assert_true(j.m.stretch[0].from_s < 6 && fabs(j.m.stretch[0].to_s - HALF) < 5);
	assert_true(j.m.stretch[1].to_s > SECONDS - 8 && j.m.stretch[1].to_s <= SECONDS);
	end(&j);
}

/* What clocks may be apart is taken off, so that it stays a lower bound. */
static void test_clocks_that_are_apart(void **state)
{
	const double ahead_s[] = { 0.3, -0.3 };
	struct job j;
	double sure;

	(void)state;
	make(&j, 0, 1000000);
	sure = j.m.held_s;
	end(&j);
	for (int i = 0; i < 2; i++) {
		make(&j, ahead_s[i], 310000000);
		holds(&j, 0.3);
		assert_true(j.m.held_s < sure);
		end(&j);
	}
	make(&j, 0, 3000000000); /* nothing is certain within a part of the run */
	assert_true(j.m.held_s <= 1e-6 && j.m.nstretches == 0);
	assert_null(mpi_held_longest(&j.m));
	end(&j);
}

static void test_a_clock_of_which_nothing_is_known(void **state)
{
	struct job j;

	(void)state;
	make(&j, 0, -1);
	assert_true(isnan(j.m.held_s) && isnan(j.rank[0].held_s));
	end(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranks_of_two_nodes),
		cmocka_unit_test(test_clocks_that_are_apart),
		cmocka_unit_test(test_a_clock_of_which_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
