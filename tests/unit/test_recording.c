/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>

#include "recording/block.h"
#include "unit/recording_truth.h"

static void test_values_come_back_as_they_were_put_in(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct truth *t = truth_new(
			seed, &(struct writer_options){ .chunk_rows = seed % 4 ? 64 : 0 });
		struct run *r;

		truth_samples(t, 700);
		assert_int_equal(writer_close(t->w, NULL), 0);
		assert_int_equal(truth_read(t, &r), t->nvalues);
		assert_int_equal(r->ndamages, 0);
		assert_true(r->nodes[1].complete);
		assert_int_equal(r->nodes[1].rows, 700);
		assert_int_equal(r->nseries, t->nseries);
		run_close(r);
		truth_free(t);
	}
}

static void test_what_a_killed_writer_wrote_is_all_there(void **state)
{
	(void)state;
	for (uint32_t rows = 0; rows < 80; rows++) {
		struct truth *t = truth_new(rows + 1, &(struct writer_options){ .chunk_rows = 20 });
		struct run *r;

		truth_samples(t, rows);
		writer_abandon(t->w);
		assert_int_equal(truth_read(t, &r), t->nvalues);
		assert_int_equal(r->ndamages, 0);
		assert_false(r->nodes[1].complete);
		assert_int_equal(r->nodes[1].rows, rows);
		run_close(r);
		truth_free(t);
	}
}

static void check_range(const struct range *a, const struct chunk *c, uint32_t i)
{
	const struct chunk_column *col = &c->column[i];
	struct range b = { .series = col->series };
	double weighted = 0, weight = 0;

	for (uint32_t k = 0; k < c->nrows; k++) {
		if (!col->present[k])
			continue;
		if (!b.count++) {
			b.min = b.max = b.first = col->value[k];
			b.first_ns = c->mono_ns[k];
		}
		b.min = col->value[k] < b.min ? col->value[k] : b.min;
		b.max = col->value[k] > b.max ? col->value[k] : b.max;
		b.last = col->value[k];
		b.last_ns = c->mono_ns[k];
		if (k + 1 < c->nrows) {
			weight += (double)(c->mono_ns[k + 1] - c->mono_ns[k]) * 1e-9;
			weighted += (double)col->value[k] *
				    (double)(c->mono_ns[k + 1] - c->mono_ns[k]) * 1e-9;
		}
	}
	assert_int_equal(a->series, b.series);
	assert_int_equal(a->count, b.count);
	assert_int_equal(a->min, b.min);
	assert_int_equal(a->max, b.max);
	assert_int_equal(a->first, b.first);
	assert_int_equal(a->last, b.last);
	assert_int_equal(a->first_ns, b.first_ns);
	assert_int_equal(a->last_ns, b.last_ns);
	assert_true(fabs(a->weight - weight) < 1e-6);
	assert_true(fabs(a->weighted_sum - weighted) <= 1e-9 * fabs(weighted) + 1e-6 * 9.3e18);
}

static bool is_real(const struct run *r, uint32_t series)
{
	return r->metrics[r->series[series].metric].row.storage == STORE_REAL;
}

static void test_ranges_say_what_the_values_say(void **state)
{
	struct truth *t = truth_new(5, &(struct writer_options){ .chunk_rows = 50 });
	const struct range *ranges;
	struct run *values, *r;
	struct chunk c;
	uint32_t n;

	(void)state;
	truth_samples(t, 420);
	writer_abandon(t->w);
	assert_int_equal(run_open(&r, t->dir, NULL), 0);
	assert_int_equal(run_open(&values, t->dir, NULL), 0);
	while (values->next_chunk(values, NULL, &c, NULL) > 0) {
		assert_int_equal(r->next_ranges(r, &ranges, &n, NULL), 1);
		assert_int_equal(n, c.ncolumns);
		for (uint32_t i = 0; i < n; i++) {
			if (!is_real(r, ranges[i].series))
				check_range(&ranges[i], &c, i);
		}
	}
	assert_int_equal(r->next_ranges(r, &ranges, &n, NULL), 0);
	run_close(values);
	run_close(r);
	truth_free(t);
}

