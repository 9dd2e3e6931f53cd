/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that travel in the program: each speaks just at its threshold, and asks for what is
 * measured. */
#include "report/rule.h"
#include "source/source.h"

#include "summary_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Just enough for a rule that wants ten samples and five seconds. */
#define LONG "samples=10 wall_seconds=5 "

/* Every built-in rule: what just makes it speak, what it says then, and what is just not enough. */
static const struct {
	const char *rule, *fires;
	enum severity severity;
	const char *says;
	const char *quiet[5];
} cases[] = {
	{ "killed",
	  "signal=9 wall_seconds=12",
	  SEVERITY_BAD,
	  "Killed by SIGKILL after 12.0 s.",
	  { "exit_code=0 wall_seconds=12", "signal=0" } },
	{ "failed",
	  "exit_code=1 wall_seconds=0.5",
	  SEVERITY_BAD,
	  "Failed: exit code 1 after 500 ms.",
	  { "exit_code=0 wall_seconds=0.5", "exit_code=129", "exit_code=192", "signal=9" } },
	{ "failed",
	  "exit_code=128 wall_seconds=2",
	  SEVERITY_BAD,
	  "Failed: exit code 128 after 2.00 s.",
	  { "" } },
	{ "failed",
	  "exit_code=193 wall_seconds=2",
	  SEVERITY_BAD,
	  "Failed: exit code 193 after 2.00 s.",
	  { "" } },
	{ "failed-by-signal",
	  "exit_code=129 wall_seconds=2",
	  SEVERITY_BAD,
	  "Failed: exit code 129 after 2.00 s: SIGHUP ended what a shell ran.",
	  { "exit_code=128", "exit_code=193" } },
	{ "failed-by-signal",
	  "exit_code=192 wall_seconds=2",
	  SEVERITY_BAD,
	  "Failed: exit code 192 after 2.00 s: signal 64 ended what a shell ran.",
	  { "" } },
	{ "recording-damaged",
	  "damages=1",
	  SEVERITY_BAD,
	  "The recording is damaged (places: 1); totals may be too small.",
	  { "damages=0" } },
	{ "recording-incomplete",
	  "complete=0",
	  SEVERITY_WARN,
	  "The recording was not closed; figures end with its last sample.",
	  { "complete=1" } },
	{ "recorder-lost",
	  "recorder_lost_seconds=12",
	  SEVERITY_WARN,
	  "A recorder was lost 12.0 s after the start and another one went on; CPU totals are "
	  "whole.",
	  { "complete=1" } },
	{ "unequal-tasks",
	  "unequal_tasks=3 unequal_ratio=1.25 unequal_mean_seconds=40 unequal_most_seconds=90 "
	  "unequal_rank=2",
	  SEVERITY_NOTE,
	  "Unequal tasks: rank 2 used 1 min 30 s of CPU time, 3 tasks 40.0 s on average.",
	  { "unequal_tasks=3 unequal_ratio=0.25 unequal_mean_seconds=40",
	    "unequal_tasks=3 unequal_ratio=2 unequal_mean_seconds=0.9", "" } },
	{ "memory-tight",
	  "peak_memory_bytes=900 memory_present_bytes=1000",
	  SEVERITY_WARN,
	  "Memory nearly exhausted: 900 B of 1000 B at its peak.",
	  { "peak_memory_bytes=899 memory_present_bytes=1000", "peak_memory_bytes=900",
	    "peak_memory_bytes=900 memory_present_bytes=9000 memory_asked_bytes=1001" } },
	{ "memory-tight",
	  "peak_memory_bytes=900 memory_present_bytes=9000 memory_asked_bytes=1000",
	  SEVERITY_WARN,
	  "Memory nearly exhausted: 900 B of 1000 B at its peak.",
	  { "" } },
	{ "swap",
	  "samples=3 job.swap_bytes=0..16777217",
	  SEVERITY_WARN,
	  "Up to 16.0 MiB of the job was swapped out: it lacked memory.",
	  { "job.swap_bytes=0..16777216", "samples=2 job.swap_bytes=0..16777217", "" } },
	{ "swap-node",
	  "samples=3 node.swap_used_bytes=100..268435557",
	  SEVERITY_NOTE,
	  "The machine moved 256.0 MiB to swap during the run.",
	  { "node.swap_used_bytes=100..268435556", "samples=2 node.swap_used_bytes=100..268435557",
	    "node.swap_used_bytes=100..268435557 job.swap_bytes=0..16777217" } },
	{ "swap-node",
	  "node.swap_used_bytes=100..268435557 job.swap_bytes=16777216",
	  SEVERITY_NOTE,
	  "The machine moved 256.0 MiB to swap during the run.",
	  { "" } },
	{ "waiting-on-disk",
	  LONG "node.pressure_io_some_ratio=0.1001",
	  SEVERITY_WARN,
	  "Waited on disk: for 10 % of the time work stood still for storage.",
	  { LONG "node.pressure_io_some_ratio=0.1 node.cpu_iowait_cores=9", "" } },
	{ "waiting-on-disk-iowait",
	  LONG "node.cpu_iowait_cores=0.2501",
	  SEVERITY_WARN,
	  "Waited on disk: 0.25 cores on average could only wait for I/O.",
	  { LONG "node.cpu_iowait_cores=0.25",
	    LONG "node.cpu_iowait_cores=9 node.pressure_io_some_ratio=0.1" } },
	{ "waiting-on-disk-iowait",
	  LONG,
	  SEVERITY_CANNOT_TELL,
	  "Cannot tell if it waited on disk: no I/O pressure, no iowait.",
	  { LONG "node.cpu_iowait_cores=0", LONG "node.pressure_io_some_ratio=0" } },
	{ "cores-asked",
	  LONG "cores_asked=64 cores_used=3.1 cores_used_peak=3.4",
	  SEVERITY_WARN,
	  "64 cores asked for, 3.10 cores used, never more than 3.40 cores; next time #SBATCH "
	  "--cpus-per-task=4.",
	  { LONG "cores_asked=64 cores_used=3.1 cores_used_peak=48.1",
	    LONG "cores_asked=1 cores_used=0.1 cores_used_peak=0.1",
	    LONG "nodes=2 cores_asked=64 cores_used=3.1 cores_used_peak=3.4",
	    LONG "cores_asked=64 cores_used=3.1", LONG "cores_used=3.1 cores_used_peak=3.4" } },
	{ "cores-asked",
	  LONG "cores_asked=2 cores_used=0.01 cores_used_peak=1.5",
	  SEVERITY_WARN,
	  "2 cores asked for, 0.01 cores used, never more than 1.50 cores; next time #SBATCH "
	  "--cpus-per-task=2.",
	  { "" } },
	{ "cores-asked",
	  LONG "cores_asked=2 cores_used=0 cores_used_peak=0",
	  SEVERITY_WARN,
	  "2 cores asked for, 0.00 cores used, never more than 0.00 cores; next time #SBATCH "
	  "--cpus-per-task=1.",
	  { "" } },
	{ "cores-asked-idle",
	  LONG "cores_asked=8 cores_used=3.99 cores_used_peak=6.01",
	  SEVERITY_WARN,
	  "8 cores asked for, 3.99 cores used on average.",
	  { LONG "cores_asked=8 cores_used=4 cores_used_peak=8",
	    LONG "cores_asked=1 cores_used=0.1 cores_used_peak=1",
	    LONG "cores_asked=8 cores_used=3.9 cores_used_peak=6" } },
	{ "cores-asked-idle",
	  LONG "nodes=2 cores_asked=2 cores_used=0.99 cores_used_peak=1",
	  SEVERITY_WARN,
	  "2 cores asked for, 0.99 cores used on average.",
	  { "" } },
	{ "single-core",
	  LONG "cores_present=2 cores_used=0.501 cores_used_peak=1.09",
	  SEVERITY_NOTE,
	  "Only one of 2 cores was in use at a time; nothing ran in parallel.",
	  { LONG "cores_present=2 cores_used=0.51 cores_used_peak=1.1",
	    LONG "cores_present=2 cores_used=0.5 cores_used_peak=1.09",
	    LONG "cores_present=1 cores_used=0.98 cores_used_peak=1.05",
	    LONG "cores_present=4 cores_asked=4 cores_used=0.98 cores_used_peak=1.05" } },
	{ "cores-unused",
	  LONG "cores_present=4 cores_used=1.99 cores_used_peak=2.5",
	  SEVERITY_NOTE,
	  "1.99 cores of 4 used on average, 2.50 cores at most.",
	  { LONG "cores_present=4 cores_used=2 cores_used_peak=2.5",
	    LONG "cores_present=4 cores_used=0.501 cores_used_peak=1.09",
	    LONG "cores_present=1 cores_used=0.1 cores_used_peak=1",
	    LONG "cores_present=4 cores_asked=4 cores_used=1.9 cores_used_peak=2.5",
	    LONG "cores_present=64 cores_allowed=2 cores_used=1.9 cores_used_peak=2" } },
	{ "cores-unused",
	  LONG "cores_present=2 cores_used=0.5 cores_used_peak=1",
	  SEVERITY_NOTE,
	  "0.50 cores of 2 used on average, 1.00 cores at most.",
	  { "" } },
	{ "cores-unused",
	  LONG "cores_present=2 cores_used=0.501 cores_used_peak=1.1",
	  SEVERITY_NOTE,
	  "0.50 cores of 2 used on average, 1.10 cores at most.",
	  { "" } },
	{ "cores-used",
	  LONG "cores_present=5 cores_used=4",
	  SEVERITY_GOOD,
	  "The cores were well used: 4.00 cores of 5 on average.",
	  { LONG "cores_present=5 cores_used=3.99" } },
	{ "memory-asked",
	  LONG "memory_asked_bytes=8589934592 peak_memory_bytes=1288490188",
	  SEVERITY_WARN,
	  "8.0 GiB asked for, 1.2 GiB used; next time #SBATCH --mem=2G.",
	  { LONG "memory_asked_bytes=8589934592 peak_memory_bytes=4294967296",
	    LONG "memory_asked_bytes=2147483647 peak_memory_bytes=1024",
	    LONG "memory_present_bytes=8589934592 peak_memory_bytes=1024" } },
	{ "memory-asked",
	  LONG "memory_asked_bytes=2147483648 peak_memory_bytes=1073741823",
	  SEVERITY_WARN,
	  "2.0 GiB asked for, 1.0 GiB used; next time #SBATCH --mem=2G.",
	  { "" } },
	{ "memory-unused",
	  LONG "memory_present_bytes=8589934592 peak_memory_bytes=858993459",
	  SEVERITY_NOTE,
	  "Little of the memory was used: 819.2 MiB of 8.0 GiB.",
	  { LONG "memory_present_bytes=10000000000 peak_memory_bytes=1000000000",
	    LONG "memory_present_bytes=8589934591 peak_memory_bytes=1024",
	    LONG
	    "memory_present_bytes=8589934592 memory_asked_bytes=1024 peak_memory_bytes=1024" } },
	{ "idle-head",
	  "samples=10 wall_seconds=50 idle_head_seconds=5.01",
	  SEVERITY_WARN,
	  "Idle at the start: 5.01 s (10 % of the run) before any work.",
	  { "wall_seconds=50 idle_head_seconds=5", "wall_seconds=20 idle_head_seconds=5",
	    "wall_seconds=60 idle_head_seconds=6", "wall_seconds=60 idle_head_seconds=57" } },
	{ "idle-head",
	  "wall_seconds=60 idle_head_seconds=56.9",
	  SEVERITY_WARN,
	  "Idle at the start: 56.9 s (95 % of the run) before any work.",
	  { "" } },
	{ "idle-tail",
	  "samples=10 wall_seconds=50 idle_tail_seconds=5.01",
	  SEVERITY_WARN,
	  "Idle at the end: 5.01 s (10 % of the run) after the last work.",
	  { "wall_seconds=50 idle_tail_seconds=5", "wall_seconds=20 idle_tail_seconds=5",
	    "wall_seconds=60 idle_tail_seconds=6" } },
	{ "idle",
	  LONG "idle_head_seconds=4.75",
	  SEVERITY_NOTE,
	  "Hardly any work: for 4.75 s nothing used more than 5 % of a core.",
	  { LONG "idle_head_seconds=4.74" } },
	{ "energy-shared",
	  LONG "energy_joules=50000 energy_apportioned_joules=44999",
	  SEVERITY_NOTE,
	  "Others computed there, too: of the 50.0 kJ measured, 45.0 kJ are the job's, apportioned "
	  "by CPU time.",
	  { LONG "energy_joules=50000 energy_apportioned_joules=45000", LONG "energy_joules=50000",
	    LONG "energy_apportioned_joules=1" } },
	{ "monitor-cost",
	  LONG "monitor_cpu_seconds=0.0501",
	  SEVERITY_NOTE,
	  "Sonde took 1.0 % of a core; a longer interval (-i) costs less.",
	  { LONG "monitor_cpu_seconds=0.05" } },
	{ "attribution",
	  "attributed_ratio=0.9499 cpu_seconds=1.01",
	  SEVERITY_NOTE,
	  "95 % of the CPU time is known by process; the rest ended unseen.",
	  { "attributed_ratio=0.95 cpu_seconds=10", "attributed_ratio=0.5 cpu_seconds=1" } },
	{ "too-damaged",
	  "damages=1 samples=9 wall_seconds=5",
	  SEVERITY_CANNOT_TELL,
	  "Cannot tell how it used the machine: damaged, and of a node too little can be read "
	  "(samples: 9).",
	  { "damages=1 samples=10 wall_seconds=5", "damages=0 samples=9 wall_seconds=5" } },
	{ "too-short",
	  "samples=9 wall_seconds=5",
	  SEVERITY_CANNOT_TELL,
	  "Cannot tell how it used the machine: too short (samples: 9, 5.00 s).",
	  { LONG, "damages=1 samples=9 wall_seconds=5" } },
	{ "too-short",
	  "samples=10 wall_seconds=4.9",
	  SEVERITY_CANNOT_TELL,
	  "Cannot tell how it used the machine: too short (samples: 10, 4.90 s).",
	  { LONG } },
};
enum { CASES = sizeof cases / sizeof cases[0] };

