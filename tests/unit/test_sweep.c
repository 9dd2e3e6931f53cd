/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities, and which combinations of a matrix are tried in which order. */
#include "base/random.h"
#include "bench/sweep/sweepspace.h"
#include "bench/sweep/sweepspec.h"
#include "core/describe.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void quantities_are_those_of_kubernetes(void **state)
{
	static const struct {
		const char *text;
		double wanted;
	} good[] = {
		{ "500m", 0.5 },
		{ "2", 2 },
		{ "0.1", 0.1 },
		{ "1Gi", 1073741824 },
		{ "256Mi", 256 * 1048576.0 },
		{ "1.5G", 1.5e9 },
		{ "129e6", 129e6 },
		{ "12E2", 1200 },
		{ "2E", 2e18 },
		{ "1Ei", 1152921504606846976.0 },
		{ "100u", 1e-4 },
		{ "1e-3k", 1 },
		{ "0", 0 },
		{ "7K", 7000 },
	};
	static const char *const bad[] = { "",     "m",   "-1",   "1 Gi",  "1gi",
					   "1GiB", "1e",  "1..2", "0x10",  "Gi",
					   "1mm",  "inf", "nan",  "1e999", "+1" };
	double v;

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		assert_true(quantity_read(good[i].text, &v));
		assert_true(v > good[i].wanted * (1 - 1e-12) - 1e-300 &&
			    v < good[i].wanted * (1 + 1e-12) + 1e-300);
	}
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (quantity_read(bad[i], &v))
			fail_msg("'%s' is taken for %g", bad[i], v);
}

/* Two stacks, one environment, parameters of 5 and 7 values. */
static const char *values[] = { "0", "1", "2", "3", "4", "5", "6" };
static struct sweep_stack stacks[] = { { .name = "a" }, { .name = "b" } };
static struct sweep_environment plain = { .name = "plain" };

static struct sweep_spec grid(enum sweep_decision decision, int64_t seed, int64_t count)
{
	struct sweep_spec s = { .stack = stacks,
				.nstacks = 2,
				.environments = &plain,
				.nenvironments = 1,
				.nparameters = 2,
				.decision = decision,
				.seed = seed,
				.count = count };

	s.parameter[0] = (struct sweep_parameter){ "X", { values, 5 } };
	s.parameter[1] = (struct sweep_parameter){ "Y", { values, 7 } };
	return s;
}

static void all_come_in_order_without_the_excluded(void **state)
{
	struct jsontree stack = { .type = JSONDOC_STRING, .key = "stack", .text = "a" };
	struct jsontree x = { .type = JSONDOC_STRING, .key = "X", .text = "4", .next = &stack };
	struct jsontree entry = { .type = JSONDOC_OBJECT, .first = &x };
	const struct jsontree *exclude[] = { &entry };
	struct sweep_spec spec = grid(SWEEP_ALL, 0, 0);
	struct sweep_space s;
	uint32_t order[70], at[SWEEP_AXES];

	(void)state;
	spec.exclude = exclude;
	spec.nexcludes = 1;
	assert_int_equal(sweepspace_init(&s, &spec), 0);
	assert_int_equal(s.combinations, 70);
	assert_int_equal(sweepspace_choose(&s, &spec, order), 63);
	for (int i = 1; i < 63; i++)
		assert_true(order[i - 1] < order[i]);
	sweepspace_at(&s, order[28], at);
	assert_int_equal(at[0], 1);
	assert_int_equal(at[2], 0);
	assert_int_equal(at[3], 0);
	sweepspace_free(&s);
}

static void words_take_parameters(void **state)
{
	static const char *const words[][2] = {
		{ "--x=${X}", "--x=4" },
		{ "${X}${Y}", "46" },
		{ "$X ${Z} ${X", "$X ${Z} ${X" },
		{ "", "" },
		{ "$${X}}", "$4}" },
		{ "${}${X }", "${}${X }" },
		{ "${${Y}", "${6" },
	};
	const struct sweep_spec spec = grid(SWEEP_ALL, 0, 0);
	const uint32_t at[SWEEP_AXES] = { 0, 0, 4, 6 };

	(void)state;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		struct bytes b = { 0 };

		sweepspace_word(&b, &spec, at, words[i][0]);
		assert_string_equal((const char *)b.data, words[i][1]);
		bytes_free(&b);
	}
}

