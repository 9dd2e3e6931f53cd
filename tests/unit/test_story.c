/* SPDX-License-Identifier: Apache-2.0 */
/* What a job did when: threads that wait for a core have work to do. */
#include "core/stacks/stacks.h"
#include "report/summary/code.h"
#include "report/summary/parts.h"
#include "summary_made.h"

#include <math.h>
#include <string.h>

/* In thousandths of a core, for each second: what ran, and what waited for a core; for every other
 * row how many threads wanted one, NULL: not told; and how much ran on the node, others included.
 */
static struct summary story_on(int node, const int *ran, const int *waited, const int *threads)
{
	struct synthetic *x = synthetic_new(1);
	uint32_t cpu = metric(x, "job.cpu_seconds", NULL, KIND_COUNTER, UNIT_SECONDS);
	uint32_t queue = metric(x, "job.run_queue_seconds", NULL, KIND_COUNTER, UNIT_SECONDS);
	uint32_t cpu_series = series(x, 1, cpu, 0), queue_series = series(x, 1, queue, 0);
	uint32_t running =
		threads ? metric(x, "job.threads_running_count", NULL, KIND_GAUGE, UNIT_COUNT) : 0;
	uint32_t running_series = threads ? series(x, 1, running, 0) : 0;
	uint32_t used = metric(x, "node.cpu_used_cores", NULL, KIND_GAUGE, UNIT_CORES);
	uint32_t used_series = series(x, 1, used, 0);
	int64_t cpu_ms = 0, queue_ms = 0;
	struct summary s;

	meta_int(x, 1, "node.cores_allowed", 4);
	x->metric[cpu].row.div = x->metric[queue].row.div = x->metric[used].row.div = 1000;
	for (int row = 0; row < ROWS; row++) {
		cpu_ms += row ? ran[row - 1] : 0;
		queue_ms += row && waited ? waited[row - 1] : 0;
		put(x, cpu_series, row, cpu_ms);
		put(x, queue_series, row, queue_ms);
		put(x, used_series, row, node);
		if (threads && row % 2 == 0)
			put(x, running_series, row, threads[row / 2]);
	}
	s = made(x);
	free(x);
	return s;
}

/* Two threads of a job on a machine of its own, from which a hypervisor takes cores, all or some of
 * the time: what it takes is in thousandths of a core. */
static struct summary story_with_steal(const int *ran, const int *stolen, int others)
{
	struct synthetic *x = synthetic_new(1);
	uint32_t cpu = metric(x, "job.cpu_seconds", NULL, KIND_COUNTER, UNIT_SECONDS);
	uint32_t steal = metric(x, "node.cpu_steal_seconds", NULL, KIND_COUNTER, UNIT_SECONDS);
	uint32_t used = metric(x, "node.cpu_used_cores", NULL, KIND_GAUGE, UNIT_CORES);
	uint32_t cpu_series = series(x, 1, cpu, 0), steal_series = series(x, 1, steal, 0);
	uint32_t used_series = series(x, 1, used, 0);
	int64_t cpu_ms = 0, steal_ms = 0;
	struct summary s;

	meta_int(x, 1, "node.cores_allowed", 2);
	meta_int(x, 1, "node.cores_present", 2);
	x->metric[cpu].row.div = x->metric[steal].row.div = x->metric[used].row.div = 1000;
	for (int row = 0; row < ROWS; row++) {
		cpu_ms += row ? ran[row - 1] : 0;
		steal_ms += row ? stolen[row - 1] : 0;
		put(x, cpu_series, row, cpu_ms);
		put(x, steal_series, row, steal_ms);
		put(x, used_series, row, ran[row < ROWS - 1 ? row : ROWS - 2] + others);
	}
	s = made(x);
	free(x);
	return s;
}

static struct summary story_of(const int *ran, const int *waited, const int *threads)
{
	return story_on(4000, ran, waited, threads);
}

static bool says(const struct summary *s, const char *rule)
{
	for (uint32_t i = 0; i < s->nverdicts; i++)
		if (strcmp(s->verdicts[i].rule, rule) == 0)
			return true;
	return false;
}

static void fill(int *each, int from, int to, int thousandths)
{
	for (int i = from; i < to; i++)
		each[i] = thousandths;
}

