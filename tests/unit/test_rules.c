/* SPDX-License-Identifier: Apache-2.0 */
#include "report/judging/rule.h"

#include "summary_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <unistd.h>

static struct rules *parsed(const char *text)
{
	struct rules *rules;
	struct err e = { "" };

	if (rules_parse(&rules, "site.rules", text, strlen(text), &e) != 0)
		fail_msg("%s", e.text);
	return rules;
}

#define SITE(name, when, severity)                                                                 \
	"rule: " name "\nabout: A.\nwhen: " when "\nseverity: " severity "\nsay: " name ".\n"

static void test_worst_comes_first_in_the_order_of_the_rules(void **state)
{
	struct rules *rules =
		parsed(SITE("g", "1", "good") SITE("n", "1", "note") SITE("c", "1", "cannot-tell")
			       SITE("w", "1", "warn") SITE("b", "1", "bad") SITE("v", "1", "warn"));
	static const char *const order[] = { "b", "w", "v", "c", "n" }; /* which leave no praise */
	struct fixture f;

	(void)state;
	fixture_init(&f, "");
	rules_apply(rules, &f.s);
	assert_int_equal(f.s.nverdicts, 5);
	for (size_t i = 0; i < 5; i++)
		assert_string_equal(f.s.verdicts[i].rule, order[i]);
	rules_free(rules);
}

#define COSTS(name, cost, more) SITE(name, "1", "warn") "cost: " cost "\n" more

static void test_the_dearest_comes_first_of_one_severity(void **state)
{
	struct rules *rules =
		parsed(SITE("u", "1", "warn") COSTS("a", "6", "") COSTS("b", "60", "")
			       COSTS("y", "20", "yields: a no-such-rule\n")
				       COSTS("cheap", "4.9", "") COSTS("none", "0.9", "")
					       COSTS("more", "1000", "") SITE("p", "1", "bad"));
	static const char *const order[] = { "p", "more", "b", "a", "u", "y", "cheap", "none" };
	struct fixture f;

	(void)state;
	fixture_init(&f, "wall_seconds=100");
	rules_apply(rules, &f.s);
	assert_int_equal(f.s.nverdicts, 8);
	for (size_t i = 0; i < 8; i++)
		assert_string_equal(f.s.verdicts[i].rule, order[i]);
	assert_string_equal(f.s.verdicts[1].sentence,
			    "more. It costs up to 1 min 40 s, 100 % of the run.");
	assert_true(f.s.verdicts[1].cost_s == 100);
	assert_true(isnan(f.s.verdicts[4].cost_s));
	assert_int_equal(f.s.verdicts[6].severity, SEVERITY_NOTE);
	assert_string_equal(f.s.verdicts[7].sentence, "none.");
	rules_free(rules);
}

/* Where the cost is not known, the weight orders, and is not printed. */
static void test_a_weight_orders_what_has_no_cost(void **state)
{
	struct rules *rules = parsed(COSTS("a", "20", "") SITE(
		"w", "1", "warn") "weight: 30\n" COSTS("b", "40", "weight: 1\n"));
	static const char *const order[] = { "b", "w", "a" };
	struct fixture f;

	(void)state;
	fixture_init(&f, "wall_seconds=100");
	rules_apply(rules, &f.s);
	assert_int_equal(f.s.nverdicts, 3);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(f.s.verdicts[i].rule, order[i]);
	assert_string_equal(f.s.verdicts[1].sentence, "w.");
	assert_true(isnan(f.s.verdicts[1].cost_s));
	rules_free(rules);
}

/* A quarter of the run and more is not silenced, nor put behind, by what cost a quarter of that. */
static void test_what_cost_little_does_not_stand_for_what_cost_much(void **state)
{
	static const struct {
		const char *small, *large;
		bool is_both;
	} cases[] = {
		{ "9.9", "40", true },
		{ "10", "40", false },
		{ "5", "24.9", false },
		{ "5", "25", true },
	};
	struct fixture f;
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct rules *rules;

		snprintf(text, sizeof text,
			 COSTS("small", "%s", "excludes: large\n") COSTS("large", "%s", "")
				 COSTS("yields", "%s", "yields: small\n"),
			 cases[i].small, cases[i].large, cases[i].large);
		rules = parsed(text);
		fixture_init(&f, "wall_seconds=100");
		rules_apply(rules, &f.s);
		assert_int_equal(fixture_verdict(&f, "large") != NULL, cases[i].is_both);
		assert_string_equal(f.s.verdicts[f.s.nverdicts - 1].rule,
				    cases[i].is_both ? "small" : "yields");
		rules_free(rules);
	}
}

