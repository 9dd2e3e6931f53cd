/* SPDX-License-Identifier: Apache-2.0 */
#include "report/judging/rules.h"
#include "report/lines.h"

#include "summary_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const char job[] =
	"wall_seconds=72.4 exit_code=0 cpu_seconds=134 cpu_user_seconds=110 cpu_system_seconds=24 "
	"attributed_ratio=0.991 cores_present=2 cores_used=1.851 cores_used_peak=2.01 "
	"peak_memory_bytes=1288490188 memory_present_bytes=8589934592 processes_started=812 "
	"processes_peak=12 read_bytes=125829120 written_bytes=314572800 monitor_cpu_seconds=0.12";

static void make_job(struct fixture *f)
{
	static struct summary_command commands[] = { { "cc1", 300, 100, 5e7, 0, 0 },
						     { "ld", 12, 10, 5e7, 0, 0 },
						     { "true", 500, 0, 1e6, 0, 0 } };
	struct rules *rules;

	fixture_init(f, job);
	f->s.command = "make -j2";
	f->s.path = "sonde_1";
	f->s.peak_memory_kind = "pss";
	f->s.mechanisms = "wait4 totals";
	f->s.commands = commands;
	f->s.ncommands = 3;
	f->s.monitor_rss_bytes = 2202009;
	f->s.monitor_samples = 73;
	f->s.monitor_late = 3;
	assert_int_equal(rules_builtin(&rules, NULL), 0);
	rules_apply(rules, &f->s);
	rules_free(rules);
}

static char *printed(const struct summary *s, bool colour, bool brief)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (brief)
		summary_print_brief(s, NULL, out, colour, true);
	else
		summary_print(s, out, colour);
	fclose(out);
	return text;
}

