/* SPDX-License-Identifier: Apache-2.0 */
/* The events files: each CPU finds its own, their codes are the golden ones, a faulty line is
 * named; sets fit the counters. */
#include "core/expr/expr.h"
#include "source/perf/perf_plan.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

static const char *type_of(const char *pmu)
{
	return !strcmp(pmu, "hardware")   ? "0"
	       : !strcmp(pmu, "software") ? "1"
	       : !strcmp(pmu, "cpu")      ? "4"
					  : pmu;
}

static const struct perf_event *find_event(const struct perf_group *g, const char *id)
{
	for (uint32_t i = 0; g && i < g->nevents; i++)
		if (!strcmp(g->event[i].id, id))
			return &g->event[i];
	return NULL;
}

static FILE *golden(const char *name)
{
	const char *top = getenv("TOP");
	char path[512];
	FILE *f;

	snprintf(path, sizeof path, "%s/tests/golden/%s", top ? top : ".", name);
	f = fopen(path, "re");
	assert_non_null(f);
	return f;
}

/* Events of groups that are the CPU's own. */
static size_t count_own(const struct perf_table *t, bool any)
{
	size_t n = 0;

	for (uint32_t i = 0; i < t->ngroups; i++)
		n += t->group[i].any == any ? t->group[i].nevents : 0;
	return n;
}

/* Both ways: every golden line is in the files, and the files hold no event more. */
static void codes_are_the_golden_ones(void **state)
{
	char arch[48], group[48], id[48], type[48], last[48] = "";
	struct perf_table *t = NULL;
	size_t own = 0, lines = 0;
	uint64_t config, config1;
	FILE *f = golden("perf-events.txt");

	(void)state;
	while (fscanf(f, "%47s %47s %47s %47s %" SCNx64 " %" SCNx64, arch, group, id, type, &config,
		      &config1) == 6) {
		const struct perf_event *ev;
		char *kind = strchr(id, '@');

		if (kind)
			*kind++ = '\0';
		if (strcmp(arch, last) != 0) {
			if (t)
				assert_int_equal(own, count_own(t, !strcmp(last, "any")));
			if (t)
				free_table(t);
			t = read_table(NULL, arch);
			snprintf(last, sizeof last, "%s", arch);
			own = 0;
		}
		ev = find_event(perf_table_group(t, group), id);
		if (!ev)
			fail_msg("%s has no event %s in group %s", arch, id, group);
		if (perf_code(ev, kind) != config || ev->config[1] != config1 || ev->config[2] ||
		    strcmp(type_of(ev->pmu), type) != 0)
			fail_msg("%s %s %s: %s %#" PRIx64 " %#" PRIx64, arch, group, id, ev->pmu,
				 perf_code(ev, kind), ev->config[1]);
		own += !kind;
		lines++;
	}
	assert_true(feof(f));
	fclose(f);
	assert_non_null(t);
	assert_int_equal(own, count_own(t, !strcmp(last, "any")));
	free_table(t);
	assert_true(lines > 1000);
}

static void check_cpu(const char *cpuinfo, const char *arch)
{
	struct perf_cpu cpu;
	struct perf_table *t;

	perf_cpu_parse(cpuinfo, &cpu);
	t = read_table(&cpu, NULL);
	if (arch) {
		assert_non_null(t->arch);
		assert_string_equal(t->arch, arch);
		assert_true(t->counters >= 2);
	} else {
		assert_null(t->arch);
		assert_non_null(perf_table_group(t, "hardware"));
		assert_true(perf_table_group(t, "hardware")->any);
		assert_null(perf_table_group(t, "l2"));
		assert_null(perf_table_group(t, "memory"));
	}
	free_table(t);
}

