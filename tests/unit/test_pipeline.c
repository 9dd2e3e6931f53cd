/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks of workflow tools among made processes (report/summary/pipeline.h), and the rules that
 * say which they are. Real ones: tests/interop/pipelines-of-real-tools.py. */
#include "report/summary/pipeline.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* parent: the place of another one, -1: none. */
struct made {
	const char *name, *line;
	int parent;
	double start_s, end_s, cpu_s, peak_mb;
};

struct job {
	struct run run;
	struct summary summary;
	struct pipelines pipelines;
	struct run_node node[2];
};

static void make(struct job *j, const struct made *m, uint32_t n)
{
	struct err e = { "" };

	memset(j, 0, sizeof *j);
	j->run = (struct run){ .ninstances = n + 1, .nodes = j->node, .nnodes = 2 };
	j->run.instances = calloc(n + 1u, sizeof *j->run.instances);
	j->summary.processes = calloc(n + 1u, sizeof *j->summary.processes);
	j->summary.nprocesses = n;
	j->summary.path = "made";
	j->summary.cores_present = 8;
	j->summary.cores_allowed = j->summary.cores_limit = j->summary.memory_limit_bytes = NAN;
	j->summary.memory_asked_bytes = j->summary.memory_present = NAN;
	for (uint32_t i = 0; i < n; i++) {
		j->run.instances[i + 1].parent = (uint32_t)(m[i].parent + 1);
		j->summary.processes[i] = (struct summary_process){
			.instance = i + 1,
			.name = m[i].name,
			.command_line = m[i].line,
			.start_s = m[i].start_s,
			.end_s = m[i].end_s,
			.cpu_s = m[i].cpu_s,
			.peak_rss_bytes = m[i].peak_mb > 0 ? m[i].peak_mb * 1e6 : NAN,
			.read_bytes = NAN,
			.written_bytes = NAN,
			.gpu_bytes = NAN
		};
	}
	assert_int_equal(pipelines_make(&j->pipelines, &j->summary, &j->run, NULL, &e), 0);
}

static void end(struct job *j)
{
	pipelines_free(&j->pipelines);
	free(j->run.instances);
	free(j->summary.processes);
}

static const struct pipeline *tool(const struct job *j, const char *name)
{
	for (uint32_t i = 0; i < j->pipelines.n; i++)
		if (!strcmp(j->pipelines.of[i].tool->name, name))
			return &j->pipelines.of[i];
	return NULL;
}

static const struct pipeline_rule *rule(const struct job *j, const char *of, const char *name)
{
	const struct pipeline *p = tool(j, of);

	for (uint32_t i = 0; p && i < p->nrules; i++)
		if (!strcmp(p->rule[i].name, name))
			return &p->rule[i];
	fail_msg("%s has no rule %s", of, name);
	return NULL;
}

static void near(double got, double wanted)
{
	if (!(fabs(got - wanted) < 1e-6))
		fail_msg("%.17g, and not %.17g", got, wanted);
}

static bool text_has(const struct job *j, const char *part)
{
	struct bytes b = { 0 };
	bool has;

	pipelines_text(&b, &j->pipelines, &j->summary, true);
	bytes_u8(&b, 0);
	has = strstr((const char *)b.data, part) != NULL;
	bytes_free(&b);
	return has;
}

