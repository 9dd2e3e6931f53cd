/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of made jobs (report/steps/steps.h, core/statistics/cycle.h). Many: bench/steps.c. */
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

/* Of 21 loops, three of a kind, 18; of 20 jobs without steps none. */
static void test_loops_have_steps_and_others_have_none(void **state)
{
	unsigned good = 0;
	struct steps x;

	(void)state;
	for (uint64_t seed = 1; seed <= 21; seed++) {
		struct synth *run;

		made_loop(&job, seed);
		run = found(&x, job.at_s[job.n - 1]);
		good += fabs(x.mean_s / job.period_s - 1) <= 0.02;
		end(&x, run);
	}
	assert_in_range(good, 18, 21);
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct synth *run;

		made_other(&job, seed);
		run = found(&x, job.at_s[job.n - 1]);
		if (x.n)
			fail_msg("%s (%d) has %u steps", job.kind, (int)seed, x.n);
		end(&x, run);
	}
}

/* Even steps of about an interval between samples, which beat with them: of 36 that more than
 * memory shows, in 2 at most something longer is found. */
static void test_beats_with_the_samples_are_no_steps(void **state)
{
	unsigned wrong = 0;
	struct steps x;

	(void)state;
	for (uint64_t seed = 1; seed <= 42; seed++) {
		struct synth *run;

		if (seed % MADE_LOOPS == MADE_MEMORY_ONLY)
			continue;
		made_beat(&job, seed);
		run = found(&x, job.at_s[job.n - 1]);
		wrong += x.n > 0;
		end(&x, run);
	}
	assert_in_range(wrong, 0, 2);
}

/* 40 of 2 s; step 20 takes 4.4 s, in which the job reads; each tenth has a checkpoint. */
static void make_known(bool checkpoints)
{
	struct made_loop l = { .kind = 0, .period_s = 2, .cores = 2, .share = 0.7, .bytes = 1e6 };

	job = (struct made_job){ .interval_s = 0.1, .noise = 0.005, .random.state = 7 };
	made_put(&job, (struct made_piece){ 3, 0.2, 0, 0, 1e9 });
	for (int i = 0; i < 40; i++) {
		made_step(&job, &l, 2);
		if (checkpoints && i % 10 == 9)
			made_put(&job, (struct made_piece){ 1.6, 0.2, 0, 2e8, 2e9 });
		if (!checkpoints && i == 20)
			made_put(&job, (struct made_piece){ 2.4, 0.2, 1e8, 0, 2e9 });
	}
	made_put(&job, (struct made_piece){ 2, 0.2, 0, 0, 1e9 });
	made_sample(&job);
}

static void test_a_slow_step_says_what_was_different(void **state)
{
	struct steps x;
	struct synth *run;
	const struct step *slow = NULL;

	(void)state;
	make_known(false);
	run = found(&x, 87);
	assert_in_range(x.n, 37, 40);
	assert_true(fabs(x.mean_s / 2 - 1) < 0.01);
	assert_int_equal(x.count[STEP_SLOW], 1);
	for (uint32_t i = 0; i < x.n; i++)
		slow = x.step[i].kind == STEP_SLOW ? &x.step[i] : slow;
	assert_non_null(slow);
	assert_true(slow->to_s - slow->from_s > 4 && slow->to_s - slow->from_s < 4.8);
	assert_true(slow->ndifferent > 0);
	assert_int_equal(slow->different[0].measure, STEP_READ);
	assert_true(slow->different[0].here > 3e7 && slow->different[0].usual < 1e6);
	end(&x, run);
}

static void test_checkpoints_are_told_from_slow_steps(void **state)
{
	struct steps x;
	struct synth *run;

	(void)state;
	make_known(true);
	run = found(&x, 93);
	assert_true(fabs(x.mean_s / 2 - 1) < 0.01);
	assert_int_equal(x.count[STEP_SLOW], 0);
	assert_in_range(x.count[STEP_CHECKPOINT], 3, 4);
	assert_true(fabs(x.every - 10) < 0.5);
	assert_true(fabs(x.checkpoint_s - 1.6) < 0.2);
	end(&x, run);
}

