/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path through made processes (report/summary/path.h). Real ones:
 * tests/cli/path-is-the-longest-chain.py. */
#include "report/summary/path.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* parent: the place of another one, -1: none. */
struct made {
	const char *name;
	int parent;
	double start_s, end_s, cpu_s;
};

struct job {
	struct run run;
	struct summary summary;
	struct path path;
};

/* unnamed_s: of each, while children ran that have no instance; NULL: there were none. */
static void make_with(struct job *j, const struct made *m, uint32_t n, const double *unnamed_s)
{
	struct err e = { "" };

	*j = (struct job){ .run.ninstances = n };
	j->run.instances = calloc(n + 1u, sizeof *j->run.instances);
	j->summary.processes = calloc(n, sizeof *j->summary.processes);
	j->summary.nprocesses = n;
	j->summary.processes_started = n;
	for (uint32_t i = 0; i < n; i++) {
		j->run.instances[i + 1].parent = (uint32_t)(m[i].parent + 1);
		j->summary.processes[i] = (struct summary_process){ .instance = i + 1,
								    .name = m[i].name,
								    .start_s = m[i].start_s,
								    .end_s = m[i].end_s,
								    .cpu_s = m[i].cpu_s };
		if (unnamed_s)
			j->summary.processes[i].unnamed_s = unnamed_s[i];
	}
	assert_int_equal(path_make(&j->path, &j->summary, &j->run, &e), 0);
}

static void make(struct job *j, const struct made *m, uint32_t n)
{
	make_with(j, m, n, NULL);
}

static void end(struct job *j)
{
	path_free(&j->path);
	free(j->run.instances);
	free(j->summary.processes);
}

static const struct path_name *named(const struct job *j, const char *name)
{
	for (uint32_t i = 0; i < j->path.nnames; i++)
		if (!strcmp(j->path.name[i].name, name))
			return &j->path.name[i];
	return NULL;
}

static void near(double got, double wanted)
{
	if (!(fabs(got - wanted) < 1e-9))
		fail_msg("%.17g, and not %.17g", got, wanted);
}

static double sum_of(const struct job *j)
{
	double sum = 0, at = NAN;

	for (uint32_t i = 0; i < j->path.nparts; i++) {
		if (i)
			near(j->path.part[i].from_s, at);
		at = j->path.part[i].to_s;
		sum += at - j->path.part[i].from_s;
	}
	return sum;
}

static void test_one_after_the_other(void **state)
{
	const struct made m[] = { { "sh", -1, 0, 10, 0 },
				  { "a", 0, 1, 4, 3 },
				  { "b", 0, 5, 9, 4 } };
	struct job j;

	(void)state;
	make(&j, m, 3);
	near(j.path.wall_s, 10);
	near(sum_of(&j), 10);
	near(named(&j, "a")->on_path_s, 3);
	near(named(&j, "b")->on_path_s, 4);
	near(named(&j, "sh")->on_path_s, 3);
	near(named(&j, "b")->shorter_s, 8);
	near(named(&j, "b")->at_most_s, 8);
	near(named(&j, "sh")->shorter_s, 8.5);
	end(&j);
}

/* Two at a time: the shorter one is on no path, and halving the longer one is worth what the other
 * leaves. */
static void test_side_by_side(void **state)
{
	const struct made m[] = { { "sh", -1, 0, 10, 0 },
				  { "long", 0, 0, 10, 9 },
				  { "other", 0, 0, 7, 7 } };
	struct job j;

	(void)state;
	make(&j, m, 3);
	near(sum_of(&j), 10);
	near(named(&j, "long")->on_path_s, 10);
	assert_null(named(&j, "other"));
	near(named(&j, "long")->shorter_s, 7);
	end(&j);
}

/* "last" starts when both a and b have ended: it may need b alone, or both. */
static void test_what_it_needed_nobody_has_seen(void **state)
{
	const struct made m[] = { { "make", -1, 0, 10, 0 },
				  { "a", 0, 0, 5, 5 },
				  { "b", 0, 0, 6, 6 },
				  { "last", 0, 6, 10, 4 } };
	struct job j;

	(void)state;
	make(&j, m, 4);
	near(named(&j, "b")->on_path_s, 6);
	near(named(&j, "last")->on_path_s, 4);
	near(named(&j, "b")->shorter_s, 7);
	near(named(&j, "b")->at_most_s, 9);
	end(&j);
}

/* A process that computes all the time waits for no child. */
static void test_who_computes_does_not_wait(void **state)
{
	const struct made m[] = { { "solve", -1, 0, 10, 9.5 }, { "helper", 0, 1, 9, 1 } };
	struct job j;

	(void)state;
	make(&j, m, 2);
	near(named(&j, "solve")->on_path_s, 10);
	assert_null(named(&j, "helper"));
	end(&j);
}