static void test_ranges_of_reals_leave_out_what_is_no_number(void **state)
{
	static const double put[] = { (double)NAN, 2.5, -7.0, (double)INFINITY, 4.0 };
	struct truth *t = truth_new(5, NULL);
	const struct range *ranges;
	double min, max, first;
	uint32_t slot, n;
	struct run *r;

	(void)state;
	slot = sample_series(&t->s, &truth_metric[2], 1, 0);
	for (int i = 0; i < 5; i++) {
		int64_t bits;

		memcpy(&bits, &put[i], sizeof bits);
		sample_begin(&t->s, 1000 + i, 1000 + i);
		sample_put(&t->s, slot, bits);
		assert_int_equal(writer_sample(t->w, &t->s, NULL), 0);
	}
	writer_close(t->w, NULL);
	assert_int_equal(run_open(&r, t->dir, NULL), 0);
	assert_int_equal(r->next_ranges(r, &ranges, &n, NULL), 1);
	assert_int_equal(n, 1);
	memcpy(&min, &ranges->min, sizeof min);
	memcpy(&max, &ranges->max, sizeof max);
	memcpy(&first, &ranges->first, sizeof first);
	assert_true(min == -7.0 && isinf(max) && isnan(first));
	run_close(r);
	truth_free(t);
}

static void test_only_wanted_columns_are_decoded(void **state)
{
	struct truth *t = truth_new(9, NULL);
	uint8_t wanted[TRUTH_SERIES] = { 0 };
	struct run *r;
	struct chunk c;

	(void)state;
	truth_samples(t, 50);
	writer_close(t->w, NULL);
	assert_int_equal(run_open(&r, t->dir, NULL), 0);
	wanted[2] = wanted[3] = 1;
	assert_int_equal(r->next_chunk(r, wanted, &c, NULL), 1);
	assert_int_equal(c.ncolumns, 2);
	assert_int_equal(c.column[0].series, 2);
	truth_check_chunk(t, r, &c);
	assert_int_equal(r->rewind(r), 0);
	assert_int_equal(truth_check(t, r), t->nvalues);
	run_close(r);
	truth_free(t);
}

/* Which frames were asked for, and from where on one is needed. */
struct wished {
	size_t from, to, asked, end;
};

static bool is_wished(void *wished, size_t from, size_t to)
{
	struct wished *w = wished;

	assert_int_equal(from, w->end);
	w->end = to;
	w->asked++;
	return from < w->to && to > w->from;
}

/* A frame in which nothing is needed is not even looked at. */
static void test_frames_are_expanded_one_by_one(void **state)
{
	static const struct section_frame frame[] = {
		{ 3000, false }, { 0, false }, { 500, false }, { 4000, true }
	};
	enum { SIZE = 7500, FIRST = 3000, SECOND = 500 };
	struct bytes out = { 0 }, back = { 0 };
	struct wished w = { FIRST, FIRST + SECOND, 0, 0 };
	const struct section_wish wish = { is_wished, &w };
	uint8_t raw[SIZE];
	struct compressor c;
	struct expander x;
	struct scan in;

	(void)state;
	assert_int_equal(compressor_init(&c) | expander_init(&x), 0);
	for (size_t i = 0; i < SIZE; i++)
		raw[i] = (uint8_t)(i / 7);
	section_put_frames(&out, &c, raw, frame, 4);
	in = (struct scan){ .at = out.data, .end = out.data + out.len };
	assert_int_equal(section_get(&in, &x, SIZE, &back), 0);
	assert_memory_equal(back.data, raw, SIZE);

	memset(out.data + out.len - 8, 0xff, 8); /* the last one is malformed */
	in = (struct scan){ .at = out.data, .end = out.data + out.len };
	assert_int_equal(section_get(&in, &x, SIZE, &back), -EBADMSG);
	in.at = out.data;
	assert_int_equal(section_get_some(&in, &x, SIZE, &back, &wish), 0);
	assert_int_equal(w.asked, 3);
	assert_int_equal(w.end, SIZE);
	assert_int_equal(back.len, SIZE);
	assert_memory_equal(back.data + FIRST, raw + FIRST, SECOND);
	assert_memory_not_equal(back.data, raw, FIRST);
	w = (struct wished){ FIRST, SIZE, 0, 0 };
	in.at = out.data;
	assert_int_equal(section_get_some(&in, &x, SIZE, &back, &wish), -EBADMSG);
	bytes_free(&out);
	bytes_free(&back);
	compressor_free(&c);
	expander_free(&x);
}

