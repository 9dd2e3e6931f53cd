/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page.h"
#include "report/page/page_charts.h"
#include "report/page/page_series.h"
#include "unit/synthetic_run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const char hostile[] = "</script><script>alert('1')//\"\x1b[31m\xff{{data}}";

static const struct metric used = { "job.cpu_seconds", .unit = UNIT_SECONDS, .kind = KIND_COUNTER,
				    .div = 1000 };
static const struct metric pss = { "job.pss_bytes", .unit = UNIT_BYTES, .kind = KIND_GAUGE };
static const struct metric read_bytes = { "disk.read_bytes", "disk", .unit = UNIT_BYTES,
					  .kind = KIND_COUNTER, .over_instances = COMBINE_SUM };
static const struct metric process_cpu = { "process.cpu_seconds", "process", .unit = UNIT_SECONDS,
					   .kind = KIND_COUNTER, .div = 1000 };

static struct traces read_traces(struct synth *s)
{
	struct traces t = { 0 };
	struct err e = { "" };

	page_series_wish(&t, &s->run, NULL);
	if (traces_read(&t, &s->run, &e))
		fail_msg("traces_read: %s", e.text);
	return t;
}

static struct trace_point *points_of(const struct traces *t, uint32_t node, const char *metric)
{
	uint32_t n;
	const struct trace *x = traces_of_node(t, metric, false, node, &n);

	return x ? x->point : NULL;
}

static float mean_of(const struct trace_point *p)
{
	return (float)trace_mean(p);
}

static void absent_values_stay_absent(void **state)
{
	struct synth *s = synth_new(8);
	uint32_t x = synth_series(s, 1, synth_metric(s, pss), 0);
	struct trace_point *p;
	struct traces d;

	(void)state;
	for (int i = 0; i < 20; i++) {
		synth_row(s, 1, i);
		if (i < 5 || i > 9)
			synth_put(s, x, i == 12 ? 0 : 1000 + i);
	}
	d = read_traces(s);
	assert_int_equal(d.node[1].npoints, 20);
	assert_int_equal(d.node[1].thinned, 1);
	p = points_of(&d, 1, "job.pss_bytes");
	for (int i = 0; i < 20; i++) {
		if (i >= 5 && i <= 9)
			assert_true(isnan(mean_of(&p[i])));
		else
			assert_float_equal(mean_of(&p[i]), i == 12 ? 0.0F : 1000.0F + (float)i,
					   1e-3F);
	}
	assert_float_equal((float)d.node[1].at[19], 19, 1e-3F);
	assert_null(points_of(&d, 1, "job.cpu_cores"));
	assert_int_equal(d.node[2].npoints, 0);
	traces_free(&d);
	synth_free(s);
}

static void instances_and_nodes_keep_apart(void **state)
{
	struct synth *s = synth_new(8);
	uint32_t metric = synth_metric(s, read_bytes), cpu = synth_metric(s, used);
	uint32_t a = synth_series(s, 1, metric, synth_instance(s, "disk", "sda"));
	uint32_t b = synth_series(s, 1, metric, synth_instance(s, "disk", "sdb"));
	uint32_t other = synth_series(s, 2, cpu, 0);
	struct traces d;

	(void)state;
	for (int i = 0; i < 4; i++) {
		synth_row(s, 1, i);
		synth_put(s, a, 100 * i);
		synth_put(s, b, 11 * i);
	}
	for (int i = 0; i < 3; i++) {
		synth_row(s, 2, 2 * i);
		synth_put(s, other, 3000 * i);
	}
	d = read_traces(s);
	assert_float_equal(mean_of(&points_of(&d, 1, "disk.read_bytes_per_second")[3]), 111.0F,
			   1e-3F);
	assert_null(points_of(&d, 2, "disk.read_bytes_per_second"));
	assert_null(points_of(&d, 1, "job.cpu_cores"));
	assert_float_equal(mean_of(&points_of(&d, 2, "job.cpu_cores")[2]), 1.5F, 1e-3F);
	traces_free(&d);
	synth_free(s);
}

