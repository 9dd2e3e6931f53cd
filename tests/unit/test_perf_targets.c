/* SPDX-License-Identifier: Apache-2.0 */
/* archspec's Linux targets: each has the events file of its CPU and no other's. Each file says
 * where its codes are from. A CPU without a file counts cycles and instructions. */
#include "source/perf/perf_plan.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TARGETS = 43 };

static FILE *open_below_top(const char *path)
{
	const char *top = getenv("TOP");
	char whole[512];
	FILE *f;

	snprintf(whole, sizeof whole, "%s/%s", top ? top : ".", path);
	f = fopen(whole, "re");
	assert_non_null(f);
	return f;
}

static struct perf_table *read_table(const struct perf_cpu *cpu, const char *name)
{
	struct perf_table *t = malloc(sizeof *t);
	struct err e = { "" };

	assert_non_null(t);
	perf_table_init(t, cpu, name);
	if (perf_table_builtin(t, &e))
		fail_msg("%s", e.text);
	return t;
}

static void free_table(struct perf_table *t)
{
	perf_table_free(t);
	free(t);
}

struct counts {
	unsigned right, none, wrong;
};

static void take_target(const char *name, const char *arch, const char *cpuinfo, struct counts *n)
{
	struct perf_cpu cpu;
	struct perf_table *t;

	perf_cpu_parse(cpuinfo, &cpu);
	t = read_table(&cpu, NULL);
	print_message("%-32s %s\n", name, t->arch ? t->arch : "none");
	n->none += !t->arch;
	n->right += t->arch && !strcmp(t->arch, arch);
	n->wrong += t->arch && strcmp(t->arch, arch) != 0;
	free_table(t);
}

/* A target of tests/fixtures/archspec-targets.txt: "target NAME ARCH", then lines of a cpuinfo up
 * to a blank one. */
static bool next_target(FILE *f, char name[64], char arch[64], char *text, size_t size)
{
	char line[128];
	size_t n = 0;

	while (fgets(line, sizeof line, f) &&
	       sscanf(line, "target %63[^ \n] %63[^ \n]", name, arch) != 2)
		;
	if (feof(f))
		return false;
	text[0] = '\0';
	while (fgets(line, sizeof line, f) && *line != '\n') {
		assert_true(n + strlen(line) < size);
		n += (size_t)snprintf(text + n, size - n, "%s", line);
	}
	return true;
}

static void each_target_has_its_own_table(void **state)
{
	FILE *f = open_below_top("tests/fixtures/archspec-targets.txt");
	char name[64], arch[64], text[1024];
	struct counts n = { 0 };

	(void)state;
	while (next_target(f, name, arch, text, sizeof text))
		take_target(name, arch, text, &n);
	fclose(f);
	print_message("%u targets with a table, %u without, %u with another CPU's\n", n.right,
		      n.none, n.wrong);
	assert_int_equal(n.right, TARGETS);
	assert_int_equal(n.none, 0);
	assert_int_equal(n.wrong, 0);
}

/* archspec's own name of a target is behind the last '-'; x86_64_v3 is no CPU. */
static void each_target_is_found_by_its_name(void **state)
{
	FILE *f = open_below_top("tests/fixtures/archspec-targets.txt");
	char name[64], arch[64], text[1024];
	unsigned n = 0;

	(void)state;
	while (next_target(f, name, arch, text, sizeof text)) {
		const char *own = strrchr(name, '-') + 1;
		struct perf_table *t = read_table(NULL, own);

		if (!t->arch && strcmp(own, "x86_64_v3") != 0)
			fail_msg("%s", own);
		n += t->arch != NULL;
		free_table(t);
	}
	fclose(f);
	assert_int_equal(n, TARGETS - 1);
}

static bool names_its_source(const char *file)
{
	char path[320], line[512];
	bool named = false;
	FILE *f;

	snprintf(path, sizeof path, "events/%s", file);
	f = open_below_top(path);
	while (!named && fgets(line, sizeof line, f))
		named = !strncmp(line, "# Codes: ", 9) && strlen(line) > 20;
	fclose(f);
	return named;
}

static void each_file_says_where_its_codes_are_from(void **state)
{
	const char *top = getenv("TOP");
	char path[512];
	unsigned n = 0;
	DIR *d;

	(void)state;
	snprintf(path, sizeof path, "%s/events", top ? top : ".");
	d = opendir(path);
	assert_non_null(d);
	for (struct dirent *entry; (entry = readdir(d));) {
		if (!strstr(entry->d_name, ".events"))
			continue;
		if (!names_its_source(entry->d_name))
			fail_msg("%s has no line '# Codes: '", entry->d_name);
		n++;
	}
	closedir(d);
	assert_true(n > 50);
}

static bool has_set_with(const struct perf_plan *plan, const char *id)
{
	for (uint32_t i = 0; i < plan->n; i++)
		for (uint32_t k = 0; k < plan->set[i].n; k++)
			if (!strcmp(perf_set_event(&plan->set[i], k)->id, id))
				return true;
	return false;
}

/* Whether a file knows the CPU or none does, what is counted unasked is these two. */
static void every_cpu_counts_cycles_and_instructions(void **state)
{
	static const struct perf_cpu unknown = { "NoSuchVendor", 99, 1, 1 };
	static const char *const names[] = { NULL,      "alderlake", "apple_m1", "riscv",
					     "power10", "bulldozer", "thunderx2" };

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct perf_table *t = read_table(&unknown, names[i]);
		const struct perf_budget b = { t->counters, true };
		static struct perf_plan plan;

		assert_true(names[i] ? t->arch != NULL : !t->arch);
		assert_int_equal(perf_plan_make(&plan, t, "auto", &b), 0);
		assert_true(has_set_with(&plan, "cycles"));
		assert_true(has_set_with(&plan, "instructions"));
		assert_int_equal(plan.n, 1); /* counted together: their ratio holds */
		free_table(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_target_has_its_own_table),
		cmocka_unit_test(each_target_is_found_by_its_name),
		cmocka_unit_test(each_file_says_where_its_codes_are_from),
		cmocka_unit_test(every_cpu_counts_cycles_and_instructions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
