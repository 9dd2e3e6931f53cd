/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that bursts show, and the order in which a script starts programs
 * (report/steps/steps_bursts.c, steps_recur.c). */
#include "made_steps.h"
#include "report/steps/steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct made_job job;

static struct synth *found(struct steps *x, double wall_s)
{
	const struct summary s = { .wall_s = wall_s };
	struct synth *run = made_run(&job);
	struct err e = { "" };

	if (steps_make(x, &s, &run->run, &e))
		fail_msg("%s", e.text);
	return run;
}

static void end(struct steps *x, struct synth *run)
{
	steps_free(x);
	synth_free(run);
}

/* Bursts of a process that gets a core for a part of the time, and pauses. */
static void make_bursts(double (*work_s)(void), double (*pause_s)(void), int n)
{
	job = (struct made_job){ .interval_s = 0.1, .noise = 0.005, .random.state = 11 };
	made_put(&job, (struct made_piece){ 2, 0, 0, 0, 1e9 });
	for (int i = 0; i < n; i++) {
		double got = made_log_between(&job, 0.1, 1);

		made_put(&job, (struct made_piece){ work_s() / got, got, 0, 0, 1e9 });
		made_put(&job, (struct made_piece){ pause_s(), 0, 0, 0, 1e9 });
	}
	made_put(&job, (struct made_piece){ 2, 0, 0, 0, 1e9 });
	made_sample(&job);
}

static double even_work(void)
{
	return made_between(&job, 0.55, 0.65);
}

static double even_pause(void)
{
	return made_between(&job, 0.75, 0.85);
}

static double any_pause(void)
{
	return 0.2 + made_exponential(&job, 1);
}

/* Each has as much work, of which others make more or less time: even in what it got and rested. */
static void test_bursts_of_even_work_are_steps(void **state)
{
	struct steps x;
	struct synth *run;

	(void)state;
	make_bursts(even_work, even_pause, 40);
	run = found(&x, job.at_s[job.n - 1]);
	assert_in_range(x.n, 38, 40);
	assert_int_equal(x.source, STEPS_OF_SAMPLES);
	assert_string_equal(x.metric, "job.cpu_cores");
	end(&x, run);
}

/* A thread that never rests and gets a core for a part of the time, which others change; each step
 * does as much, and writes at its end. any: does any amount. */
static struct synth *made_starved(struct steps *x, bool any)
{
	const struct metric ready = { .name = "job.run_queue_seconds",
				      .unit = UNIT_SECONDS,
				      .kind = KIND_COUNTER,
				      .mul = 1,
				      .div = 1000000000 };
	const struct summary s = { 0 };
	struct synth *run;
	uint32_t series;
	struct err e = { "" };

	job = (struct made_job){ .interval_s = 0.05, .noise = 0.005, .random.state = 7 };
	for (int i = 0; i < 60; i++) {
		double work_s = any ? made_exponential(&job, 0.2) : made_between(&job, 0.18, 0.22);
		double got = made_log_between(&job, 0.06, 0.5);

		made_put(&job, (struct made_piece){ 0.85 * work_s / got, got, 0, 0, 1e9 });
		made_put(&job, (struct made_piece){ 0.15 * work_s / got, got, 0, 4e6, 1e9 });
	}
	made_sample(&job);
	run = made_run(&job);
	series = synth_series(run, 1, synth_metric(run, ready), 0);
	for (uint32_t i = 0; i < run->nrows; i++) {
		run->row[i].value[series] = (int64_t)(1e9 * job.at_s[i]) - job.value[MADE_CPU][i];
		run->row[i].present[series] = 1;
	}
	if (steps_make(x, &s, &run->run, &e))
		fail_msg("%s", e.text);
	return run;
}

/* Their lengths differ by a factor of eight. */
static void test_steps_of_even_work_are_found_where_others_take_the_cores(void **state)
{
	struct steps x;
	struct synth *run;

	(void)state;
	run = made_starved(&x, false);
	assert_in_range(x.n, 56, 60);
	assert_string_equal(x.metric, "job.written_bytes_per_second");
	end(&x, run);
	run = made_starved(&x, true);
	assert_int_equal(x.n, 0);
	end(&x, run);
}

