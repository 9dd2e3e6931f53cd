/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/frame_text.h"

#include <errno.h>
#include <math.h>

static const struct metric sent = { "node.sent_bytes", .unit = UNIT_BYTES, .kind = KIND_COUNTER };
static const struct metric rss = { "process.resident_bytes", "process", .unit = UNIT_BYTES,
				   .kind = KIND_GAUGE, .over_instances = COMBINE_SUM };

static void test_tidy_row_says_everything(void **state)
{
	struct synth *s = synth_new(300);
	uint32_t x = synth_series(s, 1, synth_metric(s, load), 0);

	(void)state;
	synth_row(s, 1, 1.5);
	synth_put(s, x, 250);
	check(s, &(struct selection){ 0 }, "", "alpha node.load - 1500000000 1.5 2.5  gauge \n");
	synth_free(s);
}

static void test_rate_uses_real_time_and_starts_absent(void **state)
{
	(void)state;
	for (uint32_t rows = 1; rows <= 4; rows++) {
		struct synth *s = synth_new(rows); /* the last reading is kept across chunks */
		uint32_t x = synth_series(s, 1, synth_metric(s, sent), 0);

		for (int i = 0; i < 4; i++) {
			static const double at[] = { 0, 1, 1.5, 3.5 };
			static const int64_t value[] = { 1000, 1100, 1100, 1900 };

			synth_row(s, 1, at[i]);
			synth_put(s, x, value[i]);
		}
		check(s, &(struct selection){ 0 }, TIDY_SKIP,
		      "node.sent_bytes_per_second - 1 100 \n"
		      "node.sent_bytes_per_second - 1.5 0 \n"
		      "node.sent_bytes_per_second - 3.5 400 \n");
		synth_free(s);
	}
}

static void test_rate_after_a_gap_spans_the_gap(void **state)
{
	struct synth *s = synth_new(2);
	uint32_t x = synth_series(s, 1, synth_metric(s, sent), 0);

	(void)state;
	for (int i = 0; i < 6; i++) {
		synth_row(s, 1, i);
		if (i == 0 || i == 4 || i == 5)
			synth_put(s, x, i * 10);
	}
	check(s, &(struct selection){ 0 }, TIDY_SKIP,
	      "node.sent_bytes_per_second - 4 10 \nnode.sent_bytes_per_second - 5 10 \n");
	synth_free(s);
}

static void test_counter_that_goes_back_is_absent_once(void **state)
{
	struct synth *s = synth_new(300);
	uint32_t x = synth_series(s, 1, synth_metric(s, sent), 0);
	static const int64_t value[] = { INT64_MAX - 5, 10, 30, INT64_MIN, INT64_MAX, INT64_MAX };

	(void)state;
	for (int i = 0; i < 6; i++) {
		synth_row(s, 1, i);
		synth_put(s, x, value[i]);
	}
	check(s, &(struct selection){ 0 }, TIDY_SKIP,
	      "node.sent_bytes_per_second - 2 20 \nnode.sent_bytes_per_second - 5 0 \n");
	synth_free(s);
}

static void test_clock_that_stands_or_goes_back_gives_no_rate(void **state)
{
	struct synth *s = synth_new(300);
	uint32_t x = synth_series(s, 1, synth_metric(s, sent), 0);
	static const double at[] = { 5, 5, 4, 6 };

	(void)state;
	for (int i = 0; i < 4; i++) {
		synth_row(s, 1, at[i]);
		synth_put(s, x, i * 100);
	}
	check(s, &(struct selection){ 0 }, TIDY_SKIP, "node.sent_bytes_per_second - 6 50 \n");
	synth_free(s);
}

static void test_a_step_of_the_wall_clock_changes_no_rate(void **state)
{
	struct synth *s = synth_new(300);
	uint32_t x = synth_series(s, 1, synth_metric(s, sent), 0);

	(void)state;
	for (int i = 0; i < 4; i++) {
		synth_row(s, 1, i);
		s->row[s->nrows - 1].utc_step_ns = i < 2 ? 0 : INT64_C(-3600000000000);
		synth_put(s, x, i * 100);
	}
	check(s, &(struct selection){ 0 }, TIDY_SKIP,
	      "node.sent_bytes_per_second - 1 100 \nnode.sent_bytes_per_second - 2 100 \n"
	      "node.sent_bytes_per_second - 3 100 \n");
	synth_free(s);
}