/* Bodies are in several frames, and only a wanted one's are expanded. */
static void test_any_column_is_decoded_alone(void **state)
{
	struct truth *t = truth_new(11, NULL);
	uint8_t wanted[TRUTH_SERIES] = { 0 };
	struct run *r;
	struct chunk c;

	(void)state;
	truth_samples(t, 290);
	writer_close(t->w, NULL);
	assert_int_equal(run_open(&r, t->dir, NULL), 0);
	for (uint32_t i = 1; i < t->nseries; i++) {
		wanted[i] = 1;
		assert_int_equal(r->rewind(r), 0);
		assert_int_equal(r->next_chunk(r, wanted, &c, NULL), 1);
		assert_in_range(c.ncolumns, 0, 1);
		truth_check_chunk(t, r, &c);
		assert_int_equal(r->next_chunk(r, wanted, &c, NULL), 0);
		wanted[i] = 0;
	}
	assert_int_equal(r->ndamages, 0);
	run_close(r);
	truth_free(t);
}

/* More events in one sample than a slot holds, as in a storm of short-lived processes. */
static void test_a_storm_of_events_in_one_sample_is_kept(void **state)
{
	enum { STORM = 1000 };
	struct truth *t = truth_new(3, NULL);
	char text[800];
	struct run *r;

	(void)state;
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	sample_begin(&t->s, 2000, 1000);
	for (int i = 0; i < STORM; i++) {
		uint32_t instance = sample_instance(&t->s, "process", "sh", 0, i, 0);

		snprintf(text, 16, "%d", i);
		text[strlen(text)] = ' ';
		sample_label(&t->s, instance, "command", text);
		sample_end(&t->s, instance, i + 1);
	}
	assert_int_equal(t->s.refused, 0);
	assert_int_equal(writer_sample(t->w, &t->s, NULL), 0);
	writer_abandon(t->w);
	assert_int_equal(run_open(&r, t->dir, NULL), 0);
	assert_int_equal(r->ninstances, STORM + 1);
	assert_int_equal(r->nlabels, STORM + 1);
	assert_int_equal(r->nodes[1].rows, 1);
	for (uint32_t i = 1; i <= STORM; i++) {
		assert_int_equal(r->instances[i].end_ns, i);
		assert_int_equal(strtol(run_label(r, i, "command"), NULL, 10), i - 1);
	}
	assert_int_equal(r->ndamages, 0);
	run_close(r);
	truth_free(t);
}

