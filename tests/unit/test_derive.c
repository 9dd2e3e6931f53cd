/* SPDX-License-Identifier: Apache-2.0 */
#include "core/frame/derive.h"
#include "unit/frame_text.h"

static const struct metric code = { "disk.code", "disk", .unit = UNIT_ONE, .kind = KIND_STATE };

static void test_combine_sums_and_means_without_what_is_aside(void **state)
{
	struct synth *s = disks();

	(void)state;
	check(s, &(struct selection){ .combine = true, .metrics = "disk.*" }, TIDY_SKIP,
	      "disk.queue_count - 0 15 \ndisk.busy_cores - 1 3 \ndisk.queue_count - 1 15 \n");
	synth_free(s);
}

/* A disk that is not read in a row has what it had. */
static void test_a_device_that_is_not_read_keeps_its_value(void **state)
{
	struct synth *s = disks();

	(void)state;
	s->row[1].present[2] = 0;
	check(s, &(struct selection){ .combine = true, .metrics = "disk.queue_count" }, TIDY_SKIP,
	      "disk.queue_count - 0 15 \ndisk.queue_count - 1 15 \n");
	synth_free(s);
}

static void test_combine_counts_only_what_was_ever_read(void **state)
{
	struct synth *s = disks();

	(void)state;
	s->row[0].present[2] = s->row[1].present[2] = 0;
	check(s, &(struct selection){ .combine = true, .metrics = "disk.queue_count" }, TIDY_SKIP,
	      "disk.queue_count - 0 20 \ndisk.queue_count - 1 20 \n");
	synth_free(s);
}

static void test_combine_keeps_what_may_not_be_combined(void **state)
{
	struct synth *s = disks();
	uint32_t x = synth_series(s, 1, synth_metric(s, code), 1);

	(void)state;
	synth_row(s, 1, 2);
	synth_put(s, x, 7);
	check(s, &(struct selection){ .combine = true, .metrics = "disk.code" }, "node time",
	      "disk.code sdb 2 7  state \n");
	synth_free(s);
}

static void test_derived_is_made_per_instance_then_from_the_node(void **state)
{
	struct synth *s = disks();

	(void)state;
	synth_metric(
		s, (struct metric){ "disk.strain", "disk", .kind = KIND_GAUGE, .unit = UNIT_RATIO,
				    .formula = "disk.busy_cores / disk.queue_count + node.load" });
	check(s, &(struct selection){ .metrics = "disk.strain" }, TIDY_SKIP,
	      "disk.strain sdb 1 0.6 \ndisk.strain sda 1 0.6 \ndisk.strain loop0 1 0.6 \n");
	synth_free(s);
}

/* sda has no queue of its own; the other disks' is not taken for it. But another domain's total is.
 */
static void test_instance_does_not_borrow_from_its_kind(void **state)
{
	struct synth *s = disks();
	uint32_t m = synth_metric(s, (struct metric){ "core.x", "core", .kind = KIND_GAUGE,
						      .over_instances = COMBINE_SUM });
	uint32_t a = synth_series(s, 1, m, synth_instance(s, "core", "0"));
	uint32_t b = synth_series(s, 1, m, synth_instance(s, "core", "1"));

	(void)state;
	s->series[4].instance = 3;
	synth_put(s, a, 3);
	synth_put(s, b, 4);
	synth_metric(s, (struct metric){ "disk.strain", "disk", .kind = KIND_GAUGE,
					 .formula = "disk.busy_cores / disk.queue_count" });
	synth_metric(s, (struct metric){ "disk.y", "disk", .kind = KIND_GAUGE,
					 .formula = "disk.busy_cores + core.x" });
	check(s, &(struct selection){ .metrics = "disk.strain,disk.y" }, TIDY_SKIP,
	      "disk.strain sdb 1 0.1 \ndisk.y sdb 1 8 \ndisk.y sda 1 9 \n"
	      "disk.strain loop0 1 0.1 \ndisk.y loop0 1 10 \n");
	synth_free(s);
}