/* 60 of 2 s, of which some take longer, by so much. */
static void make_some_longer(bool (*longer)(int i), double by)
{
	struct made_loop l = { .kind = 0, .period_s = 2, .cores = 2, .share = 0.7, .bytes = 1e6 };

	job = (struct made_job){ .interval_s = 0.1, .noise = 0.005, .random.state = 5 };
	made_put(&job, (struct made_piece){ 3, 0.2, 0, 0, 1e9 });
	for (int i = 0; i < 60; i++)
		made_step(&job, &l,
			  2 * (1 + 0.05 * made_between(&job, -1, 1)) * (longer(i) ? by : 1));
	made_put(&job, (struct made_piece){ 2, 0.2, 0, 0, 1e9 });
	made_sample(&job);
}

static bool is_first(int i)
{
	return i < 5;
}

static bool is_sixth(int i)
{
	return i % 6 == 5;
}

/* They are within what single steps may have, and not all of them by chance. */
static void test_steps_that_are_a_little_longer(void **state)
{
	struct steps x;
	struct synth *run;

	(void)state;
	make_some_longer(is_first, 1.13);
	run = found(&x, 130);
	assert_in_range(x.count[STEP_WARM_UP], 4, 5);
	assert_true(fabs(x.mean_s / 2 - 1) < 0.006);
	end(&x, run);
	make_some_longer(is_sixth, 1.12);
	run = found(&x, 130);
	assert_in_range(x.count[STEP_CHECKPOINT], 8, 10);
	assert_true(fabs(x.every - 6) < 0.5);
	assert_true(fabs(x.mean_s / 2 - 1) < 0.006);
	end(&x, run);
}

/* Short pauses at distances that vary by more than their length: no lag stands out. */
static void test_short_pauses_at_uneven_distances(void **state)
{
	struct steps x;
	struct synth *run;

	(void)state;
	made_loop(&job, 177);
	run = found(&x, job.at_s[job.n - 1]);
	assert_in_range(x.n, 70, 95);
	assert_true(fabs(x.mean_s / job.period_s - 1) < 0.02);
	end(&x, run);
}

/* Its first steps are half as long again and again, and fit the pattern all the same. */
static void test_uneven_steps_at_the_ends_are_found(void **state)
{
	struct steps x;
	struct synth *run;

	(void)state;
	made_loop(&job, 205);
	run = found(&x, job.at_s[job.n - 1]);
	assert_true(fabs(x.mean_s / job.period_s - 1) < 0.02);
	end(&x, run);
}

static void mark(struct synth *s, const char *name, double at_s)
{
	s->marks[s->run.nmarks++] =
		(struct run_mark){ .node = 1, .at_ns = (int64_t)(at_s * 1e9), .name = name };
}

/* Marks say more than samples, whatever numbers are in their names. */
static void test_marks_are_used_first(void **state)
{
	static const char *const names[] = { "epoch 1", "epoch 2", "epoch 10" };
	const struct summary s = { .wall_s = 90 };
	struct steps x;
	struct synth *run;
	struct err e;

	(void)state;
	make_known(false);
	run = made_run(&job);
	for (int i = 0; i < 12; i++)
		mark(run, names[i % 3], 5 + 7 * i);
	mark(run, "sonde.reduced", 6);
	assert_int_equal(steps_make(&x, &s, &run->run, &e), 0);
	assert_string_equal(x.name, "epoch #");
	assert_int_equal(x.source, STEPS_OF_MARKS);
	assert_int_equal(x.n, 11);
	assert_true(fabs(x.mean_s - 7) < 1e-9);
	assert_true(fabs(x.before_s - 5) < 1e-9);
	end(&x, run);
}