/* What costs less than a twentieth is a note, and what has no cost and the same theme leaves
 * praise. */
static void test_praise_is_silent_beside_complaints(void **state)
{
	struct rules *rules =
		parsed(SITE("g", "1", "good") COSTS("w", "cpu_seconds", "") SITE("u", "1", "warn")
			       SITE("b", "exit_code == 1",
				    "bad") "theme: another\n" SITE("o", "exit_code == 2", "warn"));
	struct fixture f;

	(void)state;
	fixture_init(&f, "wall_seconds=100 cpu_seconds=5");
	rules_apply(rules, &f.s);
	assert_int_equal(f.s.nverdicts, 2);
	assert_string_equal(f.s.verdicts[0].rule, "w");
	assert_string_equal(f.s.verdicts[1].rule, "u");
	fixture_init(&f, "wall_seconds=100 cpu_seconds=4.9");
	rules_apply(rules, &f.s);
	assert_int_equal(f.s.nverdicts, 3);
	assert_string_equal(f.s.verdicts[2].rule, "g");
	fixture_init(&f, "wall_seconds=100 cpu_seconds=4.9 exit_code=1");
	rules_apply(rules, &f.s);
	assert_null(fixture_verdict(&f, "g"));
	fixture_init(&f, "wall_seconds=100 cpu_seconds=4.9 exit_code=2");
	rules_apply(rules, &f.s);
	assert_null(fixture_verdict(&f, "g"));
	rules_free(rules);
}

/* Whoever comes first, and of a later set of rules as well. */
static void test_what_a_rule_excludes_is_silent_while_it_speaks(void **state)
{
	struct rules *rules = parsed(SITE("good", "1", "good") SITE(
		"slow", "signal == 9",
		"warn") "excludes: good, well\n" SITE("well", "1", "good") "excludes: slow\n");
	struct rules *site = parsed(SITE("mine", "1", "note") "excludes: good\n");
	struct fixture f;

	(void)state;
	fixture_init(&f, "signal=9");
	rules_apply(rules, &f.s);
	assert_int_equal(f.s.nverdicts, 1);
	assert_string_equal(f.s.verdicts[0].rule, "slow");

	fixture_init(&f, "signal=8");
	rules_apply(rules, &f.s);
	assert_int_equal(f.s.nverdicts, 2);
	rules_apply(site, &f.s);
	assert_null(fixture_verdict(&f, "good"));
	assert_non_null(fixture_verdict(&f, "well"));
	assert_non_null(fixture_verdict(&f, "mine"));
	rules_free(rules);
	rules_free(site);
}

static void test_a_later_rule_of_the_same_name_replaces(void **state)
{
	struct rules *first = parsed(SITE("a", "1", "bad") SITE("b", "1", "note"));
	struct rules *second = parsed(SITE("a", "0", "bad") SITE("b", "1", "warn"));
	struct fixture f;

	(void)state;
	fixture_init(&f, "");
	rules_apply(first, &f.s);
	rules_apply(second, &f.s);
	assert_int_equal(f.s.nverdicts, 1);
	assert_string_equal(f.s.verdicts[0].rule, "b");
	assert_int_equal(f.s.verdicts[0].severity, SEVERITY_WARN);
	rules_free(first);
	rules_free(second);
}

static void test_the_mildest_go_when_there_is_no_room(void **state)
{
	char text[8192];
	size_t n = 0;
	struct rules *rules;
	struct fixture f;

	(void)state;
	for (int i = 0; i < SUMMARY_VERDICTS + 3; i++)
		n += (size_t)snprintf(text + n, sizeof text - n,
				      "rule: n%d\nabout: A.\nwhen: 1\nseverity: note\nsay: A.\n",
				      i);
	snprintf(text + n, sizeof text - n, "%s", SITE("worst", "1", "bad"));
	rules = parsed(text);
	fixture_init(&f, "");
	rules_apply(rules, &f.s);
	assert_int_equal(f.s.nverdicts, SUMMARY_VERDICTS);
	assert_string_equal(f.s.verdicts[0].rule, "worst");
	assert_string_equal(f.s.verdicts[SUMMARY_VERDICTS - 1].rule, "n30");
	rules_free(rules);
}