/* Another version of sonde stored it in other steps and computed it by another formula. */
static void test_unlike_declarations_are_merged_by_name(void **state)
{
	struct synth *s = disks();
	struct metric coarse = load;
	uint32_t x, y;

	(void)state;
	coarse.div = 10;
	x = synth_metric(s, coarse);
	coarse.unit = UNIT_COUNT;
	y = synth_metric(s, coarse);
	synth_metric(
		s, (struct metric){ "node.twice", .kind = KIND_GAUGE, .formula = "node.load * 2" });
	synth_metric(s, (struct metric){ "node.twice", .kind = KIND_GAUGE,
					 .formula = "node.load + node.load" });
	x = synth_series(s, 2, x, 0);
	y = synth_series(s, 2, y, 0);
	synth_row(s, 2, 5);
	synth_put(s, x, 7);
	synth_put(s, y, 7);
	check(s, &(struct selection){ .metrics = "node.*", .from_s = 1 }, "time kind",
	      "alpha node.load - 1 0.5  \nalpha node.twice - 1 1  \n"
	      "beta node.load - 5 0.7  \nbeta node.load - 5 0.7 count \nbeta node.twice - 5 1.4  "
	      "\n");
	synth_free(s);
}

static void test_ratio_is_made_of_sums_when_combined(void **state)
{
	struct synth *s = disks();

	(void)state;
	synth_metric(s, (struct metric){ "disk.strain", "disk", .kind = KIND_GAUGE,
					 .formula = "disk.busy_cores / disk.queue_count" });
	check(s, &(struct selection){ .metrics = "disk.strain", .combine = true }, TIDY_SKIP,
	      "disk.strain - 1 0.2 \n");
	synth_free(s);
}

static void test_node_formula_sees_what_instances_combine_into(void **state)
{
	struct synth *s = disks();

	(void)state;
	synth_metric(s, (struct metric){ "node.idle", .kind = KIND_GAUGE,
					 .formula = "4 - disk.busy_cores" });
	check(s, &(struct selection){ .metrics = "node.idle" }, TIDY_SKIP, "node.idle - 1 1 \n");
	synth_free(s);
}

static void test_formulas_build_on_formulas_in_any_order(void **state)
{
	struct synth *s = disks();

	(void)state;
	synth_metric(s,
		     (struct metric){ "node.c", .kind = KIND_GAUGE, .formula = "node.b + node.a" });
	synth_metric(s, (struct metric){ "node.b", .kind = KIND_GAUGE, .formula = "node.a * 10" });
	synth_metric(s,
		     (struct metric){ "node.a", .kind = KIND_GAUGE, .formula = "node.load * 2" });
	check(s, &(struct selection){ .metrics = "node.c", .from_s = 1 }, TIDY_SKIP,
	      "node.c - 1 11 \n");
	synth_free(s);
}

static void test_formula_without_sense_has_no_values(void **state)
{
	struct synth *s = disks();

	(void)state;
	synth_metric(s, (struct metric){ "node.x", .kind = KIND_GAUGE,
					 .formula = "node.y + node.load" });
	synth_metric(s, (struct metric){ "node.y", .kind = KIND_GAUGE,
					 .formula = "node.x + node.load" });
	synth_metric(s,
		     (struct metric){ "node.bad", .kind = KIND_GAUGE, .formula = "node.load +" });
	synth_metric(s, (struct metric){ "node.call", .kind = KIND_GAUGE,
					 .formula = "mean(node.load)" });
	synth_metric(s, (struct metric){ "node.gone", .kind = KIND_GAUGE,
					 .formula = "node.load + no.such" });
	check(s, &(struct selection){ .metrics = "node.x,node.y,node.bad,node.call,node.gone" },
	      TIDY_SKIP, "");
	synth_free(s);
}

/* ---- many rows ---- */

enum { MANY = 333 };