static void test_seconds_become_cores(void **state)
{
	struct synth *s = synth_new(300);
	uint32_t x = synth_series(s, 1, synth_metric(s, busy), synth_instance(s, "disk", "sda"));

	(void)state;
	for (int i = 0; i < 2; i++) {
		synth_row(s, 1, i * 2);
		synth_put(s, x, i * 3000);
	}
	check(s, &(struct selection){ 0 }, "node time", "disk.busy_cores sda 2 1.5 cores gauge \n");
	synth_free(s);
}

static void test_raw_gives_counters_as_stored_and_nothing_derived(void **state)
{
	struct synth *s = synth_new(300);
	uint32_t x = synth_series(s, 1, synth_metric(s, busy), synth_instance(s, "disk", "sda"));

	(void)state;
	synth_metric(s, (struct metric){ "disk.twice", "disk", .kind = KIND_GAUGE,
					 .formula = "disk.busy_cores * 2" });
	for (int i = 0; i < 2; i++) {
		synth_row(s, 1, i);
		synth_put(s, x, i * 3000);
	}
	check(s, &(struct selection){ .raw = true }, "node time",
	      "disk.busy_seconds sda 0 0 seconds counter \n"
	      "disk.busy_seconds sda 1 3 seconds counter \n");
	synth_free(s);
}

static void test_no_value_is_no_row(void **state)
{
	struct synth *s = synth_new(300);
	uint32_t x;
	double nan_value = NAN;
	int64_t bits;

	(void)state;
	x = synth_series(s, 1,
			 synth_metric(s, (struct metric){ "node.real", .kind = KIND_GAUGE,
							  .storage = STORE_REAL }),
			 0);
	synth_row(s, 1, 0);
	synth_row(s, 1, 1);
	memcpy(&bits, &nan_value, sizeof(bits));
	synth_put(s, x, bits);
	check(s, &(struct selection){ 0 }, "", "");
	synth_free(s);
}

static void test_wide_has_a_column_for_each_device(void **state)
{
	struct synth *s = disks();
	uint32_t x = synth_series(s, 1, synth_metric(s, rss), synth_instance(s, "process", "cc1"));
	struct selection sel = { .wide = true };
	struct frame *f;

	(void)state;
	synth_put(s, x, 4096);
	synth_row(s, 2, 3);
	assert_int_equal(frame_open(&f, &s->run, &sel, NULL), 0);
	assert_int_equal(frame_schema(f)->ncolumns, 10);
	assert_string_equal(frame_schema(f)->columns[3].name, "node.load");
	assert_string_equal(frame_schema(f)->columns[4].name, "disk.busy_cores[loop0]");
	assert_string_equal(frame_schema(f)->columns[5].name, "disk.busy_cores[sda]");
	assert_string_equal(frame_schema(f)->columns[5].unit, "cores");
	assert_string_equal(frame_schema(f)->columns[5].kind, "gauge");
	assert_null(frame_schema(f)->columns[0].kind);
	assert_string_equal(frame_schema(f)->columns[9].name, "disk.queue_count[sdb]");
	frame_close(f);
	check(s, &sel, "time",
	      "alpha 0 0.5 - - - 30 20 10 \nalpha 1 0.5 3 2 1 30 20 10 \nbeta 3 - - - - - - - \n");
	synth_free(s);
}

static void test_tidy_says_what_its_metrics_are(void **state)
{
	static const char *const kinds[] = { "gauge", "counter" };
	struct synth *s = disks();
	const struct frame_schema *schema;
	struct frame *f;

	(void)state;
	for (int raw = 0; raw < 2; raw++) {
		struct selection sel = { .raw = raw, .metrics = "disk.busy*" };

		assert_int_equal(frame_open(&f, &s->run, &sel, NULL), 0);
		schema = frame_schema(f);
		assert_int_equal(schema->nmetrics, 1);
		assert_string_equal(schema->metrics[0].name,
				    raw ? "disk.busy_seconds" : "disk.busy_cores");
		assert_string_equal(schema->metrics[0].unit, raw ? "seconds" : "cores");
		assert_string_equal(schema->metrics[0].kind, kinds[raw]);
		frame_close(f);
	}
	synth_free(s);
}

/* Also those that cannot be combined. */
static void test_what_passes_may_be_left_out(void **state)
{
	static const struct metric nice = { "process.nice", "process", .kind = KIND_GAUGE };
	struct synth *s = disks();
	uint32_t cc1 = synth_instance(s, "process", "cc1");

	(void)state;
	synth_put(s, synth_series(s, 1, synth_metric(s, rss), cc1), 4096);
	synth_put(s, synth_series(s, 1, synth_metric(s, nice), cc1), 5);
	check(s, &(struct selection){ .lasting = true, .metrics = "process.*,node.load" },
	      TIDY_SKIP, "node.load - 0 0.5 \nnode.load - 1 0.5 \n");
	check(s, &(struct selection){ .lasting = true, .combine = true, .metrics = "process.*" },
	      TIDY_SKIP, "process.resident_bytes - 1 4096 \n");
	synth_free(s);
}