static void chance_draws_each_alike_and_none_twice(void **state)
{
	uint32_t times[70] = { 0 }, order[70], again[70];
	struct sweep_space s;
	struct sweep_spec spec = grid(SWEEP_RANDOM, 0, 10);

	(void)state;
	assert_int_equal(sweepspace_init(&s, &spec), 0);
	for (int seed = 0; seed < 7000; seed++) {
		bool seen[70] = { false };

		spec.seed = seed;
		assert_int_equal(sweepspace_choose(&s, &spec, order), 10);
		for (int i = 0; i < 10; i++) {
			assert_true(order[i] < 70 && !seen[order[i]]);
			seen[order[i]] = true;
			times[order[i]]++;
		}
	}
	for (int i = 0; i < 70; i++) /* 1000 +- 6 standard deviations */
		assert_in_range(times[i], 822, 1178);
	sweepspace_choose(&s, &spec, again);
	assert_memory_equal(order, again, 10 * sizeof *order);
	sweepspace_free(&s);
}

/* Highest at stack b, X 3, Y 2, and without another top. */
static double hill(const struct sweep_space *s, uint32_t combination)
{
	uint32_t at[SWEEP_AXES];

	sweepspace_at(s, combination, at);
	return 10.0 * at[0] - 3 * abs((int)at[2] - 3) - 2 * abs((int)at[3] - 2);
}

static int64_t climb(const struct sweep_spec *spec, const struct sweep_space *s, uint32_t *path,
		     uint32_t failing)
{
	struct sweep_score score[70] = { { SWEEP_UNKNOWN, 0 } };
	int64_t n = 0, next;

	while ((next = sweepspace_climb(s, spec, score)) >= 0) {
		assert_true(next < 70 && score[next].state == SWEEP_UNKNOWN);
		score[next].state = (uint32_t)next == failing ? SWEEP_FAILED : SWEEP_KNOWN;
		score[next].value = hill(s, (uint32_t)next);
		path[n++] = (uint32_t)next;
	}
	return n;
}

static void climbing_finds_the_top_from_everywhere(void **state)
{
	struct sweep_spec spec = grid(SWEEP_HILL_CLIMBING, 0, 0);
	uint32_t path[70], again[70], top = 35 + 3 * 7 + 2;
	struct sweep_space s;

	(void)state;
	assert_int_equal(sweepspace_init(&s, &spec), 0);
	for (spec.seed = 0; spec.seed < 200; spec.seed++) {
		int64_t n = climb(&spec, &s, path, UINT32_MAX);
		bool found = false;

		for (int64_t i = 0; i < n; i++)
			found |= path[i] == top;
		assert_true(found && n < 45);
		assert_int_equal(climb(&spec, &s, again, UINT32_MAX), n);
		assert_memory_equal(path, again, (size_t)n * sizeof *path);
		climb(&spec, &s, path, path[0]); /* it begins where it fails */
		assert_int_equal(path[0], again[0]);
	}
	spec.count = 4;
	assert_int_equal(climb(&spec, &s, path, UINT32_MAX), 4);
	sweepspace_free(&s);
}

/* A broad hill, and a steep one that is higher: from most places climbing ends on the first. */
static double two_hills(const struct sweep_space *s, uint32_t combination)
{
	uint32_t at[SWEEP_AXES];
	int x, y;

	sweepspace_at(s, combination, at);
	x = (int)at[2];
	y = (int)at[3];
	return fmax(7 - abs(x - 1) - abs(y - 1), 10 - 2.5 * (abs(x - 4) + abs(y - 5))) - at[0];
}

/* The best of what a decision tries, and how many that is. */
static double best_of(const struct sweep_spec *spec, const struct sweep_space *s, int64_t *n)
{
	struct sweep_score score[70] = { { SWEEP_UNKNOWN, 0 } };
	double best = -INFINITY;
	int64_t next;

	for (*n = 0; (next = sweepspace_next(s, spec, score)) >= 0; (*n)++) {
		assert_true(next < 70 && score[next].state == SWEEP_UNKNOWN);
		score[next].state = next % 11 == 5 ? SWEEP_FAILED : SWEEP_KNOWN;
		score[next].value = two_hills(s, (uint32_t)next);
		if (score[next].state == SWEEP_KNOWN)
			best = fmax(best, score[next].value);
	}
	return best;
}

static double best_of_all(const struct sweep_space *s)
{
	double best = -INFINITY;

	for (uint32_t i = 0; i < s->combinations; i++)
		if (i % 11 != 5)
			best = fmax(best, two_hills(s, i));
	return best;
}

static void annealing_finds_what_climbing_misses(void **state)
{
	struct sweep_spec anneal = grid(SWEEP_ANNEALING, 0, 35);
	struct sweep_spec climbing = grid(SWEEP_HILL_CLIMBING, 0, 35);
	int annealed = 0, climbed = 0;
	struct sweep_space s;
	double top;

	(void)state;
	assert_int_equal(sweepspace_init(&s, &anneal), 0);
	top = best_of_all(&s);
	for (int seed = 0; seed < 500; seed++) {
		int64_t n, again;
		double best;

		anneal.seed = climbing.seed = seed;
		best = best_of(&anneal, &s, &n);
		assert_true(n <= 35);
		assert_true(best_of(&anneal, &s, &again) == best && again == n);
		annealed += best == top;
		climbed += best_of(&climbing, &s, &n) == top;
	}
	/* 335 and 195; half of the combinations drawn by chance have it in 250. */
	assert_true(annealed >= 300 && climbed < 250);
	sweepspace_free(&s);
}