/* The counters of the next test at a row: some do what none should. */
static int64_t counted(unsigned which, int64_t row)
{
	switch (which) {
	case 0:
		return 4711; /* it stays */
	case 1:
		return row * row * 1000;
	case 2:
		return row < 100 ? row * 7 : (row - 100) * 7; /* it goes back */
	case 3:
		return row * 7 + (row < 200 ? 0 : INT64_C(1) << 60); /* it leaps */
	case 4:
		return row < 150 ? INT64_MAX - 1000 + row : INT64_MIN + row; /* it comes around */
	default:
		return row / 40;
	}
}

static bool counts(unsigned which, int64_t row)
{
	return which < 5 || row % 7 != 3;
}

/* What a rate is by its definition; false: there is none. */
static bool rate_of(unsigned which, int64_t row, double *rate)
{
	int64_t before = row - 1, rise;

	while (before >= 0 && !counts(which, before))
		before--;
	if (!counts(which, row) || before < 0 ||
	    __builtin_sub_overflow(counted(which, row), counted(which, before), &rise) || rise < 0)
		return false;
	*rate = (double)rise / 1000 / ((double)(row - before) * 0.5);
	return true;
}

static void check_wide(struct synth *s)
{
	const struct selection sel = { .wide = true };
	struct frame *f;
	struct batch b;
	struct err e;
	int64_t row = 0;

	assert_int_equal(frame_open(&f, &s->run, &sel, &e), 0);
	while (frame_next(f, &b, &e) > 0)
		for (uint32_t i = 0; i < b.nrows; i++, row++)
			for (unsigned which = 0; which < 6; which++) {
				const struct cells *c = &b.columns[3 + which];
				double want = 0;
				bool there = rate_of(which, row, &want);

				if (there != (c->state[i] == STATE_PRESENT) ||
				    (there && c->d[i] != want))
					fail_msg("counter %u, row %d: %d %.17g, not %d %.17g",
						 which, (int)row, c->state[i], c->d[i], there,
						 want);
			}
	assert_int_equal(row, MANY);
	frame_close(f);
}

/* The next one that there is, of row * 6 + counter; MANY * 6: none. */
static int64_t next_rate(int64_t at, double *rate)
{
	for (at++; at < MANY * 6; at++)
		if (rate_of((unsigned)(at % 6), at / 6, rate))
			break;
	return at;
}

static void check_tidy(struct synth *s)
{
	const struct selection sel = { 0 };
	struct frame *f;
	struct batch b;
	struct err e;
	double want = 0;
	int64_t at = next_rate(-1, &want);

	assert_int_equal(frame_open(&f, &s->run, &sel, &e), 0);
	while (frame_next(f, &b, &e) > 0)
		for (uint32_t i = 0; i < b.nrows; i++, at = next_rate(at, &want)) {
			assert_true(at < MANY * 6);
			assert_string_equal(b.columns[1].s[i], s->metrics[1 + at % 6].row.label);
			assert_true(b.columns[4].d[i] == (double)(at / 6) * 0.5);
			assert_true(b.columns[5].d[i] == want);
		}
	assert_int_equal(at, MANY * 6);
	frame_close(f);
}

static void test_rates_of_many_rows_are_those_of_each(void **state)
{
	static const char *const names[][2] = { { "job.a_count", "job.a_count_per_second" },
						{ "job.b_count", "job.b_count_per_second" },
						{ "job.c_count", "job.c_count_per_second" },
						{ "job.d_count", "job.d_count_per_second" },
						{ "job.e_count", "job.e_count_per_second" },
						{ "job.f_count", "job.f_count_per_second" } };
	struct synth *s = synth_new(150);

	(void)state;
	for (unsigned i = 0; i < 6; i++)
		synth_series(s, 1,
			     synth_metric(s, (struct metric){ names[i][0], .label = names[i][1],
							      .unit = UNIT_COUNT, .div = 1000,
							      .kind = KIND_COUNTER }),
			     0);
	for (int64_t row = 0; row < MANY; row++) {
		synth_row(s, 1, (double)row * 0.5);
		for (unsigned i = 0; i < 6; i++)
			if (counts(i, row))
				synth_put(s, i + 1, counted(i, row));
	}
	check_wide(s);
	check_tidy(s);
	synth_free(s);
}