static void test_what_is_needed_and_unknown_cannot_be_told(void **state)
{
	struct rules *rules = parsed("rule: r\nabout: A.\nneeds: cores_asked, mean(node.load)\n"
				     "enough: samples >= 10\nwhen: 1\nseverity: bad\nsay: Bad.\n"
				     "cannot: Cannot.\n");
	struct fixture f;

	(void)state;
	fixture_init(&f, "cores_asked=1");
	rules_apply(rules, &f.s);
	assert_string_equal(f.s.verdicts[0].sentence, "Cannot.");
	assert_int_equal(f.s.verdicts[0].severity, SEVERITY_CANNOT_TELL);
	fixture_init(&f, "cores_asked=1 node.load=0");
	rules_apply(rules, &f.s);
	assert_string_equal(f.s.verdicts[0].sentence, "Bad.");
	fixture_init(&f, "samples=9 cores_asked=1 node.load=0");
	rules_apply(rules, &f.s);
	assert_int_equal(f.s.nverdicts, 0);
	rules_free(rules);
}

static void test_functions_of_metrics(void **state)
{
	struct rules *rules = parsed(
		"rule: r\nabout: A.\nwhen: 1\nseverity: note\nsay: {min(a.b):number} "
		"{mean(a.b):number} {max(a.b):number} {last(a.b):number} {total(a.b):number} "
		"{max(disk.util_ratio):ratio} {mean(disk.util_ratio):ratio} {signal:signal} "
		"{wall_seconds:whole}\n");
	struct fixture f;

	(void)state;
	/* Two nodes: means add up, as the metric's row says; a device is seen by max and min only.
	 */
	fixture_init(&f,
		     "a.b=1..3 a.b=10..30 disk.util_ratio[sda]=0.5 signal=400 wall_seconds=2.01");
	rules_apply(rules, &f.s);
	assert_string_equal(f.s.verdicts[0].sentence, "1 22 30 33 44 50 % unknown signal 400 3");
	rules_free(rules);
}

static void test_faults_name_file_line_and_reason(void **state)
{
	static const struct {
		const char *text, *message;
	} faults[] = {
		{ "about: A.\n", "site.rules:1:1: 'about:' stands before the first 'rule:'" },
		{ "# c\n\n  say: x\n", "site.rules:3:1: an indented line continues nothing" },
		{ "rule: A B\n",
		  "site.rules:1:1: a rule's name is made of a-z, 0-9 and '-', not 'A B'" },
		{ "rule: r\nnonsense\n", "site.rules:2:1: 'nonsense' is not 'key: value'" },
		{ "rule: r\nwhy: 1\n", "site.rules:2:1: 'why' is not a key; see docs/verdicts.md" },
		{ "rule: r\nwhen:\n", "site.rules:2:1: 'when:' is empty" },
		{ "rule: r\nwhen: 1\nwhen: 1\n", "site.rules:3:1: 'when:' is given twice" },
		{ "rule: r\nwhen: 1\n", "site.rules:1:1: rule r has no 'about:'" },
		{ SITE("r", "1", "bad") SITE("r", "1", "bad"),
		  "site.rules:6:1: there is a rule r already" },
		{ SITE("a", "1", "bad") SITE("r", "1", "bad") SITE("r", "1", "bad"),
		  "site.rules:11:1: there is a rule r already" },
		{ "rule: a2345678901234567890123456789012345678901234567890123456789012345\n",
		  "site.rules:1:1: a rule's name is made of a-z, 0-9 and '-', not "
		  "'a23456789012345678901234567890123456789012345678901234567890'" },
		{ SITE("r", "1", "worse"),
		  "site.rules:4:11: severity: it is one of note, good, warn, bad, cannot-tell, not "
		  "'worse'" },
		{ SITE("r", "cores_ask > 1", "bad"), "site.rules:3:7: when: cores_ask is neither a "
						     "figure nor a function that rules know" },
		{ SITE("r", "median(node.load) > 1", "bad"),
		  "site.rules:3:7: when: median() is neither a figure nor a function that rules "
		  "know" },
		{ "rule: r\nsay: {1:meters}\n",
		  "site.rules:2:7: say: {1:meters} needs a unit "
		  "(bytes, seconds, cores, ratio, count ...) "
		  "or whole, tenths, number, signal, text after a colon" },
		{ "rule: r\nsay: {1}\n", "site.rules:2:7: say: {1} needs a unit (bytes, seconds, "
					 "cores, ratio, count ...) or "
					 "whole, tenths, number, signal, text after a colon" },
		{ "rule: r\nsay: {1:bytes\n", "site.rules:2:6: say: a { is not closed" },
		{ "rule: r\nexcludes: a B\n",
		  "site.rules:2:13: excludes: 'B' is not the name of a rule" },
		{ "rule: r\nneeds: a.b c\n",
		  "site.rules:2:8: needs: a.b is neither a figure nor a function that rules know" },
	};
	struct rules *rules;

	(void)state;
	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
		struct err e = { "" };

		assert_int_equal(rules_parse(&rules, "site.rules", faults[i].text,
					     strlen(faults[i].text), &e),
				 -EINVAL);
		assert_string_equal(e.text, faults[i].message);
		assert_null(rules);
	}
}