/* cc starts cc1 and as, one after the other; the recursive make and its shell are no tasks. */
static void test_recursive_make(void **state)
{
	const struct made m[] = {
		{ "make", "make -j2", -1, 0, 20, 0.1, 5 },
		{ "cc", "cc -c a.c", 0, 1, 5, 0.1, 2 },
		{ "cc1", NULL, 1, 1, 4, 3, 100 },
		{ "as", NULL, 1, 4, 5, 0.9, 10 },
		{ "sh", "sh -c 'cd sub && make'", 0, 5, 20, 0, 1 },
		{ "make", "make", 4, 5, 20, 0, 5 },
		{ "cc", "cc -c b.c", 5, 6, 12, 0.1, 2 },
		{ "cc1", NULL, 6, 6, 12, 6, 300 },
		{ "sh", "sh -c 'mkdir -p out; LC_ALL=C exec /usr/bin/ld -o x'", 5, 12, 18, 1, 1 },
		{ "ld", NULL, 8, 12, 18, 1, 50 },
	};
	struct job j;

	(void)state;
	make(&j, m, sizeof m / sizeof m[0]);
	assert_int_equal(tool(&j, "make")->ntasks, 3);
	assert_int_equal(rule(&j, "make", "cc")->tasks, 2);
	near(rule(&j, "make", "cc")->wall_median_s, 5);
	near(rule(&j, "make", "cc")->wall_max_s, 6);
	near(rule(&j, "make", "cc")->cpu_s, 10.1);
	near(rule(&j, "make", "cc")->peak_bytes, 302e6);
	near(rule(&j, "make", "x: ld")->peak_bytes, 51e6);
	assert_true(text_has(&j, "make -j8")); /* of 8 cores, one each */
	end(&j);
}

/* Peaks of what ran at the same time are summed up, and not of what came later. */
static void test_peaks(void **state)
{
	const struct made m[] = {
		{ "xargs", "xargs -n1 work", -1, 0, 20, 0, 1 },
		{ "bash work", "bash work", 0, 0, 10, 0, 10 },
		{ "a", "a", 1, 0, 5, 0, 100 },
		{ "b", "b", 1, 2, 6, 0, 200 },
		{ "c", "c", 1, 6, 9, 0, 250 },
		{ "d", NULL, 1, 9, 9.5, 0, 0 },
		{ "short", NULL, 0, 11, 11.3, 0.2, 0 },
	};
	struct job j;

	(void)state;
	make(&j, m, sizeof m / sizeof m[0]);
	near(rule(&j, "xargs", "bash work")->peak_bytes, 310e6);
	assert_int_equal(rule(&j, "xargs", "bash work")->peaks, 1);
	/* Nobody saw it: that is not 0. */
	assert_true(isnan(rule(&j, "xargs", "short")->peak_bytes));
	assert_int_equal(rule(&j, "xargs", "short")->peaks, 0);
	assert_true(text_has(&j, "Of 1 of 2 tasks the peak may be larger"));
	end(&j);
}

/* Toil asks stat for the kind of a file system; a sample may come before it executes that. A step
 * of that name has a command line of its own. */
static void test_helpers_of_a_driver_are_no_tasks(void **state)
{
	static const char runner[] = "python3 toil-cwl-runner flow.cwl";
	const struct made m[] = {
		{ "python3 toil-cwl-runner", runner, -1, 0, 20, 1, 80 },
		{ "stat", NULL, 0, 1, 1.01, 0, 0 },
		{ "stat", runner, 0, 2, 2.1, 0, 80 },
		{ "stat", "stat reads.bam", 0, 3, 9, 1, 2 },
	};
	struct job j;

	(void)state;
	make(&j, m, sizeof m / sizeof m[0]);
	assert_int_equal(rule(&j, "cwl", "stat")->tasks, 1);
	end(&j);
}

static void test_a_peak_may_be_a_bound(void **state)
{
	const struct made m[] = { { "xargs", "xargs", -1, 0, 9, 0, 1 },
				  { "job", "job", 0, 0, 4, 0, 10 },
				  { "unseen", NULL, 1, 0, 1, 0, 0 },
				  { "lives", "lives", 0, 5, NAN, 1, 20 } };
	struct job j;

	(void)state;
	make(&j, m, sizeof m / sizeof m[0]);
	near(rule(&j, "xargs", "job")->peak_bytes, 10e6);
	assert_int_equal(rule(&j, "xargs", "job")->peaks, 0);
	assert_true(text_has(&j, ">= 9.5 MiB"));
	assert_int_equal(rule(&j, "xargs", "lives")->unfinished, 1);
	assert_true(isnan(rule(&j, "xargs", "lives")->wall_max_s));
	assert_true(text_has(&j, "1 task did not end"));
	end(&j);
}