static unsigned lines_of(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void test_the_whole_summary(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	make_job(&f);
	text = printed(&f.s, false, false);
	assert_string_equal(
		text,
		"sonde       Succeeded (exit code 0) after 1 min 12 s: make -j2\n"
		"unsure      Cannot tell if it waited on disk: no I/O pressure, no iowait.\n"
		"good        The cores were busy, with computing or with waiting for memory\n"
		"            (--perf counts which): 1.85 cores of 2 on average.\n"
		"cores       1.85 of 2 used on average, 2.01 at most\n"
		"memory peak 1.2 GiB of 8.0 GiB (sampled PSS, an estimate)\n"
		"CPU time    2 min 14 s (user 1 min 50 s, system 24.0 s); 0.9 % of it by\n"
		"            processes too short to sample\n"
		"processes   812 started, 12 at a time; CPU: cc1 1 min 40 s, ld 10.0 s\n"
		"I/O         120.0 MiB read, 300.0 MiB written\n"
		"overhead    Sonde used 120 ms of CPU (0.2 % of a core), 2.1 MiB; samples: 73,\n"
		"            late: 3\n"
		"recording   sonde_1; next: sonde report sonde_1\n");
	free(text);
}

static void test_io_that_no_process_is_known_to_have_done_is_said(void **state)
{
	struct summary_command commands[2] = {
		{ .name = "cp", .read_bytes = 100 << 20, .written_bytes = NAN, .cpu_s = NAN },
		{ .name = "rm", .read_bytes = 66 << 20, .written_bytes = NAN, .cpu_s = NAN },
	};
	struct fixture f;
	char *text;

	(void)state;
	fixture_init(&f, "");
	f.s.path = "x";
	f.s.read_bytes = 225 << 20;
	f.s.written_bytes = 0;
	f.s.commands = commands;
	f.s.ncommands = 2;
	text = printed(&f.s, false, false);
	assert_non_null(strstr(text, "225.0 MiB read, 0 B written; 26 % of it after the last"));
	free(text);
	commands[1].read_bytes = 125 << 20;
	text = printed(&f.s, false, false);
	assert_null(strstr(text, "of it after the last"));
	free(text);
}

static void test_what_is_not_known_is_left_out(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	fixture_init(&f, "");
	f.s.path = "x";
	text = printed(&f.s, false, false);
	assert_string_equal(text, "sonde       Exit code not recorded\n"
				  "recording   x; next: sonde report x\n");
	free(text);
}

static void test_a_path_that_looks_like_an_option_can_be_pasted(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	fixture_init(&f, "");
	f.s.path = "-dash";
	text = printed(&f.s, false, false);
	assert_non_null(strstr(text, "next: sonde report ./-dash\n"));
	free(text);
}

static void test_commands_without_a_count_of_processes(void **state)
{
	static struct summary_command commands[] = { { "cc1", NAN, 100, NAN, NAN, NAN } };
	struct fixture f;
	char *text;

	(void)state;
	fixture_init(&f, "");
	f.s.path = "x";
	f.s.commands = commands;
	f.s.ncommands = 1;
	text = printed(&f.s, false, false);
	assert_non_null(strstr(text, "\nprocesses   CPU: cc1 1 min 40 s\n"));
	free(text);
}

static void test_a_bound_is_labelled_as_one(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	make_job(&f);
	f.s.processes_at_most = 7612;
	text = printed(&f.s, false, false);
	assert_non_null(strstr(text, "  812 seen to start (at most 7612 did), 12 at a time"));
	free(text);
	f.s.processes_at_most = INFINITY;
	text = printed(&f.s, false, false);
	assert_non_null(strstr(text, "  812 seen to start, 12 at a time"));
	free(text);
}

static void test_energy_says_its_kind(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	make_job(&f);
	text = printed(&f.s, false, false);
	assert_null(strstr(text, "energy"));
	free(text);
	f.s.energy_j = 57500;
	f.s.energy_of = "processors";
	text = printed(&f.s, false, false);
	assert_non_null(strstr(text, "\nenergy      57.5 kJ measured (processors)\n"));
	free(text);
	f.s.energy_job_j = 8300;
	text = printed(&f.s, false, false);
	assert_non_null(strstr(text, "\nenergy      57.5 kJ measured (processors); the job's share "
				     "by CPU time,\n            apportioned: 8.3 kJ\n"));
	free(text);
}

static void test_what_was_allowed_is_shown_before_present(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	fixture_init(&f, "cores_used=1.5 cores_present=128 cores_allowed=64 cores_limit=2.5 "
			 "wall_seconds=9");
	f.s.path = "x";
	text = printed(&f.s, false, false);
	assert_non_null(strstr(text, "1.50 of the 2.5 allowed used on average\n"));
	free(text);
	assert_true(variable_find("cores_available")->make(&f.s) == 2.5);
	text = printed(&f.s, false, true);
	assert_non_null(strstr(text, "1.50 of 2.5 cores"));
	free(text);
}

static void test_asked_for_is_shown_before_present(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	fixture_init(&f, "cores_used=3.1 cores_asked=64 cores_present=128 cores_allowed=64 "
			 "peak_memory_bytes=1073741824 memory_asked_bytes=8589934592 signal=9 "
			 "wall_seconds=1 nodes=2");
	f.s.path = "x";
	f.s.survivors = "sleep (12)";
	f.s.peak_memory_kind = "rss";
	text = printed(&f.s, false, false);
	assert_non_null(
		strstr(text, "sonde       Killed by SIGKILL (signal 9) after 1.00 s on 2 nodes\n"));
	assert_non_null(
		strstr(text, "3.10 of the 64 requested used on average (affinity allows 64)\n"));
	assert_non_null(strstr(
		text,
		"memory peak 1.0 GiB of the 8.0 GiB requested (RSS: shared pages count more than\n            once)\n"));
	assert_non_null(strstr(text, "left behind sleep (12)\n"));
	free(text);
}

static void test_the_brief_summary(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	make_job(&f);
	account_make(
		&f.s.account,
		&(struct account_figures){
			.wall_s = 72.4, .cores = 2, .cpu_s = 134, .user_s = 110, .system_s = 24 });
	text = printed(&f.s, false, true);
	assert_string_equal(
		text,
		"sonde       Succeeded (exit code 0) after 1 min 12 s: make -j2\n"
		"good        The cores were busy, with computing or with waiting for memory\n"
		"            (--perf counts which): 1.85 cores of 2 on average.\n"
		"unsure      Cannot tell if it waited on disk: no I/O pressure, no iowait.\n"
		"time        [##################++++  ] computing 93 % (kernel 17 %), idle 7 %\n"
		"used        1.85 of 2 cores, 1.2 of 8 GiB memory, read 120 MiB, wrote 300 MiB\n"
		"recording   sonde_1; next: sonde show --all, sonde report\n");
	free(text);
	f.s.wall_s = 1.9; /* too short a job for what cannot be told */
	f.s.gpus = 4;
	f.s.gpus_used = 1;
	text = printed(&f.s, false, true);
	assert_null(strstr(text, "unsure"));
	assert_non_null(strstr(text, "GiB memory, 1 of 4 GPUs, read"));
	free(text);
	f.s.peak_memory_at_most = f.s.peak_memory_bytes;
	text = printed(&f.s, false, true);
	assert_non_null(strstr(text, ", at most 1.2 of 8 GiB memory, "));
	free(text);
	f.s.peak_memory_at_most = 2 * f.s.peak_memory_bytes;
	text = printed(&f.s, false, true);
	assert_non_null(strstr(text, ", 1.2 GiB to 2.4 of 8 GiB memory, "));
	free(text);
	f.s.peak_memory_at_most = 1.05 * f.s.peak_memory_bytes;
	text = printed(&f.s, false, true);
	assert_non_null(strstr(text, ", 1.2 of 8 GiB memory, "));
	free(text);
}

static void test_verdicts_that_do_not_fit_are_counted(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	make_job(&f);
	for (uint32_t i = 0; i < 9; i++)
		f.s.verdicts[i] = (struct summary_verdict){ .severity = SEVERITY_BAD,
							    .sentence = "It went wrong." };
	f.s.nverdicts = 9;
	text = printed(&f.s, false, true);
	assert_int_equal(lines_of(text), 6);
	assert_non_null(strstr(text, "problem     It went wrong.\nproblem     It went wrong.\n"
				     "            and 7 more: sonde show --all\nused "));
	free(text);
	text = printed(&f.s, false, false);
	assert_int_equal(lines_of(text), 19);
	assert_null(strstr(text, " more: sonde show"));
	free(text);
}

/* Of others a user has no say: what the job itself does is seen, too. */
static void test_behind_others_there_is_room_for_the_own_cause(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	make_job(&f);
	f.s.verdicts[0] = (struct summary_verdict){
		.rule = "crowded",
		.severity = SEVERITY_WARN,
		.sentence =
			"Others took cores away: they used 1.82 cores of the machine's 2 while the job's "
			"threads waited 23.5 s for a core and ran for 5.17 s. Run it on a quieter machine. "
			"It costs up to 23.4 s, 81 % of the run."
	};
	f.s.verdicts[1] = (struct summary_verdict){ .rule = "code-exceptions",
						    .severity = SEVERITY_WARN,
						    .sentence = "Exceptions." };
	f.s.nverdicts = 2;
	text = printed(&f.s, false, true);
	assert_non_null(strstr(text, "warning     Exceptions.\n"));
	free(text);
	snprintf(f.s.verdicts[0].rule, sizeof f.s.verdicts[0].rule, "throttled");
	text = printed(&f.s, false, true);
	assert_null(strstr(text, "Exceptions."));
	free(text);
}

/* What was run is its program and its script, wherever they are. */
static void test_a_long_command_keeps_its_names(void **state)
{
	static const char *const commands[][2] = {
		{ "/scratch/users/somebody/project/venv/bin/python -u train.py",
		  ": python -u train.py\n" },
		{ "/scratch/users/somebody/venv/bin/python /scratch/users/somebody/run/train.py",
		  ": python train.py\n" },
		{ "venv/bin/python train.py", ": venv/bin/python train.py\n" },
		{ "'/scratch/users/some body/project/venv/bin/python' train.py",
		  ": '/scratch/users/so" },
	};
	struct fixture f;
	char *text;

	(void)state;
	make_job(&f);
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
		f.s.command = commands[i][0];
		text = printed(&f.s, false, true);
		assert_non_null(strstr(text, commands[i][1]));
		free(text);
	}
}

