/* SPDX-License-Identifier: Apache-2.0 */
/* Where the time went: the parts add up to the whole, and what is not known has a name. */
#include "base/text/json.h"
#include "summary_made.h"

#include <math.h>
#include <string.h>

static struct account_figures nothing(double wall_s, double cores, double cpu_s)
{
	return (struct account_figures){ .wall_s = wall_s,
					 .cores = cores,
					 .cpu_s = cpu_s,
					 .user_s = NAN,
					 .system_s = NAN,
					 .waited_s = NAN,
					 .crowded_s = NAN,
					 .throttled_s = NAN,
					 .others_s = NAN,
					 .memory_s = NAN,
					 .blocked_s = NAN,
					 .unseen_s = NAN };
}

static struct account_figures looked_at(double wall_s, double cores, double cpu_s)
{
	struct account_figures f = nothing(wall_s, cores, cpu_s);

	f.user_s = cpu_s;
	f.system_s = f.waited_s = f.crowded_s = f.others_s = f.memory_s = 0;
	f.blocked_s = f.unseen_s = 0;
	return f;
}

static void assert_near(double a, double b)
{
	if (!(fabs(a - b) < 1e-9))
		fail_msg("%.17g is not %.17g", a, b);
}

static void assert_whole(const struct account *a, double whole_s)
{
	double sum = 0;

	for (int p = 0; p < ACCOUNT_PARTS; p++) {
		assert_false(a->part_s[p] < 0);
		sum += isnan(a->part_s[p]) ? 0 : a->part_s[p];
	}
	assert_near(a->whole_s, whole_s);
	assert_near(sum, whole_s);
}

static const char *line(const struct account *a, unsigned columns, bool colour)
{
	static char text[512];
	struct bytes b = { 0 };

	account_print(&b, a, columns, colour);
	bytes_u8(&b, 0);
	snprintf(text, sizeof text, "%s", (const char *)b.data);
	bytes_free(&b);
	return text;
}

static void test_parts_take_what_those_before_left(void **state)
{
	struct account_figures f = looked_at(10, 4, 20);
	struct account a;

	(void)state;
	f.user_s = 9; /* as wait4 counts, which is less: its ratio holds */
	f.system_s = 1;
	f.throttled_s = 2;
	f.waited_s = 7;
	f.others_s = 3;
	f.memory_s = 1;
	f.blocked_s = 5;
	f.unseen_s = 1.5;
	account_make(&a, &f);
	assert_whole(&a, 40);
	assert_near(a.part_s[ACCOUNT_USER], 18);
	assert_near(a.part_s[ACCOUNT_KERNEL], 2);
	assert_near(a.part_s[ACCOUNT_THROTTLED], 2);
	assert_near(a.part_s[ACCOUNT_OTHERS], 3);
	assert_near(a.part_s[ACCOUNT_OWN], 2);
	assert_near(a.part_s[ACCOUNT_MEMORY], 1);
	assert_near(a.part_s[ACCOUNT_STORAGE], 4);
	assert_near(a.part_s[ACCOUNT_UNKNOWN], 1.5);
	assert_near(a.part_s[ACCOUNT_IDLE], 6.5);
	f.blocked_s = 500;
	account_make(&a, &f);
	assert_whole(&a, 40);
	assert_near(a.part_s[ACCOUNT_STORAGE], 12);
	assert_near(a.part_s[ACCOUNT_IDLE], 0);
}

static void test_what_nobody_looked_at_is_unknown_and_not_idle(void **state)
{
	struct account_figures f = nothing(0.2, 2, 0.1);
	struct account a;

	(void)state;
	account_make(&a, &f); /* a job of 0.2 s, of which only its end is known */
	assert_whole(&a, 0.4);
	assert_near(a.part_s[ACCOUNT_COMPUTING], 0.1);
	assert_near(a.part_s[ACCOUNT_UNKNOWN], 0.3);
	assert_true(isnan(a.part_s[ACCOUNT_USER]));
	assert_true(isnan(a.part_s[ACCOUNT_IDLE]));
	assert_true(isnan(a.part_s[ACCOUNT_OTHERS]));
	assert_true(isnan(a.part_s[ACCOUNT_MEMORY]));
	assert_string_equal(line(&a, 80, false),
			    "[######??????????????????] computing 25 %, unknown 75 %");
	f = looked_at(10, 2, 5);
	f.others_s = NAN;
	f.waited_s = 3;
	account_make(&a, &f);
	assert_whole(&a, 20);
	assert_near(a.part_s[ACCOUNT_WAITING], 3);
	assert_true(isnan(a.part_s[ACCOUNT_OTHERS]));
}

