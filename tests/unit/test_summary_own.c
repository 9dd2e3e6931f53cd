/* SPDX-License-Identifier: Apache-2.0 */
/* What single processes had of their own: limits, heaps, priority; and the one that bounds the
 * others. */
#include "summary_made.h"

#include <math.h>
#include <string.h>

/* A process that lived to the end, with its figures in seconds. */
static uint32_t process(struct synthetic *x, const char *name, int64_t cpu, int64_t waited)
{
	uint32_t i = instance(x, 1, "process", name, false);

	final(x, i, "process.cpu_seconds", cpu);
	final(x, i, "process.run_queue_seconds", waited);
	return i;
}

/* Of the instance that was made last. */
static void label(struct synthetic *x, uint32_t i, const char *key, const char *value)
{
	x->label[x->run.nlabels++] = (struct run_label){ .key = key, .value = value };
	x->instance[i].nlabels++;
}

static void limits_of_a_process_come_before_the_jobs(void **state)
{
	struct synthetic *x = synthetic_new(1);
	struct summary s;
	uint32_t i;

	(void)state;
	meta_text(x, "job.limit.address_space_bytes", "unlimited");
	meta_int(x, 1, "job.limit.open_files_count", 1024);
	meta_int(x, 1, "job.limit.cpu_seconds", 5);
	i = instance(x, 1, "process", "python3", false);
	final(x, i, "process.virtual_bytes", 90);
	final(x, i, "process.open_files_count", 30);
	final(x, i, "process.cpu_seconds", 4);
	label(x, i, "limit.address_space_bytes", "100");
	label(x, i, "limit.open_files_count", "40");
	label(x, i, "limit.cpu_seconds", "unlimited");
	s = made(x);
	assert_true(s.story.limit[LIMIT_ADDRESS_SPACE].limit == 100);
	assert_true(s.story.limit[LIMIT_ADDRESS_SPACE].reached == 90);
	assert_memory_equal(s.story.limit[LIMIT_ADDRESS_SPACE].process, "python3", 7);
	assert_true(s.story.limit[LIMIT_FILES].limit == 40);
	assert_true(isnan(s.story.limit[LIMIT_CPU].limit));
	done(&s, x);
}

static double heap_of(const char *name, const char *command_line, const char *environment)
{
	struct synthetic *x = synthetic_new(1);
	struct summary s;
	double heap;
	uint32_t i;

	if (environment)
		meta_text(x, "job.environment.NODE_OPTIONS", environment);
	i = instance(x, 1, "process", name, false);
	final(x, i, "process.peak_resident_bytes", 1 << 20);
	label(x, i, "command_line", command_line);
	s = made(x);
	heap = s.story.heap_limit;
	done(&s, x);
	return heap;
}

static void heaps_are_read_from_options(void **state)
{
	(void)state;
	assert_true(heap_of("java", "java -Xmx2g -jar x.jar", NULL) == 2147483648.0);
	assert_true(heap_of("java", "java -Xmx512M -Xmx64k Main", NULL) == 65536);
	assert_true(heap_of("java", "java -Xmx1048576 Main", NULL) == 1048576);
	assert_true(heap_of("node", "node '--max-old-space-size=80' x.js", NULL) == 83886080);
	assert_true(heap_of("node", "node --max-old-space-size 80 x.js", NULL) == 83886080);
	assert_true(heap_of("node", "node x.js", "--max-old-space-size=80") == 83886080);
	assert_true(isnan(heap_of("tool", "tool x", "--max-old-space-size=80")));
	assert_true(isnan(heap_of("java", "java -Xmx Main", NULL)));
	assert_true(isnan(heap_of("java", "java -jar a-Xmx2g", NULL)));
	assert_true(isnan(heap_of("java", "java -Xmx-1g Main", NULL)));
}

static void the_process_that_bounds_the_others_is_found(void **state)
{
	struct synthetic *x = synthetic_new(1);
	struct summary s;
	uint32_t i;

	(void)state;
	process(x, "cat", 2, 1);
	i = process(x, "gzip", 10, 8);
	label(x, i, "pid", "77");
	label(x, i, "nice", "19");
	s = made(x);
	assert_string_equal(s.story.busiest_process, "gzip (pid 77)");
	assert_true(fabs(s.story.busiest_share * (s.wall_s - 1) - 18) < 0.01);
	assert_true(fabs(s.story.busiest_others_share * s.wall_s - 3) < 0.01);
	assert_true(s.story.busiest_companions == 1);
	assert_true(s.story.busiest_nice == 19);
	done(&s, x);
}

/* A child of the command that used so many of 20 seconds of CPU time, and ended so. */
static double failures_with(const char *name, int64_t cpu, const char *key, const char *value,
			    int64_t exit_code)
{
	struct synthetic *x = synthetic_new(1);
	struct summary s;
	double found;
	uint32_t i;

	meta_int(x, 1, "job.exit_code", exit_code);
	meta_int(x, 1, "job.cpu_ns", INT64_C(20000000000));
	process(x, "sh", 1, 0);
	i = process(x, name, cpu, 0);
	x->instance[i].parent = i - 1;
	x->instance[i].end_ns = x->instance[i].birth_ns + 1;
	label(x, i, "pid", "79");
	label(x, i, key, value);
	s = made(x);
	found = s.story.hidden_failures;
	assert_true(found < 1 || !strcmp(s.story.hidden_process, "table (pid 79)"));
	assert_true(found < 1 || s.story.hidden_work_ratio == (double)cpu / 20);
	done(&s, x);
	return found;
}