/* Behind an ending that the heading has said there is room for the cause. */
static void test_the_cause_of_a_failure_is_seen(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	make_job(&f);
	f.s.verdicts[0] = (struct summary_verdict){ .rule = "failed",
						    .severity = SEVERITY_BAD,
						    .sentence = "Failed: exit code 124." };
	for (uint32_t i = 1; i < 4; i++) {
		f.s.verdicts[i] = (struct summary_verdict){ .severity = SEVERITY_WARN };
		for (int n = 0; n < 30; n++)
			memcpy(f.s.verdicts[i].sentence + (size_t)n * 10, "nine words", 10);
	}
	f.s.nverdicts = 3;
	text = printed(&f.s, false, true);
	assert_int_equal(lines_of(text), 1 + 1 + 5 + 5 + 2);
	free(text);
	f.s.nverdicts = 4;
	text = printed(&f.s, false, true);
	assert_int_equal(lines_of(text), 1 + 1 + 5 + 1 + 2);
	assert_non_null(strstr(text, "problem     Failed: exit code 124.\nwarning     nine"));
	assert_non_null(strstr(text, "and 2 more: sonde show --all\n"));
	free(text);
}

/* Of two causes both are seen, if the second one is about a tenth of the run. */
static void test_a_second_cause_is_seen(void **state)
{
	static const struct {
		const char *rule;
		double part;
		bool seen;
	} seconds[] = {
		{ "code-place", 0.11, true },
		{ "code-place", 0.09, false },
		{ "code-place", NAN, false },
		{ "single-core", 0.5, false }, /* the bar shows it */
	};
	struct fixture f;
	char *text;

	(void)state;
	for (size_t i = 0; i < sizeof seconds / sizeof seconds[0]; i++) {
		make_job(&f);
		for (uint32_t v = 0; v < 2; v++)
			f.s.verdicts[v] = (struct summary_verdict){
				.rule = "small-io",
				.severity = SEVERITY_WARN,
				.sentence = "It takes three lines, since a sentence with a place, "
					    "its callers, its cost and its advice is as long as "
					    "this one, which says nothing."
			};
		snprintf(f.s.verdicts[1].rule, sizeof f.s.verdicts[1].rule, "%s", seconds[i].rule);
		f.s.verdicts[1].weight_s = seconds[i].part * f.s.wall_s;
		f.s.nverdicts = 2;
		text = printed(&f.s, false, true);
		assert_int_equal(!strstr(text, "and 1 more"), seconds[i].seen);
		free(text);
	}
}

