/* SPDX-License-Identifier: Apache-2.0 */
/* Which line of what a failed job printed is the reason, and of which kind it is. */
#include "report/summary/reason.h"
#include "summary_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	const char *text, *line, *kind;
} cases[] = {
	{ "step 1\nTraceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    f()\n"
	  "PermissionError: [Errno 13] Permission denied: '/x/y'\n",
	  "PermissionError: [Errno 13] Permission denied: '/x/y'", "permission" },
	{ "Traceback (most recent call last):\n  File \"a.py\", line 3\nmy.Problem: it is odd\n"
	  "cp: cannot stat 'out': No such file or directory\nmake: *** [Makefile:2: all] Error 1",
	  "my.Problem: it is odd", "" },
	{ "sh: 1: solve: not found\n", "sh: 1: solve: not found", "command" },
	{ "bash: line 1: solve: command not found", "bash: line 1: solve: command not found",
	  "command" },
	{ "a.c: In function 'f':\na.c:3:5: error: 'x' undeclared\na.c:4:5: error: 'y' undeclared\n",
	  "a.c:3:5: error: 'x' undeclared", "" },
	{ "a.c:1:10: fatal error: mesh.h: No such file or directory\ncompilation terminated.\n",
	  "a.c:1:10: fatal error: mesh.h: No such file or directory", "no_file" },
	{ "Exception in thread \"main\" java.lang.RuntimeException: x\n\tat A.main(A.java:3)\n"
	  "Caused by: java.lang.OutOfMemoryError: Java heap space\n\t... 1 more\n",
	  "Caused by: java.lang.OutOfMemoryError: Java heap space", "heap" },
	{ "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n"
	  "Aborted (core dumped)\n",
	  "what():  std::bad_alloc", "memory" },
	{ "Error in f(3) : \n  x is not known\nCalls: f\nExecution halted\n",
	  "Error in f(3) : x is not known", "" },
	{ "Error in file(file, \"rt\") : cannot open the connection\n"
	  "Calls: read.csv -> read.table -> file\nIn addition: Warning message:\n"
	  "In file(file, \"rt\") :\n  cannot open file 'data/runs.csv': No such file or directory\n"
	  "Execution halted\n",
	  "cannot open file 'data/runs.csv': No such file or directory", "no_file" },
	{ "ERROR: LoadError: SystemError: opening file \"x\": No such file or directory\n"
	  "Stacktrace:\n [1] top-level scope\nin expression starting at /a.jl:1\n",
	  "ERROR: LoadError: SystemError: opening file \"x\": No such file or directory",
	  "no_file" },
	{ "thread 'main' panicked at src/main.rs:2:5:\nindex out of bounds\nnote: run with X\n",
	  "thread 'main' panicked at src/main.rs:2:5: index out of bounds", "" },
	{ "\nthread 'main' (2771) panicked at src/main.rs:17:58:\ncalled `Option::unwrap()` on a `None` value\n"
	  "stack backtrace:\n   0: __rustc::rust_begin_unwind\n             at /rustc/ac1/library/std/src/panicking.rs:690:5\n"
	  "   1: core::option::unwrap_failed\n   2: app::main\nnote: Some details are omitted\n",
	  "thread 'main' (2771) panicked at src/main.rs:17:58: called `Option::unwrap()` on a `None` value",
	  "" },
	{ "panic: runtime error: index out of range [5]\n\ngoroutine 1 [running]:\nmain.main()\n\t/a.go:4\n"
	  "exit status 2\n",
	  "panic: runtime error: index out of range [5]", "" },
	{ "/a.js:3\nthrow new Error('no')\n^\n\nError: no\n    at Object.<anonymous> (/a.js:3:7)\n\nNode.js v18\n",
	  "Error: no", "" },
	{ "./app: error while loading shared libraries: libmesh.so: cannot open shared object file: No "
	  "such file or directory\n",
	  "./app: error while loading shared libraries: libmesh.so: cannot open shared object file: No "
	  "such file or directory",
	  "library" },
	{ "Exception in thread \"main\" java.lang.StackOverflowError\n\tat A.f(A.java:3)\n"
	  "[the line above 1023 more times]\n",
	  "Exception in thread \"main\" java.lang.StackOverflowError", "recursion" },
	{ "free(): double free detected in tcache 2\nAborted\n",
	  "free(): double free detected in tcache 2", "damaged_memory" },
	{ "sh: 1: exec: ls: Argument list too long\n", "sh: 1: exec: ls: Argument list too long",
	  "arguments" },
	{ "RuntimeError: can't start new thread", "RuntimeError: can't start new thread",
	  "threads" },
	{ "Error: stepping, 5 (database is locked)\nbye\n",
	  "Error: stepping, 5 (database is locked)", "database_locked" },
	{ "ls: cannot access '/x': No such file or directory\nTraceback (most recent call last):\n"
	  "  File \"a.py\", line 1\nsubprocess.CalledProcessError: Command 'ls' returned 2.",
	  "ls: cannot access '/x': No such file or directory", "no_file" },
	{ "Traceback (most recent call last):\n  x\nsubprocess.CalledProcessError: Command returned 2.",
	  "subprocess.CalledProcessError: Command returned 2", "" },
	{ "ld: b.o: undefined reference to `g'\ncollect2: error: ld returned 1 exit status",
	  "ld: b.o: undefined reference to `g'", "linking" },
	{ "all is well so far.\n\n", "all is well so far", "" },
	{ "warning: error: ignored\nlast words", "last words", "" },
	{ "srun: error: n1: task 0: Exited with exit code 1\nmake: *** [a] Error 1", "", "" },
	{ "Segmentation fault (core dumped)", "Segmentation fault (core dumped)", "" },
	{ "rank 1: residual is not a number\n------\nMPI_ABORT was invoked on rank 1 in communicator "
	  "MPI_COMM_WORLD\nwith errorcode 7.\n\nNOTE: invoking MPI_ABORT causes Open MPI to kill all MPI "
	  "processes.\nYou may or may not see output from other processes, depending on\nexactly when "
	  "Open MPI kills them.\n------\n[n1:1] [[1,0],0] ORTE_ERROR_LOG: Data unpack had inadequate "
	  "space in file show_help.c at line 513\n",
	  "rank 1: residual is not a number (MPI_ABORT was invoked on rank 1 in communicator "
	  "MPI_COMM_WORLD with errorcode 7)",
	  "mpi_abort" },
	{ "Abort(7) on node 1 (rank 1 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 7) - "
	  "process 1\n",
	  "Abort(7) on node 1 (rank 1 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 7) - "
	  "process 1",
	  "mpi_abort" },
	{ "no input\n------\nPrimary job  terminated normally, but 1 process returned\na non-zero exit "
	  "code. Per user-direction, the job has been aborted.\n------\nmpirun detected that one or "
	  "more processes exited with non-zero status, thus causing\nthe job to be terminated. The "
	  "first process to do so was:\n\n  Process name: [[3352,1],1]\n  Exit code:    1\n",
	  "no input", "" },
	{ "", "", "" },
};