static void test_a_fault_in_an_expression_says_where(void **state)
{
	static const char text[] = "rule: r\nwhen: signal >\n  > 1\n";
	struct rules *rules;
	struct err e = { "" };

	(void)state;
	assert_int_equal(rules_parse(&rules, "site.rules", text, strlen(text), &e), -EINVAL);
	assert_memory_equal(e.text, "site.rules:3:3: when: ", 22);
}

static void test_a_byte_order_mark_is_no_part_of_the_first_key(void **state)
{
	struct rules *rules = parsed("\xef\xbb\xbf" SITE("a", "1", "note"));
	struct fixture f;

	(void)state;
	fixture_init(&f, "");
	rules_apply(rules, &f.s);
	assert_int_equal(f.s.nverdicts, 1);
	rules_free(rules);
}

static void test_too_long_and_too_many_are_refused(void **state)
{
	char text[2048] = "rule: r\nsay: ";
	struct rules *rules;
	struct err e = { "" };
	size_t n = strlen(text);

	(void)state;
	memset(text + n, 'x', VERDICT_SENTENCE);
	assert_int_equal(rules_parse(&rules, "f", text, n + VERDICT_SENTENCE, &e), -EINVAL);
	assert_non_null(strstr(e.text, "say: the sentence is too long"));
	for (int i = 0; i < 17; i++)
		memcpy(text + n + 10 * i, "{1:number}", 10);
	assert_int_equal(rules_parse(&rules, "f", text, n + 170, &e), -EINVAL);
	assert_non_null(strstr(e.text, "at most 15 numbers"));
	assert_int_equal(rules_parse(&rules, "f", "rule\0", 5, &e), -EINVAL);
	assert_non_null(strstr(e.text, "this is not text"));
}

static void test_numbers_out_of_all_proportion_do_not_overflow(void **state)
{
	struct rules *rules =
		parsed("rule: r\nabout: A.\nwhen: 1\nseverity: note\nsay: {1e300:bytes}"
		       "{1e300:bytes}{1e300:bytes}{1e300:bytes}{1e300:bytes}{1e300:bytes}"
		       "{1e300:bytes}{1e300:bytes}{1e300:whole}{1e300:bytes}{1e300:bytes}\n");
	struct fixture f;

	(void)state;
	fixture_init(&f, "");
	rules_apply(rules, &f.s);
	assert_true(strlen(f.s.verdicts[0].sentence) < VERDICT_SENTENCE);
	rules_free(rules);
}

/* The longest that a look at a hang says, with what its processes waited for before it. */
static void test_a_hang_is_said_whole(void **state)
{
	struct rules *rules = parsed("rule: r\nabout: A.\nwhen: 1\nseverity: bad\nsay: Hung: "
				     "{silent_in:text}. Then: it ended. {silent_advice:text}\n");
	struct fixture f;
	struct story *y = &f.s.story;
	const char *sentence;

	(void)state;
	fixture_init(&f, "");
	memset(y->silent_in, 'i', sizeof y->silent_in - 1);
	memset(y->silent_advice, 'a', sizeof y->silent_advice - 1);
	rules_apply(rules, &f.s);
	sentence = f.s.verdicts[0].sentence;
	assert_non_null(strstr(sentence, y->silent_in));
	assert_non_null(strstr(sentence, y->silent_advice));
	rules_free(rules);
}

