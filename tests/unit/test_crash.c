/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel's log said of a process that crashed is part of how the job ended, in words. */
#include "core/crash.h"
#include "summary_made.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A process that a signal ended, and what was recorded of it. */
struct crash {
	const char *signal, *kind, *function, *source, *file, *line, *limit;
};

static uint32_t crashed(struct synthetic *x, uint32_t node, const struct crash *c)
{
	const struct run_label labels[] = {
		{ "pid", "12" },
		{ "signal", c->signal },
		{ CRASH_KIND, c->kind },
		{ CRASH_FUNCTION, c->function },
		{ CRASH_SOURCE, c->source },
		{ CRASH_FILE, c->file },
		{ "command_line", c->line },
		{ "limit.stack_bytes", c->limit },
	};
	uint32_t i = instance(x, node, "process", "solver", true);

	for (size_t k = 0; k < sizeof labels / sizeof labels[0]; k++)
		if (labels[k].value) {
			x->label[x->run.nlabels++] = labels[k];
			x->instance[i].nlabels++;
		}
	return i;
}

static void is_said(const char *said, const char *words)
{
	if (!strstr(said, words))
		fail_msg("'%s' is not in '%s'", words, said);
}

/* The command itself, under a limit of 8 MiB. */
static void test_the_command_is_said_to_have_crashed_there(void **state)
{
	static const struct {
		struct crash crash;
		const char *why;
	} cases[] = {
		{ { "11", "null-read", "parse_row", "reader.c:88", "solver", NULL, NULL },
		  ": a null pointer was read in parse_row (reader.c:88)." },
		{ { "11", "null-write", "put_row", NULL, "solver", NULL, NULL },
		  ": a null pointer was written to in put_row." },
		{ { "11", "null-read", NULL, NULL, "libc.so.6", NULL, NULL },
		  ": a null pointer was read in libc.so.6." },
		{ { "11", "read-only", NULL, NULL, "solver", NULL, NULL },
		  ": it wrote to memory that is read-only." },
		{ { "11", "jump", NULL, NULL, NULL, NULL, NULL },
		  ": it jumped to an invalid address." },
		{ { "8", "division", "mean", "stat.c:3", "solver", NULL, NULL },
		  ": an integer was divided by zero, or the smallest by -1 in mean (stat.c:3)." },
		{ { "11", "stack", "fill", "segment.c:31", "solver", "./solver", NULL },
		  ": the stack overflowed in fill (segment.c:31): deep recursion, or large arrays on "
		  "the stack; the limit is 8.0 MiB (ulimit -s). Use a loop with a stack of its own, or "
		  "raise the limit." },
		{ { "11", "stack", "fill", "segment.c:31", "solver", "./solver", "1048576" },
		  "; the limit is 1.0 MiB (ulimit -s). Use" },
		/* No sample found it, and it may have set another one. */
		{ { "11", "stack", "fill", "segment.c:31", "solver", NULL, NULL },
		  ": deep recursion, or large arrays on the stack. Use a loop with a stack of its own, "
		  "or raise the limit (ulimit -s)." },
		{ { "11", "thread-stack", "fill", "segment.c:31", "solver", NULL, NULL },
		  ": the stack of a thread overflowed in fill (segment.c:31): deep recursion, or "
		  "large arrays on the stack. Use a loop with a stack of its own, or give threads "
		  "larger stacks (OMP_STACKSIZE for OpenMP, else ulimit -s)." },
		{ { "11", NULL, NULL, NULL, NULL, NULL, NULL },
		  ": invalid memory access (segmentation fault)." },
		{ { "11", "of a newer version", "f", "x.c:1", "solver", NULL, NULL },
		  ": invalid memory access (segmentation fault)." },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct synthetic *x = synthetic_new(1);
		struct summary s;
		double stack = cases[i].crash.kind && strstr(cases[i].crash.kind, "stack");

		meta_int(x, 1, "job.signal", cases[i].crash.signal[0] == '8' ? 8 : 11);
		meta_int(x, 1, "job.limit.stack_bytes", 8 << 20);
		crashed(x, 1, &cases[i].crash);
		s = made(x);
		is_said(s.ending.why, cases[i].why);
		if (i < sizeof cases / sizeof cases[0] - 2)
			assert_true(s.story.crash_stack == stack);
		else
			assert_true(isnan(s.story.crash_stack));
		done(&s, x);
	}
}