static struct summary_reason reason_of(const char *text, const struct rules *site,
				       const struct rules *builtin)
{
	struct summary_reason x = { .text = text };

	reason_find(&x, site, builtin);
	return x;
}

static void the_line_is_found(void **state)
{
	struct rules *rules;
	struct err e;

	(void)state;
	assert_int_equal(rules_builtin(&rules, &e), 0);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct summary_reason x = reason_of(cases[i].text, NULL, rules);

		assert_string_equal(x.line, cases[i].line);
		assert_string_equal(x.kind, cases[i].kind);
		assert_int_equal(*x.advice != '\0', *x.kind != '\0');
	}
	rules_free(rules);
}

static void a_death_is_known_by_its_words(void **state)
{
	struct summary_reason x = {
		.line = "BrokenProcessPool: A process was terminated abruptly"
	};

	(void)state;
	assert_true(reason_is_of_a_death(&x));
	snprintf(x.line, sizeof x.line, "KeyError: 'columns'");
	assert_false(reason_is_of_a_death(&x));
}

/* Exit code 1 of grep and diff is an answer, and what solvers end with. */
static void answers_by_exit_codes_are_explained(void **state)
{
	static const struct {
		const char *command, *exit, *why;
	} asked[] = {
		{ "/usr/bin/grep -q x y", "exit_code=1", ": grep found no match." },
		{ "diff a b", "exit_code=1", ": the files differ." },
		{ "grep x y", "exit_code=2", "." },
		{ "/opt/kissat-4.0/bin/kissat a.cnf", "exit_code=10",
		  ": the solver found it satisfiable." },
		{ "minisat_static a.cnf", "exit_code=20", ": the solver found it unsatisfiable." },
		{ "kissat a.cnf", "exit_code=1", "." },
		{ "solver a.cnf", "exit_code=10", "." },
		{ "mountpoint /x", "exit_code=32", "." },
		{ "mygrep x", "exit_code=1", "." },
		{ "/", "exit_code=1", "." },
	};
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
		fixture_init(&f, asked[i].exit);
		f.s.command = asked[i].command;
		ending_make(&f.s);
		assert_string_equal(f.s.ending.why, asked[i].why);
	}
}