static void test_the_first_verdict_is_whole_however_long(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	make_job(&f);
	for (uint32_t i = 0; i < 2; i++) {
		f.s.verdicts[i] = (struct summary_verdict){ .severity = SEVERITY_WARN };
		for (int n = 0; n < 30; n++)
			memcpy(f.s.verdicts[i].sentence + (size_t)n * 10, "nine words", 10);
	}
	f.s.nverdicts = 2;
	text = printed(&f.s, false, true);
	assert_int_equal(lines_of(text), 1 + 5 + 1 + 2);
	assert_non_null(strstr(text, "and 1 more: sonde show --all\n"));
	free(text);
}

static void test_no_line_is_wider_than_the_terminal(void **state)
{
	struct fixture f;
	char *text, *save, *line;

	(void)state;
	make_job(&f);
	for (int brief = 0; brief < 2; brief++) {
		text = printed(&f.s, false, brief);
		for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
			assert_true(strlen(line) <= LINES_COLUMNS);
		free(text);
	}
}

static void test_colour_only_when_asked(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	make_job(&f);
	text = printed(&f.s, false, false);
	assert_null(strchr(text, '\033'));
	free(text);
	text = printed(&f.s, true, false);
	assert_non_null(strstr(text, "\033[32mgood        \033[0mThe cores"));
	free(text);
	account_make(&f.s.account,
		     &(struct account_figures){ .wall_s = 72.4, .cores = 2, .cpu_s = 134 });
	text = printed(&f.s, true, true); /* colours take no column */
	assert_non_null(strstr(text, "[\033[32m####"));
	assert_non_null(strstr(text, "] computing 93 %, idle 7 %\n"));
	free(text);
}