static void test_nodes_share_wide_columns(void **state)
{
	struct synth *s = disks();
	uint32_t id = synth_instance(s, "disk", "sda"), x;

	(void)state;
	s->instances[id].node = 2;
	x = synth_series(s, 2, 2, id);
	synth_row(s, 2, 0.5);
	synth_put(s, x, 99);
	check(s, &(struct selection){ .wide = true, .metrics = "disk.queue_count" }, "time",
	      "alpha 0 30 20 10 \nalpha 1 30 20 10 \nbeta 0.5 - 99 - \n");
	synth_free(s);
}

static void test_a_device_that_comes_back_goes_on_in_its_wide_column(void **state)
{
	struct synth *s = synth_new(300);
	uint32_t m = synth_metric(s, queue), x[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		x[i] = synth_series(s, 1, m, synth_instance(s, "disk", "sda"));
	for (int i = 0; i < 3; i++) {
		synth_row(s, 1, i);
		if (i != 1)
			synth_put(s, x[i / 2], 10 + i);
	}
	check(s, &(struct selection){ .wide = true }, "time",
	      "alpha 0 10 \nalpha 1 - \nalpha 2 12 \n");
	synth_free(s);
}

static void test_time_range_keeps_the_reading_before_it(void **state)
{
	struct synth *s = synth_new(3);
	uint32_t x = synth_series(s, 1, synth_metric(s, sent), 0);

	(void)state;
	for (int i = 0; i < 6; i++) {
		synth_row(s, 1, i);
		synth_put(s, x, i * i);
	}
	check(s, &(struct selection){ .from_s = 2, .to_s = 4 }, TIDY_SKIP,
	      "node.sent_bytes_per_second - 2 3 \nnode.sent_bytes_per_second - 3 5 \n");
	synth_free(s);
}

static void test_windows_are_weighted_by_time(void **state)
{
	struct synth *s = synth_new(2);
	uint32_t x = synth_series(s, 1, synth_metric(s, sent), 0);
	uint32_t y = synth_series(s, 1, synth_metric(s, load), 0);
	static const double at[] = { 0, 1, 4, 10, 11 };
	static const int64_t value[] = { 0, 100, 100, 400, 500 };

	(void)state;
	for (int i = 0; i < 5; i++) {
		synth_row(s, 1, at[i]);
		synth_put(s, x, value[i]);
		synth_put(s, y, (i + 1) * 100);
	}
	/* [0, 5): rates 100 for 1 s and 0 for 3 s; load 1 (unweighted), 2 for 1 s, 3 for 3 s.
	 * [10, 15): 50 for 6 s and 100 for 1 s; load 4 for 6 s, 5 for 1 s. */
	check(s, &(struct selection){ .every_s = 5 }, TIDY_SKIP,
	      "node.load - 0 2.75 1 3 \n"
	      "node.sent_bytes_per_second - 0 25 0 100 \n"
	      "node.sent_bytes_per_second - 10 57.1429 50 100 \n"
	      "node.load - 10 4.14286 4 5 \n");
	synth_free(s);
}

static void test_windows_of_nodes_that_alternate(void **state)
{
	struct synth *s = synth_new(2);
	uint32_t m = synth_metric(s, load), x = synth_series(s, 1, m, 0),
		 y = synth_series(s, 2, m, 0);

	(void)state;
	for (int i = 0; i < 4; i++) {
		synth_row(s, 1 + (i & 1), i);
		synth_put(s, i & 1 ? y : x, i * 100);
	}
	check(s, &(struct selection){ .every_s = 10 }, "time kind unit",
	      "alpha node.load - 0 2 0 2 \nbeta node.load - 0 3 1 3 \n");
	synth_free(s);
}

static void test_many_rows_come_in_bounded_batches(void **state)
{
	struct synth *s = synth_new(300);
	uint32_t x = synth_series(s, 1, synth_metric(s, load), 0), total = 0;
	struct selection sel = { 0 };
	struct batch b;
	struct frame *f;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		synth_row(s, 1, i);
		synth_put(s, x, i);
	}
	assert_int_equal(frame_open(&f, &s->run, &sel, NULL), 0);
	while (frame_next(f, &b, NULL) > 0) {
		assert_true(b.nrows <= FRAME_BATCH_ROWS);
		assert_true(b.columns[5].d[0] == total / 100.0);
		total += b.nrows;
	}
	assert_int_equal(total, 10000);
	assert_int_equal(frame_next(f, &b, NULL), 0);
	frame_close(f);
	synth_free(s);
}