static const struct {
	const char *vendor;
	unsigned family, model, stepping;
	const char *arch;
} cpus[] = {
	{ "GenuineIntel", 6, 0x2a, 7, "sandybridge_client" },
	{ "GenuineIntel", 6, 0x2d, 7, "sandybridge_ep" },
	{ "GenuineIntel", 6, 0x3a, 9, "ivybridge_client" },
	{ "GenuineIntel", 6, 0x3e, 4, "ivybridge_ep" },
	{ "GenuineIntel", 6, 0x46, 1, "haswell_client" },
	{ "GenuineIntel", 6, 0x3f, 2, "haswell_ep" },
	{ "GenuineIntel", 6, 0x47, 1, "broadwell_client" },
	{ "GenuineIntel", 6, 0x4f, 1, "broadwell_ep" },
	{ "GenuineIntel", 6, 0x56, 1, "broadwell_ep" },
	{ "GenuineIntel", 6, 0x9e, 9, "skylake_client" },
	{ "GenuineIntel", 6, 0x55, 4, "skylake_sp" },
	{ "GenuineIntel", 6, 0x55, 5, "cascadelake_sp" },
	{ "GenuineIntel", 6, 0x55, 7, "cascadelake_sp" },
	{ "GenuineIntel", 6, 0x55, 8, NULL },
	{ "GenuineIntel", 6, 0x55, 11, "cascadelake_sp" },
	{ "GenuineIntel", 6, 0x7e, 5, "icelake_client" },
	{ "GenuineIntel", 6, 0x6a, 6, "icelake_sp" },
	{ "GenuineIntel", 6, 0x8f, 8, "sapphirerapids" },
	{ "GenuineIntel", 6, 0xcf, 2, "emeraldrapids" },
	{ "GenuineIntel", 6, 0xad, 1, "graniterapids" },
	{ "GenuineIntel", 6, 0x2c, 2, "westmere" },
	{ "GenuineIntel", 6, 0xaf, 3, "sierraforest" },
	{ "GenuineIntel", 6, 0x85, 0, NULL }, /* Knights Mill */
	{ "GenuineIntel", 6, 0x1a, 5, NULL }, /* Nehalem */
	{ "AuthenticAMD", 0x17, 0x01, 2, "zen" },
	{ "HygonGenuine", 0x18, 0x00, 2, "zen" },
	{ "AuthenticAMD", 0x18, 0x00, 2, NULL },
	{ "AuthenticAMD", 0x17, 0x31, 0, "zen2" },
	{ "AuthenticAMD", 0x19, 0x01, 1, "zen3" },
	{ "AuthenticAMD", 0x19, 0x30, 1, "zen3" },
	{ "AuthenticAMD", 0x19, 0x11, 1, "zen4" },
	{ "AuthenticAMD", 0x19, 0x90, 1, "zen4" },
	{ "AuthenticAMD", 0x19, 0xa0, 1, "zen4" },
	{ "AuthenticAMD", 0x1a, 0x02, 1, "zen5" },
	{ "AuthenticAMD", 0x1a, 0x11, 0, "zen5" },
	{ "AuthenticAMD", 0x1a, 0x51, 0, "zen6" },
	{ "AuthenticAMD", 0x1b, 0x02, 0, NULL },
	{ "AuthenticAMD", 0x0f, 0x41, 2, "amd_small" },
	{ "AuthenticAMD", 0x10, 0x09, 1, "k10" },
	{ "AuthenticAMD", 0x11, 0x03, 1, "amd_small" },
	{ "AuthenticAMD", 0x12, 0x01, 0, "k10" },
	{ "AuthenticAMD", 0x14, 0x02, 0, "amd_small" },
	{ "AuthenticAMD", 0x15, 0x60, 1, "bulldozer" },
	{ "AuthenticAMD", 0x16, 0x30, 1, "amd_small" },
	{ "GenuineIntel", 6, 0x97, 2, "alderlake" },
	{ "GenuineIntel", 6, 0xb7, 1, "alderlake" },
	{ "GenuineIntel", 6, 0xaa, 4, "meteorlake" },
	{ "GenuineIntel", 6, 0xc6, 2, "arrowlake" },
	{ "GenuineIntel", 6, 0xbd, 1, "lunarlake" },
};