static void test_hostile_text_is_harmless(void **state)
{
	static struct summary_command commands[] = { { "\033]0;t\a", 1, 9, 1, 0, 0 } };
	struct fixture f;
	char *text;

	(void)state;
	make_job(&f);
	f.s.command = "\033[2J\nrm\xff \xe2\x80\xae";
	f.s.survivors = f.s.mechanisms = "a\033[31mb";
	f.s.path = "dir '\033\n";
	f.s.commands = commands;
	f.s.ncommands = 1;
	snprintf(f.s.verdicts[0].sentence, sizeof f.s.verdicts[0].sentence, "x\033[5my\n");
	text = printed(&f.s, false, false);
	for (const char *c = text; *c; c++)
		assert_true((*c >= ' ' && *c < 0x7f) || *c == '\n');
	assert_non_null(
		strstr(text, "(exit code 0) after 1 min 12 s: \\x1b[2J\\nrm\\xff \\u202e\n"));
	assert_non_null(strstr(text, "\\x1b]0;t\\x07"));
	free(text);
}

static void test_long_names_are_cut(void **state)
{
	char name[5000];
	struct fixture f;
	char *text;

	(void)state;
	make_job(&f);
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	f.s.command = f.s.survivors = f.s.mechanisms = name;
	text = printed(&f.s, false, false);
	assert_true(lines_of(text) <= 15);
	assert_true(strlen(text) < 2000);
	assert_non_null(strstr(text, "recording   sonde_1"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_whole_summary),
		cmocka_unit_test(test_io_that_no_process_is_known_to_have_done_is_said),
		cmocka_unit_test(test_what_is_not_known_is_left_out),
		cmocka_unit_test(test_a_path_that_looks_like_an_option_can_be_pasted),
		cmocka_unit_test(test_commands_without_a_count_of_processes),
		cmocka_unit_test(test_a_bound_is_labelled_as_one),
		cmocka_unit_test(test_energy_says_its_kind),
		cmocka_unit_test(test_what_was_allowed_is_shown_before_present),
		cmocka_unit_test(test_asked_for_is_shown_before_present),
		cmocka_unit_test(test_the_brief_summary),
		cmocka_unit_test(test_behind_others_there_is_room_for_the_own_cause),
		cmocka_unit_test(test_a_long_command_keeps_its_names),
		cmocka_unit_test(test_verdicts_that_do_not_fit_are_counted),
		cmocka_unit_test(test_the_cause_of_a_failure_is_seen),
		cmocka_unit_test(test_a_second_cause_is_seen),
		cmocka_unit_test(test_the_first_verdict_is_whole_however_long),
		cmocka_unit_test(test_no_line_is_wider_than_the_terminal),
		cmocka_unit_test(test_colour_only_when_asked),
		cmocka_unit_test(test_hostile_text_is_harmless),
		cmocka_unit_test(test_long_names_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