/* The rule is in a command line; the whole of such a process is one task. */
static void test_snakemake_says_its_rules(void **state)
{
	const struct made m[] = {
		{ "python3 snakemake", "/usr/bin/python3 /usr/bin/snakemake -c2", -1, 0, 90, 1,
		  90 },
		{ "sh",
		  "/bin/sh -c 'cd /x && /usr/bin/python3 -m snakemake --snakefile "
		  "'\\''/x/Snakefile'\\'' --target-jobs '\\''align:s=A'\\'' --allowed-rules align "
		  "--cores 2 ...",
		  0, 1, 61, 0, 1 },
		{ "python3 -m snakemake", "python3 -m snakemake --allowed-rules align --cores", 1,
		  1, 61, 60, 800 },
		{ "cbc", "cbc x", 0, 1, 2, 0, 5 },
		{ "bash", "/usr/bin/bash -c 'set -euo pipefail;  samtools sort a | gzip > b'", 0, 3,
		  33, 0, 2 },
		{ "samtools", "samtools sort a", 4, 3, 33, 50, 400 },
		{ "sh snakejob.sort.12.sh", "/bin/sh /x/.snakemake/tmp.ab/snakejob.sort.12.sh", -1,
		  0, 30, 0, 1 },
	};
	struct pipeline_rule evil = { .name = "a: pass\nrule b", .wall_max_s = 1 };
	struct bytes b = { 0 };
	struct job j;

	(void)state;
	make(&j, m, sizeof m / sizeof m[0]);
	assert_int_equal(tool(&j, "snakemake")->ntasks, 3);
	near(rule(&j, "snakemake", "align")->cpu_s, 60);
	near(rule(&j, "snakemake", "samtools")->cores_max, 50. / 30);
	near(rule(&j, "snakemake", "sort")->wall_max_s, 30);
	assert_true(tool(&j, "snakemake")->nameless);
	pipeline_paste(&b, tool(&j, "snakemake"), rule(&j, "snakemake", "align"));
	bytes_u8(&b, 0);
	assert_string_equal((const char *)b.data, "rule align:\n    threads: 1\n"
						  "    resources: runtime=2,\n"
						  "        mem_mb=970,\n");
	bytes_reset(&b);
	pipeline_paste(&b, tool(&j, "snakemake"), &evil);
	assert_int_equal(b.len, 0);
	bytes_free(&b);
	end(&j);
}

/* Names that are hostile are shown, and never pasted. */
static void test_hostile_names(void **state)
{
	const struct made m[] = {
		{ "make", "make", -1, 0, 9, 0, 1 },
		{ "<b>\n\033[31m|`x'; rm -rf /", "x", 0, 0, 4, 4, 10 },
		{ "sh", "*** *** ***", 0, 0, 4, 0, 10 },
		{ "sh", "sh -c '*** ***'", 0, 0, 4, 0, 10 },
		{ "sh", "sh -c", 0, 0, 4, 0, 10 },
		{ "", "", 0, 0, 4, 0, 10 },
	};
	struct bytes b = { 0 };
	struct job j;

	(void)state;
	make(&j, m, sizeof m / sizeof m[0]);
	assert_int_equal(tool(&j, "make")->ntasks, 5);
	assert_int_equal(rule(&j, "make", "sh")->tasks, 3);
	assert_true(text_has(&j, "<b>\\n\\x1b[31m|`x'; rm -rf /"));
	pipelines_markdown(&b, &j.pipelines);
	bytes_u8(&b, 0);
	assert_null(strstr((const char *)b.data, "<b>"));
	assert_null(strchr((const char *)b.data, '\033'));
	bytes_reset(&b);
	pipelines_json(&b, &j.pipelines, &j.summary);
	bytes_u8(&b, 0);
	assert_null(strstr((const char *)b.data, "<b>"));
	bytes_free(&b);
	end(&j);
}