static void test_a_hole_is_where_nobody_waits_for_a_core(void **state)
{
	int ran[ROWS - 1], waited[ROWS - 1] = { 0 };
	struct summary s;

	(void)state;
	fill(ran, 0, ROWS - 1, 1000);
	fill(ran, 7, 14, 20);
	fill(waited, 0, 7, 200);
	s = story_of(ran, waited, NULL);
	assert_true(fabs(s.story.holes_s - 7) < 0.01);
	assert_true(fabs(s.story.hole_from_s - 7) < 0.01);
	summary_free(&s);

	fill(waited, 7, 14, 970);
	s = story_of(ran, waited, NULL);
	assert_true(s.story.holes_s == 0);
	summary_free(&s);
}

static void test_time_with_work_is_of_no_more_than_one_core(void **state)
{
	int ran[ROWS - 1] = { 0 }, waited[ROWS - 1] = { 0 };
	struct summary s;

	(void)state;
	fill(ran, 0, 8, 1900);
	fill(ran, 8, 12, 500);
	s = story_of(ran, NULL, NULL);
	assert_true(fabs(s.story.working_s - 10) < 0.01);
	summary_free(&s);

	fill(waited, 8, 12, 500); /* and for the other half it waited */
	s = story_of(ran, waited, NULL);
	assert_true(fabs(s.story.working_s - 12) < 0.6);
	summary_free(&s);
}

static void test_who_waits_at_the_start_or_the_end_is_not_idle(void **state)
{
	int ran[ROWS - 1] = { 0 }, waited[ROWS - 1] = { 0 };
	struct summary s;

	(void)state;
	fill(ran, 6, 14, 1000);
	s = story_of(ran, waited, NULL);
	assert_true(fabs(s.idle_head_s - 6) < 0.01 && fabs(s.idle_tail_s - 6) < 0.01);
	summary_free(&s);

	fill(waited, 1, 6, 990);
	fill(waited, 14, 17, 990);
	s = story_of(ran, waited, NULL);
	assert_true(fabs(s.idle_head_s - 1.05) < 0.01 && fabs(s.idle_tail_s - 3.03) < 0.01);
	summary_free(&s);

	fill(waited, 1, 6, 0);
	fill(waited, 4, 6, 500); /* a second of two */
	s = story_of(ran, waited, NULL);
	assert_true(fabs(s.idle_head_s - 5) < 0.01);
	summary_free(&s);
}

static void test_one_thread_and_several_are_told_apart_on_a_crowded_machine(void **state)
{
	int ran[ROWS - 1], waited[ROWS - 1];
	struct summary s;

	(void)state;
	fill(ran, 0, ROWS - 1, 1000);
	fill(ran, 0, 10, 400); /* one thread that gets less than half a core */
	fill(waited, 0, 10, 600);
	fill(waited, 10, 20, 1000); /* two that get one core */
	s = story_of(ran, waited, NULL);
	assert_true(fabs(s.story.serial_s - 9.5) < 0.6);
	assert_true(fabs(s.story.parallel_cores - 2) < 0.1);
	summary_free(&s);

	s = story_of(ran, NULL, NULL);
	assert_true(fabs(s.story.serial_s - 10) < 0.01 && isnan(s.story.parallel_cores));
	summary_free(&s);
}

/* A round in which threads were looked at began before the hole, another one ended after it. */
static void test_a_hole_is_as_long_as_it_was_on_a_crowded_machine(void **state)
{
	static const int threads[] = { 2, 2, 2, 0, 0, 0, 0, 2, 2, 2, 0 };
	int ran[ROWS - 1], waited[ROWS - 1];
	struct summary s;

	(void)state;
	fill(ran, 0, ROWS - 1, 1000);
	fill(waited, 0, ROWS - 1, 1000);
	fill(ran, 5, 13, 0);
	fill(waited, 4, 6, 500);
	fill(waited, 6, 12, 0);
	fill(waited, 12, 14, 500);
	s = story_of(ran, waited, threads);
	assert_true(fabs(s.story.hole_s - 8) < 0.01);
	assert_true(fabs(s.story.hole_from_s - 5) < 0.01);
	summary_free(&s);

	s = story_of(ran, waited, NULL); /* it cannot be told so well */
	assert_true(fabs(s.story.hole_s - 6) < 0.01);
	summary_free(&s);
}