/* What git is asked by diff and its kin, and told by push; the name alone leaves that open. */
static void git_answers_and_fails(void **state)
{
	static const struct {
		const char *command;
		double code;
		bool answers;
	} asked[] = {
		{ "git", 1, true },
		{ "/usr/bin/git diff --quiet", 1, true },
		{ "git -C /a/push --no-pager -c x=push merge-base --is-ancestor a b", 1, true },
		{ "git push origin main", 1, false },
		{ "git -C /a/diff push", 1, false },
		{ "git --no-pager pull", 1, false },
		{ "git diff", 128, false },
		{ "find /gone", 1, false },
		{ "comm a b", 1, false },
	};
	const char *why;

	(void)state;
	for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++)
		assert_int_equal(reason_is_answer(asked[i].command, asked[i].code, &why),
				 asked[i].answers);
}

/* A line is cut between characters; thousands of lines, and one that is nothing but signs. */
static void hostile_texts_are_bounded(void **state)
{
	struct rules *rules;
	struct summary_reason x;
	char text[5000];
	struct err e;

	(void)state;
	assert_int_equal(rules_builtin(&rules, &e), 0);
	for (size_t i = 0; i + 2 < sizeof text; i += 2)
		memcpy(text + i, "\xc3\xa4", 3);
	memcpy(text, "error: ", 7);
	x = reason_of(text, NULL, rules);
	assert_true(strlen(x.line) < sizeof x.line);
	assert_string_equal(x.line + strlen(x.line) - 5, "\xc3\xa4...");
	for (size_t i = 0; i + 2 < sizeof text; i += 2)
		memcpy(text + i, ":\n", 3);
	x = reason_of(text, NULL, rules);
	assert_string_equal(x.line, "");
	rules_free(rules);
}

static const char own[] =
	"error: diverged\nwords: does not converge\nadvice: Take smaller steps.\n"
	"error: permission\nwords: permission denied\nadvice: Ask for the group.\n";

static void a_sites_kinds_come_first(void **state)
{
	struct rules *site, *rules;
	struct summary_reason x;
	struct err e;

	(void)state;
	assert_int_equal(rules_builtin(&rules, &e), 0);
	assert_int_equal(rules_parse(&site, "f", own, sizeof own - 1, &e), 0);
	x = reason_of("it does not converge", site, rules);
	assert_string_equal(x.advice, "Take smaller steps.");
	assert_true(x.is_error);
	x = reason_of("x: Permission denied", site, rules);
	assert_string_equal(x.advice, "Ask for the group.");
	rules_free(site);
	rules_free(rules);
}

static void refused(const char *text, const char *why)
{
	struct rules *rules;
	struct err e = { "" };

	assert_true(rules_parse(&rules, "f", text, strlen(text), &e) < 0);
	assert_non_null(strstr(e.text, why));
}

static void faults_of_kinds_are_reported(void **state)
{
	(void)state;
	refused("words: x\n", "before the first 'error:'");
	refused("error: A b\n", "a-z, 0-9 and '_'");
	refused("error: a\nwords: x\n", "needs 'words:' and 'advice:'");
	refused("error: a\nwords: x\nwords: y\n", "it was given before");
	refused("error: a\nwords: x\nadvice: y\nerror: a\n", "a kind of this name came before");
	refused("error: a\nwords: x\nadvice: y\nrule: r\nabout: A.\nwhen: error(b) == 1\nseverity: note\nsay: S.\n",
		"no kind of errors 'b'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_line_is_found),
		cmocka_unit_test(a_death_is_known_by_its_words),
		cmocka_unit_test(answers_by_exit_codes_are_explained),
		cmocka_unit_test(git_answers_and_fails),
		cmocka_unit_test(hostile_texts_are_bounded),
		cmocka_unit_test(a_sites_kinds_come_first),
		cmocka_unit_test(faults_of_kinds_are_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