/* Parents that are their own, each other's, or began later; ends before starts. */
static void test_hostile_trees(void **state)
{
	const struct made m[] = { { "make", "make", 0, 0, 5, 1, 1 }, { "make", "m", 2, 1, 4, 1, 1 },
				  { "make", "m", 1, 1, 4, 1, 1 },    { "d", "d", 0, 6, 2, 1, 1 },
				  { "e", NULL, 3, 2, 3, NAN, 0 },    { "f", "f", 0, 1, 1, 1, 0 },
				  { "g", "g", 9, -5, 3, 1, 1 } };
	struct bytes b = { 0 };
	struct job j;

	(void)state;
	make(&j, m, 6);
	pipelines_json(&b, &j.pipelines, &j.summary);
	assert_true(b.len > 0);
	bytes_free(&b);
	end(&j);
}

enum { MANY = 10000, NAME = 16 };

static void test_many_tasks(void **state)
{
	struct made *m = calloc(MANY + 1, sizeof *m);
	char(*name)[NAME] = calloc(MANY + 1, sizeof *name);
	struct job j;

	(void)state;
	m[0] = (struct made){ "xargs", "xargs", -1, 0, 2 * MANY, 0, 1 };
	for (int i = 1; i <= MANY; i++) {
		snprintf(name[i], NAME, "rule%d", i % 100);
		m[i] = (struct made){ name[i], "x", 0, i, i + 1 + i % 100, 1, 1 };
	}
	make(&j, m, MANY + 1);
	assert_int_equal(tool(&j, "xargs")->nrules, 100);
	assert_int_equal(rule(&j, "xargs", "rule7")->tasks, 100);
	near(rule(&j, "xargs", "rule7")->wall_median_s, 8);
	end(&j);
	free(m);
	free(name);
}

/* A task that was seen on two GPUs, and one that was on none: a column, and a line to paste. */
static void test_tasks_on_gpus(void **state)
{
	const struct made m[] = {
		{ "python3 snakemake", "/usr/bin/python3 /usr/bin/snakemake -c2", -1, 0, 90, 1,
		  90 },
		{ "python3 -m snakemake",
		  "python3 -m snakemake -s x --allowed-rules train --cores 2", 0, 1, 61, 60, 800 },
		{ "python3 train.py", "python3 train.py", 1, 2, 60, 50, 700 },
		{ "python3 -m snakemake",
		  "python3 -m snakemake -s x --allowed-rules sort --cores 2", 0, 61, 90, 20, 100 },
	};
	struct bytes b = { 0 };
	struct job j;

	(void)state;
	make(&j, m, sizeof m / sizeof m[0]);
	assert_false(text_has(&j, "GPU memory"));
	pipelines_free(&j.pipelines);
	j.summary.processes[2].gpus = 2;
	j.summary.processes[2].gpu_bytes = 3e9;
	assert_int_equal(
		pipelines_make(&j.pipelines, &j.summary, &j.run, NULL, &(struct err){ "" }), 0);
	near(rule(&j, "snakemake", "train")->gpu_bytes, 3e9);
	assert_int_equal(rule(&j, "snakemake", "train")->gpus, 2);
	assert_true(isnan(rule(&j, "snakemake", "sort")->gpu_bytes));
	assert_true(text_has(&j, "GPU memory"));
	assert_true(text_has(&j, "gpu=2,"));
	pipeline_paste(&b, tool(&j, "snakemake"), rule(&j, "snakemake", "sort"));
	bytes_u8(&b, 0);
	assert_null(strstr((const char *)b.data, "gpu="));
	bytes_reset(&b);
	pipelines_json(&b, &j.pipelines, &j.summary);
	bytes_u8(&b, 0);
	assert_non_null(strstr((const char *)b.data, "\"gpus\": 2"));
	assert_non_null(strstr((const char *)b.data, "\"gpu_memory_bytes\": 3000000000"));
	bytes_free(&b);
	end(&j);
}