static void test_who_waits_longer_than_it_can_have_while_it_ran_has_no_hole(void **state)
{
	static const int threads[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0 };
	int ran[ROWS - 1], waited[ROWS - 1];
	struct summary s;

	(void)state;
	fill(ran, 0, ROWS - 1, 20);
	fill(waited, 0, ROWS - 1, 980);
	for (int i = 0; i < ROWS - 1; i += 5)
		ran[i] = 60;
	s = story_of(ran, waited, threads);
	assert_true(s.story.holes_s == 0);
	assert_true(s.idle_head_s < 1.1 && s.idle_tail_s < 1.1);
	summary_free(&s);
}

/* The round in which one of two threads ended is divided. */
static void test_a_serial_phase_begins_when_a_thread_ends(void **state)
{
	static const int threads[] = { 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1 };
	int ran[ROWS - 1], waited[ROWS - 1];
	struct summary s;

	(void)state;
	fill(ran, 0, ROWS - 1, 100);
	fill(waited, 0, 4, 1900);
	fill(waited, 4, 6, 1400);
	fill(waited, 6, 20, 900);
	s = story_of(ran, waited, threads);
	assert_true(fabs(s.story.serial_s - 15) < 0.01);
	assert_true(fabs(s.story.serial_from_s - 5) < 0.01);
	summary_free(&s);
}

/* It got no core for seconds: what it waited is known when it gets one. */
static void test_one_thread_that_starves_is_never_several(void **state)
{
	static const int one[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	int ran[ROWS - 1], waited[ROWS - 1] = { 0 };
	struct summary s;

	(void)state;
	fill(ran, 0, ROWS - 1, 5);
	fill(waited, 8, 10, 4900);
	fill(waited, 18, 20, 4900);
	s = story_of(ran, waited, one);
	assert_true(isnan(s.story.parallel_cores));
	assert_true(s.story.holes_s == 0);
	summary_free(&s);
}

/* One short process after the other, each of which took its waits along. */
static void test_who_wants_a_core_whenever_it_is_looked_at_is_not_idle(void **state)
{
	static const int always[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0 },
			 once[] = { 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0 };
	int ran[ROWS - 1], waited[ROWS - 1] = { 0 };
	struct summary s;

	(void)state;
	fill(ran, 0, ROWS - 1, 20);
	ran[0] = ran[ROWS - 2] = 100;
	s = story_of(ran, waited, always);
	assert_true(s.story.holes_s < 2.1);
	assert_true(fabs(s.story.waited_s - 19.44) < 0.1);
	summary_free(&s);

	s = story_of(ran, waited, once);
	assert_true(s.story.hole_s > 15);
	summary_free(&s);
}

static void test_what_a_hypervisor_took_is_no_serial_phase(void **state)
{
	int ran[ROWS - 1], stolen[ROWS - 1] = { 0 };
	struct summary s;

	(void)state;
	fill(ran, 0, 12, 1900);
	fill(ran, 12, ROWS - 1, 950);
	s = story_with_steal(ran, stolen, 0); /* one of the two threads ended */
	assert_true(fabs(s.story.serial_s - 8) < 0.01 && s.story.stolen_s == 0);
	assert_true(says(&s, "serial-phase"));
	summary_free(&s);

	fill(stolen, 12, ROWS - 1, 950);
	s = story_with_steal(ran, stolen, 0); /* none of them did */
	assert_true(s.story.serial_s == 0 && fabs(s.story.stolen_s - 7.6) < 0.01);
	assert_false(says(&s, "serial-phase"));
	summary_free(&s);

	fill(ran, 0, ROWS - 1, 500);
	fill(stolen, 0, ROWS - 1, 450);
	s = story_with_steal(ran, stolen, 0); /* one thread of which half was taken */
	assert_true(fabs(s.story.serial_s - 20) < 0.01 && isnan(s.story.parallel_cores));
	summary_free(&s);

	fill(ran, 0, 12, 1900);
	fill(ran, 12, ROWS - 1, 950);
	fill(stolen, 0, 12, 0);
	s = story_with_steal(ran, stolen, 5000); /* mostly others' */
	assert_true(fabs(s.story.serial_s - 8) < 0.01);
	summary_free(&s);
}

/* Of one that is at work for half of the time two looks in a row mostly see it at work, too. */
static void test_who_sleeps_now_and_then_did_not_wait(void **state)
{
	static const int threads[] = { 1, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1 };
	int ran[ROWS - 1];
	struct summary s;

	(void)state;
	fill(ran, 0, ROWS - 1, 500);
	s = story_of(ran, NULL, threads);
	assert_true(s.story.waited_s == 0);
	summary_free(&s);
}

/* Between looks that saw two threads and one, more than one and a half ran: that is no wait. */
static void test_threads_that_end_did_not_wait(void **state)
{
	static const int threads[] = { 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1 };
	int ran[ROWS - 1];
	struct summary s;

	(void)state;
	fill(ran, 0, 4, 2000);
	fill(ran, 4, 6, 1500);
	fill(ran, 6, 20, 1000);
	s = story_of(ran, NULL, threads);
	assert_true(s.story.waited_s == 0);
	summary_free(&s);
}

/* The job may use four cores, of which others use three. */
static void test_waits_for_others_are_told_from_those_for_each_other(void **state)
{
	static const struct {
		int node, ran, waited;
		double taken_s, taken_wall_s, crowded_cores, waited_idle_s;
	} cases[] = {
		{ 4000, 4000, 4000, 0, 0, 4, 0 },      /* eight threads that have all cores */
		{ 4000, 1000, 7000, 60, 15, 1, 0 },    /* eight that have one, others have three */
		{ 4000, 3500, 1500, 10, 2.5, 3.5, 0 }, /* five, nearly all */
		{ 4000, 1000, 1000, 20, 10, NAN, 0 },  /* two of which one runs */
		{ 1000, 1000, 7000, 0, 0, 1, 60 }, /* eight that have one; the others are free */
		/* two of which one runs; others now and then */
		{ 1500, 1000, 1000, 10, 20 / 3., NAN, 20 },
		{ 4000, 100, 400, 8, 8, NAN, 0 }, /* one that sleeps half of the time */
	};
	int ran[ROWS - 1], waited[ROWS - 1];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct summary s;

		fill(ran, 0, ROWS - 1, cases[i].ran);
		fill(waited, 0, ROWS - 1, cases[i].waited);
		s = story_on(cases[i].node, ran, waited, NULL);
		assert_true(fabs(s.story.taken_s - cases[i].taken_s) < 0.01);
		assert_true(fabs(s.story.waited_idle_s - cases[i].waited_idle_s) < 0.01);
		assert_true(fabs(s.story.taken_wall_s - cases[i].taken_wall_s) < 0.01);
		assert_int_equal(isnan(s.story.crowded_cores), isnan(cases[i].crowded_cores));
		assert_false(fabs(s.story.crowded_cores - cases[i].crowded_cores) > 0.01);
		summary_free(&s);
	}
}

