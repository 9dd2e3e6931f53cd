/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of running jobs: current values only, each series once, whatever names are. */
#include "base/clock.h"
#include "live/exposition.h"
#include "unit/recording_truth.h"

#define UTC0 INT64_C(1700000000000000000)

static const struct metric rows[] = {
	{ .name = "disk.read_bytes",
	  .domain = "disk",
	  .label = "Read",
	  .help = "Bytes \\ read.",
	  .unit = UNIT_BYTES,
	  .kind = KIND_COUNTER },
	{ .name = "node.heat_celsius",
	  .label = "Heat",
	  .help = "Heat.",
	  .unit = UNIT_CELSIUS,
	  .kind = KIND_GAUGE },
	{ .name = "process.rss_bytes",
	  .domain = "process",
	  .label = "RSS",
	  .help = "RSS.",
	  .unit = UNIT_BYTES,
	  .kind = KIND_GAUGE },
};

/* A node with two disks of one name, a third, and a process. */
static void record(struct truth *t, const char *job)
{
	static const char *const disks[] = { "sda", "sda", "q\"\n\\" };
	uint32_t slot;

	sample_begin(&t->s, UTC0, 1000 * NS_PER_S);
	for (int i = 0; i < 3; i++) {
		slot = sample_series(&t->s, &rows[0], 1,
				     sample_instance(&t->s, "disk", disks[i], 0, 0, 0));
		sample_put(&t->s, slot, 100 + i);
	}
	sample_put(&t->s, sample_series(&t->s, &rows[1], 1, 0), 42);
	slot = sample_series(&t->s, &rows[2], 1, sample_instance(&t->s, "process", "p", 0, 0, 0));
	sample_put(&t->s, slot, 1);
	if (job)
		sample_meta_text(&t->s, "job.id", job);
	assert_int_equal(writer_sample(t->w, &t->s, NULL), 0);
}

static char *told(const struct exposition_run *run, size_t n, int64_t now,
		  enum exposition_format format)
{
	struct bytes out = { 0 };

	assert_int_equal(exposition_put(&out, run, n, now, format), 0);
	bytes_u8(&out, '\0');
	return (char *)out.data;
}

static struct follow *followed(const struct truth *t)
{
	struct follow *f;

	assert_int_equal(follow_open(&f, t->dir, NULL), 0);
	assert_int_equal(follow_poll(f, NULL), 0);
	return f;
}

static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	while ((text = strstr(text, part))) {
		n++;
		text += strlen(part);
	}
	return n;
}

static void test_each_series_is_told_once(void **state)
{
	struct truth *t = truth_new(1, NULL);
	struct follow *f;
	struct exposition_run run = { .path = "/path/of it" };
	char *text;

	(void)state;
	record(t, NULL);
	run.follow = f = followed(t);
	text = told(&run, 1, UTC0 + NS_PER_S, EXPOSITION_TEXT);
	assert_int_equal(count(text, "# TYPE sonde_disk_read_bytes_total counter\n"), 1);
	assert_int_equal(count(text, "\nsonde_disk_read_bytes_total{"), 2);
	assert_int_equal(count(text, "{job_id=\"/path/of it\",node=\"host\",disk=\"sda\"} 10"), 1);
	assert_int_equal(count(text, "disk=\"q\\\"\\n\\\\\"} 102\n"), 1);
	assert_int_equal(count(text, "node=\"host\"} 42\n"), 1);
	assert_int_equal(count(text, "process"), 0);
	assert_int_equal(count(text, "# EOF"), 0);
	free(text);
	text = told(&run, 1, UTC0 + NS_PER_S, EXPOSITION_OPENMETRICS);
	assert_int_equal(count(text, "# TYPE sonde_disk_read_bytes counter\n"), 1);
	assert_int_equal(count(text, "# UNIT sonde_disk_read_bytes bytes\n"), 1);
	assert_int_equal(count(text, "\nsonde_disk_read_bytes_total{"), 2);
	assert_string_equal(text + strlen(text) - 6, "# EOF\n");
	free(text);
	run.only = "node-other.sonde";
	text = told(&run, 1, UTC0 + NS_PER_S, EXPOSITION_TEXT);
	assert_int_equal(count(text, "} "), 0);
	free(text);
	follow_close(f);
	writer_abandon(t->w);
	truth_free(t);
}

static void test_only_what_is_current_is_told(void **state)
{
	struct truth *t = truth_new(1, NULL);
	struct follow *f;
	struct exposition_run run = { .path = "/p" };
	char *text;

	(void)state;
	record(t, NULL);
	run.follow = f = followed(t);
	text = told(&run, 1, UTC0 + (EXPOSITION_STALE_S + 1) * NS_PER_S, EXPOSITION_TEXT);
	assert_int_equal(count(text, "celsius"), 0);
	assert_int_equal(count(text, "sonde_recording_open{job_id=\"/p\",node=\"host\"} 0\n"), 1);
	assert_int_equal(
		count(text,
		      "sonde_sample_timestamp_seconds{job_id=\"/p\",node=\"host\"} 1700000000\n"),
		1);
	free(text);
	assert_int_equal(writer_close(t->w, NULL), 0);
	assert_int_equal(follow_poll(f, NULL), 0);
	text = told(&run, 1, UTC0 + NS_PER_S, EXPOSITION_TEXT);
	assert_int_equal(count(text, "celsius"), 0);
	assert_int_equal(count(text, "sonde_recording_open{job_id=\"/p\",node=\"host\"} 0\n"), 1);
	free(text);
	follow_close(f);
	truth_free(t);
}

static void test_jobs_of_one_id_are_told_by_path(void **state)
{
	struct truth *a = truth_new(1, NULL), *b = truth_new(2, NULL), *c = truth_new(3, NULL);
	struct exposition_run run[3] = { { .path = "/a" }, { .path = "/b" }, { .path = "/c" } };
	struct follow *f[3];
	char *text;

	(void)state;
	record(a, "77");
	record(b, "77");
	record(c, "78");
	run[0].follow = f[0] = followed(a);
	run[1].follow = f[1] = followed(b);
	run[2].follow = f[2] = followed(c);
	text = told(run, 3, UTC0, EXPOSITION_TEXT);
	assert_int_equal(count(text, "sonde_recording_open{job_id=\"/a\""), 1);
	assert_int_equal(count(text, "sonde_recording_open{job_id=\"/b\""), 1);
	assert_int_equal(count(text, "sonde_recording_open{job_id=\"78\""), 1);
	assert_int_equal(count(text, "# TYPE sonde_node_heat_celsius gauge\n"), 1);
	assert_int_equal(count(text, "\nsonde_node_heat_celsius{"), 3);
	free(text);
	text = told(run, 1, UTC0, EXPOSITION_TEXT);
	assert_int_equal(count(text, "sonde_job_info{job_id=\"77\",node=\"host\",path=\"/a\"} 1\n"),
			 1);
	free(text);
	for (int i = 0; i < 3; i++)
		follow_close(f[i]);
	writer_abandon(a->w);
	writer_abandon(b->w);
	writer_abandon(c->w);
	truth_free(a);
	truth_free(b);
	truth_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_series_is_told_once),
		cmocka_unit_test(test_only_what_is_current_is_told),
		cmocka_unit_test(test_jobs_of_one_id_are_told_by_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