/* Requests that come at random, and all take as long. */
static void test_bursts_at_random_are_no_steps(void **state)
{
	struct steps x;
	struct synth *run;

	(void)state;
	make_bursts(even_work, any_pause, 60);
	run = found(&x, job.at_s[job.n - 1]);
	assert_int_equal(x.n, 0);
	end(&x, run);
}

/* What others take of the cores changes, and with it how long steps are: by more than a pattern
 * follows, but rests are clear. */
static void test_bursts_show_steps_whose_length_changes(void **state)
{
	struct steps x;
	struct synth *run;

	(void)state;
	job = (struct made_job){ .interval_s = 0.04, .noise = 0.005, .random.state = 5 };
	for (int i = 0; i < 60; i++) {
		double work_s = i < 8 ? 0.32 : i < 24 ? 0.2 : 0.42;

		work_s *= made_between(&job, 0.95, 1.05);
		made_put(&job, (struct made_piece){ work_s, 0.6, 0, 0, 1e9 });
		made_put(&job, (struct made_piece){ 0.2, 0, 0, 0, 1e9 });
	}
	made_sample(&job);
	run = found(&x, job.at_s[job.n - 1]);
	assert_in_range(x.n, 57, 60);
	end(&x, run);
}

/* One read in each step: every second of short ones and each of long ones are at even distances,
 * but what is left out looks the same. */
static void test_some_of_all_that_look_alike_are_no_steps(void **state)
{
	struct steps x;
	struct synth *run;

	(void)state;
	job = (struct made_job){ .interval_s = 0.05, .random.state = 5 };
	for (int i = 0; i < 160; i++) {
		double long_s = i / 16 % 2 ? made_between(&job, 0.25, 0.45)
					   : made_between(&job, 0.64, 0.76);

		made_put(&job, (struct made_piece){ 0.05, 0.5, 6e7, 0, 1e9 });
		made_put(&job, (struct made_piece){ long_s - 0.05, 0.5, 0, 0, 1e9 });
	}
	made_sample(&job);
	run = found(&x, job.at_s[job.n - 1]);
	assert_int_equal(x.n, 0);
	end(&x, run);
}

/* A runtime asks each second how many cores there are; a program writes a line of its log a step.
 */
static void test_a_few_bytes_are_steps_only_if_written(void **state)
{
	(void)state;
	for (int writes = 0; writes < 2; writes++) {
		struct steps x;
		struct synth *run;

		job = (struct made_job){ .interval_s = 0.1, .random.state = 3 };
		for (int i = 0; i < 40; i++) {
			double rate = 200, long_s = 0.9 + made_between(&job, -0.05, 0.05);

			made_put(&job, (struct made_piece){ 0.1, 1, writes ? 0 : rate,
							    writes ? rate : 0, 1e9 });
			made_put(&job, (struct made_piece){ long_s, 1, 0, 0, 1e9 });
		}
		made_sample(&job);
		run = found(&x, job.at_s[job.n - 1]);
		if (writes)
			assert_in_range(x.n, 37, 40);
		else
			assert_int_equal(x.n, 0);
		end(&x, run);
	}
}

/* A process that the given one started. */
static void start(struct synth *run, const char *name, uint32_t parent, double at_s, double for_s)
{
	uint32_t i = synth_instance(run, "process", name);

	run->instances[i].parent = parent;
	run->instances[i].birth_ns = (int64_t)(at_s * 1e9);
	run->instances[i].end_ns = (int64_t)((at_s + for_s) * 1e9);
}

/* A job of which samples show nothing, and its shell. */
static struct synth *start_job(uint32_t *shell, uint64_t seed)
{
	struct synth *run;

	job = (struct made_job){ .interval_s = 1, .random.state = seed };
	made_put(&job, (struct made_piece){ 60, 1, 0, 0, 1e9 });
	made_sample(&job);
	run = made_run(&job);
	*shell = synth_instance(run, "process", "bash");
	return run;
}