/* Cores, if known, work from second 4 to 6 and at 17; a GPU, if there is one, from 2 to 12. */
static struct summary with_a_gpu(bool is_there, bool cores_known)
{
	struct synthetic *x = synthetic_new(1);
	uint32_t cpu = metric(x, "job.cpu_seconds", NULL, KIND_COUNTER, UNIT_SECONDS);
	uint32_t use = metric(x, "gpu.utilization_ratio", "gpu", KIND_GAUGE, UNIT_RATIO);
	uint32_t cpu_series = series(x, 1, cpu, 0);
	uint32_t gpu = is_there ? instance(x, 1, "gpu", "gpu0", false) : 0;
	uint32_t gpu_series = gpu ? series(x, 1, use, gpu) : 0;
	struct summary s;
	int64_t seconds = 0;

	for (int row = 0; row < ROWS; row++) {
		seconds += row == 5 || row == 6 || row == 18;
		if (cores_known)
			put(x, cpu_series, row, seconds);
		if (gpu)
			put(x, gpu_series, row, row >= 2 && row < 12);
	}
	s = made(x);
	free(x);
	return s;
}

static void test_time_in_which_gpus_work_is_not_idle(void **state)
{
	struct summary s = with_a_gpu(false, true);

	(void)state;
	assert_true(fabs(s.idle_head_s - 4) < 0.01 && fabs(s.idle_tail_s - 2) < 0.01);
	assert_true(fabs(s.story.hole_s - 11) < 0.01);
	summary_free(&s);

	s = with_a_gpu(true, true);
	assert_true(fabs(s.idle_head_s - 2) < 0.01 && fabs(s.idle_tail_s - 2) < 0.01);
	assert_true(fabs(s.story.hole_from_s - 12) < 0.01 && fabs(s.story.hole_s - 5) < 0.01);
	summary_free(&s);

	s = with_a_gpu(true, false);
	assert_true(isnan(s.idle_head_s) && isnan(s.idle_tail_s));
	summary_free(&s);
}