static void test_samples_are_those_of_the_node_with_fewest(void **state)
{
	struct rules *rules = parsed("rule: r\nabout: A.\nwhen: 1\nseverity: note\n"
				     "say: {samples:count} {nodes:count}\n");
	struct fixture f;

	(void)state;
	fixture_init(&f, "nodes=3");
	f.node[1].samples = 7;
	rules_apply(rules, &f.s);
	assert_string_equal(f.s.verdicts[0].sentence, "7 3");
	rules_free(rules);
}

/* What the fault is about may stand anywhere in a value of several lines. */
static void test_one_is_singular(void **state)
{
	struct rules *rules = parsed(
		"rule: r\nabout: A.\nwhen: 1\nseverity: note\nsay: {1:number} cores, "
		"{0.5 + 0.5:number} processes and {0.2:whole} times a second; {2:number} cores, {0:number} cores, "
		"{1:number} second core, {1:number} coresets, {11:number} files.\n");
	struct fixture f;

	(void)state;
	fixture_init(&f, "");
	rules_apply(rules, &f.s);
	assert_string_equal(f.s.verdicts[0].sentence,
			    "1 core, 1 process and 1 time a second; 2 cores, 0 cores, "
			    "1 second core, 1 coresets, 11 files.");
	rules_free(rules);
}

static void test_places_are_those_of_the_file(void **state)
{
	static const struct {
		const char *text, *place;
	} faults[] = {
		{ "rule: r\nwhen: 1 +\n   cores_ask\n", "site.rules:3:4: when: cores_ask" },
		{ "rule: r\nsay: One {1:count}\n\tand {wall:seconds}.\n",
		  "site.rules:3:7: say: wall" },
		{ "rule: r\nneeds: signal\n  nothing\n", "site.rules:3:3: needs: nothing" },
		{ "rule: r\nrequest: memory 2 *\n", "site.rules:2:20: request: " },
		{ "rule: r\nrequest: disk 2\n", "site.rules:2:10: request: it begins with one of" },
		{ "rule: r\nsay: {oom_process:text} {host:text}\n",
		  "site.rules:2:26: say: host is not a text that rules know" },
		{ "rule: r\nconfidence: sure\n", "site.rules:2:13: confidence: it is one of low, "
						 "medium, high, not 'sure'" },
		{ "theme:\n", "site.rules:1:1: 'theme:' is empty" },
	};
	struct rules *rules;

	(void)state;
	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
		struct err e = { "" };

		assert_int_equal(rules_parse(&rules, "site.rules", faults[i].text,
					     strlen(faults[i].text), &e),
				 -EINVAL);
		if (strncmp(e.text, faults[i].place, strlen(faults[i].place)) != 0)
			fail_msg("%s\nis not: %s", e.text, faults[i].place);
	}
}

static void test_numbers_and_confidence_are_in_the_verdict(void **state)
{
	struct rules *rules =
		parsed("rule: r\nabout: A.\nwhen: 1\nseverity: note\nconfidence: low\nsay: "
		       "{wall_seconds:seconds} {2 * wall_seconds:number} {wall_seconds:whole} "
		       "{oom_process:text} {cores_asked:cores}.\n" SITE("s", "1", "good"));
	const struct summary_verdict *v;
	struct fixture f;

	(void)state;
	fixture_init(&f, "wall_seconds=2");
	snprintf(f.s.story.oom_process, sizeof f.s.story.oom_process, "blastp");
	rules_apply(rules, &f.s);
	v = fixture_verdict(&f, "r");
	assert_string_equal(v->sentence, "2.00 s 4 2 blastp unknown.");
	assert_int_equal(v->confidence, CONFIDENCE_LOW);
	assert_int_equal(v->nnumbers, 3);
	assert_string_equal(v->number[1].name, "2 * wall_seconds");
	assert_true(v->number[1].value == 4 && v->number[0].unit == UNIT_SECONDS);
	assert_true(isnan(v->number[2].value));
	assert_int_equal(fixture_verdict(&f, "s")->confidence, CONFIDENCE_MEDIUM);
	rules_free(rules);
}