/* sh waited 6 s for processes that nobody has a name for, and 1 s of its own; compute computed
 * beside such ones. */
static void test_waiting_for_the_unknown_is_no_ones(void **state)
{
	const struct made m[] = { { "sh", -1, 0, 10, 1 },
				  { "compute", 0, 0, 2, 2 },
				  { "a", 0, 2, 3, 1 } };
	const double unnamed_s[] = { 6, 2, 0 };
	struct bytes b = { 0 };
	struct job j;

	(void)state;
	make_with(&j, m, 3, unnamed_s);
	near(sum_of(&j), 10);
	near(named(&j, "sh")->on_path_s, 1);
	near(named(&j, "sh")->unknown_s, 6);
	near(named(&j, "compute")->on_path_s, 2);
	near(named(&j, "compute")->unknown_s, 0);
	near(j.path.unknown_s, 6);
	near(named(&j, "sh")->shorter_s, 9.5);
	path_text(&b, &j.path, &j.summary, false);
	bytes_printf(&b, "%c", 0);
	assert_non_null(strstr((const char *)b.data, "  60.0 %          -          -"));
	bytes_free(&b);
	end(&j);
}

static void test_what_outlives_the_job_is_not_waited_for(void **state)
{
	const struct made m[] = { { "sh", -1, 0, 4, 0 },
				  { "a", 0, 1, 3, 0 },
				  { "daemon", 0, 1, 9, 0 },
				  { "lives", 0, 1, NAN, 0 } };
	struct job j;

	(void)state;
	make(&j, m, 4);
	near(j.path.wall_s, 4);
	near(named(&j, "a")->on_path_s, 2);
	assert_null(named(&j, "daemon"));
	end(&j);
}

static void test_there_is_none(void **state)
{
	const struct made m[] = { { "sh", -1, 0, NAN, 0 } };
	struct bytes b = { 0 };
	struct job j;

	(void)state;
	make(&j, m, 1);
	assert_int_equal(j.path.root, UINT32_MAX);
	path_text(&b, &j.path, &j.summary, false);
	assert_int_equal(b.len, 0);
	path_json(&b, &j.path, &j.summary);
	assert_true(b.len > 0);
	bytes_free(&b);
	end(&j);
}

/* Parents that are their own, each other's, or began later; ends before starts. */
static void test_hostile_trees(void **state)
{
	const struct made m[] = { { "a", 0, 0, 5, 1 },   { "b", 2, 1, 4, 1 },
				  { "c", 1, 1, 4, 1 },   { "d", 0, 6, 2, 1 },
				  { "e", 3, 2, 3, NAN }, { "f", 0, 1, 1, 1 },
				  { "g", 0, -5, 3, 1 },  { "h", 6, -5, INFINITY, 1 } };
	struct job j;

	(void)state;
	make(&j, m, 8);
	near(sum_of(&j), j.path.wall_s);
	end(&j);
}

enum { MANY = 100000 };

static void test_a_chain_of_many(void **state)
{
	struct made *m = calloc(MANY, sizeof *m);
	struct job j;

	(void)state;
	for (int i = 0; i < MANY; i++)
		m[i] = (struct made){ "sh", i - 1, i * 1e-3, 1000 - i * 1e-3, 0 };
	make(&j, m, MANY);
	assert_true(fabs(sum_of(&j) - 1000) < 1e-3);
	assert_int_equal(named(&j, "sh")->processes, MANY);
	end(&j);
	free(m);
}

/* A parent of many: each starts when the one before has ended. */
static void test_many_children(void **state)
{
	struct made *m = calloc(MANY + 1, sizeof *m);
	struct job j;

	(void)state;
	m[0] = (struct made){ "sh", -1, 0, MANY, 0 };
	for (int i = 0; i < MANY; i++)
		m[i + 1] = (struct made){ i % 2 ? "odd" : "even", 0, i, i + 1, 1 };
	make(&j, m, MANY + 1);
	assert_true(fabs(named(&j, "odd")->shorter_s - 0.75 * MANY) < 1e-3);
	end(&j);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_after_the_other),
		cmocka_unit_test(test_side_by_side),
		cmocka_unit_test(test_what_it_needed_nobody_has_seen),
		cmocka_unit_test(test_who_computes_does_not_wait),
		cmocka_unit_test(test_waiting_for_the_unknown_is_no_ones),
		cmocka_unit_test(test_what_outlives_the_job_is_not_waited_for),
		cmocka_unit_test(test_there_is_none),
		cmocka_unit_test(test_hostile_trees),
		cmocka_unit_test(test_a_chain_of_many),
		cmocka_unit_test(test_many_children),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
