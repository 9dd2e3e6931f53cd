/* SPDX-License-Identifier: Apache-2.0 */
/* Of processes alike that ran side by side one may go on long after the others; what ran behind
 * another one, or reads what that wrote, is no such process. The source of a
 * compiler. */
#include "report/summary/parts.h"
#include "summary_made.h"

#include <string.h>

enum { ALIKE = 3 };

struct alike {
	const char *name;
	double begin_s, end_s;
	int64_t read, written;
};

static int64_t at(double s)
{
	return (int64_t)((100 + s) * 1e9);
}

static struct summary job_of(const struct alike *of)
{
	struct synthetic *x = with_work(1);
	uint32_t shell = instance(x, 1, "process", "sh", true);
	struct summary s;

	x->instance[shell].birth_ns = at(0);
	x->instance[shell].end_ns = at(20);
	final(x, shell, "process.written_bytes", 1000000);
	for (int k = 0; k < ALIKE && of[k].name; k++) {
		uint32_t i = instance(x, 1, "process", of[k].name, true);

		x->instance[i].parent = shell;
		x->instance[i].birth_ns = at(of[k].begin_s);
		x->instance[i].end_ns = at(of[k].end_s);
		x->label[x->run.nlabels++] =
			(struct run_label){ .key = "command_line", .value = of[k].name };
		x->instance[i].nlabels++;
		final(x, i, "process.cpu_seconds", 1);
		final(x, i, "process.read_bytes", of[k].read);
		final(x, i, "process.written_bytes", of[k].written);
	}
	s = made(x);
	free(x);
	return s;
}

static bool says(const struct summary *s, const char *rule)
{
	for (uint32_t i = 0; i < s->nverdicts; i++)
		if (strcmp(s->verdicts[i].rule, rule) == 0)
			return true;
	return false;
}

static void test_only_what_runs_side_by_side_is_unequal(void **state)
{
	static const struct {
		const char *what;
		struct alike of[ALIKE];
		bool told;
	} cases[] = {
		{ "two workers", { { "work", 1, 4, 0, 0 }, { "work", 1.1, 19, 0, 0 } }, true },
		{ "one behind the other",
		  { { "work", 1, 1.2, 0, 0 }, { "work", 1.4, 19, 0, 0 } },
		  false },
		{ "it reads what the first one wrote",
		  { { "sort", 1, 4, 5000000, 5000000 }, { "sort", 1, 19, 5000000, 9 } },
		  false },
		{ "it reads what another one wrote, the last of it unseen",
		  { { "sort", 1, 4, 9000000, 8000000 },
		    { "uniq", 1, 4, 8000000, 4500000 },
		    { "sort", 1, 19, 5000000, 9 } },
		  false },
		{ "both read files",
		  { { "sort", 1, 4, 2000000, 2000000 }, { "sort", 1, 19, 8000000, 9 } },
		  true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct summary s = job_of(cases[i].of);

		if (says(&s, "unequal-ends") != cases[i].told)
			fail_msg("%s", cases[i].what);
		summary_free(&s);
	}
}

static void test_the_source_of_a_compiler_is_found(void **state)
{
	static const struct {
		const char *line, *source;
	} cases[] = {
		{ "/usr/lib/gcc/cc1plus -quiet -D_GNU_SOURCE src/zz.cpp -dumpbase zz.cpp -o /tmp/a.s",
		  " src/zz.cpp" },
		{ "rustc --crate-name kmers src/main.rs", " src/main.rs" },
		{ "cc1 -quiet - -o /tmp/a.s", "" },
		{ "cc1 -imacros.c .c", "" },
		{ "", "" },
		{ NULL, "" },
	};
	char source[64];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		summary_source_of(cases[i].line, source, sizeof source);
		assert_string_equal(source, cases[i].source);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_what_runs_side_by_side_is_unequal),
		cmocka_unit_test(test_the_source_of_a_compiler_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