static struct rules *builtin(void)
{
	struct rules *rules;
	struct err e = { "" };

	if (rules_builtin(&rules, &e) != 0)
		fail_msg("%s", e.text);
	return rules;
}

/* What the rule says of a fixture when it says it with this severity; NULL: nothing. */
static const struct summary_verdict *verdict_of(const struct rules *rules, struct fixture *f,
						size_t i, const char *text)
{
	const struct summary_verdict *v;

	fixture_init(f, text);
	rules_apply(rules, &f->s);
	v = fixture_verdict(f, cases[i].rule);
	return v && v->severity == cases[i].severity ? v : NULL;
}

static void test_each_rule_speaks_at_its_threshold_only(void **state)
{
	struct rules *rules = builtin();
	const struct summary_verdict *v;
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < CASES; i++) {
		v = verdict_of(rules, &f, i, cases[i].fires);
		if (!v)
			fail_msg("%s says nothing of: %s", cases[i].rule, cases[i].fires);
		assert_string_equal(v->sentence, cases[i].says);
		for (size_t q = 0; q < 5 && cases[i].quiet[q]; q++) {
			v = verdict_of(rules, &f, i, cases[i].quiet[q]);
			if (v)
				fail_msg("%s of '%s': %s", v->rule, cases[i].quiet[q], v->sentence);
		}
	}
	rules_free(rules);
}

