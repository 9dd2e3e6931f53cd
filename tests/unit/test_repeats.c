/* SPDX-License-Identifier: Apache-2.0 */
/* What reads the same files again and again is found, and what gets its data through a pipe, or may
 * do other things each time, is none of it. Very many processes are named by what they executed. */
#include "summary_made.h"

#include <string.h>

/* So many processes of the name and command line, each of one second of CPU time. */
static void run_times(struct synthetic *x, const char *name, const char *line, int times)
{
	for (int n = 0; n < times; n++) {
		uint32_t i = instance(x, 1, "process", name, false);

		final(x, i, "process.cpu_seconds", 1);
		x->label[x->run.nlabels++] =
			(struct run_label){ .key = "command_line", .value = line };
		x->instance[i].nlabels++;
	}
}

static double runs_of(const char *name, const char *line)
{
	struct synthetic *x = synthetic_new(1);
	struct summary s;
	double runs;

	run_times(x, name, line, 4);
	s = made(x);
	runs = s.repeated_runs;
	assert_true(s.repeated_cpu_s == runs);
	assert_true(runs == 0 || !strncmp(s.repeated, name, strlen(name)));
	done(&s, x);
	return runs;
}

static void readers_of_files_are_known(void **state)
{
	static const struct {
		const char *name, *line;
		bool repeats;
	} cases[] = {
		{ "gzip", "/bin/gzip -cd reads.gz", true },
		{ "gzip", "gzip -c reads.fq", false }, /* it may be a file that has changed */
		{ "gzip", "gzip -cd", false },         /* of a pipe */
		{ "gzip", "gzip -cd -", false },
		{ "gzip", "gzip -cd x.gz -", false },
		{ "xz", "xz -d -T 4", false },
		{ "xz", "xz --decompress --stdout 'a b.xz'", true },
		{ "zcat", "zcat data/reads", true },
		{ "sha256sum", "sha256sum a.bin", true },
		{ "zcat", "zcat a-very-long.name...", false }, /* cut */
		{ "zcat", "zcat --token=*** a.gz", false },    /* masked */
		{ "sort", "sort -k 2.1", false },
		{ "grep", "grep -A 3 a.b", false },
		{ "python3 a.py", "python3 a.py in.txt", false },
		{ "gzipper", "gzipper -d in.txt", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if ((runs_of(cases[i].name, cases[i].line) == 4) != cases[i].repeats)
			fail_msg("%s", cases[i].line);
}

static void what_costs_most_counts(void **state)
{
	struct synthetic *x = synthetic_new(1);
	struct summary s;

	(void)state;
	run_times(x, "xzcat", "xzcat a.xz", 2);
	run_times(x, "zcat", "zcat a.gz", 3);
	run_times(x, "zcat", "zcat b.gz", 1);
	run_times(x, "sh", "sh job.sh", 4);
	s = made(x);
	assert_true(s.repeated_runs == 3 && s.repeated_cpu_s == 3);
	assert_string_equal(s.repeated, "zcat a.gz");
	done(&s, x);
}

/* Of R, whose script forks for each small question, and starts R in its own place. */
static void what_forks_is_not_started(void **state)
{
	struct synthetic *x = with_work(1);
	uint32_t row = instance(x, 1, "command", "R", false);
	uint32_t n = metric(x, "command.processes", "command", KIND_COUNTER, UNIT_COUNT);
	uint32_t used = metric(x, "command.cpu_seconds", "command", KIND_COUNTER, UNIT_SECONDS);
	struct summary s;

	(void)state;
	put(x, series(x, 1, n, row), 20, 20);
	put(x, series(x, 1, used, row), 20, 2);
	for (int k = 0; k < 5; k++) {
		uint32_t i = instance(x, 1, "process", "R", true);

		for (int child = 0; child < 3; child++)
			x->instance[instance(x, 1, "process", "R", true)].parent = i;
	}
	s = made(x);
	assert_true(s.story.starts == 5);
	done(&s, x);
}

static void command(struct synthetic *x, const char *name, int64_t processes, int64_t cpu_s)
{
	uint32_t row = instance(x, 1, "command", name, false);
	uint32_t n = metric(x, "command.processes", "command", KIND_COUNTER, UNIT_COUNT);
	uint32_t used = metric(x, "command.cpu_seconds", "command", KIND_COUNTER, UNIT_SECONDS);

	put(x, series(x, 1, n, row), 20, processes);
	put(x, series(x, 1, used, row), 20, cpu_s);
}

/* A sample that found one knows which script it runs; the others are of the same program. One that
 * works for long is not. */
static void starts_with_and_without_a_script_are_of_one_program(void **state)
{
	struct synthetic *x = with_work(1);
	struct summary s;

	(void)state;
	command(x, "java", 34, 9);
	command(x, "java QcStats", 31, 8);
	command(x, "java Assemble", 2, 60);
	command(x, "javadoc Qc", 20, 3);
	s = made(x);
	assert_true(s.story.starts == 65 && s.story.starts_cpu_s == 17);
	assert_string_equal(s.story.starts_command, "java");
	assert_string_equal(s.story.starts_by, "");
	done(&s, x);
}

/* The share of compilers that had another one beside them, of four that began at these times, each
 * for a second. */
static double beside(const int64_t begin_ms[4])
{
	struct synthetic *x = with_work(1);
	uint32_t make = instance(x, 1, "process", "make", true);
	struct summary s;
	double ratio;

	x->label[x->run.nlabels++] =
		(struct run_label){ .key = "command_line", .value = "make -j2" };
	x->instance[make].nlabels++;
	command(x, "cc1", 4, 4);
	for (int k = 0; k < 4; k++) {
		struct run_instance *in = &x->instance[instance(x, 1, "process", "cc1", false)];

		in->parent = make;
		in->birth_ns = begin_ms[k] * 1000000;
		in->end_ns = in->birth_ns + 1000000000;
	}
	s = made(x);
	assert_true(s.story.make_is_parallel == 1);
	ratio = s.story.compilers_beside_ratio;
	done(&s, x);
	return ratio;
}

static void compilers_that_ran_side_by_side_are_known(void **state)
{
	(void)state;
	assert_true(beside((int64_t[]){ 0, 1000, 2000, 3000 }) == 0);
	assert_true(beside((int64_t[]){ 0, 900, 1800, 2700 }) == 0);
	assert_true(beside((int64_t[]){ 0, 0, 1000, 1000 }) == 1);
	assert_true(beside((int64_t[]){ 0, 500, 2000, 3000 }) == 0.5);
}

/* Whether make was told to run several compilers at a time, by its words or by MAKEFLAGS. */
static bool told_several(const char *line, const char *flags)
{
	struct synthetic *x = with_work(1);
	uint32_t make = instance(x, 1, "process", "make", true);
	struct summary s;
	bool several;

	x->label[x->run.nlabels++] = (struct run_label){ .key = "command_line", .value = line };
	x->instance[make].nlabels++;
	if (flags)
		meta_text(x, "job.environment.MAKEFLAGS", flags);
	command(x, "cc1", 4, 4);
	s = made(x);
	several = s.story.make_is_parallel == 1;
	assert_true((s.story.make_is_serial == 1) == !several);
	done(&s, x);
	return several;
}

static void make_was_told_by_words_or_variable(void **state)
{
	(void)state;
	assert_true(told_several("make -j2", NULL));
	assert_true(told_several("make -j", NULL));
	assert_true(told_several("make -sj 2", NULL));
	assert_true(told_several("make all --jobs=8", NULL));
	assert_false(told_several("make", NULL));
	assert_false(told_several("make -j1 all", NULL));
	assert_false(told_several("make -Cjobs", NULL));
	assert_false(told_several("make -f j2.mk", NULL));
	assert_true(told_several("make", "j2"));
	assert_true(told_several("make", "-j2"));
	assert_true(told_several("make", "kj8 -- A=b"));
	assert_false(told_several("make", "k"));
	assert_false(told_several("make", "j1"));
	assert_false(told_several("make", " -- A=j2"));
}

/* So many processes of the name that this one started. */
static void below(struct synthetic *x, uint32_t parent, const char *name, int times)
{
	for (int k = 0; k < times; k++)
		x->instance[instance(x, 1, "process", name, true)].parent = parent;
}

static const struct summary *stormed(struct summary *s, struct synthetic *x, const char *told)
{
	*s = made(x);
	assert_string_equal(s->story.started, told);
	return s;
}

static void what_very_many_processes_executed_is_named(void **state)
{
	struct synthetic *x = with_work(1);
	struct summary s;
	uint32_t shell, make;

	(void)state;
	shell = instance(x, 1, "process", "bash daily.sh", false);
	command(x, "bash daily.sh", 400, 2);
	command(x, "cut", 201, 1);
	command(x, "date", 200, 1);
	command(x, "sort", 2, 0);
	below(x, shell, "bash daily.sh", 9);
	below(x, shell, "cut", 4);
	below(x, shell, "date", 4);
	stormed(&s, x, " (201 of cut, 200 of date, started by bash daily.sh),");
	assert_string_equal(s.story.executed, "cut");
	done(&s, x);

	x = with_work(1); /* of some nobody had time to find the names */
	shell = instance(x, 1, "process", "sh job.sh", false);
	command(x, "cut", 50, 1);
	command(x, "?", 80, 0);
	below(x, shell, "cut", 4);
	stormed(&s, x, " (at least 50 of cut, started by sh job.sh),");
	done(&s, x);

	x = with_work(1); /* a shell that make executed, and what that did */
	make = instance(x, 1, "process", "make", false);
	command(x, "sh", 100, 1);
	command(x, "tr", 99, 1);
	below(x, make, "sh", 4);
	below(x, shell = instance(x, 1, "process", "sh", true), "tr", 4);
	x->instance[shell].parent = make;
	stormed(&s, x, " (100 of sh, 99 of tr, started by make),");
	done(&s, x);

	x = with_work(1); /* by several alike */
	command(x, "tr", 100, 1);
	below(x, instance(x, 1, "process", "sh a", false), "tr", 2);
	below(x, instance(x, 1, "process", "sh b", false), "tr", 2);
	stormed(&s, x, " (100 of tr),");
	done(&s, x);

	x = with_work(1); /* by one of which nobody found the name */
	command(x, "tr", 100, 1);
	below(x, instance(x, 1, "process", "?", false), "tr", 4);
	stormed(&s, x, " (100 of tr),");
	done(&s, x);
}

static void who_starts_an_interpreter_again_and_again_is_named(void **state)
{
	struct synthetic *x = with_work(1);
	uint32_t shell = instance(x, 1, "process", "sh job.sh", false), python;
	struct summary s;

	(void)state;
	command(x, "python3 step.py", 30, 2);
	below(x, shell, "python3 step.py", 4);
	below(x, python = instance(x, 1, "process", "python3 step.py", true), "python3 step.py", 1);
	x->instance[python].parent = shell;
	s = made(x);
	assert_string_equal(s.story.starts_command, "python3 step.py");
	assert_string_equal(s.story.starts_by, " by sh job.sh,");
	done(&s, x);
}

static void forks_are_named_where_they_execute_nothing(void **state)
{
	struct synthetic *x = with_work(1);
	uint32_t shell = instance(x, 1, "process", "bash forks.sh", false);
	struct summary s;

	(void)state;
	command(x, "bash forks.sh", 150, 2);
	command(x, "seq", 1, 0);
	below(x, shell, "bash forks.sh", 9);
	below(x, shell, "seq", 1);
	stormed(&s, x, " (136 forks of bash forks.sh that execute no other program),");
	done(&s, x);

	x = with_work(1); /* few */
	command(x, "cut", 60, 1);
	below(x, instance(x, 1, "process", "bash a.sh", false), "cut", 4);
	stormed(&s, x, "");
	done(&s, x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readers_of_files_are_known),
		cmocka_unit_test(what_costs_most_counts),
		cmocka_unit_test(what_forks_is_not_started),
		cmocka_unit_test(starts_with_and_without_a_script_are_of_one_program),
		cmocka_unit_test(compilers_that_ran_side_by_side_are_known),
		cmocka_unit_test(make_was_told_by_words_or_variable),
		cmocka_unit_test(what_very_many_processes_executed_is_named),
		cmocka_unit_test(who_starts_an_interpreter_again_and_again_is_named),
		cmocka_unit_test(forks_are_named_where_they_execute_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