/* Of a shell, which reports it by 128 + N, or says nothing of it. */
static void test_what_a_shell_ran_is_said_to_have_crashed_there(void **state)
{
	static const struct crash crash = { "11",     "null-read", "parse_row", "reader.c:88",
					    "solver", NULL,        NULL };
	static const struct {
		int code;
		const char *why;
	} cases[] = {
		{ 139,
		  ": a command that the shell ran was killed by SIGSEGV. First to die: solver (pid 12), "
		  "3.00 s after the start, by SIGSEGV: a null pointer was read in parse_row "
		  "(reader.c:88)." },
		{ 1,
		  ". First to die: solver (pid 12), 3.00 s after the start, by SIGSEGV: a null pointer "
		  "was read in parse_row (reader.c:88)." },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct synthetic *x = synthetic_new(1);
		uint32_t shell = instance(x, 1, "process", "sh", true);
		struct summary s;

		meta_int(x, 1, "job.exit_code", cases[i].code);
		x->instance[crashed(x, 1, &crash)].parent = shell;
		s = made(x);
		is_said(s.ending.why, cases[i].why);
		assert_true(s.story.crash_stack == 0);
		done(&s, x);
	}
}

/* Of several nodes, that where the first to fail was. */
static void test_the_first_to_fail_is_said_to_have_crashed_there(void **state)
{
	static const struct crash second = {
		"11", "write", "late", "late.c:2", "solver", NULL, NULL
	};
	static const struct crash first = { "11",     "division", "early", "early.c:1",
					    "solver", NULL,       NULL };
	struct synthetic *x = synthetic_new(2);
	struct summary s;

	(void)state;
	meta_int(x, 1, "job.signal", 11);
	meta_int(x, 2, "job.signal", 11);
	meta_int(x, 1, "job.wall_ns", 3 * NS_PER_S);
	meta_int(x, 2, "job.wall_ns", 2 * NS_PER_S);
	crashed(x, 1, &second);
	x->instance[crashed(x, 2, &first)].end_ns = 102 * NS_PER_S;
	s = made(x);
	is_said(s.ending.death,
		strcmp(s.story.death_host, "n2") == 0
			? ". In the kernel's log: an integer was divided by zero, or the smallest by "
			  "-1 in early (early.c:1)."
			: ". In the kernel's log: it wrote to an invalid address in late (late.c:2)");
	done(&s, x);
}

/* Of a job that ended well all the same. */
static void test_a_hidden_failure_is_said_to_have_crashed_there(void **state)
{
	static const struct crash crash = { "11",     "null-read", "parse_row", "reader.c:88",
					    "solver", NULL,        NULL };
	struct synthetic *x = with_work(1);
	uint32_t shell = instance(x, 1, "process", "sh", true), child;
	struct summary s;

	(void)state;
	meta_int(x, 1, "job.exit_code", 0);
	child = crashed(x, 1, &crash);
	x->instance[child].parent = shell;
	final(x, child, "process.cpu_seconds", 3);
	s = made(x);
	is_said(s.hidden_more,
		". In the kernel's log: a null pointer was read in parse_row (reader.c:88).");
	done(&s, x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_command_is_said_to_have_crashed_there),
		cmocka_unit_test(test_what_a_shell_ran_is_said_to_have_crashed_there),
		cmocka_unit_test(test_the_first_to_fail_is_said_to_have_crashed_there),
		cmocka_unit_test(test_a_hidden_failure_is_said_to_have_crashed_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