static void each_cpu_finds_its_file_and_no_other(void **state)
{
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof cpus / sizeof cpus[0]; i++) {
		snprintf(text, sizeof text,
			 "processor\t: 0\nvendor_id\t: %s\ncpu family\t: %u\nmodel\t\t: %u\n"
			 "model name\t: A CPU at 2.40GHz\nstepping\t: %u\nflags\t\t: fpu\n\n",
			 cpus[i].vendor, cpus[i].family, cpus[i].model, cpus[i].stepping);
		check_cpu(text, cpus[i].arch);
	}
	check_cpu("processor\t: 0\nBogoMIPS\t: 2000.00\nCPU implementer\t: 0x41\n"
		  "CPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd4f\nCPU revision\t: 0\n",
		  "neoverse_v2");
	check_cpu("CPU implementer\t: 0x46\nCPU part\t: 0x001\nCPU revision\t: 0\n", "a64fx");
	check_cpu("CPU implementer\t: 0x41\nCPU part\t: 0xd84\nCPU revision\t: 0\n", "neoverse_v3");
	check_cpu("CPU implementer\t: 0x41\nCPU part\t: 0xd8e\n", "neoverse_n3");
	check_cpu("CPU implementer\t: 0x42\nCPU part\t: 0x516\n", "thunderx2");
	check_cpu("CPU implementer\t: 0x48\nCPU part\t: 0xd01\n", "kunpeng920");
	check_cpu("CPU implementer\t: 0x61\nCPU part\t: 0x029\n", "apple_m1");
	check_cpu("CPU implementer\t: 0x61\nCPU part\t: 0x049\n", "apple_later");
	check_cpu("CPU implementer\t: 0x61\nCPU part\t: 0x012\n", NULL);
	check_cpu("CPU implementer\t: 0x41\nCPU part\t: 0xd0f\n", NULL);
	check_cpu("processor\t: 0\nhart\t\t: 1\nisa\t\t: rv64imafdc\nmmu\t\t: sv39\n", "riscv");
	check_cpu("processor\t: 0\nisa\t\t: rv32imac\n", NULL);
	check_cpu("processor\t: 0\nisa\t\t: rvimac\n", NULL);
	check_cpu("isa\t: mips1 mips2\n", NULL);
	check_cpu("cpu\t: POWER7 (architected)\nrevision\t: 2.1 (pvr 003f 0201)\n", "power7");
	check_cpu("cpu\t: Power11\nrevision\t: 2.0 (pvr 0082 0200)\n", "power10");
	check_cpu("processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 2300MHz\n"
		  "revision\t: 2.2 (pvr 004e 1202)\n",
		  "power9");
	check_cpu("", NULL);
	check_cpu("vendor_id\t: GenuineIntel\ncpu family\t: 6\n", NULL);
	check_cpu("vendor_id\t: GenuineIntel\ncpu family\t: 99999999999999999999\nmodel\t: 1\n",
		  NULL);
}