/* One row in ten stands five times as long as the others and has ten times the value. */
static void long_runs_are_thinned_by_time(void **state)
{
	struct synth *s = synth_new(300);
	uint32_t x = synth_series(s, 1, synth_metric(s, pss), 0);
	double at = 0;
	struct trace_point *p;
	struct traces d;

	(void)state;
	for (int i = 0; i < 15000; i++) {
		at += i % 10 == 0 ? 5 : 1;
		synth_row(s, 1, at);
		synth_put(s, x, i % 10 == 0 ? 1000 : 100);
	}
	d = read_traces(s);
	assert_int_equal(d.node[1].npoints, 1500);
	assert_int_equal(d.node[1].thinned, 10);
	p = points_of(&d, 1, "job.pss_bytes");
	assert_float_equal(mean_of(&p[700]), (5 * 1000 + 9 * 100) / 14.0F, 1e-3F);
	assert_float_equal((float)p[700].max, 1000, 0);
	traces_free(&d);
	synth_free(s);
}

/* The sample at the end comes some ms after the one before: its rate would be a spike. */
static void the_closing_sample_makes_no_spike(void **state)
{
	struct synth *s = synth_new(16);
	uint32_t x = synth_series(s, 1, synth_metric(s, used), 0);
	struct trace_point *p;
	struct traces d;

	(void)state;
	for (int i = 0; i < 10; i++) {
		synth_row(s, 1, i);
		synth_put(s, x, 500 * i);
	}
	synth_row(s, 1, 9.004);
	synth_put(s, x, 4600);
	d = read_traces(s);
	assert_int_equal(d.node[1].npoints, 10);
	assert_float_equal((float)d.to_s, 9.004F, 1e-4F);
	p = points_of(&d, 1, "job.cpu_cores");
	for (int i = 1; i < 10; i++)
		assert_float_equal(mean_of(&p[i]), 0.5F, 1e-3F);
	traces_free(&d);
	synth_free(s);
}

/* In a job of half a second every 50 ms: in 13 ms the kernel's clock ticks once, or twice. */
static void a_few_ticks_make_no_spike(void **state)
{
	struct synth *s = synth_new(16);
	uint32_t x = synth_series(s, 1, synth_metric(s, used), 0);
	struct traces d;

	(void)state;
	for (int i = 0; i < 7; i++) {
		synth_row(s, 1, 0.05 * i);
		synth_put(s, x, 25 * i);
	}
	synth_row(s, 1, 0.313);
	synth_put(s, x, 190);
	d = read_traces(s);
	assert_int_equal(d.node[1].npoints, 7);
	traces_free(&d);
	synth_free(s);
}

/* A sample that comes after the job's end finds nothing of it: that is no fall to 0. */
static void memory_ends_with_the_job(void **state)
{
	struct synth *s = synth_new(16);
	uint32_t x = synth_series(s, 1, synth_metric(s, pss), 0);
	uint32_t cpu = synth_series(s, 1, synth_metric(s, used), 0);
	struct trace_point *p;
	struct traces d;

	(void)state;
	for (int i = 0; i < 10; i++) {
		synth_row(s, 1, i);
		synth_put(s, x, i == 4 || i > 7 ? 0 : 1000);
		synth_put(s, cpu, i < 9 ? 500 * i : 4000);
	}
	d = read_traces(s);
	p = points_of(&d, 1, "job.pss_bytes");
	assert_int_equal(d.node[1].npoints, 10);
	assert_float_equal(mean_of(&p[4]), 0, 0);
	assert_float_equal(mean_of(&p[7]), 1000, 0);
	assert_true(isnan(mean_of(&p[8])) && isnan(mean_of(&p[9])));
	assert_float_equal(mean_of(&points_of(&d, 1, "job.cpu_cores")[9]), 0, 0);
	traces_free(&d);
	synth_free(s);
}

static const char *why_missing(const struct run *r, uint32_t node, const char *name, char why[200])
{
	struct page_index x;

	assert_int_equal(page_index_make(&x, r), 0);
	page_why_missing(r, &x, &(struct page_question){ node, name, "disk" }, why, 200);
	page_index_free(&x);
	return why;
}

