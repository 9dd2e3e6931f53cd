/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that travel in the program: each speaks just at its threshold, and asks for what is
 * measured. */
#include "report/judging/rule.h"
#include "source/source.h"

#include "summary_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rules_cases.h"

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
		for (size_t q = 0;
		     q < sizeof cases[i].quiet / sizeof cases[i].quiet[0] && cases[i].quiet[q];
		     q++) {
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
	char text[1024];

	snprintf(text, sizeof text, "%s %s", cases[i].fires, but);
	if (verdict_of(rules, &f, i, text))
		fail_msg("%s speaks of: %s", cases[i].rule, text);
}

static void test_use_over_time_wants_ten_samples_and_two_seconds(void **state)
{
	struct rules *rules = builtin();
	size_t checked = 0;

	(void)state;
	for (size_t i = 0; i < CASES; i++) {
		if (strncmp(cases[i].fires, LONG, strlen(LONG)) != 0)
			continue;
		check_silent(rules, i, "samples=9");
		checked++;
		check_silent(rules, i, "wall_seconds=1.99");
	}
	assert_true(checked > 12);
	rules_free(rules);
}

/* What just makes it speak, and what just does not. */
static void count_rules(const char *line, size_t *rules, size_t *tested)
{
	if (strncmp(line, "## `", 4) != 0)
		return;
	++*rules;
	for (size_t i = 0; i < CASES; i++) {
		size_t n = strlen(cases[i].rule);

		if (strncmp(line + 4, cases[i].rule, n) == 0 && line[4 + n] == '`' &&
		    cases[i].quiet[0] && *cases[i].quiet[0]) {
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
	bool grown = function && strcmp(function, "grown") == 0;
	const struct variable_function *f = function ? variable_function_find(function) : NULL;
	char public[SUMMARY_NAME];

	if (function && (strcmp(function, "error") == 0 || strncmp(function, "share", 5) == 0))
		return;
	if (f && f->knows) {
		assert_true(f->knows(name));
		return;
	}
	for (size_t s = 0; s < nsources; s++) {
		for (size_t m = 0; m < sources[s]->nmetrics; m++) {
			const struct metric *row = &sources[s]->metrics[m];

			metric_rate_name(row, public, sizeof public);
			if (strcmp(grown && row->kind == KIND_COUNTER ? row->name : public, name) ==
			    0)
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

		if (r->proof && !text_variable_find(r->proof))
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

static bool is_rule(const struct rules *rules, const char *name, size_t length)
{
	for (size_t i = 0; i < rules->n; i++)
		if (strlen(rules->rule[i].name) == length &&
		    strncmp(rules->rule[i].name, name, length) == 0)
			return true;
	return false;
}

static void check_names(const struct rules *rules, const char *names)
{
	for (; names && *(names += strspn(names, " ")); names += strcspn(names, " "))
		if (!is_rule(rules, names, strcspn(names, " ")))
			fail_msg("no rule is called so: %s", names);
}

static void test_rules_that_others_name_are_there(void **state)
{
	struct rules *rules = builtin();

	(void)state;
	for (size_t i = 0; i < rules->n; i++) {
		check_names(rules, rules->rule[i].excludes);
		check_names(rules, rules->rule[i].yields);
	}
	rules_free(rules);
}

/* What cannot be true of the same time, or says the same with and without its cause: of each pair,
 * one must silence the other. Praise is silenced by any complaint (test_rules.c). */
static const struct {
	const char *these, *those;
} contradictions[] = {
	/* nothing worked, and why */
	{ "idle idle-head idle-tail idle-hole idle-throughout waited",
	  "hung stopped polling file-lock slept-late round-trips waits-network waits-storage "
	  "waits-file-lock waits-sleep failed-after-waiting" },
	{ "idle", "idle-head idle-tail idle-hole idle-throughout idle-in-parts" },
	{ "slept-fixed", "idle-in-parts" },
	{ "idle waited single-core", "slept-fixed idle-in-parts" },
	{ "cores-unused",
	  "slept-fixed idle-in-parts idle-throughout waited hung stopped polling file-lock slept-late round-trips "
	  "slow-files single-core single-core-then-idle serial-phase bottleneck "
	  "one-after-another takes-turns unequal-workers" },
	/* one core was in use, and threads that wanted more */
	{ "single-core", "oversubscribed out-of-step pinned-together bound-together takes-turns "
			 "serial-phase unequal-workers one-after-another throttled-cgroup" },
	{ "serial-phase", "unequal-workers takes-turns one-after-another bound-together" },
	{ "oversubscribed", "out-of-step bound-together takes-turns" },
	/* others had the cores, and the job's own limit or priority */
	{ "crowded", "low-priority throttled-cgroup" },
	{ "low-priority-beside-own", "cores-used oversubscribed" },
	/* the kernel worked, and what for */
	{ "kernel-time",
	  "process-storm repeated-starts thread-storm page-faults tiny-messages "
	  "tiny-pieces context-switches thrash-faults names-storm data-copied "
	  "empty-calls empty-reads small-io fsync-storm bulk-sync swap-thrash thrash" },
	/* how it ended, and why */
	{ "failed failed-by-signal killed",
	  "address-space-full heap-full-printed open-files-used-up disk-full-printed "
	  "stack-overflowed stack-overflow stack-filled" },
	{ "failed", "answered" },
	{ "disk-nearly-full", "disk-filled disk-filled-with-files" },
	{ "bulk-sync", "direct-writes" },
	/* the interpreter, and its function */
	{ "code-interpreter", "code-place code-place-beside-kernel" },
};

static bool silences(const struct rules *rules, const char *one, const char *other)
{
	char word[96];

	snprintf(word, sizeof word, " %s ", other);
	for (size_t i = 0; i < rules->n; i++)
		if (!strcmp(rules->rule[i].name, one))
			return rules->rule[i].excludes && strstr(rules->rule[i].excludes, word);
	fail_msg("no rule is called %s", one);
	return false;
}

static unsigned unresolved(const struct rules *rules, const char *one, const char *list)
{
	char names[512], *save, *other;
	unsigned n = 0;

	snprintf(names, sizeof names, "%s", list);
	for (other = strtok_r(names, " ", &save); other; other = strtok_r(NULL, " ", &save))
		if (!silences(rules, one, other) && !silences(rules, other, one)) {
			print_error("%s and %s may stand together\n", one, other);
			n++;
		}
	return n;
}

static void test_verdicts_that_contradict_each_other_do_not_stand_together(void **state)
{
	struct rules *rules = builtin();
	unsigned n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof contradictions / sizeof contradictions[0]; i++) {
		char names[512], *save, *one;

		snprintf(names, sizeof names, "%s", contradictions[i].these);
		for (one = strtok_r(names, " ", &save); one; one = strtok_r(NULL, " ", &save))
			n += unresolved(rules, one, contradictions[i].those);
	}
	assert_int_equal(n, 0);
	rules_free(rules);
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

	fixture_init(&f, "wall_seconds=100 signal=9");
	rules_apply(rules, &f.s);
	v = fixture_verdict(&f, "killed");
	assert_string_equal(v->metric, "job.cpu_cores");
	assert_true(v->from_s == 70 && v->to_s == 100);
	rules_free(rules);
}

/* Which of two causes that are both true stands first: the dearer one, or the one that names the
 * call in which the other one's time went. */
static void test_the_first_of_two_causes(void **state)
{
#define ONE_CORE_BESIDE_OTHERS                                                                     \
	LONG "cores_present=2 cores_allowed=2 cores_used=0.4 cores_used_peak=0.8 cpu_seconds=2 "   \
	     "+job.run_queue_seconds=2 host_threads_running_peak=1 taken_seconds=2 "               \
	     "job.affinity_cpus_count=2 host_affinity_cpus=2 others_cores=1.5 "
	static const struct {
		const char *summary, *first, *second;
	} wanted[] = {
		{ ONE_CORE_BESIDE_OTHERS "taken_wall_seconds=4", "crowded", "single-core" },
		/* 1.15 s, more than a third of what others left; they took a third of the run */
		{ ONE_CORE_BESIDE_OTHERS "taken_wall_seconds=1.7", "single-core", "crowded" },
		{ ONE_CORE_BESIDE_OTHERS "taken_wall_seconds=1", "single-core", "crowded" },
		{ LONG "cores_present=2 cores_used=1 cores_used_peak=1 cpu_seconds=5 "
		       "cpu_system_seconds=1.75 processes_started=1 +job.read_calls=100 "
		       "+job.write_calls=100 +job.read_bytes=1e3 +job.written_bytes=0 "
		       "+job.storage_read_bytes=0 +job.storage_written_bytes=0 "
		       "+job.minor_faults=200 +job.voluntary_switches=100",
		  "empty-calls", "single-core" },
		{ LONG "cores_present=5 cores_used=4 monitor_cpu_seconds=0.2501 energy_joules=1 "
		       "energy_apportioned_joules=1 +node.pressure_io_some_seconds=0",
		  "cores-used", "energy" },
	};
	struct rules *rules = builtin();
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		fixture_init(&f, wanted[i].summary);
		rules_apply(rules, &f.s);
		assert_true(f.s.nverdicts >= 2);
		assert_string_equal(f.s.verdicts[0].rule, wanted[i].first);
		assert_string_equal(f.s.verdicts[1].rule, wanted[i].second);
	}
	rules_free(rules);
}

/* The function and the process are said once. */
static void test_what_a_verdict_before_has_said_is_not_said_again(void **state)
{
	struct rules *rules = builtin();
	struct fixture f;

	(void)state;
	fixture_init(&f, LONG
		     "code_samples=20 cpu_seconds=4 hot_ratio=0.8 hot_least=0.6 hot_seconds=3.2 "
		     "working_seconds=4 cores_used=0.8 cores_used_peak=1 cores_present=2 "
		     "cores_allowed=2");
	rules_apply(rules, &f.s);
	assert_string_equal(f.s.verdicts[0].rule, "code-place");
	assert_string_equal(
		fixture_verdict(&f, "single-core")->sentence,
		"One core at a time was in use, of 2: split the work, or request one core. It "
		"costs up to 2.00 s, 40 % of the run.");
	rules_free(rules);
}

/* Memory that was too little is never answered by less, idle cores never by more. */
static void test_a_request_keeps_to_what_was_asked_for(void **state)
{
	static const struct {
		const char *rule, *summary;
		double amount;
	} wanted[] = {
		{ "out-of-memory-unseen",
		  "oom_kills=1 memory_asked_bytes=4000 peak_memory_bytes=1000", 6000 },
		{ "cores-asked",
		  LONG "threads_per_core=2 cores_asked=16 cores_used=2 cpu_seconds=10 "
		       "host_cores_used_peak=2 +job.run_queue_seconds=4 "
		       "host_threads_running_peak=12",
		  16 },
	};
	struct rules *rules = builtin();

	(void)state;
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		struct fixture f;

		fixture_init(&f, wanted[i].summary);
		rules_apply(rules, &f.s);
		assert_true(fixture_verdict(&f, wanted[i].rule)->amount == wanted[i].amount);
	}
	rules_free(rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_rule_speaks_at_its_threshold_only),
		cmocka_unit_test(test_use_over_time_wants_ten_samples_and_two_seconds),
		cmocka_unit_test(test_every_builtin_rule_has_a_case),
		cmocka_unit_test(test_every_metric_that_is_asked_for_is_measured),
		cmocka_unit_test(test_the_page_of_verdicts_is_up_to_date),
		cmocka_unit_test(test_rules_that_others_name_are_there),
		cmocka_unit_test(test_verdicts_that_contradict_each_other_do_not_stand_together),
		cmocka_unit_test(test_proof_has_metric_range_and_threshold),
		cmocka_unit_test(test_the_first_of_two_causes),
		cmocka_unit_test(test_what_a_verdict_before_has_said_is_not_said_again),
		cmocka_unit_test(test_a_request_keeps_to_what_was_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
