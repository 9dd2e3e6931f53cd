/* SPDX-License-Identifier: Apache-2.0 */
/* The public library, on a small recording made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sonde.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "recording/writer.h"

#define UTC0 (INT64_C(1700000000) * NS_PER_S)

enum { SAMPLES = 10, MONO0 = 1000 };

static const struct metric metrics[] = {
	{ .name = "disk.read_bytes",
	  .domain = "disk",
	  .label = "Read",
	  .help = "Bytes read.",
	  .unit = UNIT_BYTES,
	  .kind = KIND_COUNTER,
	  .over_instances = COMBINE_SUM,
	  .over_nodes = COMBINE_SUM },
	{ .name = "disk.busy_ratio",
	  .domain = "disk",
	  .label = "Busy",
	  .help = "Share of time busy.",
	  .unit = UNIT_RATIO,
	  .div = 1000,
	  .kind = KIND_GAUGE },
};

struct fixture {
	char dir[32];
	struct sonde_run *run;
};

/* Two disks; the second's gauge is there in even samples only. Counters rise by 100 B/s and 300
 * B/s. */
static void record(int dirfd)
{
	struct writer *w;
	struct sample s;
	uint32_t disk[2], slot[2];

	assert_int_equal(sample_init(&s, 64, 64), 0);
	assert_int_equal(writer_open(&w, dirfd, "host", NULL, NULL), 0);
	sample_begin(&s, UTC0, MONO0 * NS_PER_S);
	sample_clock(&s, MONO0 * NS_PER_S, UTC0, -1, false);
	sample_meta_text(&s, "job.command", "first");
	sample_meta_text(&s, "job.command", "./app \x1b[31m");
	sample_meta_int(&s, "job.exit_code", 3);
	sample_meta_real(&s, "job.ratio", 0.5);
	sample_meta_bool(&s, "job.complete", true);
	for (int i = 0; i < 2; i++) {
		disk[i] = sample_instance(&s, "disk", i ? "sdb" : "sda", 0, MONO0 * NS_PER_S, 0);
		slot[i] = sample_series(&s, metrics, 2, disk[i]);
	}
	sample_label(&s, disk[1], "model", "fast");
	for (int k = 0; k < SAMPLES; k++) {
		sample_begin(&s, UTC0 + k * NS_PER_S, (MONO0 + k) * NS_PER_S);
		if (k <= 8) {
			sample_put(&s, slot[0], 100 * k);
			sample_put(&s, slot[0] + 1, 250);
		}
		sample_put(&s, slot[1], 300 * k);
		if (k % 2 == 0)
			sample_put(&s, slot[1] + 1, 750);
		if (k == 8)
			sample_end(&s, disk[0], (MONO0 + 8) * NS_PER_S);
		assert_int_equal(writer_sample(w, &s, NULL), 0);
	}
	assert_int_equal(writer_close(w, NULL), 0);
	sample_free(&s);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	int dirfd;

	assert_non_null(f);
	snprintf(f->dir, sizeof f->dir, "test_sonde.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	dirfd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(dirfd >= 0);
	record(dirfd);
	close(dirfd);
	f->run = sonde_open(f->dir, NULL);
	assert_non_null(f->run);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char path[64];

	sonde_close(f->run);
	snprintf(path, sizeof path, "%s/node-host.sonde", f->dir);
	unlink(path);
	snprintf(path, sizeof path, "%s/node-host.tail", f->dir);
	unlink(path);
	rmdir(f->dir);
	free(f);
	return 0;
}

static void what_is_known_at_once_is_told(void **state)
{
	const struct sonde_run *run = ((struct fixture *)*state)->run;
	struct sonde_node node;
	struct sonde_metric metric;
	struct sonde_instance disk;

	assert_int_equal(sonde_start_utc_ns(run), UTC0);
	assert_int_equal(sonde_damage_count(run), 0);
	assert_int_equal(sonde_node_count(run), 1);
	assert_true(sonde_node_get(run, 1, &node));
	assert_string_equal(node.host, "host");
	assert_int_equal(node.samples, SAMPLES);
	assert_true(node.complete && node.first_s == 0 && fabs(node.last_s - 9) < 1e-9);
	assert_int_equal(sonde_metric_count(run), 2);
	assert_true(sonde_metric_get(run, 2, &metric));
	assert_string_equal(metric.name, "disk.busy_ratio");
	assert_string_equal(metric.unit, "ratio");
	assert_string_equal(metric.kind, "gauge");
	assert_string_equal(metric.domain, "disk");
	assert_null(metric.formula);
	assert_int_equal(sonde_instance_count(run), 2);
	assert_true(sonde_instance_get(run, 1, &disk));
	assert_string_equal(disk.name, "sda");
	assert_true(disk.node == 1 && disk.parent == 0 && disk.begin_s == 0);
	assert_true(fabs(disk.end_s - 8) < 1e-9);
	assert_true(sonde_instance_get(run, 2, &disk));
	assert_true(isnan(disk.end_s));
	assert_string_equal(sonde_instance_label(run, 2, "model"), "fast");
	assert_null(sonde_instance_label(run, 1, "model"));
}

static void metadata_keeps_its_types_and_the_last_word(void **state)
{
	const struct sonde_run *run = ((struct fixture *)*state)->run;
	struct sonde_meta m;

	assert_int_equal(sonde_meta_count(run), 5);
	assert_true(sonde_meta_get(run, 1, &m));
	assert_string_equal(m.text, "first");
	assert_true(sonde_meta_find(run, "job.command", &m));
	assert_true(m.type == SONDE_META_TEXT);
	assert_string_equal(m.text, "./app \x1b[31m");
	assert_true(sonde_meta_find(run, "job.exit_code", &m));
	assert_true(m.type == SONDE_META_INT && m.integer == 3 && !m.text && isnan(m.real));
	assert_true(sonde_meta_find(run, "job.ratio", &m));
	assert_true(m.type == SONDE_META_REAL && m.real == 0.5 && m.integer == 0);
	assert_true(sonde_meta_find(run, "job.complete", &m));
	assert_true(m.type == SONDE_META_BOOL && m.integer == 1);
	assert_false(sonde_meta_find(run, "job.nothing", &m));
}

static void ids_that_are_none_are_refused(void **state)
{
	const struct sonde_run *run = ((struct fixture *)*state)->run;
	static const size_t none[] = { 0, 3, 6, UINT32_MAX, (size_t)UINT32_MAX + 2, SIZE_MAX };
	struct sonde_node node;
	struct sonde_metric metric;
	struct sonde_instance instance;
	struct sonde_meta meta;

	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
		assert_false(sonde_node_get(run, none[i], &node));
		assert_false(sonde_metric_get(run, none[i], &metric));
		assert_false(sonde_instance_get(run, none[i], &instance));
		assert_null(sonde_instance_label(run, none[i], "model"));
		assert_true(none[i] == 3 || !sonde_meta_get(run, none[i], &meta));
	}
}