static void missing_says_why(void **state)
{
	struct synth *s = synth_new(8);
	struct run_meta said[] = {
		{ 0 }, { .node = 2, .key = "source.disk", .text = "failed: no /proc" }
	};
	char why[200];
	uint32_t x = synth_series(s, 1, synth_metric(s, read_bytes), 0);

	(void)state;
	synth_refuse(s, x, STATE_FORBIDDEN, "no permission for /proc/diskstats", 0);
	assert_string_equal(why_missing(&s->run, 1, "disk.read_bytes_per_second", why),
			    "forbidden: no permission for /proc/diskstats");
	assert_string_equal(why_missing(&s->run, 2, "disk.read_bytes", why), "no value was read");
	assert_string_equal(why_missing(&s->run, 1, "disk.no_such", why), "not in this recording");
	s->run.metas = said;
	s->run.nmetas = 2;
	assert_string_equal(why_missing(&s->run, 2, "disk.read_bytes", why), "failed: no /proc");
	assert_int_equal(page_unit(&s->run, "disk.read_bytes_per_second"), UNIT_BYTES_PER_SECOND);
	assert_int_equal(page_unit(&s->run, "disk.read_bytes"), UNIT_BYTES);
	synth_free(s);
}

/* A summary in which nothing is known. */
static struct summary unknown_summary(void)
{
	struct summary s = { 0 };

	s.exit_code = s.signal = s.wall_s = s.cpu_s = s.cpu_user_s = s.cpu_system_s = NAN;
	s.attributed_ratio = s.peak_memory_bytes = s.processes_started = s.processes_peak = NAN;
	s.read_bytes = s.written_bytes = s.cores_present = s.cores_allowed = s.cores_asked = NAN;
	s.cores_used_mean = s.cores_used_peak = s.memory_present = s.memory_asked_bytes = NAN;
	s.monitor_cpu_s = s.monitor_rss_bytes = s.monitor_bytes = s.monitor_samples = NAN;
	s.monitor_late = s.monitor_skipped = s.interval_s = NAN;
	return s;
}

/* The page as a text; free it. */
static char *page_of(struct synth *s, const struct summary *sum)
{
	struct bytes out = { 0 };
	struct err e = { "" };

	if (page_make(&out, &s->run, sum, NULL, &e))
		fail_msg("page_make: %s", e.text);
	bytes_u8(&out, 0);
	assert_false(out.failed);
	assert_int_equal(strlen((char *)out.data), out.len - 1);
	return (char *)out.data;
}