static void test_without_cores_or_wall_there_is_none(void **state)
{
	struct account_figures f = looked_at(10, NAN, 5);
	struct account a;
	int percent[ACCOUNT_PARTS];
	struct bytes b = { 0 };
	struct json j = { .out = &b };

	(void)state;
	account_make(&a, &f);
	assert_true(a.whole_s == 0);
	account_percent(&a, percent);
	assert_int_equal(percent[ACCOUNT_UNKNOWN], 0);
	account_print(&b, &a, 80, false);
	assert_int_equal(b.len, 0);
	account_json(&j, &a);
	assert_int_equal(b.len, 4);
	assert_memory_equal(b.data, "null", 4);
	bytes_free(&b);
	f = looked_at(0, 2, 0);
	account_make(&a, &f);
	assert_true(a.whole_s == 0);
	f = looked_at(NAN, 2, 5);
	account_make(&a, &f);
	assert_true(a.whole_s == 0);
	f = looked_at(10, 2, NAN);
	account_make(&a, &f);
	assert_true(a.whole_s == 0);
}

static void test_more_cores_than_asked_is_all_computing(void **state)
{
	struct account_figures f = looked_at(10, 2, 70);
	struct account a;

	(void)state;
	f.waited_s = f.blocked_s = f.throttled_s = f.memory_s = f.unseen_s = 5;
	f.crowded_s = 9;
	account_make(&a, &f);
	assert_whole(&a, 70);
	assert_near(a.part_s[ACCOUNT_USER], 70);
	assert_near(a.crowded_s, 9);
	assert_string_equal(line(&a, 80, false), "[########################] computing 100 %");
}

static void test_percents_add_up_and_a_line_fits(void **state)
{
	struct account_figures f = looked_at(9, 1, 3);
	struct account a;
	int percent[ACCOUNT_PARTS], sum = 0;

	(void)state;
	f.waited_s = f.others_s = 3;
	account_make(&a, &f);
	account_percent(&a, percent);
	for (int p = 0; p < ACCOUNT_PARTS; p++)
		sum += percent[p];
	assert_int_equal(sum, 100);
	f = looked_at(100, 1, 45);
	f.user_s = 30;
	f.system_s = 15;
	f.throttled_s = 11;
	f.waited_s = 25;
	f.others_s = 7;
	f.memory_s = 10;
	f.blocked_s = 22;
	f.unseen_s = 3;
	account_make(&a, &f);
	assert_string_equal(line(&a, 200, false),
			    "[#######+++!!!==--~~::: ?] computing 45 % (kernel 15 %), throttled "
			    "11 %, waiting for a core 14 %, waiting for memory 10 %, waiting for "
			    "storage 12 %, idle 5 %, unknown 3 %");
	for (unsigned columns = 68; columns < 160; columns++)
		if (strlen(line(&a, columns, false)) > columns)
			fail_msg("%u: %s", columns, line(&a, columns, false));
	assert_non_null(strstr(line(&a, 68, false), "other "));
	assert_non_null(strstr(line(&a, 80, true), "\033[32m#"));
}

static void test_words_are_shortened_before_parts_are_left_out(void **state)
{
	struct account_figures f = looked_at(100, 1, 41);
	struct account a;

	(void)state;
	f.user_s = 26;
	f.system_s = 15;
	f.waited_s = f.others_s = 14;
	account_make(&a, &f);
	assert_string_equal(line(&a, 80, false), "[###++==      ]"
						 " computing 41 % (kernel 15 %), waiting for a "
						 "core 14 %, idle 45 %");
	assert_string_equal(line(&a, 68, false), "[###++=    ]"
						 " computing 41 % (kernel 15 %), core wait 14 %, "
						 "idle 45 %");
	f = looked_at(100, 1, 6);
	f.user_s = 1;
	f.system_s = 5;
	f.waited_s = f.others_s = 35;
	f.blocked_s = 15;
	account_make(&a, &f);
	assert_string_equal(line(&a, 68, false), "[====::     ]"
						 " computing 6 %, core wait 35 %, storage 15 %, "
						 "idle 44 %");
}

/* Of every second row the threads are looked at, as by the sampler. */
static struct summary run_of(struct synthetic **kept, uint32_t nodes, int cpu_ms, int waited_ms,
			     int others_ms, int looks)
{
	struct synthetic *x = *kept = synthetic_new(nodes);
	uint32_t cpu = metric(x, "job.cpu_seconds", NULL, KIND_COUNTER, UNIT_SECONDS);
	uint32_t queue = metric(x, "job.run_queue_seconds", NULL, KIND_COUNTER, UNIT_SECONDS);
	uint32_t blocked = metric(x, "job.threads_blocked_count", NULL, KIND_GAUGE, UNIT_COUNT);
	uint32_t node = metric(x, "node.cpu_user_seconds", NULL, KIND_COUNTER, UNIT_SECONDS);

	x->metric[cpu].row.div = x->metric[queue].row.div = x->metric[node].row.div = 1000;
	for (uint32_t i = 1; i <= nodes; i++) {
		uint32_t s[] = { series(x, i, cpu, 0), series(x, i, queue, 0),
				 series(x, i, blocked, 0), series(x, i, node, 0) };

		meta_int(x, i, "node.cores_allowed", 4);
		for (int row = 0; row < ROWS; row++) {
			put(x, s[0], row, (int64_t)row * cpu_ms);
			put(x, s[3], row, (int64_t)row * (cpu_ms + others_ms));
			if (row % 2 || row >= looks)
				continue;
			put(x, s[1], row, (int64_t)row * waited_ms);
			put(x, s[2], row, 1);
		}
	}
	return made(x);
}