/* How many rows the table has; *sum is that of the column of real values. */
static size_t count_rows(struct sonde_rows *rows, const char *column, double *sum)
{
	size_t value = sonde_column_find(rows, column), n = 0;

	assert_true(value != SIZE_MAX);
	*sum = 0;
	assert_false(sonde_cell_present(rows, value));
	while (sonde_rows_next(rows, NULL) == 1) {
		assert_true(sonde_cell_present(rows, value));
		*sum += sonde_cell_real(rows, value);
		n++;
	}
	assert_false(sonde_cell_present(rows, value));
	assert_int_equal(sonde_rows_next(rows, NULL), 0);
	return n;
}

static void rows_are_rates_and_absent_values_have_none(void **state)
{
	struct sonde_run *run = ((struct fixture *)*state)->run;
	struct sonde_selection rate = { .metrics = "disk.read_bytes_per_second" };
	struct sonde_selection raw = { .metrics = "disk.read_bytes", .raw = true };
	struct sonde_selection gauge = { .metrics = "disk.busy_ratio" };
	struct sonde_rows *rows;
	double sum;

	assert_non_null(rows = sonde_rows_open(run, &rate, NULL));
	assert_int_equal(count_rows(rows, "value", &sum), 8 + 9);
	assert_true(fabs(sum - (8 * 100 + 9 * 300)) < 1e-6);
	sonde_rows_close(rows);
	assert_non_null(rows = sonde_rows_open(run, &raw, NULL));
	assert_int_equal(count_rows(rows, "value", &sum), 9 + 10);
	assert_true(fabs(sum - (100 * 36 + 300 * 45)) < 1e-6);
	sonde_rows_close(rows);
	assert_non_null(rows = sonde_rows_open(run, &gauge, NULL));
	assert_int_equal(count_rows(rows, "value", &sum),
			 9 + 5); /* one disk ended, one every other */
	assert_true(fabs(sum - (9 * 0.25 + 5 * 0.75)) < 1e-9);
	sonde_rows_close(rows);
}