static void test_what_is_said_of_the_run_comes_back(void **state)
{
	static const struct metric derived = { .name = "node.busy_ratio",
					       .label = "Busy",
					       .help = "D.",
					       .formula = "node.used / node.all",
					       .unit = UNIT_RATIO };
	struct truth *t = truth_new(3, NULL);
	const struct run_meta *meta;
	uint32_t disk, slot;
	struct run *r;

	(void)state;
	sample_catalogue(&t->s, &derived, 1);
	sample_meta_text(&t->s, "job.command", "a \xff\x01 <b>");
	sample_meta_int(&t->s, "job.id", INT64_MIN);
	sample_meta_real(&t->s, "job.share", 0.1);
	sample_meta_bool(&t->s, "job.array", true);
	disk = sample_instance(&t->s, "disk", "sda", 0, 5, INSTANCE_ASIDE);
	slot = sample_series(&t->s, &truth_metric[0], 1, disk);
	sample_begin(&t->s, 1700000000000000000, 1000000000);
	sample_refuse(&t->s, slot, STATE_FORBIDDEN, "not yours");
	sample_mark(&t->s, 0, 1500000000, "half", "way");
	sample_span(&t->s, disk, 1100000000, 1900000000, "copy", "of it");
	sample_clock(&t->s, 1000000000, 1700000000000000007, 250, true);
	assert_int_equal(writer_sample(t->w, &t->s, NULL), 0);
	assert_int_equal(t->s.nevents, 0);
	writer_close(t->w, NULL);
	assert_int_equal(run_open(&r, t->dir, NULL), 0);
	assert_string_equal(r->nodes[1].host, "host");
	assert_int_equal(r->nodes[1].clock_error_ns, 250);
	assert_true(r->nodes[1].synchronised);
	assert_int_equal(run_utc_ns(r, 1, 1000000000), 1700000000000000007);
	assert_true(fabs(run_seconds(r, 1, 1500000000) - 0.5) < 1e-9);
	assert_string_equal(run_find_meta(r, 0, "job.command")->text, "a \xff\x01 <b>");
	assert_int_equal(run_find_meta(r, 1, "job.id")->value, INT64_MIN);
	assert_true(run_find_meta(r, 1, "job.share")->real == 0.1);
	meta = run_find_meta(r, 1, "job.array");
	assert_true(meta->type == META_BOOL && meta->value == 1);
	assert_null(run_find_meta(r, 1, "job.none"));
	assert_string_equal(r->metrics[run_find_metric(r, "node.busy_ratio")].row.formula,
			    derived.formula);
	assert_int_equal(r->series[1].state, STATE_FORBIDDEN);
	assert_string_equal(run_refusal_of(r, &r->series[1]).reason, "not yours");
	assert_int_equal(r->instances[1].flags, INSTANCE_ASIDE);
	assert_int_equal(r->instances[1].end_ns, INT64_MAX);
	assert_string_equal(r->marks[1].message, "way");
	assert_int_equal(r->spans[1].track, 1);
	assert_int_equal(r->spans[1].end_ns, 1900000000);
	run_close(r);
	truth_free(t);
}

static void test_times_that_go_back_are_dropped_and_counted(void **state)
{
	struct truth *t = truth_new(3, NULL);
	struct writer_figures figures;
	struct run *r;

	(void)state;
	for (int i = 0; i < 4; i++) {
		sample_begin(&t->s, 5000, (int64_t[]){ 10, 20, 15, 20 }[i]);
		assert_int_equal(writer_sample(t->w, &t->s, NULL), 0);
	}
	writer_figures(t->w, &figures);
	assert_int_equal(figures.samples, 4);
	assert_int_equal(figures.dropped, 1);
	writer_close(t->w, NULL);
	assert_int_equal(run_open(&r, t->dir, NULL), 0);
	assert_int_equal(r->nodes[1].rows, 3);
	assert_int_equal(r->ndamages, 0);
	run_close(r);
	truth_free(t);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_values_come_back_as_they_were_put_in),
	cmocka_unit_test(test_what_a_killed_writer_wrote_is_all_there),
	cmocka_unit_test(test_ranges_say_what_the_values_say),
	cmocka_unit_test(test_ranges_of_reals_leave_out_what_is_no_number),
	cmocka_unit_test(test_only_wanted_columns_are_decoded),
	cmocka_unit_test(test_frames_are_expanded_one_by_one),
	cmocka_unit_test(test_any_column_is_decoded_alone),
	cmocka_unit_test(test_a_storm_of_events_in_one_sample_is_kept),
	cmocka_unit_test(test_what_is_said_of_the_run_comes_back),
	cmocka_unit_test(test_times_that_go_back_are_dropped_and_counted),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