static void check_silent(const struct rules *rules, size_t i, const char *but)
{
	struct fixture f;
	char text[512];

	snprintf(text, sizeof text, "%s %s", cases[i].fires, but);
	if (verdict_of(rules, &f, i, text))
		fail_msg("%s speaks of: %s", cases[i].rule, text);
}

static void test_use_over_time_wants_ten_samples_and_five_seconds(void **state)
{
	struct rules *rules = builtin();
	size_t checked = 0;

	(void)state;
	for (size_t i = 0; i < CASES; i++) {
		if (strncmp(cases[i].fires, "samples=10", 10) != 0 ||
		    strcmp(cases[i].rule, "too-short") == 0)
			continue;
		check_silent(rules, i, "samples=9");
		checked++;
		if (strncmp(cases[i].fires, LONG, strlen(LONG)) == 0)
			check_silent(rules, i, "wall_seconds=4.99");
	}
	assert_true(checked > 12);
	rules_free(rules);
}

static void count_rules(const char *line, size_t *rules, size_t *tested)
{
	if (strncmp(line, "## `", 4) != 0)
		return;
	++*rules;
	for (size_t i = 0; i < CASES; i++) {
		size_t n = strlen(cases[i].rule);

		if (strncmp(line + 4, cases[i].rule, n) == 0 && line[4 + n] == '`') {
			++*tested;
			return;
		}
	}
	fail_msg("no case for the rule in: %s", line);
}