static void test_rules_from_a_directory(void **state)
{
	char path[] = "rules.XXXXXX", name[64];
	struct rules *rules = NULL;
	struct err e = { "" };

	(void)state;
	assert_non_null(mkdtemp(path));
	assert_int_equal(rules_read(&rules, path, &e), -ENOENT);
	assert_non_null(strstr(e.text, "holds no file named *.rules"));
	for (char c = 'b'; c >= 'a'; c--) {
		FILE *out;

		snprintf(name, sizeof name, "%s/%c.rules", path, c);
		out = fopen(name, "w");
		assert_non_null(out);
		fprintf(out, "theme: %c\nrule: %c\nabout: A.\nwhen: 1\nseverity: bad\nsay: %c.\n",
			c, c, c);
		fclose(out);
	}
	assert_int_equal(rules_read(&rules, path, &e), 0);
	assert_int_equal(rules->n, 2);
	assert_string_equal(rules->rule[0].name, "a");
	assert_string_equal(rules->rule[1].theme, "b");
	rules_free(rules);
	for (char c = 'a'; c <= 'b'; c++) {
		snprintf(name, sizeof name, "%s/%c.rules", path, c);
		unlink(name);
	}
	rmdir(path);
}

static void test_rules_from_a_file(void **state)
{
	char path[] = "rules.XXXXXX";
	int fd = mkstemp(path);
	FILE *out = fdopen(fd, "w");
	struct rules *rules = NULL;
	struct err e = { "" };
	struct fixture f;

	(void)state;
	assert_non_null(out);
	for (int i = 0; i < 1000; i++)
		fputs("# A comment, so that the file is longer than one read of it.\n", out);
	fputs(SITE("last", "1", "bad"), out);
	fclose(out);
	assert_int_equal(rules_read(&rules, path, &e), 0);
	unlink(path);
	fixture_init(&f, "");
	rules_apply(rules, &f.s);
	assert_string_equal(f.s.verdicts[0].rule, "last");
	rules_free(rules);
}

static void test_files_without_a_last_newline_and_with_crlf(void **state)
{
	static const char text[] =
		"rule: r\r\nabout: A.\r\nwhen: 1\r\nseverity: note\r\nsay: One\r\n"
		"\t two";
	struct rules *rules = parsed(text);
	struct fixture f;

	(void)state;
	fixture_init(&f, "");
	rules_apply(rules, &f.s);
	assert_string_equal(f.s.verdicts[0].sentence, "One two");
	rules_free(rules);
}

static void test_a_file_that_is_not_there(void **state)
{
	struct rules *rules;
	struct err e = { "" };

	(void)state;
	assert_int_equal(rules_read(&rules, "/nowhere/site.rules", &e), -ENOENT);
	assert_non_null(strstr(e.text, "/nowhere/site.rules"));
	assert_int_equal(rules_read(&rules, "/", &e), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worst_comes_first_in_the_order_of_the_rules),
		cmocka_unit_test(test_the_dearest_comes_first_of_one_severity),
		cmocka_unit_test(test_a_weight_orders_what_has_no_cost),
		cmocka_unit_test(test_what_cost_little_does_not_stand_for_what_cost_much),
		cmocka_unit_test(test_praise_is_silent_beside_complaints),
		cmocka_unit_test(test_what_a_rule_excludes_is_silent_while_it_speaks),
		cmocka_unit_test(test_a_later_rule_of_the_same_name_replaces),
		cmocka_unit_test(test_the_mildest_go_when_there_is_no_room),
		cmocka_unit_test(test_what_is_needed_and_unknown_cannot_be_told),
		cmocka_unit_test(test_functions_of_metrics),
		cmocka_unit_test(test_faults_name_file_line_and_reason),
		cmocka_unit_test(test_a_fault_in_an_expression_says_where),
		cmocka_unit_test(test_a_byte_order_mark_is_no_part_of_the_first_key),
		cmocka_unit_test(test_too_long_and_too_many_are_refused),
		cmocka_unit_test(test_numbers_out_of_all_proportion_do_not_overflow),
		cmocka_unit_test(test_a_hang_is_said_whole),
		cmocka_unit_test(test_samples_are_those_of_the_node_with_fewest),
		cmocka_unit_test(test_one_is_singular),
		cmocka_unit_test(test_places_are_those_of_the_file),
		cmocka_unit_test(test_numbers_and_confidence_are_in_the_verdict),
		cmocka_unit_test(test_rules_from_a_directory),
		cmocka_unit_test(test_rules_from_a_file),
		cmocka_unit_test(test_files_without_a_last_newline_and_with_crlf),
		cmocka_unit_test(test_a_file_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