static void a_wide_row_has_absent_cells(void **state)
{
	struct sonde_run *run = ((struct fixture *)*state)->run;
	struct sonde_selection s = { .metrics = "disk.busy_ratio", .wide = true };
	struct sonde_rows *rows = sonde_rows_open(run, &s, NULL);
	size_t column, n = 0, present = 0;

	assert_non_null(rows);
	column = sonde_column_find(rows, "disk.busy_ratio[sdb]");
	assert_true(column != SIZE_MAX);
	for (; sonde_rows_next(rows, NULL) == 1; n++) {
		present += sonde_cell_present(rows, column);
		assert_true(sonde_cell_present(rows, column) ==
			    !isnan(sonde_cell_real(rows, column)));
	}
	assert_int_equal(n, SAMPLES);
	assert_int_equal(present, SAMPLES / 2);
	sonde_rows_close(rows);
}

static void instances_combine_when_asked(void **state)
{
	struct sonde_run *run = ((struct fixture *)*state)->run;
	struct sonde_selection s = { .metrics = "disk.read_bytes_per_second",
				     .combine = true,
				     .to_s = 5.5 };
	struct sonde_rows *rows = sonde_rows_open(run, &s, NULL);
	size_t value;

	assert_non_null(rows);
	value = sonde_column_find(rows, "value");
	while (sonde_rows_next(rows, NULL) == 1)
		assert_true(fabs(sonde_cell_real(rows, value) - 400) < 1e-6);
	sonde_rows_close(rows);
}

static void cells_of_another_type_are_refused(void **state)
{
	struct sonde_rows *rows = sonde_rows_open(((struct fixture *)*state)->run, NULL, NULL);
	size_t node, time, value;

	assert_non_null(rows);
	node = sonde_column_find(rows, "node");
	time = sonde_column_find(rows, "time");
	value = sonde_column_find(rows, "value");
	assert_int_equal(sonde_column_find(rows, "no such column"), SIZE_MAX);
	assert_int_equal(sonde_rows_next(rows, NULL), 1);
	assert_string_equal(sonde_cell_text(rows, node), "host");
	assert_true(isnan(sonde_cell_real(rows, node)));
	assert_int_equal(sonde_cell_int(rows, node), 0);
	assert_true(sonde_cell_int(rows, time) >= UTC0);
	assert_true(sonde_cell_real(rows, time) >= (double)UTC0);
	assert_null(sonde_cell_text(rows, time));
	assert_int_equal(sonde_cell_int(rows, value), 0);
	assert_null(sonde_cell_text(rows, value));
	assert_false(sonde_cell_present(rows, sonde_column_count(rows)));
	assert_true(isnan(sonde_cell_real(rows, SIZE_MAX)));
	sonde_rows_close(rows);
}

static void columns_say_what_they_hold(void **state)
{
	struct sonde_rows *rows = sonde_rows_open(((struct fixture *)*state)->run, NULL, NULL);
	struct sonde_column c;

	assert_non_null(rows);
	assert_true(sonde_column_get(rows, sonde_column_find(rows, "time"), &c));
	assert_string_equal(c.name, "time");
	assert_true(c.type == SONDE_TIME);
	assert_true(sonde_column_get(rows, sonde_column_find(rows, "seconds"), &c));
	assert_string_equal(c.unit, "seconds");
	assert_true(c.type == SONDE_REAL && *c.help);
	assert_false(sonde_column_get(rows, sonde_column_count(rows), &c));
	sonde_rows_close(rows);
}