static void test_processes_have_lives_labels_and_counters(void **state)
{
	static const struct metric cpu = { "process.cpu_seconds", "process",  .unit = UNIT_SECONDS,
					   .kind = KIND_COUNTER,  .div = 100, .help = "CPU time." };
	struct synth *s = synth_new(2);
	uint32_t m = synth_metric(s, cpu), g = synth_metric(s, rss);
	uint32_t make = synth_instance(s, "process", "make"),
		 cc1 = synth_instance(s, "process", "cc1");
	uint32_t x = synth_series(s, 1, m, make), y = synth_series(s, 1, m, cc1);

	(void)state;
	synth_instance(s, "disk", "sda");
	synth_series(s, 1, g, make);
	s->labels[1] = (struct run_label){ "pid", "42" };
	s->finals[1] = (struct run_final){ m, 250 };
	s->run.nlabels = s->run.nfinals = 2;
	s->instances[cc1] =
		(struct run_instance){ 1, make, "process", "cc1", 1000000000, 3000000000,
				       0, 1,    1,         1,     1 };
	for (int i = 0; i < 3; i++) {
		synth_row(s, 1, i);
		synth_put(s, x, 100 + i);
		synth_put(s, y, 7);
	}
	/* cc1: its final counter; make lives: its last reading, and no end. */
	check(s, &(struct selection){ .table = FRAME_INSTANCES }, "",
	      "alpha make#1 make - 0 0 - - - 1.02 \n"
	      "alpha cc1#2 cc1 make#1 1000000000 1 3000000000 3 42 2.5 \n");
	check(s, &(struct selection){ .table = FRAME_INSTANCES, .from_s = 3.5 }, "",
	      "alpha make#1 make - 0 0 - - - 1.02 \n");
	check(s, &(struct selection){ .table = FRAME_INSTANCES, .domain = "disk" }, "",
	      "alpha sda sda - 0 0 - - \n");
	synth_free(s);
}

static void test_a_pid_is_a_number_and_what_is_none_is_not_known(void **state)
{
	struct synth *s = synth_new(1);
	uint32_t make = synth_instance(s, "process", "make"),
		 odd = synth_instance(s, "process", "odd");
	struct frame *f;
	struct batch b;
	struct err e;

	(void)state;
	s->labels[1] = (struct run_label){ "pid", "42" };
	s->labels[2] = (struct run_label){ "pid", "4x" };
	s->run.nlabels = 3;
	s->instances[make].first_label = 1;
	s->instances[odd].first_label = 2;
	s->instances[make].nlabels = s->instances[odd].nlabels = 1;
	assert_int_equal(
		frame_open(&f, &s->run, &(struct selection){ .table = FRAME_INSTANCES }, &e), 0);
	assert_string_equal(frame_schema(f)->columns[8].name, "pid");
	assert_int_equal(frame_schema(f)->columns[8].type, COLUMN_INT);
	assert_true(frame_next(f, &b, &e) > 0);
	assert_int_equal(b.nrows, 2);
	assert_int_equal(b.columns[8].i[0], 42);
	assert_int_equal(b.columns[8].state[0], STATE_PRESENT);
	assert_int_not_equal(b.columns[8].state[1], STATE_PRESENT);
	frame_close(f);
	synth_free(s);
}

static void test_names_of_instance_tables(void **state)
{
	static const char *const names[][2] = { { NULL, "processes" },
						{ "process", "processes" },
						{ "command", "commands" },
						{ "disk", "instances" } };
	struct synth *s = synth_new(1);
	struct frame *f;

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct selection sel = { .table = FRAME_INSTANCES, .domain = names[i][0] };

		assert_int_equal(frame_open(&f, &s->run, &sel, NULL), 0);
		assert_string_equal(frame_schema(f)->table, names[i][1]);
		frame_close(f);
	}
	synth_free(s);
}