/* Of one hill it finds the top as climbing does, and with a single combination it ends. */
static void annealing_climbs_a_hill(void **state)
{
	struct sweep_spec spec = grid(SWEEP_ANNEALING, 0, 45);
	struct sweep_space s;
	int found = 0;

	(void)state;
	assert_int_equal(sweepspace_init(&s, &spec), 0);
	for (spec.seed = 0; spec.seed < 200; spec.seed++) {
		struct sweep_score score[70] = { { SWEEP_UNKNOWN, 0 } };
		int64_t next, n = 0;

		while ((next = sweepspace_next(&s, &spec, score)) >= 0) {
			score[next].state = SWEEP_KNOWN;
			score[next].value = hill(&s, (uint32_t)next);
			n++;
		}
		assert_true(n <= 45);
		found += score[35 + 3 * 7 + 2].state == SWEEP_KNOWN;
	}
	assert_true(found >= 190);
	for (uint32_t i = 1; i < s.combinations; i++)
		s.excluded[i] = true;
	struct sweep_score one[70] = { { SWEEP_UNKNOWN, 0 } };
	assert_int_equal(sweepspace_next(&s, &spec, one), 0);
	one[0].state = SWEEP_FAILED;
	assert_int_equal(sweepspace_next(&s, &spec, one), -1);
	sweepspace_free(&s);
}

/* ---- successive halving ---- */

static void check_plan(uint32_t n, int64_t budget, int64_t eta, int64_t minimum,
		       const struct halving *wanted)
{
	const struct sweep_spec spec = { .budget = budget, .eta = eta, .minimum = minimum };
	struct halving h;

	assert_true(halving_plan(&h, &spec, n));
	assert_int_equal(h.nrounds, wanted->nrounds);
	assert_int_equal(h.trials, wanted->trials);
	for (uint32_t i = 0; i < h.nrounds; i++) {
		assert_int_equal(h.round[i].combinations, wanted->round[i].combinations);
		assert_int_equal(h.round[i].trials, wanted->round[i].trials);
	}
}

static void halving_shares_the_budget_between_rounds(void **state)
{
	const struct sweep_spec small = { .budget = 71, .eta = 2, .minimum = 3 };
	struct halving h;

	(void)state;
	check_plan(8, 0, 2, 3, &(struct halving){ 3, { { 8, 3 }, { 4, 9 }, { 2, 21 } }, 72, 0 });
	check_plan(8, 72, 2, 1, &(struct halving){ 3, { { 8, 3 }, { 4, 9 }, { 2, 21 } }, 72, 0 });
	check_plan(8, 100, 2, 1, &(struct halving){ 3, { { 8, 4 }, { 4, 12 }, { 2, 28 } }, 96, 0 });
	check_plan(10, 0, 3, 2, &(struct halving){ 3, { { 10, 2 }, { 4, 7 }, { 2, 17 } }, 60, 0 });
	check_plan(2, 10, 2, 5, &(struct halving){ 1, { { 2, 5 } }, 10, 0 });
	check_plan(1, 0, 2, 3, &(struct halving){ 1, { { 1, 3 } }, 3, 0 });
	assert_false(halving_plan(&h, &small, 8));
	assert_int_equal(h.needed, 72);
}

static void halving_keeps_the_best(void **state)
{
	const struct sweep_score score[] = { { SWEEP_KNOWN, 1 },   { SWEEP_FAILED, 9 },
					     { SWEEP_KNOWN, 5 },   { SWEEP_KNOWN, 5 },
					     { SWEEP_UNKNOWN, 9 }, { SWEEP_KNOWN, -7 } };
	static const uint32_t best_first[] = { 2, 3, 0, 5, 1, 4 };
	uint32_t chosen[] = { 5, 4, 3, 2, 1, 0 };

	(void)state;
	assert_int_equal(halving_keep(chosen, 6, score, 4), 2);
	assert_memory_equal(chosen, best_first, sizeof chosen);
	assert_int_equal(halving_keep(chosen, 6, score, 2), 3);
	assert_int_equal(halving_keep(chosen, 1, score, 2), 1);
}

