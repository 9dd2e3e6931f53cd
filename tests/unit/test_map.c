/* SPDX-License-Identifier: Apache-2.0 */
/* A map is read or refused with its name, the line and the reason; its table has the right values:
 * counters as they stand, rises, instances that are summed up or have columns of their own. */
#include "core/table/map.h"

#include "sink/perfmon.h"
#include "unit/frame_text.h"

static const char good[] = "# a comment\n"
			   "machine host.*,job.id\n"
			   "interval run.interval_ns\n"
			   "table cpu\n"
			   "load \"Load\" = 100 * node.load\n"
			   "io.busy \"Busy [ms]\" / 1000 = 1M * counter(disk.busy_seconds)\n"
			   "io.rise? \"Rise\" = rise(disk.busy_seconds)\n"
			   "gone? \"Gone\" = node.gone\n"
			   "none \"None\" = node.none\n"
			   "disks.* \"Disk *\" = counter(disk.busy_seconds)\n"
			   "table each of disk\n"
			   "busy \"Busy\" = disk.busy_cores\n";

static void refuse(const char *text, const char *wanted)
{
	struct err e = { "" };
	struct map m;

	assert_int_not_equal(map_parse(&m, "site.map", text, strlen(text), &e), 0);
	assert_non_null(strstr(e.text, wanted));
	map_free(&m);
}

static void test_lines_that_are_bad(void **state)
{
	(void)state;
	refuse("", "site.map: it has no table");
	refuse("load \"Load\" = node.load", "site.map:1: before the first key");
	refuse("table a\n\nload = node.load", "site.map:3: a line is KEY");
	refuse("table a\nload \"Load\" node.load", "site.map:2: a line is KEY");
	refuse("table a\nload \"Load\" = node.load +", "site.map:2: column");
	refuse("table a\nload \"Load\" = 5", "site.map:2: a value is made of one to 8 names");
	refuse("table a\nload \"Load\" = mean(node.load)",
	       "site.map:2: there is no function mean()");
	refuse("table a\nx \"X\" = node.a / node.b",
	       "site.map:2: the value must follow from its first");
	refuse("table a\nx \"X\" = 0 * node.a", "site.map:2: the value must follow from its first");
	refuse("table a\nx \"X\" = node.a\nx \"Y\" = node.a",
	       "site.map:3: a has this key or column");
	refuse("table a\nx \"X\" = node.a\ny \"X\" = node.a",
	       "site.map:3: a has this key or column");
	refuse("table a\nx.* \"X\" = node.a", "site.map:2: a * is in both");
	refuse("table a\nx.*.* \"X *\" = node.a", "site.map:2: a key has one *");
	refuse("table a\nx \"X\" = rise(node.a.*)",
	       "site.map:2: each metric that node.a.* represents");
	refuse("table a\nx \"X\" / 0 = node.a", "site.map:2: a column's unit");
	refuse("table a\ntable a", "site.map:2: there is a table a already");
	refuse("table a of", "site.map:1: of what it is of is missing");
	refuse("table a b", "site.map:1: a table's line is");
	refuse("interval x\ninterval y", "site.map:2: a map has it once");
}

/* Two disks, of which one is aside; times 0, 1, 2 s. */
static struct synth *make(void)
{
	static const int64_t rows[][4] = { { 50, 1000, 2000, 7 },
					   { 60, 1500, 2000, 8 },
					   { 70, 1700, 4000, 9 } };
	struct synth *s = synth_new(2);
	uint32_t of_node = synth_metric(s, load), of_disk = synth_metric(s, busy);
	uint32_t a = synth_instance(s, "disk", "sda"), b = synth_instance(s, "disk", "sdb");
	uint32_t c = synth_instance(s, "disk", "dm-0");

	s->instances[c].flags = INSTANCE_ASIDE;
	synth_series(s, 1, of_node, 0);
	synth_series(s, 1, of_disk, a);
	synth_series(s, 1, of_disk, b);
	synth_series(s, 1, of_disk, c);
	for (int i = 0; i < 3; i++) {
		synth_row(s, 1, i);
		for (uint32_t k = 0; k < 4; k++)
			synth_put(s, k + 1, rows[i][k]);
	}
	return s;
}

static char *table_text(struct run *r, const struct map_table *t, bool keys)
{
	const struct selection sel = { .map = t, .map_keys = keys };
	struct bytes b = { 0 };
	struct err e = { "" };
	struct frame *f;

	assert_int_equal(frame_open(&f, r, &sel, &e), 0);
	for (int twice = 0; twice < 2; twice++) {
		bytes_reset(&b);
		for (uint32_t i = 0; i < frame_schema(f)->ncolumns; i++)
			bytes_printf(&b, "%s|", frame_schema(f)->columns[i].name);
		bytes_puts(&b, "\n");
		print_rows(&b, f, "Timestamps");
		assert_int_equal(frame_rewind(f), 0);
	}
	bytes_u8(&b, '\0');
	frame_close(f);
	return (char *)b.data;
}