/* What is idle all the time has a head and no tail, and is told once; so is a fifth of it. */
static void test_idle_time_is_told_once(void **state)
{
	static const struct {
		int from, to;
		const char *told, *not_told[2];
	} cases[] = {
		{ 0, 0, "idle", { "idle-head", "idle-tail" } },
		{ 6, 20, "idle-head", { "idle-tail", "idle" } },
		{ 0, 14, "idle-tail", { "idle-head", "idle" } },
		{ 0, 20, NULL, { "idle-head", "idle-tail" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		int ran[ROWS - 1] = { 0 };
		struct summary s;

		fill(ran, cases[i].from, cases[i].to, 1000);
		s = story_of(ran, NULL, NULL);
		assert_true(!cases[i].told || says(&s, cases[i].told));
		assert_false(says(&s, cases[i].not_told[0]) || says(&s, cases[i].not_told[1]));
		summary_free(&s);
	}
}

/* The kernel worked for another than the one that used most CPU time; bytes were moved mostly by
 * processes that nobody saw. */
static void test_what_the_kernel_did_is_of_who_asked_for_it(void **state)
{
	static const struct {
		const char *name;
		int64_t cpu, kernel, read;
	} each[] = { { "solve", 9, 1, 10 }, { "find", 3, 2, 5 }, { "find", 4, 3, 5 } };
	struct synthetic *x = synthetic_new(1);
	uint32_t moved = metric(x, "job.read_bytes", NULL, KIND_COUNTER, UNIT_BYTES);
	uint32_t moved_series = series(x, 1, moved, 0);
	struct summary s;

	(void)state;
	meta_int(x, 1, "job.cpu_system_ns", 8000000000);
	for (int row = 0; row < ROWS; row++)
		put(x, moved_series, row, row == ROWS - 1 ? 1000 : 0);
	for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
		uint32_t p = instance(x, 1, "process", each[i].name, true);

		final(x, p, "process.cpu_seconds", each[i].cpu);
		final(x, p, "process.cpu_system_seconds", each[i].kernel);
		final(x, p, "process.read_bytes", each[i].read);
	}
	s = made(x);
	assert_string_equal(s.story.doer[DOER_KERNEL], "find");
	assert_null(s.story.doer[DOER_MOVED]);
	assert_null(s.story.doer[DOER_FAULTS]);
	done(&s, x);
}

/* The kernel adds to a shell what the programs did that it waited for: they are who did it. */
static void test_what_children_moved_is_not_the_shells(void **state)
{
	struct synthetic *x = synthetic_new(1);
	uint32_t moved = metric(x, "job.storage_written_bytes", NULL, KIND_COUNTER, UNIT_BYTES);
	uint32_t moved_series = series(x, 1, moved, 0);
	struct summary s;

	(void)state;
	for (int row = 0; row < ROWS; row++)
		put(x, moved_series, row, row == ROWS - 1 ? 100 : 0);
	for (int i = 0; i < 12; i++) {
		uint32_t p = instance(x, 1, "process", i ? "sqlite3" : "sh", false);

		final(x, p, "process.cpu_seconds", 1);
		final(x, p, "process.storage_written_bytes", i ? 1 : 90);
	}
	s = made(x);
	assert_string_equal(s.story.doer[DOER_STORAGE], "sqlite3");
	done(&s, x);
}

/* Three processes under make wrote all of it, and each one's shell and make count it again. */
static void test_who_flushed_is_named_and_not_who_waited_for_it(void **state)
{
	static const struct {
		const char *name;
		int parent;
		bool ended;
		int64_t written;
	} each[] = { { "make", -1, false, 100 }, { "sh", 0, true, 50 },   { "sh", 0, true, 48 },
		     { "dump", 1, true, 49 },    { "dump", 2, true, 48 }, { "sh", -1, false, 1 } };
	enum { PROCESSES = sizeof each / sizeof each[0] };
	struct synthetic *x = synthetic_new(1);
	uint32_t moved = metric(x, "job.storage_written_bytes", NULL, KIND_COUNTER, UNIT_BYTES);
	uint32_t moved_series = series(x, 1, moved, 0), p[PROCESSES];
	struct summary s;

	(void)state;
	for (int row = 0; row < ROWS; row++)
		put(x, moved_series, row, row == ROWS - 1 ? 100 : 0);
	for (int i = 0; i < PROCESSES; i++) {
		p[i] = instance(x, 1, "process", each[i].name, each[i].ended);
		x->instance[p[i]].parent = each[i].parent < 0 ? 0 : p[each[i].parent];
		final(x, p[i], "process.cpu_seconds", 1);
		final(x, p[i], "process.storage_written_bytes", each[i].written);
	}
	s = made(x);
	assert_string_equal(s.story.doer[DOER_STORAGE], "dump");
	done(&s, x);
}

static void test_the_main_work_is_one_process_or_many(void **state)
{
	struct summary_command cc1 = { "cc1plus", 5, 39, 0, 0, 0 };
	struct summary s = { .cpu_s = 40, .commands = &cc1, .ncommands = 1 };

	(void)state;
	s.by_cpu[0] = (struct summary_process){ .name = "cc1plus", .cpu_s = 38 };
	s.nby_cpu = 1;
	summary_work_make(&s);
	assert_string_equal(s.main_work, "one of 5 cc1plus, with 95 % of the CPU time");
	s.by_cpu[0].cpu_s = 12;
	summary_work_make(&s);
	assert_string_equal(s.main_work, "5 processes of cc1plus");
	cc1.processes = 3;
	snprintf(s.code_top, sizeof s.code_top, "solve (solver.c:41)");
	s.code_top_ratio = 0.25;
	summary_work_make(&s);
	assert_string_equal(s.main_work, "cc1plus, 25 % of it in solve (solver.c:41)");
	cc1.cpu_s = 19;
	s.code_top_ratio = 0.24;
	summary_work_make(&s);
	assert_string_equal(s.main_work, "several commands");
}

/* Most of Python's time, but of a job that mostly compresses. */
static void test_the_work_of_a_little_python_is_not_the_main_work(void **state)
{
	struct stacks_row top = {
		.name = "parse", .file = "/scratch/parse.py", .line = 4, .self = 16
	};
	struct stacks python = { .rows[STACKS_BY_FUNCTION] = { &top, 1 }, .total = 34 };
	struct code code = { .python = &python, .account.whole_s = 550 };
	struct summary_command gzip = { "gzip", 93, 300, 0, 0, 0 };
	struct summary s = { .cpu_s = 550,
			     .commands = &gzip,
			     .ncommands = 1,
			     .code = &code,
			     .code_top_ratio = 0.41 };

	(void)state;
	snprintf(s.code_top, sizeof s.code_top, "deflate (deflate.c:7)");
	summary_work_make(&s);
	assert_string_equal(s.main_work, "gzip; 41 % of all CPU time in deflate (deflate.c:7)");
	code.account.whole_s = 40;
	summary_work_make(&s);
	assert_string_equal(s.main_work, "gzip; 40 % of all CPU time in parse (parse.py:4)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_hole_is_where_nobody_waits_for_a_core),
		cmocka_unit_test(test_time_with_work_is_of_no_more_than_one_core),
		cmocka_unit_test(test_who_waits_at_the_start_or_the_end_is_not_idle),
		cmocka_unit_test(test_a_hole_is_as_long_as_it_was_on_a_crowded_machine),
		cmocka_unit_test(test_who_waits_longer_than_it_can_have_while_it_ran_has_no_hole),
		cmocka_unit_test(test_who_wants_a_core_whenever_it_is_looked_at_is_not_idle),
		cmocka_unit_test(test_a_serial_phase_begins_when_a_thread_ends),
		cmocka_unit_test(test_one_thread_that_starves_is_never_several),
		cmocka_unit_test(test_who_sleeps_now_and_then_did_not_wait),
		cmocka_unit_test(test_threads_that_end_did_not_wait),
		cmocka_unit_test(test_what_a_hypervisor_took_is_no_serial_phase),
		cmocka_unit_test(test_waits_for_others_are_told_from_those_for_each_other),
		cmocka_unit_test(test_time_in_which_gpus_work_is_not_idle),
		cmocka_unit_test(test_idle_time_is_told_once),
		cmocka_unit_test(test_one_thread_and_several_are_told_apart_on_a_crowded_machine),
		cmocka_unit_test(test_what_children_moved_is_not_the_shells),
		cmocka_unit_test(test_who_flushed_is_named_and_not_who_waited_for_it),
		cmocka_unit_test(test_what_the_kernel_did_is_of_who_asked_for_it),
		cmocka_unit_test(test_the_main_work_is_one_process_or_many),
		cmocka_unit_test(test_the_work_of_a_little_python_is_not_the_main_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