/* Spans that overlap, and those that take little of the time, are no steps. */
static void test_spans_are_steps_if_they_follow_each_other(void **state)
{
	const struct summary s = { .wall_s = 90 };

	(void)state;
	for (int kind = 0; kind < 3; kind++) {
		double each = kind == 0 ? 6 : kind == 1 ? 12 : 0.5;
		struct steps x;
		struct synth *run;
		struct err e;

		make_known(false);
		job.n = 20; /* too few samples to find any in */
		run = made_run(&job);
		for (int i = 0; i < 12; i++)
			run->spans[run->run.nspans++] =
				(struct run_span){ .node = 1,
						   .name = "solve",
						   .begin_ns = (int64_t)((4 + 7 * i) * 1e9),
						   .end_ns = (int64_t)((4 + 7 * i + each) * 1e9) };
		assert_int_equal(steps_make(&x, &s, &run->run, &e), 0);
		assert_int_equal(x.n, kind == 0 ? 12 : 0);
		if (!kind)
			assert_true(fabs(x.mean_s - 6) < 1e-9);
		end(&x, run);
	}
}

/* A rank that reduces three times at the end of each step of 2 s, and another one that does not;
 * the CPU's use says nothing. */
static void test_calls_of_mpi_show_steps(void **state)
{
	const struct metric calls = {
		.name = "mpi.calls", .domain = "mpi_call", .unit = UNIT_COUNT, .kind = KIND_COUNTER
	};
	uint32_t rank[2], metric, series[2];
	struct synth *run;
	struct steps x;
	struct err e = { "" };

	(void)state;
	job = (struct made_job){ .interval_s = 0.1, .random.state = 3 };
	made_put(&job, (struct made_piece){ 80, 1, 0, 0, 1e9 });
	made_sample(&job);
	run = made_run(&job);
	metric = synth_metric(run, calls);
	for (int i = 0; i < 2; i++) {
		uint32_t call;

		rank[i] = synth_instance(run, "mpi_rank", i ? "rank 1" : "rank 0");
		call = synth_instance(run, "mpi_call", "MPI_Allreduce");
		run->instances[call].parent = rank[i];
		series[i] = synth_series(run, 1, metric, call);
	}
	for (uint32_t i = 0; i < run->nrows; i++) {
		run->row[i].value[series[0]] = 3 * (int64_t)(job.at_s[i] / 2);
		run->row[i].value[series[1]] = i / 7 + i % 5;
		run->row[i].present[series[0]] = run->row[i].present[series[1]] = 1;
	}
	assert_int_equal(steps_make(&x, &(struct summary){ .wall_s = 80 }, &run->run, &e), 0);
	assert_in_range(x.n, 36, 40);
	assert_string_equal(x.metric, "mpi.calls_per_second");
	assert_true(fabs(x.mean_s / 2 - 1) < 0.01);
	end(&x, run);
}

/* As samples come that nobody asked to come otherwise: more often at first. */
static double next_sample(double at_s)
{
	return at_s + (at_s < 1 ? 0.05 : at_s < 2 ? 0.1 : at_s < 5 ? 0.25 : at_s < 10 ? 0.5 : 1);
}

/* Those of the job that are left then. */
static void thin_out(void)
{
	double next = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < job.n; i++) {
		if (job.at_s[i] < next - 1e-9 && i + 1 < job.n)
			continue;
		next = next_sample(next);
		job.at_s[n] = job.at_s[i];
		for (int k = 0; k < MADE_SERIES; k++)
			job.value[k][n] = job.value[k][i];
		n++;
	}
	job.n = n;
}

/* A value stands for as long as samples are apart, and that alone repeats. */
static void test_distances_of_samples_are_no_steps(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct steps x;
		struct synth *run;

		job = (struct made_job){ .interval_s = 0.01, .random.state = seed };
		for (int i = 0; i < 5000; i++)
			made_put(&job,
				 (struct made_piece){ 0.004, made_between(&job, 0, 2), 0, 0, 1e8 });
		made_sample(&job);
		thin_out();
		run = found(&x, 20);
		if (x.n)
			fail_msg("%d: %u steps of %g s", (int)seed, x.n, x.mean_s);
		end(&x, run);
	}
}