/* A loop of three programs of very uneven length; without the order of a loop, it is none. */
static void test_an_order_of_starts_shows_steps(void **state)
{
	static const char *const name[] = { "sort", "awk", "gzip" };

	(void)state;
	for (int ordered = 0; ordered < 2; ordered++) {
		struct summary s = { 0 };
		struct steps x;
		struct err e = { "" };
		struct random random = { 9 };
		uint32_t shell;
		struct synth *run = start_job(&shell, 3);
		double at_s = 1;

		for (int i = 0; i < 30; i++) {
			double long_s = 0.55 + 0.9 * random_unit(&random);

			for (int k = 0; k < 3; k++)
				start(run, name[ordered ? k : (int)(3 * random_unit(&random))],
				      shell, at_s + 0.1 * k, 0.1);
			at_s += long_s;
		}
		s.wall_s = at_s;
		if (steps_make(&x, &s, &run->run, &e))
			fail_msg("%s", e.text);
		assert_int_equal(x.n, ordered ? 29 : 0);
		assert_int_equal(x.source, ordered ? STEPS_OF_STARTS : STEPS_OF_SAMPLES);
		end(&x, run);
	}
}

/* Which program of a loop comes at the most even distances does not say where a step begins. */
static void test_a_step_begins_with_what_its_loop_starts_first(void **state)
{
	const struct summary s = { .wall_s = 60 };
	struct random random = { 9 };
	struct steps x;
	struct err e = { "" };
	uint32_t shell;
	struct synth *run;

	(void)state;
	run = start_job(&shell, 3);
	for (int i = 0; i < 30; i++) {
		start(run, "find", shell, 1 + 1.5 * i + 0.45 * random_unit(&random), 0.1);
		start(run, "sleep", shell, 2 + 1.5 * i, 0.1);
	}
	if (steps_make(&x, &s, &run->run, &e))
		fail_msg("%s", e.text);
	assert_int_equal(x.n, 29);
	assert_string_equal(x.name, "find");
	end(&x, run);
}

/* Where some steps are much longer by chance, those at every so many are not taken for ones with a
 * checkpoint. */
static void test_steps_that_are_longer_by_chance_have_no_checkpoint(void **state)
{
	unsigned some = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct random random = { seed };
		struct summary s = { 0 };
		struct steps x;
		struct err e = { "" };
		uint32_t shell;
		struct synth *run = start_job(&shell, seed);
		double at_s = 1;

		for (int i = 0; i < 100; i++) {
			double long_s = 0.5 + 0.1 * exp(1.5 * random_normal(&random));

			run->spans[run->run.nspans++] =
				(struct run_span){ .node = 1,
						   .name = "solve",
						   .begin_ns = (int64_t)(at_s * 1e9),
						   .end_ns = (int64_t)((at_s + long_s) * 1e9) };
			at_s += long_s;
		}
		s.wall_s = at_s;
		if (steps_make(&x, &s, &run->run, &e))
			fail_msg("%s", e.text);
		assert_int_equal(x.n, 100);
		some += x.count[STEP_CHECKPOINT] > 0;
		end(&x, run);
	}
	assert_in_range(some, 0, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bursts_of_even_work_are_steps),
		cmocka_unit_test(test_steps_of_even_work_are_found_where_others_take_the_cores),
		cmocka_unit_test(test_bursts_at_random_are_no_steps),
		cmocka_unit_test(test_bursts_show_steps_whose_length_changes),
		cmocka_unit_test(test_some_of_all_that_look_alike_are_no_steps),
		cmocka_unit_test(test_a_few_bytes_are_steps_only_if_written),
		cmocka_unit_test(test_an_order_of_starts_shows_steps),
		cmocka_unit_test(test_a_step_begins_with_what_its_loop_starts_first),
		cmocka_unit_test(test_steps_that_are_longer_by_chance_have_no_checkpoint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