static void failures_that_the_job_hides_are_found(void **state)
{
	(void)state;
	assert_true(failures_with("table", 2, "exit_code", "1", 0) == 1);
	assert_true(failures_with("table", 1, "exit_code", "1", 0) == 0);
	assert_true(failures_with("table", 2, "exit_code", "1", 1) == 0);
	assert_true(failures_with("grep -c x", 2, "exit_code", "1", 0) == 0);
	assert_true(failures_with("table", 1, "signal", "11", 0) == 1);
	assert_true(failures_with("table", 9, "signal", "15", 0) == 0);
	assert_true(failures_with("table", 9, "signal", "9", 0) == 0);
}

static void one_of_low_priority_that_starves_is_found(void **state)
{
	struct synthetic *x = synthetic_new(1);
	struct summary s;
	uint32_t i;

	(void)state;
	process(x, "simulate", 18, 0);
	i = process(x, "pack", 4, 8); /* it did not wait for half of its life */
	label(x, i, "nice", "10");
	process(x, "mpirun", 1, 15);
	s = made(x);
	assert_true(isnan(s.story.starved_nice) && isnan(s.story.starved_s));
	assert_true(s.story.launched_here == 1);
	summary_free(&s);

	i = process(x, "publish", 1, 14);
	label(x, i, "pid", "78");
	label(x, i, "nice", "5");
	i = process(x, "zip", 1, 13);
	label(x, i, "nice", "5");
	s = made(x);
	assert_true(s.story.starved_nice == 5 && s.story.starved_s == 14);
	assert_string_equal(s.story.starved_process, "publish (pid 78)");
	done(&s, x);
}

/* One core for ten seconds, then four. */
static struct synthetic *with_a_serial_start(void)
{
	struct synthetic *x = synthetic_new(1);
	uint32_t cpu = metric(x, "job.cpu_seconds", NULL, KIND_COUNTER, UNIT_SECONDS);
	uint32_t id = series(x, 1, cpu, 0);

	meta_int(x, 1, "node.cores_allowed", 4);
	for (int row = 0; row < ROWS; row++)
		put(x, id, row, row < 10 ? row : 10 + 4 * (row - 10));
	return x;
}

static void a_serial_stretch_has_its_phase_or_mark(void **state)
{
	struct run_mark marks[] = {
		{ 0 },
		{ .node = 1, .at_ns = 101 * NS_PER_S, .name = "reading" },
		{ .node = 1, .at_ns = 102 * NS_PER_S, .name = "sonde.hang" },
		{ .node = 1, .at_ns = 110 * NS_PER_S, .name = "solving" },
	};
	struct run_span spans[] = {
		{ 0 },
		{ 1, 0, 100 * NS_PER_S, 118 * NS_PER_S, "all", "" },
		{ 1, 0, 101 * NS_PER_S, 110 * NS_PER_S, "load", "" },
		{ 1, 0, 110 * NS_PER_S, 118 * NS_PER_S, "solve", "" },
	};
	struct synthetic *x = with_a_serial_start();
	struct summary s;

	(void)state;
	x->run.marks = marks;
	x->run.nmarks = sizeof marks / sizeof marks[0];
	s = made(x);
	assert_string_equal(s.story.serial_process, "after the mark reading");
	summary_free(&s);
	x->run.spans = spans;
	x->run.nspans = sizeof spans / sizeof spans[0];
	s = made(x);
	assert_string_equal(s.story.serial_process, "in phase load");
	done(&s, x);
}

static void what_is_known_of_a_hang_ends_as_a_sentence(void **state)
{
	struct run_mark marks[] = {
		{ 0 },
		{ .node = 1,
		  .at_ns = 102 * NS_PER_S,
		  .name = "sonde.hang",
		  .message = "app (pid 7) waits for another thread" },
		{ .node = 1, .at_ns = 102 * NS_PER_S, .name = "sonde.hang.where" },
	};
	static const char *const where[][2] = { { "in a < b < ...", "in a < b < ..." },
						{ "in a < b", "in a < b." },
						{ "in a; in b;", "in a; in b; and more." } };

	(void)state;
	for (size_t i = 0; i < sizeof where / sizeof where[0]; i++) {
		struct synthetic *x = with_a_serial_start();
		struct summary s;

		marks[2].message = where[i][0];
		meta_int(x, 0, "run.watch_hang_ns", NS_PER_S);
		x->run.marks = marks;
		x->run.nmarks = sizeof marks / sizeof marks[0];
		s = made(x);
		assert_string_equal(s.story.hang_advice, where[i][1]);
		done(&s, x);
	}
}

static void nothing_is_said_of_no_process(void **state)
{
	struct synthetic *x = synthetic_new(1);
	struct summary s = made(x);

	(void)state;
	assert_true(isnan(s.story.busiest_share));
	assert_true(isnan(s.story.busiest_nice));
	assert_true(isnan(s.story.heap_limit));
	done(&s, x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_of_a_process_come_before_the_jobs),
		cmocka_unit_test(heaps_are_read_from_options),
		cmocka_unit_test(the_process_that_bounds_the_others_is_found),
		cmocka_unit_test(failures_that_the_job_hides_are_found),
		cmocka_unit_test(one_of_low_priority_that_starves_is_found),
		cmocka_unit_test(a_serial_stretch_has_its_phase_or_mark),
		cmocka_unit_test(what_is_known_of_a_hang_ends_as_a_sentence),
		cmocka_unit_test(nothing_is_said_of_no_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