/* Steps of six samples, after some that came more often: 13 of 20 jobs of twelve steps, else half
 * as many. */
static void test_steps_are_found_where_samples_become_fewer(void **state)
{
	unsigned good = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct made_loop l = {
			.kind = (int)(seed % 2 * 2), .period_s = 6, .cores = 2, .share = 0.6
		};
		struct steps x;
		struct synth *run;
		double all_s = 0;

		job = (struct made_job){ .interval_s = 0.05, .noise = 0.005, .random.state = seed };
		for (int i = 0; i < 12; i++) {
			double s = 6 * (1 + 0.05 * made_between(&job, -1, 1));

			made_step(&job, &l, s);
			all_s += s;
		}
		made_sample(&job);
		thin_out();
		run = found(&x, all_s);
		good += fabs(x.mean_s / (all_s / 12) - 1) < 0.02;
		end(&x, run);
	}
	assert_in_range(good, 13, 20);
}

/* Threads that never give up a CPU have no rests: what others take from them repeats. */
static void test_what_others_take_is_no_step(void **state)
{
	const struct metric rests = { .name = "job.waited_voluntary_switches",
				      .unit = UNIT_COUNT,
				      .kind = KIND_TOTAL };

	(void)state;
	for (int each = 0; each < 2; each++) {
		const struct summary s = { .wall_s = 87 };
		struct steps x;
		struct synth *run;
		uint32_t series;
		struct err e;

		make_known(false);
		run = made_run(&job);
		series = synth_series(run, 1, synth_metric(run, rests), 0);
		for (uint32_t i = 0; i < run->nrows; i++) {
			run->row[i].value[series] = each ? (int64_t)job.at_s[i] : 3;
			run->row[i].present[series] = 1;
		}
		for (uint32_t i = 0; i < run->nrows; i++) /* nothing but CPU time tells anything */
			for (uint32_t k = 2; k <= MADE_SERIES; k++)
				run->row[i].present[k] = 0;
		assert_int_equal(steps_make(&x, &s, &run->run, &e), 0);
		if (each)
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

/* One process a step, in every fifth step another one; then three at once, of which samples say
 * as little. */
static void test_starts_of_processes_show_steps(void **state)
{
	const struct summary s = { .wall_s = 60 };

	(void)state;
	for (int each = 1; each <= 3; each += 2) {
		struct steps x;
		uint32_t shell;
		struct synth *run = start_job(&shell, 4);
		struct err e;
		double at = 3;

		start(run, "solve", shell, at - 0.2, 0.1); /* of what comes before the loop */
		for (int i = 0; i < 30; i++) {
			for (int k = 0; k < each; k++)
				start(run, "solve", shell, at + 0.01 * k, 1);
			at += 1.5 * (1 + 0.05 * made_between(&job, -1, 1));
			if (i % 5 == 4)
				start(run, "cp", shell, at, 0.9);
			at += i % 5 == 4 ? 0.9 : 0;
		}
		assert_int_equal(steps_make(&x, &s, &run->run, &e), 0);
		assert_int_equal(x.n, 29);
		assert_int_equal(x.source, STEPS_OF_STARTS);
		assert_string_equal(x.name, "solve");
		assert_true(fabs(x.median_s / 1.5 - 1) < 0.015);
		assert_in_range(x.count[STEP_CHECKPOINT], 5, 6);
		end(&x, run);
	}
}

/* Compilers take any time, and come one after the other all the same. */
static void test_starts_at_uneven_distances_are_no_steps(void **state)
{
	unsigned some = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		const struct summary s = { .wall_s = 60 };
		struct steps x;
		uint32_t shell;
		struct synth *run = start_job(&shell, seed);
		struct err e;

		for (double at = 1; at < 58;) {
			double took = 2 * exp(0.5 * random_normal(&job.random));

			start(run, "cc1", shell, at, took);
			at += took;
		}
		assert_int_equal(steps_make(&x, &s, &run->run, &e), 0);
		some += x.n > 0;
		end(&x, run);
	}
	assert_in_range(some, 0, 2);
}

/* Somebody looks each second at how far a job is that does one thing. */
static void test_a_heartbeat_is_no_loop_of_the_job(void **state)
{
	(void)state;
	for (int beside = 0; beside < 2; beside++) {
		struct summary_process processes[64] = { 0 };
		struct summary s = { .wall_s = 60, .processes = processes };
		struct steps x;
		uint32_t shell;
		struct synth *run = start_job(&shell, 4);
		struct err e;

		start(run, "solve", shell, 1, 58);
		if (beside) { /* the loop is of a shell of its own */
			start(run, "bash", shell, 1, 58);
			shell = run->run.ninstances - 1;
		}
		for (int i = 0; i < 50; i++)
			start(run, "sleep", shell, 2 + 1.01 * i, 1);
		for (uint32_t i = 1; i < run->run.ninstances; i++)
			processes[s.nprocesses++] = (struct summary_process){
				.instance = i,
				.cpu_s = strcmp(run->instances[i].name, "solve") ? 0.01 : 57,
			};
		assert_int_equal(steps_make(&x, &s, &run->run, &e), 0);
		assert_int_equal(x.n, 0);
		end(&x, run);
	}
}

/* Calls that take long are spans; a step is from the end of one to the end of the next. */
static void test_long_calls_of_mpi_show_steps(void **state)
{
	const struct summary s = { .wall_s = 60 };
	struct steps x;
	uint32_t shell;
	struct synth *run = start_job(&shell, 4);
	struct err e;

	(void)state;
	for (int i = 0; i < 40; i++)
		run->spans[run->run.nspans++] =
			(struct run_span){ .node = 1,
					   .name = "MPI_Allreduce",
					   .begin_ns = (int64_t)((2 + 1.4 * i) * 1e9),
					   .end_ns = (int64_t)((2.8 + 1.4 * i) * 1e9) };
	assert_int_equal(steps_make(&x, &s, &run->run, &e), 0);
	assert_int_equal(x.n, 39);
	assert_int_equal(x.source, STEPS_OF_CALLS);
	assert_true(fabs(x.mean_s / 1.4 - 1) < 1e-6);
	end(&x, run);
}

static void test_nothing_is_found_in_nothing(void **state)
{
	struct steps x;
	struct synth *run;

	(void)state;
	job = (struct made_job){ .interval_s = 1, .random.state = 1 };
	made_put(&job, (struct made_piece){ 300, 0, 0, 0, 0 });
	made_sample(&job);
	run = found(&x, 300);
	assert_int_equal(x.n, 0);
	assert_true(isnan(x.mean_s));
	end(&x, run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loops_have_steps_and_others_have_none),
		cmocka_unit_test(test_beats_with_the_samples_are_no_steps),
		cmocka_unit_test(test_a_slow_step_says_what_was_different),
		cmocka_unit_test(test_checkpoints_are_told_from_slow_steps),
		cmocka_unit_test(test_steps_that_are_a_little_longer),
		cmocka_unit_test(test_short_pauses_at_uneven_distances),
		cmocka_unit_test(test_uneven_steps_at_the_ends_are_found),
		cmocka_unit_test(test_marks_are_used_first),
		cmocka_unit_test(test_spans_are_steps_if_they_follow_each_other),
		cmocka_unit_test(test_calls_of_mpi_show_steps),
		cmocka_unit_test(test_distances_of_samples_are_no_steps),
		cmocka_unit_test(test_steps_are_found_where_samples_become_fewer),
		cmocka_unit_test(test_what_others_take_is_no_step),
		cmocka_unit_test(test_starts_of_processes_show_steps),
		cmocka_unit_test(test_starts_at_uneven_distances_are_no_steps),
		cmocka_unit_test(test_a_heartbeat_is_no_loop_of_the_job),
		cmocka_unit_test(test_long_calls_of_mpi_show_steps),
		cmocka_unit_test(test_nothing_is_found_in_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