static void test_of_a_run_of_several_nodes(void **state)
{
	struct synthetic *x;
	struct summary s = run_of(&x, 2, 1000, 500, 200, ROWS);
	const double *part = s.account.part_s;

	(void)state;
	assert_whole(&s.account, 160); /* 20 s, 2 nodes of 4 cores */
	assert_near(part[ACCOUNT_COMPUTING], 40);
	assert_near(part[ACCOUNT_OTHERS], 8);
	assert_near(part[ACCOUNT_OWN], 12);
	assert_near(part[ACCOUNT_STORAGE], 40);
	assert_near(part[ACCOUNT_UNKNOWN], 0);
	assert_near(part[ACCOUNT_IDLE], 60);
	assert_true(isnan(part[ACCOUNT_MEMORY]));
	assert_true(isnan(part[ACCOUNT_THROTTLED]));
	done(&s, x);
}

static void test_threads_that_nobody_looks_at_for_long_are_unknown(void **state)
{
	struct synthetic *x;
	struct summary s = run_of(&x, 1, 1000, 0, 0, 3);
	const double *part = s.account.part_s;

	(void)state;
	/* The last look is at 2 s and holds for 10 s after its row: 3 cores of the last 7 s. */
	assert_whole(&s.account, 80);
	assert_near(part[ACCOUNT_UNKNOWN], 21);
	assert_near(part[ACCOUNT_STORAGE], 13);
	assert_near(part[ACCOUNT_IDLE], 26);
	done(&s, x);
	s = run_of(&x, 1, 1000, 0, 0, 0);
	assert_whole(&s.account, 80);
	assert_near(s.account.part_s[ACCOUNT_UNKNOWN], 60);
	assert_true(isnan(s.account.part_s[ACCOUNT_IDLE]));
	done(&s, x);
}

static void test_threads_that_crowd_take_nothing_of_the_whole(void **state)
{
	struct synthetic *x;
	struct summary s = run_of(&x, 1, 4000, 20000, 0, ROWS);

	(void)state;
	assert_whole(&s.account, 80);
	assert_near(s.account.part_s[ACCOUNT_COMPUTING], 80);
	assert_near(s.account.crowded_s, 400);
	done(&s, x);
}

/* Looks see none that is blocked, the kernel measured that work of the node stalled half of the
 * time; the job did three quarters of what its disks did. */
static void test_storage_is_no_less_than_the_jobs_part_of_the_pressure(void **state)
{
	static const struct {
		const char *name;
		int each;
	} counters[] = {
		{ "job.cpu_seconds", 500 },         { "job.run_queue_seconds", 0 },
		{ "node.cpu_user_seconds", 500 },   { "node.pressure_io_some_seconds", 500 },
		{ "job.storage_read_bytes", 2000 }, { "job.storage_written_bytes", 1000 },
		{ "disk.read_bytes", 4000 },        { "disk.written_bytes", 0 },
	};
	struct synthetic *x = synthetic_new(1);
	uint32_t blocked = metric(x, "job.threads_blocked_count", NULL, KIND_GAUGE, UNIT_COUNT);
	uint32_t looks;
	struct summary s;

	(void)state;
	for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++) {
		uint32_t id = metric(x, counters[i].name, NULL, KIND_COUNTER, UNIT_SECONDS), at;

		x->metric[id].row.div = 1000;
		at = series(x, 1, id, 0);
		for (int row = 0; row < ROWS; row++)
			put(x, at, row, (int64_t)row * counters[i].each);
	}
	looks = series(x, 1, blocked, 0);
	for (int row = 0; row < ROWS; row++)
		put(x, looks, row, 0);
	meta_int(x, 1, "node.cores_allowed", 4);
	s = made(x);
	assert_whole(&s.account, 80);
	assert_near(summary_grown(&s, "node.pressure_io_some_seconds"), 10);
	assert_near(s.account.part_s[ACCOUNT_STORAGE], 7.5);
	assert_near(summary_storage_s(&s), 7.5);
	done(&s, x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts_take_what_those_before_left),
		cmocka_unit_test(test_what_nobody_looked_at_is_unknown_and_not_idle),
		cmocka_unit_test(test_without_cores_or_wall_there_is_none),
		cmocka_unit_test(test_more_cores_than_asked_is_all_computing),
		cmocka_unit_test(test_percents_add_up_and_a_line_fits),
		cmocka_unit_test(test_words_are_shortened_before_parts_are_left_out),
		cmocka_unit_test(test_of_a_run_of_several_nodes),
		cmocka_unit_test(test_threads_that_nobody_looks_at_for_long_are_unknown),
		cmocka_unit_test(test_storage_is_no_less_than_the_jobs_part_of_the_pressure),
		cmocka_unit_test(test_threads_that_crowd_take_nothing_of_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