/* A task of make is named after the file that a command line of it says it writes, if one does. */
static void test_files_name_tasks_of_make(void **state)
{
	static const struct {
		const char *name, *line, *rule;
	} cases[] = {
		{ "gcc", "gcc -O2 -c src/a.c -o build/a.o", "build/a.o: gcc" },
		{ "gcc", "/usr/bin/gcc-12 a.o -o ./app -lm", "app: gcc" },
		{ "sh", "sh -c 'cd lib && ar rcs libx.a a.o b.o'", "libx.a: ar" },
		{ "sh", "/bin/sh -ec 'sort a.txt | uniq >'\\''out/b.txt'\\''; :'",
		  "out/b.txt: sort" },
		{ "sh", "sh -c 'mkdir -p x; CC=1 exec cc -c \\\n a.c -o a.o'", "a.o: cc" },
		{ "sh", "sh -c 'work 2>err.log >>sum'", "sum: work" },
		{ "sh", "sh -c 'work 2>>err.log >&2'", "work" },
		{ "sh", "sh -c 'awk '\\''$1 > 0.5e'\\'' in; work >/dev/null'", "awk" },
		{ "bash", "bash -eu -o pipefail -c 'work --output=r/t.csv'", "r/t.csv: work" },
		{ "kubectl", "kubectl get -o json --output=json", "kubectl" },
		{ "ps", "ps -o pid,comm x.y", "ps" },
		{ "work", "work -o /tmp/cc12.s -o '$x.o' -o 'a b.o' -o -x.o -o dir/ -o 1.5",
		  "work" },
		{ "work", "work -o lib/lo...", "work" }, /* cut */
		{ "work", "work -o '***'", "work" },
		{ "work", "work -o /data/build/r.dat", "r.dat: work" },
		{ "work", "work -o", "work" },
		{ "sh", "sh -c '", "sh" },
		{ "sh", "sh -c 'sh -c '\\''sh -c \"sh -c x\" > a.b'\\''", "a.b: sh" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const struct made m[] = { { "make", "make", -1, 0, 9, 0, 1 },
					  { cases[i].name, cases[i].line, 0, 0, 4, 4, 10 } };
		struct job j;

		make(&j, m, 2);
		if (strcmp(tool(&j, "make")->rule[0].name, cases[i].rule) != 0)
			fail_msg("%s is %s", cases[i].line, tool(&j, "make")->rule[0].name);
		end(&j);
	}
}

/* Several files of a program that end alike are one rule; what it started says it, too. */
static void test_files_that_end_alike_are_a_rule(void **state)
{
	const struct made m[] = {
		{ "make", "make -j4", -1, 0, 20, 0.1, 5 },
		{ "cc", "cc -I/very/long -c a.c ...", 0, 1, 5, 0.1, 2 },
		{ "cc1", "cc1 a.c -o /tmp/x.s", 1, 1, 4, 3, 100 },
		{ "as", "as -o lib/a.o /tmp/x.s", 1, 4, 5, 0.9, 10 },
		{ "cc", "cc -c b.c -o lib/b.o", 0, 5, 8, 0.1, 200 },
		{ "c++", "c++ -c c.cc -o lib/c.o", 0, 5, 8, 0.1, 2 },
		{ "cc", "cc lib/a.o -o app.bin", 0, 8, 9, 0.1, 2 },
		{ "cc", "cc lib/a.o -o app.bin", 0, 9, 10, 0.1, 2 },
		{ "cc", "cc lib/a.o -shared -o lib.so.1", 0, 9, 10, 0.1, 2 },
		{ "cc", "cc lib/a.o -shared -o lib.so.2", 0, 9, 10, 0.1, 2 },
	};
	struct job j;

	(void)state;
	make(&j, m, sizeof m / sizeof m[0]);
	assert_int_equal(rule(&j, "make", "*.o: cc")->tasks, 2);
	near(rule(&j, "make", "*.o: cc")->peak_bytes, 200e6);
	assert_int_equal(rule(&j, "make", "lib/c.o: c++")->tasks, 1);
	assert_int_equal(rule(&j, "make", "app.bin: cc")->tasks, 2);
	assert_int_equal(rule(&j, "make", "lib.so.1: cc")->tasks, 1);
	assert_int_equal(tool(&j, "make")->nrules, 5);
	assert_false(tool(&j, "make")->nameless);
	end(&j);
}

static void test_no_tool(void **state)
{
	const struct made m[] = { { "sh", "sh", -1, 0, 9, 0, 1 }, { "a", "a", 0, 0, 4, 4, 10 } };
	struct job j;

	(void)state;
	make(&j, m, 2);
	assert_int_equal(j.pipelines.n, 0);
	end(&j);
}

static void test_patterns(void **state)
{
	static const struct {
		const char *pattern, *text, *rule; /* NULL: it does not match */
	} cases[] = {
		{ "* --step {rule} *", "x --step a_1.b --y", "a_1.b" },
		{ "*/job.{rule}.*.sh", "/x/job.sort.1.sh", "sort" },
		{ "name: {rule}*", "name: COUNT (2)", "COUNT" },
		{ "name: {rule}", "name: A:B", "A:B" },
		{ "name: {rule}", "name: ", NULL },
		{ "name: {rule}", "name: a b", NULL },
		{ "{rule}=1", "x=1", "x" },
		{ "make", "make", "" },
		{ "make", "maker", NULL },
		{ "* --step {rule} *", "x --step '$(rm)' y", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char copy[64], got[PIPELINE_RULE_MAX];
		struct pipeline_words w = { .word = { copy }, .n = 1 };

		snprintf(copy, sizeof copy, "%s", cases[i].pattern);
		assert_int_equal(pipeline_match(&w, cases[i].text, got), cases[i].rule != NULL);
		if (cases[i].rule)
			assert_string_equal(got, cases[i].rule);
	}
}

static void test_faults_of_files(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "label: x\n", "f:1:1: " },
		{ "tool: A\n", "f:1:1: a tool's name is made of a-z, 0-9 and '-', not 'A'" },
		{ "tool: a\nlabel: A\n", "f:1:1: tool a has neither 'driver:' nor 'task:'" },
		{ "tool: a\ndriver: a\n", "f:1:1: tool a has no 'label:'" },
		{ "tool: a\nlabel: A\ndriver: a\nfile: x\n", "f:1:1: tool a has some of" },
		{ "tool: a\nlabel: A\ndriver: a,b\n", "f:3:" },
		{ "tool: a\nlabel: A\ndriver: a\npaste: x\n", "f:4:" },
		{ "tool: a\nlabel: A\ndriver: a\nrecords: x\n", "f:4:" },
		{ "tool: a\nlabel: A\ndriver: a\ntool: a\n", "f:4:1: there is a tool a already" },
		{ "tool: a\nlabel: A\nwhat: a\n", "f:3:1: " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct pipeline_tools t = { 0 };
		struct err e = { "" };

		assert_int_not_equal(
			pipeline_tools_add(&t, "f", cases[i].text, strlen(cases[i].text), &e), 0);
		if (strncmp(e.text, cases[i].why, strlen(cases[i].why)) != 0)
			fail_msg("%s, and not %s", e.text, cases[i].why);
		pipeline_tools_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recursive_make),
		cmocka_unit_test(test_peaks),
		cmocka_unit_test(test_helpers_of_a_driver_are_no_tasks),
		cmocka_unit_test(test_a_peak_may_be_a_bound),
		cmocka_unit_test(test_snakemake_says_its_rules),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_hostile_trees),
		cmocka_unit_test(test_many_tasks),
		cmocka_unit_test(test_tasks_on_gpus),
		cmocka_unit_test(test_files_name_tasks_of_make),
		cmocka_unit_test(test_files_that_end_alike_are_a_rule),
		cmocka_unit_test(test_no_tool),
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_faults_of_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
