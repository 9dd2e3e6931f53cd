/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/sink_text.h"

static char *export_text(struct synth *s, const struct selection *sel, int wanted, struct err *e)
{
	struct frame *f;
	size_t n;
	char *text;
	FILE *out = open_memstream(&text, &n);

	assert_int_equal(frame_open(&f, &s->run, sel, e), 0);
	assert_int_equal(sink_run(sink_find("openmetrics"), f, out, e), wanted);
	frame_close(f);
	fclose(out);
	return text;
}

static struct synth *disks(void)
{
	struct synth *s = synth_new(2);
	uint32_t bytes = synth_metric(s, (struct metric){ "disk.read_bytes", "disk",
							  .unit = UNIT_BYTES, .kind = KIND_COUNTER,
							  .help = "What \"it\" read.\\" }),
		 load = synth_metric(
			 s, (struct metric){ "node.load", .kind = KIND_GAUGE, .div = 100 }),
		 pids = synth_metric(s, (struct metric){ "process.threads_count", "process",
							 .unit = UNIT_COUNT, .kind = KIND_GAUGE });
	uint32_t a = synth_series(s, 1, bytes, synth_instance(s, "disk", "b\"\\\n\x1b\xff")),
		 b = synth_series(s, 1, bytes, synth_instance(s, "disk", "a")),
		 x = synth_series(s, 1, load, 0), y = synth_series(s, 2, load, 0),
		 p = synth_series(s, 1, pids, synth_instance(s, "process", "sh"));

	for (int i = 0; i < 3; i++) {
		synth_row(s, 1, i * 0.5);
		synth_put(s, a, 1000 * i);
		if (i)
			synth_put(s, b, i);
		synth_put(s, x, 150);
		synth_put(s, p, 4);
	}
	synth_row(s, 2, 7);
	synth_put(s, y, 10);
	return s;
}

static void test_counters_as_they_are(void **state)
{
	struct synth *s = disks();
	char *text = export_text(s, &(struct selection){ .raw = true, .lasting = true }, 0, NULL);

	(void)state;
	assert_string_equal(
		text,
		"# TYPE sonde_disk_read_bytes counter\n"
		"# UNIT sonde_disk_read_bytes bytes\n"
		"# HELP sonde_disk_read_bytes What \\\"it\\\" read.\\\\\n"
		"sonde_disk_read_bytes_total{node=\"alpha\",disk=\"a\"} 1 1700000000.5\n"
		"sonde_disk_read_bytes_total{node=\"alpha\",disk=\"a\"} 2 1700000001\n"
		"sonde_disk_read_bytes_total{node=\"alpha\",disk=\"b\\\"\\\\\\n\xef\xbf\xbd\xef\xbf\xbd\"} 0 1700000000\n"
		"sonde_disk_read_bytes_total{node=\"alpha\",disk=\"b\\\"\\\\\\n\xef\xbf\xbd\xef\xbf\xbd\"} 1000 1700000000.5\n"
		"sonde_disk_read_bytes_total{node=\"alpha\",disk=\"b\\\"\\\\\\n\xef\xbf\xbd\xef\xbf\xbd\"} 2000 1700000001\n"
		"# TYPE sonde_node_load gauge\n"
		"sonde_node_load{node=\"alpha\"} 1.5 1700000000\n"
		"sonde_node_load{node=\"alpha\"} 1.5 1700000000.5\n"
		"sonde_node_load{node=\"alpha\"} 1.5 1700000001\n"
		"sonde_node_load{node=\"beta\"} 0.1 1700000007\n"
		"# EOF\n");
	free(text);
	synth_free(s);
}

static void test_rates_are_gauges(void **state)
{
	struct synth *s = disks();
	char *text = export_text(
		s, &(struct selection){ .metrics = "disk.*", .from_s = 1, .lasting = true }, 0,
		NULL);

	(void)state;
	assert_string_equal(
		text,
		"# TYPE sonde_disk_read_bytes_per_second gauge\n"
		"# UNIT sonde_disk_read_bytes_per_second bytes_per_second\n"
		"# HELP sonde_disk_read_bytes_per_second What \\\"it\\\" read.\\\\\n"
		"sonde_disk_read_bytes_per_second{node=\"alpha\",disk=\"a\"} 2 1700000001\n"
		"sonde_disk_read_bytes_per_second{node=\"alpha\",disk=\"b\\\"\\\\\\n\xef\xbf\xbd\xef\xbf\xbd\"} 2000 1700000001\n"
		"# EOF\n");
	free(text);
	synth_free(s);
}

/* Two recorders of a node at the same time: no time of a series comes twice. */
static void test_nothing_comes_twice(void **state)
{
	struct synth *s = synth_new(2);
	uint32_t m = synth_metric(s, (struct metric){ "node.load", .kind = KIND_GAUGE });
	uint32_t x = synth_series(s, 1, m, 0), y = synth_series(s, 2, m, 0);
	char *text;

	(void)state;
	s->nodes[2].host = s->nodes[1].host;
	for (int i = 0; i < 2; i++) {
		synth_row(s, 1, i);
		synth_put(s, x, 5);
		synth_row(s, 2, i ? 1 : 0.5);
		synth_put(s, y, 5);
	}
	text = export_text(s, &(struct selection){ .lasting = true }, 0, NULL);
	assert_string_equal(text, "# TYPE sonde_node_load gauge\n"
				  "sonde_node_load{node=\"alpha\"} 5 1700000000\n"
				  "sonde_node_load{node=\"alpha\"} 5 1700000000.5\n"
				  "sonde_node_load{node=\"alpha\"} 5 1700000001\n"
				  "# EOF\n");
	free(text);
	synth_free(s);
}

static void test_names_that_become_one(void **state)
{
	struct synth *s = synth_new(2);
	struct err e = { "" };

	(void)state;
	synth_metric(s, (struct metric){ "a.b_c", .kind = KIND_GAUGE });
	synth_metric(s, (struct metric){ "a.bz", .kind = KIND_GAUGE });
	synth_metric(s, (struct metric){ "a_b.c", .kind = KIND_GAUGE });
	free(export_text(s, &(struct selection){ .lasting = true }, -EINVAL, &e));
	assert_non_null(strstr(e.text, "a.b_c"));
	assert_non_null(strstr(e.text, "a_b.c"));
	synth_free(s);
}

static void test_other_tables_are_refused(void **state)
{
	struct synth *s = disks();
	struct err e = { "" };

	(void)state;
	free(export_text(s, &(struct selection){ .wide = true }, -EINVAL, &e));
	assert_true(e.text[0]);
	synth_free(s);
}

static void test_full_disk(void **state)
{
	(void)state;
	check_full_disk(sink_find("openmetrics"), 1);
	check_full_disk(sink_find("openmetrics"), 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters_as_they_are),
		cmocka_unit_test(test_rates_are_gauges),
		cmocka_unit_test(test_nothing_comes_twice),
		cmocka_unit_test(test_names_that_become_one),
		cmocka_unit_test(test_other_tables_are_refused),
		cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