/* archspec's names, as perfmon's files have them. */
static void names_find_files_too(void **state)
{
	static const char *const names[][2] = {
		{ "skylake_avx512", "skylake_sp" },
		{ "skylake", "skylake_client" },
		{ "haswell", "haswell_ep" },
		{ "westmere", "westmere" },
		{ "zen3", "zen3" },
		{ "power9le", "power9" },
		{ "cascadelake", "cascadelake_sp" },
		{ "haswell_ep", "haswell_ep" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct perf_table *t = read_table(NULL, names[i][0]);

		assert_non_null(t->arch);
		assert_string_equal(t->arch, names[i][1]);
		free_table(t);
	}
}

static void a_fault_is_named_with_file_and_line(void **state)
{
	static const struct {
		const char *text, *says;
	} faults[] = {
		{ "group a\nevent x X cpu config=0x1\nmetric m = x +\n", "my.events:3: " },
		{ "group a\nevent x X cpu config=0x1\nmetric m = y\n",
		  "my.events:3: the group has no" },
		{ "group a\nevent x X cpu config=0x1\nmetric m = mean(x)\n",
		  "my.events:3: the group" },
		{ "group a\nevent x X cpu config=0xg\n", "my.events:2: an event has config=" },
		{ "group a\nevent x X cpu config=0x11111111111111111\n", "my.events:2: " },
		{ "group a\nevent x X cpu config3=0x1\n", "my.events:2: an event has no" },
		{ "group a\nevent x X\n", "my.events:2: 'event' needs" },
		{ "group a\nevent enabled X cpu\n", "my.events:2: an event's id" },
		{ "group a\nevent x X cpu\nevent x Y cpu\n",
		  "my.events:3: the group has two events" },
		{ "group a\nevent x X ../cpu\n", "my.events:2: " },
		{ "event x X cpu\n", "my.events:1: only a group" },
		{ "\n\ngroups a\n", "my.events:3: a line begins with" },
		{ "arch Zen\n", "my.events:1: 'arch' needs" },
		{ "arch a\ncpu GenuineIntel 6\n", "my.events:2: 'cpu' needs" },
		{ "arch a\ncpu GenuineIntel 6 1,\n", "my.events:2: 'cpu' needs" },
		{ "arch a\ncpu GenuineIntel 6 5-1\n", "my.events:2: 'cpu' needs" },
		{ "arch a\ncounters 0\n", "my.events:2: 'counters' needs" },
		{ "arch a\ngroup b\nevent x X cpu\ncounters 4\n",
		  "my.events:4: the groups have begun" },
		{ "group a\ngroup b\n", "my.events:2: there is nothing in the group 'a'" },
		{ "group a\nabout no stop\n", "my.events:2: 'about' needs" },
		{ "group a\nevent x X cpu\nmetric m x\n", "my.events:3: 'metric' needs" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
		struct perf_table *t = read_table(NULL, "zen3");
		struct err e = { "" };

		assert_int_equal(perf_table_parse(t, "my.events", faults[i].text,
						  strlen(faults[i].text), &e),
				 -EINVAL);
		if (strncmp(e.text, faults[i].says, strlen(faults[i].says)) != 0)
			fail_msg("'%s' is no '%s'", e.text, faults[i].says);
		free_table(t);
	}
}

/* A code for one kind of cores; the other kinds have the event's own. */
static void kinds_of_cores_have_codes_of_their_own(void **state)
{
	static const char text[] = "group mine\nevent a A cpu config=7 cpu_atom=8 cpu_lowpower=9\n"
				   "event b B cpu config=7 apple_icestorm_pmu=1\n";
	static const char *const wrong[] = { "cpu_big=8", "cpu=8", "cpu_atom=x", "uncore_imc=8",
					     "cpu_atom=1 cpu_core=1 armv8_a=1 cpu_lowpower=1" };
	struct perf_table *t = read_table(NULL, "alderlake");
	const struct perf_event *a;
	struct err e = { "" };

	(void)state;
	assert_int_equal(perf_table_parse(t, "f", text, sizeof text - 1, &e), 0);
	a = find_event(perf_table_group(t, "mine"), "a");
	assert_true(perf_code(a, "cpu_core") == 7 && perf_code(a, NULL) == 7);
	assert_true(perf_code(a, "cpu_atom") == 8 && perf_code(a, "cpu_lowpower") == 9);
	a = find_event(perf_table_group(t, "mine"), "b");
	assert_true(perf_code(a, "apple_icestorm_pmu") == 1);
	assert_true(perf_code(a, "apple_firestorm_pmu") == 7);
	a = find_event(perf_table_group(t, "l2cache"), "l2_req");
	assert_true(perf_code(a, "cpu_core") == 0xff24 && perf_code(a, "cpu_atom") == 0x24);
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		char line[128];
		int n = snprintf(line, sizeof line, "group g\nevent a A cpu config=1 %s\n",
				 wrong[i]);

		assert_int_equal(perf_table_parse(t, "f", line, (size_t)n, &e), -EINVAL);
	}
	free_table(t);
}

static void a_later_file_extends_and_replaces(void **state)
{
	static const char text[] = "group l2\nevent y Y cpu config=0x7 config1=9\n"
				   "arch zen2 other\ncpu AuthenticAMD 1 1\n"
				   "group l3\nevent z Z cpu config=1\n"
				   "arch zen3\ngroup mine\nevent z Z cpu config=2";
	struct perf_table *t = read_table(NULL, "zen3");
	const struct perf_group *g;
	struct err e = { "" };

	(void)state;
	assert_int_equal(perf_table_parse(t, "f", text, sizeof text - 1, &e), 0);
	g = perf_table_group(t, "l2");
	assert_int_equal(g->nevents, 1);
	assert_int_equal(g->event[0].config[1], 9);
	assert_null(find_event(perf_table_group(t, "l3"), "z"));
	assert_non_null(find_event(perf_table_group(t, "mine"), "z"));
	assert_string_equal(t->arch, "zen3");
	assert_int_equal(t->counters, 6);
	free_table(t);
}

/* libpfm4 gives the code that the built-in file has. */
static void libpfm4_names_are_accepted(void **state)
{
	static const char text[] = "group mine\nevent a skx::L2_RQSTS:MISS pfm\n"
				   "event b perf::PAGE-FAULTS pfm cost=0\n";
	static const char wrong[] = "group mine\nevent a skx::NO_SUCH pfm\n";
	struct perf_table *t = read_table(NULL, "skylake_sp");
	struct err e = { "" };
	int bad;

	(void)state;
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	bad = perf_table_parse(t, "f", text, sizeof text - 1, &e);
	if (bad && strstr(e.text, "not installed")) {
		assert_non_null(strstr(e.text, "f:2: "));
		print_message("%s\n", e.text);
		free_table(t);
		skip();
	}
	if (bad)
		fail_msg("%s", e.text);
	assert_int_equal(find_event(perf_table_group(t, "mine"), "a")->config[0], 0x3f24);
	assert_string_equal(find_event(perf_table_group(t, "mine"), "a")->pmu, "cpu");
	assert_string_equal(find_event(perf_table_group(t, "mine"), "b")->pmu, "software");
	assert_int_equal(perf_table_parse(t, "f", wrong, sizeof wrong - 1, &e), -EINVAL);
	assert_non_null(strstr(e.text, "f:2: libpfm4 does not know"));
	free_table(t);
}

/* Each set of each group of each CPU fits; with the watchdog, too. */
static void sets_fit_the_counters(void **state)
{
	static const char *const archs[] = {
		"skylake_sp", "haswell_ep",  "icelake_sp", "zen",    "zen4",   "zen5",
		"zen6",       "neoverse_v2", "a64fx",      "power9", "power8", "power10",
		"alderlake",  "neoverse_v3", "bulldozer",  "riscv"
	};

	(void)state;
	for (size_t i = 0; i < sizeof archs / sizeof archs[0]; i++) {
		struct perf_table *t = read_table(NULL, archs[i]);
		struct perf_plan *plan = malloc(sizeof *plan);
		bool fixed = !find_event(perf_table_group(t, "hardware"), "cycles")->counters;

		assert_non_null(plan);
		for (int watchdog = 0; watchdog < 2; watchdog++) {
			const struct perf_budget b = { t->counters, watchdog };
			uint32_t room = t->counters - (watchdog && !fixed), n = 0, all = 0;

			assert_int_equal(perf_plan_make(plan, t, "all", &b), 0);
			for (uint32_t k = 0; k < plan->n; k++) {
				const struct perf_set *s = &plan->set[k];

				n += s->n;
				if (perf_event_place(perf_set_event(s, 0)) == PERF_CORE)
					assert_true(s->counters <= room);
			}
			for (uint32_t k = 0; k < t->ngroups; k++)
				all += t->group[k].nevents;
			assert_int_equal(n, all);
		}
		free(plan);
		free_table(t);
	}
}

static uint32_t sets_of(const char *arch, const char *groups, bool watchdog)
{
	struct perf_table *t = read_table(NULL, arch);
	const struct perf_budget b = { t->counters, watchdog };
	static struct perf_plan plan;
	int bad = perf_plan_make(&plan, t, groups, &b);

	free_table(t);
	return bad ? 0 : plan.n;
}

static void groups_are_chosen_by_name(void **state)
{
	(void)state;
	assert_int_equal(sets_of("skylake_sp", "auto", false), 1);
	assert_int_equal(sets_of("skylake_sp", "FLOPS_SP,FLOPS_DP,L2cache", false), 3);
	assert_int_equal(sets_of("skylake_sp", "topdown", false), 1);
	assert_int_equal(sets_of("skylake_sp", "topdown", true), 2);
	assert_int_equal(sets_of("skylake_sp", "flops", false), 2);
	assert_int_equal(sets_of("zen3", "l2cache", false), 1);
	assert_int_equal(sets_of("zen3", "l2cache", true), 2);
	assert_int_equal(sets_of("zen3", "flops_dp", false), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codes_are_the_golden_ones),
		cmocka_unit_test(each_cpu_finds_its_file_and_no_other),
		cmocka_unit_test(names_find_files_too),
		cmocka_unit_test(a_fault_is_named_with_file_and_line),
		cmocka_unit_test(kinds_of_cores_have_codes_of_their_own),
		cmocka_unit_test(a_later_file_extends_and_replaces),
		cmocka_unit_test(libpfm4_names_are_accepted),
		cmocka_unit_test(sets_fit_the_counters),
		cmocka_unit_test(groups_are_chosen_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