static void test_marks_spans_and_states(void **state)
{
	struct synth *s = synth_new(1);
	uint32_t id = synth_instance(s, "process", "sh");
	uint32_t x = synth_series(s, 1, synth_metric(s, load), 0);

	(void)state;
	synth_series(s, 1, synth_metric(s, sent), 0);
	s->marks[1] = (struct run_mark){ 1, 0, 2500000000, "start", "now" };
	s->marks[2] = (struct run_mark){ 2, id, 9000000000, "stop", NULL };
	s->spans[1] = (struct run_span){ 1, id, 1000000000, 1500000000, "load", "file" };
	s->spans[2] = (struct run_span){ 1, 0, 4000000000, INT64_MAX, "open", NULL };
	s->run.nmarks = s->run.nspans = 3;
	synth_refuse(s, x, STATE_FORBIDDEN, "may not be read", 5);
	check(s, &(struct selection){ .table = FRAME_MARKS }, "",
	      "alpha 2500000000 2.5 start now - \nbeta 9000000000 9 stop - sh#1 \n");
	check(s, &(struct selection){ .table = FRAME_MARKS, .from_s = 3 }, "time",
	      "beta 9 stop - sh#1 \n");
	check(s, &(struct selection){ .table = FRAME_SPANS }, "begin_time end_time",
	      "alpha sh#1 load 1 1.5 0.5 file \nalpha - open 4 - - - \n");
	check(s, &(struct selection){ .table = FRAME_SPANS, .to_s = 2 }, "begin_time end_time",
	      "alpha sh#1 load 1 1.5 0.5 file \n");
	check(s, &(struct selection){ .table = FRAME_STATES }, "since_time",
	      "alpha node.load - 5 forbidden may not be read \n");
	synth_free(s);
}

static void test_selection_without_sense_is_refused(void **state)
{
	static const struct selection bad[] = {
		{ .table = FRAME_TABLE_NUMBER_OF },
		{ .from_s = -1 },
		{ .from_s = 2, .to_s = 1 },
		{ .every_s = -1 },
		{ .to_s = NAN },
		{ .every_s = 1e-9 },
		{ .raw = true, .every_s = 1 },
		{ .metrics = "no.such" },
		{ .raw = true, .metrics = "node.x" },
	};
	struct synth *s = disks();

	(void)state;
	synth_metric(s, (struct metric){ "node.x", .kind = KIND_GAUGE, .formula = "node.load" });
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err e = { "" };
		struct frame *f;

		assert_int_equal(frame_open(&f, &s->run, &bad[i], &e), -EINVAL);
		assert_null(f);
		assert_true(e.text[0]);
	}
	synth_free(s);
}

static void test_a_run_of_nothing_gives_nothing(void **state)
{
	struct synth *s = synth_new(1);

	(void)state;
	for (int table = 0; table < FRAME_TABLE_NUMBER_OF; table++)
		for (int wide = 0; wide < 2; wide++)
			check(s,
			      &(struct selection){ .table = (enum frame_table)table, .wide = wide },
			      "", "");
	synth_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tidy_row_says_everything),
		cmocka_unit_test(test_rate_uses_real_time_and_starts_absent),
		cmocka_unit_test(test_rate_after_a_gap_spans_the_gap),
		cmocka_unit_test(test_counter_that_goes_back_is_absent_once),
		cmocka_unit_test(test_clock_that_stands_or_goes_back_gives_no_rate),
		cmocka_unit_test(test_a_step_of_the_wall_clock_changes_no_rate),
		cmocka_unit_test(test_seconds_become_cores),
		cmocka_unit_test(test_raw_gives_counters_as_stored_and_nothing_derived),
		cmocka_unit_test(test_no_value_is_no_row),
		cmocka_unit_test(test_wide_has_a_column_for_each_device),
		cmocka_unit_test(test_tidy_says_what_its_metrics_are),
		cmocka_unit_test(test_what_passes_may_be_left_out),
		cmocka_unit_test(test_nodes_share_wide_columns),
		cmocka_unit_test(test_a_device_that_comes_back_goes_on_in_its_wide_column),
		cmocka_unit_test(test_time_range_keeps_the_reading_before_it),
		cmocka_unit_test(test_windows_are_weighted_by_time),
		cmocka_unit_test(test_windows_of_nodes_that_alternate),
		cmocka_unit_test(test_many_rows_come_in_bounded_batches),
		cmocka_unit_test(test_processes_have_lives_labels_and_counters),
		cmocka_unit_test(test_a_pid_is_a_number_and_what_is_none_is_not_known),
		cmocka_unit_test(test_names_of_instance_tables),
		cmocka_unit_test(test_marks_spans_and_states),
		cmocka_unit_test(test_selection_without_sense_is_refused),
		cmocka_unit_test(test_a_run_of_nothing_gives_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
