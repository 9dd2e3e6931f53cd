/* SPDX-License-Identifier: Apache-2.0 */
/* Advice that names a tool names that of the job's own language. */
#include "report/judging/advice.h"
#include "summary_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct summary *job_of(const char *command)
{
	static struct fixture f;

	fixture_init(&f, "cpu_seconds=5 command:other=5..1");
	f.s.commands[0].name = command;
	return &f.s;
}

static const char *advice_for(const char *command)
{
	return advice_of_interpreter(job_of(command));
}

static void test_numpy_is_for_python_alone(void **state)
{
	static const char *const others[] = { "node",   "nodejs",     "R",      "Rscript",
					      "perl",   "perl5.36",   "lua5.4", "ruby3.1",
					      "php8.2", "octave",     "bash",   "awk",
					      "Rocket", "pythonista", "java" };

	(void)state;
	assert_non_null(strstr(advice_for("python3.11"), "NumPy"));
	assert_non_null(strstr(advice_for("python3 train.py"), "NumPy"));
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		assert_null(strstr(advice_for(others[i]), "NumPy"));
	assert_non_null(strstr(advice_for("Rscript"), "Rcpp"));
	assert_non_null(strstr(advice_for("R"), "Rcpp"));
	assert_null(strstr(advice_for("Rocket"), "Rcpp"));
	assert_non_null(strstr(advice_for("lua5.4"), "LuaJIT"));
	assert_non_null(strstr(advice_for("perl"), "XS"));
	assert_non_null(strstr(advice_for("node"), "native add-on"));
}

static void test_without_commands_it_is_general(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, "cpu_seconds=5");
	assert_string_equal(advice_of_interpreter(&f.s),
			    "Move loops into a compiled library, or into a compiled language.");
	assert_non_null(strstr(advice_of_unoptimized(&f.s), "-O2"));
}

/* One that is none used more; of one with little, another has an interpreter within it. */
static void test_the_interpreter_is_named_beside_what_is_none(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, "cpu_seconds=10 command:burn=4..1 command:python3=3..1 command:awk=3..1");
	assert_string_equal(advice_interpreter(&f.s), "python3");
	assert_non_null(strstr(advice_of_interpreter(&f.s), "NumPy"));
	fixture_init(&f, "cpu_seconds=10 command:embeds=9..1 command:bash=1..1");
	assert_string_equal(advice_interpreter(&f.s), "embeds");
	assert_null(strstr(advice_of_interpreter(&f.s), "shell"));
	fixture_init(&f, "cpu_seconds=10");
	assert_null(advice_interpreter(&f.s));
}

/* Variables of malloc are of no use to heaps that others manage. */
static void test_page_faults_have_advice_by_who_manages_memory(void **state)
{
	(void)state;
	assert_non_null(strstr(advice_of_faults(job_of("node app.js")), "--max-semi-space-size"));
	assert_null(strstr(advice_of_faults(job_of("node app.js")), "MALLOC_"));
	assert_non_null(strstr(advice_of_faults(job_of("java")), "-Xms"));
	assert_non_null(strstr(advice_of_faults(job_of("javac")), "MALLOC_TRIM_THRESHOLD_"));
	assert_non_null(strstr(advice_of_faults(job_of("solver")), "MALLOC_TRIM_THRESHOLD_"));
}

static void test_who_knows_the_functions_is_named_by_language(void **state)
{
	static const char any[] = "Whoever knows.";

	(void)state;
	assert_non_null(
		strstr(advice_of_profiler(job_of("node app.js"), any), "--perf-basic-prof"));
	assert_non_null(strstr(advice_of_profiler(job_of("java"), any), "Compiler.perfmap"));
	assert_non_null(strstr(advice_of_profiler(job_of("Rscript"), any), "Rprof"));
	assert_non_null(strstr(advice_of_profiler(job_of("R"), any), "Rprof"));
	assert_non_null(strstr(advice_of_profiler(job_of("perl5.36"), any), "NYTProf"));
	assert_string_equal(advice_of_profiler(job_of("solver"), any), any);
	assert_string_equal(advice_of_profiler(job_of("sh"), any), any);
}

static void test_garbage_has_advice_by_who_collects_it(void **state)
{
	(void)state;
	assert_non_null(strstr(advice_of_collection(job_of("node app.js")), "--heap-prof"));
	assert_non_null(strstr(advice_of_collection(job_of("java")), "-Xmx"));
	assert_null(strstr(advice_of_collection(job_of("java")), "GOGC"));
	assert_non_null(strstr(advice_of_collection(job_of("python3")), "gc.freeze"));
	assert_non_null(strstr(advice_of_collection(job_of("R")), "memory.profiling"));
	assert_non_null(strstr(advice_of_collection(job_of("server")), "GOGC"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numpy_is_for_python_alone),
		cmocka_unit_test(test_without_commands_it_is_general),
		cmocka_unit_test(test_the_interpreter_is_named_beside_what_is_none),
		cmocka_unit_test(test_page_faults_have_advice_by_who_manages_memory),
		cmocka_unit_test(test_who_knows_the_functions_is_named_by_language),
		cmocka_unit_test(test_garbage_has_advice_by_who_collects_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