/* Disks read in turn, and one that comes later with what it had counted elsewhere: no step. */
static void test_counters_begin_when_all_are_known(void **state)
{
	static const char map[] = "table t\nbusy \"Busy\" = counter(disk.busy_seconds)\n"
				  "rise \"Rise\" = rise(disk.busy_seconds)\n";
	static const int64_t rows[][3] = {
		{ 1000, 0, 0 }, { 0, 2000, 0 }, { 1500, 0, 9000000 }, { 0, 2500, 9000250 }
	};
	struct synth *s = synth_new(2);
	uint32_t metric = synth_metric(s, busy);
	struct err e = { "" };
	struct map m;
	char *text;

	(void)state;
	for (int i = 0; i < 3; i++) {
		uint32_t disk = synth_instance(s, "disk", (const char *[]){ "a", "b", "c" }[i]);

		s->instances[disk].birth_ns = i == 2 ? INT64_C(2000000000) : 0;
		synth_series(s, 1, metric, disk);
	}
	for (int row = 0; row < 4; row++) {
		synth_row(s, 1, row);
		for (uint32_t k = 0; k < 3; k++)
			if (rows[row][k])
				synth_put(s, k + 1, rows[row][k]);
	}
	assert_int_equal(map_parse(&m, "site.map", map, strlen(map), &e), 0);
	text = table_text(&s->run, &m.tables[0], true);
	assert_string_equal(text, "Host|Timestamps|busy|rise|\n"
				  "alpha 3 - \n"
				  "alpha 3.5 0.5 \n"
				  "alpha 4.25 0.75 \n");
	free(text);
	synth_free(s);
	map_free(&m);
}

static void test_values(void **state)
{
	struct err e = { "" };
	struct synth *s = make();
	struct map m;
	char *text;

	(void)state;
	assert_int_equal(map_parse(&m, "site.map", good, strlen(good), &e), 0);
	assert_string_equal(m.machine, "host.*,job.id");
	assert_true(map_table(&m, "cpu")->keys[1].factor == 1e6);
	text = table_text(&s->run, &m.tables[0], true);
	assert_string_equal(
		text, "Host|Timestamps|load|io.busy|io.rise|none|disks.sda|disks.sdb|disks.dm-0|\n"
		      "alpha 50 3e+06 - - 1 2 0.007 \n"
		      "alpha 60 3.5e+06 0.5 - 1.5 2 0.008 \n"
		      "alpha 70 5.7e+06 2.2 - 1.7 4 0.009 \n");
	free(text);
	text = table_text(&s->run, &m.tables[0], false);
	assert_non_null(strstr(text, "|Load|Busy [ms]|Rise|None|Disk sda|Disk sdb|Disk dm 0|"));
	assert_non_null(strstr(text, "alpha 70 5700 2.2 - "));
	free(text);
	text = table_text(&s->run, &m.tables[1], true);
	assert_string_equal(text,
			    "Host|Timestamps|busy|\n"
			    "disk-sda.alpha 0.5 \ndisk-sdb.alpha 0 \ndisk-dm-0.alpha 0.001 \n"
			    "disk-sda.alpha 0.2 \ndisk-sdb.alpha 2 \ndisk-dm-0.alpha 0.001 \n");
	free(text);
	synth_free(s);
	map_free(&m);
}

static void test_nothing_of_it_is_there(void **state)
{
	static const char other[] = "table t\nx \"X\" = node.x\ny? \"Y\" = counter(node.y)\n";
	struct err e = { "" };
	struct synth *s = make();
	struct map m;
	char *text;

	(void)state;
	assert_int_equal(map_parse(&m, "m", other, strlen(other), &e), 0);
	text = table_text(&s->run, &m.tables[0], true);
	assert_string_equal(text, "Host|Timestamps|x|\n");
	free(text);
	synth_free(s);
	map_free(&m);
}

static void test_processes_are_bounded(void **state)
{
	enum { MANY = 3 * PERFMON_PROCESSES };
	struct run_instance *i = calloc(MANY + 1, sizeof *i);
	struct run_node nodes[2] = { [1] = { .host = "h" } };
	struct run r = { .instances = i, .ninstances = MANY + 1, .nodes = nodes, .nnodes = 2 };
	struct bytes b = { 0 };
	struct json j = { .out = &b };
	uint32_t commas = 0;

	(void)state;
	for (uint32_t k = 1; k <= MANY; k++)
		i[k] = (struct run_instance){ .node = 1,
					      .domain = "process",
					      .name = k == 7 ? "first" : "other",
					      .birth_ns = k == 7 ? 0 : (int64_t)k };
	json_object(&j);
	perfmon_processes(&j, &r, 1);
	json_object_end(&j);
	bytes_u8(&b, '\0');
	assert_non_null(
		strstr((char *)b.data, "\"parent_proc_md\":{\"pid\":null,\"name\":\"first\""));
	for (const char *c = strstr((char *)b.data, "child_proc_md"); (c = strchr(c, ',')); c++)
		commas++;
	assert_int_equal(commas, PERFMON_PROCESSES - 1);
	bytes_free(&b);
	free(i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_that_are_bad),
		cmocka_unit_test(test_counters_begin_when_all_are_known),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_nothing_of_it_is_there),
		cmocka_unit_test(test_processes_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