static void every_table_opens_one_at_a_time(void **state)
{
	struct sonde_run *run = ((struct fixture *)*state)->run;
	struct sonde_error error = { 0 };

	for (int table = SONDE_SERIES; table <= SONDE_STATES; table++) {
		struct sonde_selection s = { .table = (enum sonde_table)table };
		struct sonde_rows *rows = sonde_rows_open(run, &s, &error);

		assert_non_null(rows);
		assert_null(sonde_rows_open(run, NULL, &error));
		assert_int_equal(error.code, EBUSY);
		assert_true(*error.text);
		while (sonde_rows_next(rows, NULL) == 1)
			continue;
		sonde_rows_close(rows);
	}
	assert_null(sonde_rows_open(run, &(struct sonde_selection){ .table = (enum sonde_table)99 },
				    &error));
	assert_int_equal(error.code, EINVAL);
	sonde_rows_close(NULL);
}

static void what_cannot_be_opened_says_why(void **state)
{
	struct sonde_error error = { 0 };

	(void)state;
	assert_null(sonde_open("/nonexistent/place", &error));
	assert_int_equal(error.code, ENOENT);
	assert_non_null(strstr(error.text, "/nonexistent/place"));
	assert_null(sonde_open("/proc/self/fdinfo", &error));
	assert_int_equal(error.code, ENODATA);
	assert_null(sonde_open("/nonexistent/place", NULL));
	sonde_close(NULL);
	assert_string_equal(sonde_version(), SONDE_VERSION);
}

/* Column by column there is what there is row by row. */
static void batches_are_the_rows(void **state)
{
	struct fixture *f = *state;
	struct sonde_rows *rows = sonde_rows_open(f->run, NULL, NULL);
	double value[64];
	bool present[64];
	size_t n = 0, v = sonde_column_find(rows, "value");
	int64_t got;

	while (sonde_rows_next(rows, NULL) > 0) {
		assert_true(n < 64);
		present[n] = sonde_cell_present(rows, v);
		value[n++] = sonde_cell_real(rows, v);
	}
	sonde_rows_close(rows);
	rows = sonde_rows_open(f->run, NULL, NULL);
	assert_null(sonde_batch_real(rows, v));
	got = sonde_batch_next(rows, NULL);
	assert_int_equal(got, n);
	assert_null(sonde_batch_text(rows, v));
	assert_null(sonde_batch_int(rows, v));
	assert_null(sonde_batch_present(rows, SIZE_MAX));
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(sonde_batch_present(rows, v)[i], present[i]);
		if (present[i])
			assert_true(sonde_batch_real(rows, v)[i] == value[i]);
	}
	assert_non_null(sonde_batch_int(rows, sonde_column_find(rows, "time")));
	assert_string_equal(sonde_batch_text(rows, sonde_column_find(rows, "node"))[0], "host");
	assert_int_equal(sonde_batch_next(rows, NULL), 0);
	assert_null(sonde_batch_real(rows, v));
	sonde_rows_close(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_known_at_once_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(metadata_keeps_its_types_and_the_last_word, setup,
						teardown),
		cmocka_unit_test_setup_teardown(ids_that_are_none_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(rows_are_rates_and_absent_values_have_none, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_wide_row_has_absent_cells, setup, teardown),
		cmocka_unit_test_setup_teardown(instances_combine_when_asked, setup, teardown),
		cmocka_unit_test_setup_teardown(cells_of_another_type_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(columns_say_what_they_hold, setup, teardown),
		cmocka_unit_test_setup_teardown(every_table_opens_one_at_a_time, setup, teardown),
		cmocka_unit_test_setup_teardown(batches_are_the_rows, setup, teardown),
		cmocka_unit_test(what_cannot_be_opened_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