/* A formula without what it needs has no value: then nobody reads the rest of it. Of what is only
 * measured ranges say enough. */
static void test_what_tells_nothing_is_not_read(void **state)
{
	static const char known[] = "if(known(node.none), node.none, node.load)";
	struct selection sel = { .combine = true, .metrics = "*" };
	struct synth *s = disks();
	struct derive d;
	struct err e;

	(void)state;
	synth_metric(s, (struct metric){ "node.power", .kind = KIND_GAUGE,
					 .formula = "node.none * min(1, node.load / 2)" });
	synth_metric(s, (struct metric){ "node.more", .kind = KIND_GAUGE,
					 .formula = "node.power + disk.queue_count" });
	assert_int_equal(derive_open(&d, &s->run, &sel, &e), 0);
	plan_leave_to_ranges(&d.plan);
	assert_true(d.plan.wanted[1]); /* a rate */
	assert_false(d.plan.wanted[7]);
	derive_close(&d);
	synth_metric(s, (struct metric){ "node.some", .kind = KIND_GAUGE, .formula = known });
	assert_int_equal(derive_open(&d, &s->run, &sel, &e), 0);
	plan_leave_to_ranges(&d.plan);
	assert_true(d.plan.wanted[7]);
	derive_close(&d);
	synth_free(s);
}

/* Nor a difference of two such, as long as nothing else is made of them. */
static void test_a_difference_is_not_read(void **state)
{
	static const struct metric room = { "node.room", .kind = KIND_GAUGE },
				   taken = { "node.taken", .kind = KIND_GAUGE };
	struct selection sel = { .combine = true, .metrics = "*" };
	struct synth *s = synth_new(4);
	uint32_t first;
	struct derive d;
	struct err e;

	(void)state;
	first = synth_series(s, 1, synth_metric(s, room), 0);
	synth_series(s, 1, synth_metric(s, taken), 0);
	synth_metric(s, (struct metric){ "node.left", .kind = KIND_GAUGE,
					 .formula = "node.room - node.taken" });
	assert_int_equal(derive_open(&d, &s->run, &sel, &e), 0);
	plan_leave_to_ranges(&d.plan);
	assert_false(d.plan.wanted[first] || d.plan.wanted[first + 1]);
	derive_close(&d);
	synth_metric(s, (struct metric){ "node.half", .kind = KIND_GAUGE,
					 .formula = "node.taken / node.room" });
	assert_int_equal(derive_open(&d, &s->run, &sel, &e), 0);
	plan_leave_to_ranges(&d.plan);
	assert_true(d.plan.wanted[first] && d.plan.wanted[first + 1]);
	derive_close(&d);
	synth_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_combine_sums_and_means_without_what_is_aside),
		cmocka_unit_test(test_a_device_that_is_not_read_keeps_its_value),
		cmocka_unit_test(test_combine_counts_only_what_was_ever_read),
		cmocka_unit_test(test_combine_keeps_what_may_not_be_combined),
		cmocka_unit_test(test_derived_is_made_per_instance_then_from_the_node),
		cmocka_unit_test(test_instance_does_not_borrow_from_its_kind),
		cmocka_unit_test(test_unlike_declarations_are_merged_by_name),
		cmocka_unit_test(test_ratio_is_made_of_sums_when_combined),
		cmocka_unit_test(test_node_formula_sees_what_instances_combine_into),
		cmocka_unit_test(test_formulas_build_on_formulas_in_any_order),
		cmocka_unit_test(test_formula_without_sense_has_no_values),
		cmocka_unit_test(test_rates_of_many_rows_are_those_of_each),
		cmocka_unit_test(test_what_tells_nothing_is_not_read),
		cmocka_unit_test(test_a_difference_is_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