static void test_every_builtin_rule_has_a_case(void **state)
{
	char *text = NULL, *save, *line;
	size_t size, rules = 0, tested = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_int_equal(rules_markdown(out, NULL), 0);
	fclose(out);
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		count_rules(line, &rules, &tested);
	free(text);
	assert_true(rules >= 15);
	assert_int_equal(rules, tested);
}

static void check_measured(void *ctx, const char *function, const char *name)
{
	char public[SUMMARY_NAME];

	for (size_t s = 0; s < nsources; s++) {
		for (size_t m = 0; m < sources[s]->nmetrics; m++) {
			metric_rate_name(&sources[s]->metrics[m], public, sizeof public);
			if (strcmp(public, name) == 0)
				return;
		}
	}
	if (function)
		fail_msg("%s: no source measures %s", (const char *)ctx, name);
}

static void check_expr(char *rule, const struct expr *x)
{
	if (x)
		expr_names(x, check_measured, rule);
}

static void test_every_metric_that_is_asked_for_is_measured(void **state)
{
	struct rules *rules = builtin();

	(void)state;
	for (size_t i = 0; i < rules->n; i++) {
		const struct rule *r = &rules->rule[i];

		if (r->proof)
			check_measured(r->name, "proof", r->proof);
		for (size_t k = 0; k < r->nneeds; k++)
			check_expr(r->name, r->needs[k].x);
		for (size_t k = 0; k < r->say.nparts; k++)
			check_expr(r->name, r->say.part[k].x);
		check_expr(r->name, r->when.x);
		check_expr(r->name, r->enough.x);
		check_expr(r->name, r->threshold.x);
	}
	rules_free(rules);
}