static int count(const char *text, const char *what)
{
	int n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

static void names_stay_text(void **state)
{
	struct synth *s = synth_new(8);
	struct summary sum = unknown_summary();
	uint32_t x = synth_series(s, 1, synth_metric(s, process_cpu), 0);
	struct summary_metric metric = { .name = (char *)(uintptr_t)hostile, .node = 1 };
	struct summary_command command = { .name = hostile };
	struct summary_node node = { .node = 1, .host = hostile };
	struct summary_mechanism mechanism = { .name = hostile, .state = "<b>", .reason = hostile };
	struct summary_verdict verdict = { .rule = "" };
	char *tame = page_of(s, &sum), *page;

	(void)state;
	s->nodes[1].host = hostile;
	synth_refuse(s, x, STATE_FAILED, hostile, 0);
	synth_instance(s, "process", hostile);
	s->run.damages = &(struct run_damage){ .file = hostile, .what = hostile };
	s->run.ndamages = 1;
	sum.command = sum.job_id = sum.mechanisms = sum.survivors = hostile;
	sum.mechanism = &mechanism, sum.nmechanisms = 1;
	sum.nodes = &node, sum.nnodes = 1;
	sum.commands = &command, sum.ncommands = 1;
	sum.metrics = &metric, sum.nmetrics = 1;
	sum.by_cpu[0] = (struct summary_process){ .instance = 1, .name = hostile };
	snprintf(verdict.sentence, sizeof verdict.sentence, "%s", hostile);
	snprintf(verdict.metric, sizeof verdict.metric, "%s", hostile);
	sum.verdicts = &verdict;
	sum.nby_cpu = sum.nverdicts = 1;
	page = page_of(s, &sum);
	assert_int_equal(count(page, "<script"), count(tame, "<script"));
	assert_int_equal(count(page, "</script"), count(tame, "</script"));
	assert_null(strchr(page, '\x1b'));
	assert_null(strchr(page, '\xff'));
	assert_true(count(page, "{{data}}") >= 10); /* it is not part of the template */
	assert_int_equal(count(page, "\"sonde/report/2\""), 1);
	free(page);
	free(tame);
	synth_free(s);
}

static void spans_that_find_no_room_are_said(void **state)
{
	struct synth *s = synth_new(8);
	struct summary sum = unknown_summary();
	char *page = page_of(s, &sum);

	(void)state;
	assert_int_equal(count(page, "Phases and marks"), count(page, "'Phases and marks'"));
	free(page);
	s->run.npacked = 300000;
	page = page_of(s, &sum);
	assert_int_equal(count(page, ">300000 spans are too many for a page: "), 1);
	free(page);
	synth_free(s);
}

/* Every part that took time has its words and numbers, not only a colour. */
static void where_the_time_went_is_said(void **state)
{
	struct synth *s = synth_new(8);
	struct summary sum = unknown_summary();
	char *page = page_of(s, &sum);

	(void)state;
	assert_int_equal(count(page, "Where the time went"), 0);
	free(page);
	account_make(&sum.account, &(struct account_figures){ .wall_s = 10,
							      .cores = 2,
							      .cpu_s = 5.05,
							      .user_s = 5,
							      .system_s = 0.05,
							      .waited_s = NAN,
							      .crowded_s = NAN,
							      .throttled_s = 5,
							      .others_s = NAN,
							      .memory_s = NAN,
							      .blocked_s = 0,
							      .unseen_s = 0 });
	page = page_of(s, &sum);
	assert_int_equal(count(page, "10.0 s on 2 cores: 20.0 s of core time"), 1);
	assert_int_equal(count(page, "<b>25 %</b> Computing in user mode <small>5.00 s"), 1);
	assert_int_equal(count(page, "<b>under 1 %</b> Computing in the kernel <small>50 ms"), 1);
	assert_int_equal(count(page, "<b>25 %</b> Throttled by the CPU limit"), 1);
	assert_int_equal(count(page, "<b>50 %</b> Unknown"), 1);
	assert_int_equal(count(page, "Waiting for a core"), 0);
	free(page);
	synth_free(s);
}

static void what_was_not_used_says_why(void **state)
{
	struct synth *s = synth_new(8);
	struct summary sum = unknown_summary();
	struct summary_mechanism mechanism[] = {
		{ .node = 1,
		  .name = "exit_records",
		  .state = "forbidden",
		  .reason = "root <only>" },
		{ .node = 1, .name = "cpu_clock", .state = "used" },
		{ .node = 2,
		  .name = "exit_records",
		  .state = "forbidden",
		  .reason = "root <only>" },
		{ .node = 2, .name = "pss", .state = "off" },
	};
	char *page;

	(void)state;
	page = page_of(s, &sum);
	assert_int_equal(count(page, "Not used"), 0);
	free(page);
	sum.mechanism = mechanism, sum.nmechanisms = 2;
	page = page_of(s, &sum);
	assert_int_equal(count(page, "<p>Not used:</p><ul><li>exit_records: forbidden, "
				     "root &lt;only&gt;</li></ul>"),
			 1);
	free(page);
	sum.nmechanisms = 4;
	page = page_of(s, &sum);
	assert_int_equal(count(page, "root &lt;only&gt;</li><li>pss: off</li></ul>"), 1);
	free(page);
	synth_free(s);
}

static void unknown_is_a_dash(void **state)
{
	struct synth *s = synth_new(8);
	struct summary sum = unknown_summary();
	char *page = page_of(s, &sum), *body = strstr(page, "<main>"), *data;

	(void)state;
	*strstr(body, "<script") = '\0';
	assert_int_equal(count(body, "nan"), 0);
	assert_int_equal(count(body, "inf "), 0);
	assert_true(count(body, "title=\"not known\">–<") >= 8);
	assert_non_null(strstr(body, "Exit code not recorded"));
	free(page);
	page = page_of(s, &sum);
	data = strstr(page, "id=\"data\">");
	*strstr(data, "</script>") = '\0';
	assert_null(strstr(data, "nan"));
	free(page);
	synth_free(s);
}

static void energy_says_its_kind(void **state)
{
	struct synth *s = synth_new(8);
	struct summary sum = unknown_summary();
	char *page = page_of(s, &sum);

	(void)state;
	assert_null(strstr(page, "<dt>Energy</dt>"));
	free(page);
	sum.energy_of = "processors";
	sum.energy_j = 57500;
	sum.energy_job_j = NAN;
	page = page_of(s, &sum);
	assert_non_null(strstr(page, "57.5 kJ"));
	assert_non_null(strstr(page, "measured: processors, by all users</div>"));
	free(page);
	sum.energy_job_j = 8300;
	page = page_of(s, &sum);
	assert_non_null(strstr(page, "8.3 kJ apportioned to the job"));
	free(page);
	synth_free(s);
}

static void everything_is_inside(void **state)
{
	struct synth *s = synth_new(8);
	struct summary sum = unknown_summary();
	char *page = page_of(s, &sum), *other = page_of(s, &sum);
	char nonce[64];

	(void)state;
	assert_non_null(strstr(page, "Copyright (c) 2022 Leon Sorokin"));
	assert_non_null(strstr(page, "default-src 'none'"));
	assert_null(strstr(page, " src="));
	snprintf(nonce, sizeof nonce, "%.38s", strstr(page, "'nonce-") + 1);
	assert_int_equal(strlen(nonce), 38);
	assert_int_equal(count(page, nonce + 6), count(other, "nonce=\"") + 2);
	assert_null(strstr(other, nonce));
	free(page);
	free(other);
	synth_free(s);
}

/* An hour at a sample a second with every metric that is drawn, none of them constant. */
static void an_hour_is_small(void **state)
{
	struct synth *s = synth_new(300);
	struct summary sum = unknown_summary();
	uint32_t first = 0, n = 0;
	char *page;

	(void)state;
	for (size_t c = 0; c < npage_charts; c++)
		for (size_t l = 0; l < PAGE_LINES && page_charts[c].lines[l].metric; l++) {
			struct metric m = { page_charts[c].lines[l].metric,
					    .unit = page_charts[c].unit, .kind = KIND_GAUGE };
			uint32_t x = synth_series(s, 1, synth_metric(s, m), 0);

			first = first ? first : x;
			n++;
		}
	for (int i = 0; i < 3600; i++) {
		synth_row(s, 1, i);
		for (uint32_t x = first; x < first + n; x++)
			synth_put(s, x, (i * 7919 + (int)x * 104729) % 100003);
	}
	page = page_of(s, &sum);
	assert_in_range(strlen(page), 100000, 460000);
	free(page);
	synth_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(absent_values_stay_absent),
		cmocka_unit_test(instances_and_nodes_keep_apart),
		cmocka_unit_test(long_runs_are_thinned_by_time),
		cmocka_unit_test(the_closing_sample_makes_no_spike),
		cmocka_unit_test(a_few_ticks_make_no_spike),
		cmocka_unit_test(memory_ends_with_the_job),
		cmocka_unit_test(missing_says_why),
		cmocka_unit_test(names_stay_text),
		cmocka_unit_test(spans_that_find_no_room_are_said),
		cmocka_unit_test(where_the_time_went_is_said),
		cmocka_unit_test(what_was_not_used_says_why),
		cmocka_unit_test(unknown_is_a_dash),
		cmocka_unit_test(energy_says_its_kind),
		cmocka_unit_test(everything_is_inside),
		cmocka_unit_test(an_hour_is_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