/* A trial of a combination: its value with noise, the same however often it is asked. */
static double trial_of(double value, double noise, int seed, uint32_t combination, int64_t number)
{
	struct random r = { .state = ((uint64_t)seed << 40) + ((uint64_t)combination << 20) +
				     (uint64_t)number };
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += random_unit(&r);
	return value + noise * (sum - 6);
}

static double median_of(double (*surface)(const struct sweep_space *, uint32_t),
			const struct sweep_space *s, double noise, int seed, uint32_t combination,
			int64_t trials)
{
	double v[4096];

	for (int64_t k = 0; k < trials; k++)
		v[k] = trial_of(surface(s, combination), noise, seed, combination, k);
	return describe(v, (uint32_t)trials).median;
}

/* What is left at the end; *trials: how many that took. */
static uint32_t halve(const struct sweep_spec *spec, const struct sweep_space *s,
		      double (*surface)(const struct sweep_space *, uint32_t), double noise,
		      int seed, int64_t *trials)
{
	struct sweep_score score[70];
	uint32_t live[70], n = s->combinations;
	struct halving h;
	int64_t before = 0;

	assert_true(halving_plan(&h, spec, n));
	*trials = 0;
	for (uint32_t i = 0; i < n; i++)
		live[i] = i;
	for (uint32_t k = 0; k < h.nrounds; before = h.round[k++].trials) {
		assert_int_equal(n, h.round[k].combinations);
		*trials += n * (h.round[k].trials - before);
		for (uint32_t i = 0; i < n; i++)
			score[live[i]] =
				(struct sweep_score){ SWEEP_KNOWN,
						      median_of(surface, s, noise, seed, live[i],
								h.round[k].trials) };
		n = halving_keep(live, n, score, spec->eta);
	}
	assert_int_equal(*trials, h.trials);
	return live[0];
}

/* Every combination gets as many trials. */
static uint32_t exhaust(const struct sweep_space *s,
			double (*surface)(const struct sweep_space *, uint32_t), double noise,
			int seed, int64_t each)
{
	uint32_t best = 0;
	double most = -INFINITY;

	for (uint32_t i = 0; i < s->combinations; i++) {
		double median = median_of(surface, s, noise, seed, i, each);

		best = median > most ? i : best;
		most = fmax(most, median);
	}
	return best;
}

static void halving_finds_what_exhaustive_search_finds(void **state)
{
	static double (*const surfaces[])(const struct sweep_space *, uint32_t) = { hill,
										    two_hills };
	struct sweep_spec spec = grid(SWEEP_HALVING, 0, 0);
	struct sweep_space s;
	int64_t trials;

	(void)state;
	spec.minimum = 1;
	assert_int_equal(sweepspace_init(&s, &spec), 0);
	for (size_t i = 0; i < 2; i++)
		for (spec.eta = 2; spec.eta < 9; spec.eta++)
			assert_int_equal(halve(&spec, &s, surfaces[i], 0, 1, &trials),
					 exhaust(&s, surfaces[i], 0, 1, 1));
	sweepspace_free(&s);
}

/* With the same number of trials it names the top more often than as many trials of each. */
static void halving_spends_trials_where_they_decide(void **state)
{
	enum { SEEDS = 200, EACH = 10 };
	struct sweep_spec spec = grid(SWEEP_HALVING, 0, 0);
	uint32_t top = 35 + 3 * 7 + 2;
	int halved = 0, exhausted = 0;
	struct sweep_space s;

	(void)state;
	spec.eta = 2;
	spec.minimum = 1;
	spec.budget = (int64_t)EACH * 70;
	assert_int_equal(sweepspace_init(&s, &spec), 0);
	for (int seed = 0; seed < SEEDS; seed++) {
		int64_t trials;

		halved += halve(&spec, &s, hill, 4, seed, &trials) == top;
		assert_true(trials <= EACH * 70);
		exhausted += exhaust(&s, hill, 4, seed, EACH) == top;
	}
	print_message("the top of 70: halving %d, exhaustive %d of %d\n", halved, exhausted, SEEDS);
	assert_true(halved > exhausted + SEEDS / 20);
	sweepspace_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantities_are_those_of_kubernetes),
		cmocka_unit_test(all_come_in_order_without_the_excluded),
		cmocka_unit_test(words_take_parameters),
		cmocka_unit_test(chance_draws_each_alike_and_none_twice),
		cmocka_unit_test(climbing_finds_the_top_from_everywhere),
		cmocka_unit_test(annealing_finds_what_climbing_misses),
		cmocka_unit_test(annealing_climbs_a_hill),
		cmocka_unit_test(halving_shares_the_budget_between_rounds),
		cmocka_unit_test(halving_keeps_the_best),
		cmocka_unit_test(halving_finds_what_exhaustive_search_finds),
		cmocka_unit_test(halving_spends_trials_where_they_decide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