static void test_the_page_of_verdicts_is_up_to_date(void **state)
{
	const char *top = getenv("TOP");
	char path[4096], *made = NULL, *kept = NULL;
	size_t size, length;
	FILE *out = open_memstream(&made, &size), *in;

	(void)state;
	assert_int_equal(rules_markdown(out, NULL), 0);
	fclose(out);
	snprintf(path, sizeof path, "%s/docs/verdicts.md", top ? top : ".");
	in = fopen(path, "r");
	assert_non_null(in);
	kept = malloc(size + 2);
	assert_non_null(kept);
	length = fread(kept, 1, size + 1, in);
	fclose(in);
	kept[length] = '\0';
	assert_string_equal(kept, made);
	free(made);
	free(kept);
}

static void test_proof_has_metric_range_and_threshold(void **state)
{
	struct rules *rules = builtin();
	const struct summary_verdict *v;
	struct fixture f;

	(void)state;
	fixture_init(&f, "wall_seconds=100 idle_tail_seconds=30");
	rules_apply(rules, &f.s);
	v = fixture_verdict(&f, "idle-tail");
	assert_non_null(v);
	assert_string_equal(v->metric, "job.cpu_cores");
	assert_true(v->from_s == 70 && v->to_s == 100);
	assert_true(v->threshold == 0.05);
	rules_free(rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_rule_speaks_at_its_threshold_only),
		cmocka_unit_test(test_use_over_time_wants_ten_samples_and_five_seconds),
		cmocka_unit_test(test_every_builtin_rule_has_a_case),
		cmocka_unit_test(test_every_metric_that_is_asked_for_is_measured),
		cmocka_unit_test(test_the_page_of_verdicts_is_up_to_date),
		cmocka_unit_test(test_proof_has_metric_range_and_threshold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
