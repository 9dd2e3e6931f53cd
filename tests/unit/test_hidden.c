/* SPDX-License-Identifier: Apache-2.0 */
/* A child that failed is told where the job did not; attempts that were repeated until one went
 * well, what was asked to end, and who wrote to a reader that had enough are no such failure. */
#include "summary_made.h"

#include <stdio.h>
#include <string.h>

enum { CHILDREN = 6 };

struct child {
	const char *name, *line, *code;
	double begin_s, end_s;
	int64_t cpu_s;
};

static void label(struct synthetic *x, uint32_t i, const char *key, const char *value)
{
	x->label[x->run.nlabels++] = (struct run_label){ .key = key, .value = value };
	x->instance[i].nlabels++;
}

static int64_t at(double s)
{
	return (int64_t)((100 + s) * 1e9);
}

/* The children of a shell whose last one decided how it ended. */
static struct summary job_of(const struct child *children)
{
	struct synthetic *x = with_work(1);
	uint32_t shell = instance(x, 1, "process", "sh", true);
	struct summary s;

	meta_int(x, 1, "job.exit_code", 0);
	for (int k = 0; k < CHILDREN && children[k].name; k++) {
		const struct child *c = &children[k];
		uint32_t i = instance(x, 1, "process", c->name, true);

		x->instance[i].parent = shell;
		x->instance[i].birth_ns = at(c->begin_s);
		x->instance[i].end_ns = at(c->end_s);
		label(x, i, "command_line", c->line);
		if (strcmp(c->code, "0") != 0)
			label(x, i, "exit_code", c->code);
		final(x, i, "process.cpu_seconds", c->cpu_s);
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

static void test_what_failed_is_told_but_no_attempt_and_no_end_on_request(void **state)
{
	static const struct {
		const char *what;
		struct child child[CHILDREN];
		bool told;
	} cases[] = {
		{ "one of several fails",
		  { { "step", "step a", "0", 1, 2, 3 }, { "step", "step b", "1", 2, 3, 3 } },
		  true },
		{ "tried again until it went well",
		  { { "get", "get url", "1", 1, 2, 3 },
		    { "get", "get url", "1", 3, 4, 3 },
		    { "get", "get url", "0", 5, 6, 3 } },
		  false },
		{ "the same line for several inputs",
		  { { "get", "get -", "1", 1, 2, 3 },
		    { "get", "get -", "0", 3, 4, 3 },
		    { "get", "get -", "1", 5, 6, 3 },
		    { "get", "get -", "0", 7, 8, 3 } },
		  true },
		{ "tried again in vain",
		  { { "get", "get url", "1", 1, 2, 3 }, { "get", "get url", "1", 3, 4, 3 } },
		  true },
		{ "two of one line at the same time",
		  { { "get", "get url", "1", 1, 4, 3 }, { "get", "get url", "0", 3, 4, 3 } },
		  true },
		{ "a server that catches SIGTERM",
		  { { "java", "java S", "143", 1, 9, 3 }, { "load", "load", "0", 2, 8, 3 } },
		  false },
		{ "a crash that a shell reports",
		  { { "java", "java S", "139", 1, 9, 3 }, { "load", "load", "0", 2, 8, 3 } },
		  true },
		{ "the reader of a pipe had enough",
		  { { "gen", "gen", "1", 1, 5.1, 3 }, { "head", "head -1", "0", 1.01, 5, 0 } },
		  false },
		{ "the reader went on",
		  { { "gen", "gen", "1", 1, 5, 3 }, { "sort", "sort", "0", 1.01, 6, 0 } },
		  true },
		{ "another part of it failed, too",
		  { { "gen", "gen", "1", 1, 5.1, 3 }, { "sort", "sort", "2", 1.01, 5, 0 } },
		  true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct summary s = job_of(cases[i].child);

		if (says(&s, "hidden-failure") != cases[i].told)
			fail_msg("%s", cases[i].what);
		summary_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_failed_is_told_but_no_attempt_and_no_end_on_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
