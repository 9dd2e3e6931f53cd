/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <string.h>

#include "base/clock.h"
#include "base/text/args.h"

struct opts {
	bool quiet, all;
	const char *output, *place, *bare;
	int64_t interval, count, when;
	double ratio;
	struct option_list many;
};

static const struct option rows[] = {
	{ .name = "quiet", .letter = 'q', .help = "x.", OPTION_OFFSET(struct opts, quiet) },
	{ .name = "all", .letter = 'a', .help = "x.", OPTION_OFFSET(struct opts, all) },
	{ .name = "output",
	  .letter = 'o',
	  .type = ARG_TEXT,
	  .value = "DIR",
	  .help = "x.",
	  OPTION_OFFSET(struct opts, output) },
	{ .name = "interval",
	  .letter = 'i',
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .fallback = "1s",
	  .help = "x.",
	  OPTION_OFFSET(struct opts, interval),
	  .min = NS_PER_MS,
	  .max = 3600 * NS_PER_S },
	{ .name = "count",
	  .type = ARG_COUNT,
	  .value = "N",
	  .help = "x.",
	  OPTION_OFFSET(struct opts, count),
	  .min = 1,
	  .max = INT64_MAX },
	{ .name = "ratio",
	  .type = ARG_REAL,
	  .value = "X",
	  .help = "x.",
	  OPTION_OFFSET(struct opts, ratio) },
	{ .name = "when",
	  .type = ARG_CHOICE,
	  .value = "auto|always|off",
	  .fallback = "auto",
	  .help = "x.",
	  OPTION_OFFSET(struct opts, when) },
	{ .name = "place",
	  .letter = 'p',
	  .type = ARG_TEXT,
	  .value = "DIR",
	  .bare = "here",
	  .follows = true,
	  .help = "x.",
	  OPTION_OFFSET(struct opts, place) },
	{ .name = "bare",
	  .letter = 'b',
	  .type = ARG_TEXT,
	  .value = "ID",
	  .bare = "own",
	  .help = "x.",
	  OPTION_OFFSET(struct opts, bare) },
	{ .name = "many",
	  .letter = 'm',
	  .type = ARG_LIST,
	  .value = "WORD",
	  .help = "x.",
	  OPTION_OFFSET(struct opts, many) },
	{ .name = "secret", .help = "x.", .hidden = true, OPTION_OFFSET(struct opts, all) },
};

struct given {
	int argc, first;
	char *argv[12];
	struct opts opts;
	struct err e;
};

/* Parse words, separated by a space. */
static int parse(struct given *g, bool stop, char *words)
{
	struct args args;
	int rc;

	*g = (struct given){ 0 };
	for (char *rest = words; rest && *rest && g->argc < 12;) {
		char *word = strsep(&rest, " ");

		g->argv[g->argc++] = word;
	}
	args = (struct args){ g->argc, g->argv, stop, 0 };
	rc = args_parse(rows, sizeof rows / sizeof rows[0], &g->opts, &args, &g->e);
	g->first = args.first;
	return rc;
}

#define PARSE(g, stop, text) parse(&(g), stop, (char[]){ text })

static void assert_refused(const char *text, const char *sentence)
{
	struct given g;
	char words[512];

	snprintf(words, sizeof words, "%s", text);
	assert_int_equal(parse(&g, false, words), -22);
	assert_string_equal(g.e.text, sentence);
}

static void one_of_some_words_is_taken_whole(void **state)
{
	struct given g;

	(void)state;
	assert_int_equal(PARSE(g, false, "-q"), 0);
	assert_int_equal(g.opts.when, 0);
	assert_int_equal(PARSE(g, false, "--when always"), 0);
	assert_int_equal(g.opts.when, 1);
	assert_int_equal(PARSE(g, false, "--when=off"), 0);
	assert_int_equal(g.opts.when, 2);
	assert_refused("--when al", "option --when takes auto|always|off, not 'al'");
	assert_refused("--when=", "option --when takes auto|always|off, not ''");
	assert_refused("--when=auto|always",
		       "option --when takes auto|always|off, not 'auto|always'");
	assert_refused("--when offset", "option --when takes auto|always|off, not 'offset'");
}

static void options_are_taken_in_every_spelling(void **state)
{
	struct given g;

	(void)state;
	assert_int_equal(
		PARSE(g, false, "--quiet --output=x=y --interval 500ms --count 7 --ratio -1.5e3"),
		0);
	assert_true(g.opts.quiet);
	assert_false(g.opts.all);
	assert_string_equal(g.opts.output, "x=y");
	assert_int_equal(g.opts.interval, 500 * NS_PER_MS);
	assert_int_equal(g.opts.count, 7);
	assert_true(g.opts.ratio > -1500.5 && g.opts.ratio < -1499.5);
	assert_int_equal(PARSE(g, false, "-qai2 -od"), 0);
	assert_true(g.opts.quiet && g.opts.all);
	assert_int_equal(g.opts.interval, 2 * NS_PER_S);
	assert_string_equal(g.opts.output, "d");
	assert_int_equal(PARSE(g, false, "-o -q -i 1s -i 2s"), 0);
	assert_string_equal(g.opts.output, "-q");
	assert_int_equal(g.opts.interval, 2 * NS_PER_S);
	assert_false(g.opts.quiet);
	assert_int_equal(PARSE(g, false, "--output="), 0);
	assert_string_equal(g.opts.output, "");
}

static void a_value_may_be_left_out(void **state)
{
	struct given g;

	(void)state;
	assert_int_equal(PARSE(g, false, "--bare x --place there -p -q"), 0);
	assert_string_equal(g.opts.bare, "own"); /* the next word is not its value */
	assert_string_equal(g.argv[g.first], "x");
	assert_string_equal(g.opts.place, "here");
	assert_true(g.opts.quiet);
	assert_int_equal(PARSE(g, false, "-p there"), 0);
	assert_string_equal(g.opts.place, "there");
	assert_int_equal(PARSE(g, false, "-pthere --place"), 0);
	assert_string_equal(g.opts.place, "here");
	assert_int_equal(PARSE(g, false, "--place=-x -p -- -y"), 0);
	assert_string_equal(g.opts.place, "here");
	assert_string_equal(g.argv[g.first], "-y");
	assert_int_equal(PARSE(g, false, "a -p b c"), 0);
	assert_string_equal(g.opts.place, "b");
	assert_int_equal(g.argc - g.first, 2);
}

static void a_list_keeps_all_that_is_given(void **state)
{
	struct given g;
	struct opts opts = { 0 };
	char *words[2 * OPTION_LIST_MAX + 2];
	struct args args = { 2 * OPTION_LIST_MAX + 2, words, false, 0 };
	struct err e = { "" };

	(void)state;
	assert_int_equal(PARSE(g, false, "--many one -m two x -mthree --many=four"), 0);
	assert_int_equal(g.opts.many.n, 4);
	assert_string_equal(g.opts.many.text[0], "one");
	assert_string_equal(g.opts.many.text[2], "three");
	assert_string_equal(g.opts.many.text[3], "four");
	assert_int_equal(PARSE(g, false, "x"), 0);
	assert_int_equal(g.opts.many.n, 0);
	for (int i = 0; i < args.argc; i++)
		words[i] = i % 2 ? "x" : "-m";
	assert_int_equal(args_parse(rows, sizeof rows / sizeof rows[0], &opts, &args, &e), -22);
	assert_string_equal(e.text, "option --many was given more than 64 times");
}

static void defaults_are_filled_in(void **state)
{
	struct given g;

	(void)state;
	assert_int_equal(PARSE(g, false, ""), 0);
	assert_int_equal(g.opts.interval, NS_PER_S);
	assert_null(g.opts.output);
	assert_int_equal(g.first, 0);
}

static void operands_move_behind_the_options_in_their_order(void **state)
{
	struct given g;
	static const char *const wanted[] = { "one", "-", "two", "-q", "--all" };

	(void)state;
	assert_int_equal(PARSE(g, false, "one -o dir - --quiet two -- -q --all"), 0);
	assert_int_equal(g.argc - g.first, 5);
	for (int i = 0; i < 5; i++)
		assert_string_equal(g.argv[g.first + i], wanted[i]);
	assert_string_equal(g.opts.output, "dir");
	assert_true(g.opts.quiet);
	assert_false(g.opts.all);
}

static void what_follows_a_command_is_left_alone(void **state)
{
	struct given g;

	(void)state;
	assert_int_equal(PARSE(g, true, "-q app --quiet -i bad -- -h"), 0);
	assert_int_equal(g.first, 1);
	assert_string_equal(g.argv[1], "app");
	assert_string_equal(g.argv[5], "--");
	assert_int_equal(PARSE(g, true, "-q -- --app -h"), 0);
	assert_int_equal(g.first, 2);
	assert_string_equal(g.argv[2], "--app");
	assert_int_equal(PARSE(g, true, "--"), 0);
	assert_int_equal(g.first, 1);
	assert_true(PARSE(g, true, "-o -- app") < 0); /* its value was forgotten */
	assert_int_equal(PARSE(g, true, "--output=-- app"), 0);
}

static void help_is_told_from_options_and_operands(void **state)
{
	struct given g;

	(void)state;
	assert_int_equal(PARSE(g, false, "x --help --bad"), 1);
	assert_int_equal(PARSE(g, true, "-qh"), 1);
	assert_int_equal(PARSE(g, true, "app -h"), 0);
	assert_int_equal(PARSE(g, false, "-o -h"), 0);
	assert_string_equal(g.opts.output, "-h");
}

static void unknown_options_name_the_nearest(void **state)
{
	(void)state;
	assert_refused("--quite", "unknown option --quite; did you mean --quiet?");
	assert_refused("--interva=2", "unknown option --interva; did you mean --interval?");
	assert_refused("--out", "unknown option --out; did you mean --output?");
	assert_refused("--hlep", "unknown option --hlep; did you mean --help?");
	assert_refused("--secrte", "unknown option --secrte; --help lists the options");
	assert_refused("--zzzzzzzz", "unknown option --zzzzzzzz; --help lists the options");
	assert_refused("-qI", "unknown option -I; did you mean -i?");
	assert_refused("-z", "unknown option -z; --help lists the options");
	assert_refused("--=", "unknown option --; --help lists the options");
}

static void bad_values_name_the_option_and_what_is_taken(void **state)
{
	(void)state;
	assert_refused(
		"-i 1x",
		"option --interval takes a duration such as 500ms, 1s or 2m (1ms to 1h), not '1x'");
	assert_refused("-i 1us", "option --interval takes a duration such as 500ms, 1s or 2m (1ms "
				 "to 1h), not '1us'");
	assert_refused("-i 61m", "option --interval takes a duration such as 500ms, 1s or 2m (1ms "
				 "to 1h), not '61m'");
	assert_refused("-i", "option --interval needs a value: --interval TIME");
	assert_refused("--count 0", "option --count takes a whole number (at least 1), not '0'");
	assert_refused("--count 1.5",
		       "option --count takes a whole number (at least 1), not '1.5'");
	assert_refused(
		"--count 9223372036854775808",
		"option --count takes a whole number (at least 1), not '9223372036854775808'");
	assert_refused("--count=", "option --count takes a whole number (at least 1), not ''");
	assert_refused("--count=+", "option --count takes a whole number (at least 1), not '+'");
	assert_refused("--count 0x10",
		       "option --count takes a whole number (at least 1), not '0x10'");
	assert_refused("--ratio nan", "option --ratio takes a number, not 'nan'");
	assert_refused("--ratio 1e999", "option --ratio takes a number, not '1e999'");
	assert_refused("--ratio 0x1p3", "option --ratio takes a number, not '0x1p3'");
	assert_refused("--ratio=", "option --ratio takes a number, not ''");
	assert_refused("--quiet=1", "option --quiet takes no value");
}

static void durations_are_exact(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} good[] = {
		{ "1s", NS_PER_S },
		{ "0.5", NS_PER_S / 2 },
		{ "500ms", NS_PER_S / 2 },
		{ "10us", 10000 },
		{ "1m", 60 * NS_PER_S },
		{ "1h", 3600 * NS_PER_S },
		{ ".25s", NS_PER_S / 4 },
		{ "1.5h", 5400 * NS_PER_S },
		{ "7ns", 7 },
		{ "0", 0 },
		{ "0.100000001", 100000001 },
		{ "1.000", NS_PER_S },
		{ "0.0000000010s", 1 },
		{ "9223372036.854775807", INT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		int64_t ns = -1;

		assert_int_equal(args_duration(good[i].text, &ns), 0);
		assert_int_equal(ns, good[i].ns);
	}
}

static void what_is_no_duration_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"s",
		".",
		"1.",
		".s",
		"-1",
		"+1",
		" 1",
		"1 ",
		"1 s",
		"1S",
		"1sec",
		"1d",
		"1s1s",
		"1e3",
		"0x1",
		"1,5",
		"0.0000000001",
		"0.5ns",
		"9223372037",
		"9223372036.854775808",
		"99999999999999999999",
		"2562048h",
		"nan",
		"inf",
		"1\xc2\xb5s",
		"1\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		int64_t ns = -1;

		if (args_duration(bad[i], &ns) != -22)
			fail_msg("'%s' was taken for %lld ns", bad[i], (long long)ns);
	}
}

static void durations_are_written_short_and_read_back(void **state)
{
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0s" },
		{ 1, "1ns" },
		{ 1000, "1us" },
		{ 1500, "1500ns" },
		{ NS_PER_S, "1s" },
		{ 90 * NS_PER_S, "90s" },
		{ 120 * NS_PER_S, "2m" },
		{ 7200 * NS_PER_S, "2h" },
		{ 250 * NS_PER_MS, "250ms" },
		{ INT64_MAX, "9223372036854775807ns" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char text[32];
		int64_t back = -1;

		args_duration_text(cases[i].ns, text, sizeof text);
		assert_string_equal(text, cases[i].text);
		assert_int_equal(args_duration(text, &back), 0);
		assert_int_equal(back, cases[i].ns);
	}
}

static void distance_counts_slips(void **state)
{
	(void)state;
	assert_int_equal(args_distance("run", "run"), 0);
	assert_int_equal(args_distance("rnu", "run"), 1);
	assert_int_equal(args_distance("rn", "run"), 1);
	assert_int_equal(args_distance("runn", "run"), 1);
	assert_int_equal(args_distance("exp", "export"), 1);
	assert_int_equal(args_distance("", "run"), 3);
	assert_int_equal(args_distance("show", "export"), 5);
	assert_true(args_near("ls", 1));
	assert_false(args_near("ls", 2));
	assert_false(args_near(
		"0123456789012345678901234567890123456789012345678901234567890",
		args_distance("01234567890123456789012345678901234567890123456789", "ls")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_are_taken_in_every_spelling),
		cmocka_unit_test(one_of_some_words_is_taken_whole),
		cmocka_unit_test(a_value_may_be_left_out),
		cmocka_unit_test(a_list_keeps_all_that_is_given),
		cmocka_unit_test(defaults_are_filled_in),
		cmocka_unit_test(operands_move_behind_the_options_in_their_order),
		cmocka_unit_test(what_follows_a_command_is_left_alone),
		cmocka_unit_test(help_is_told_from_options_and_operands),
		cmocka_unit_test(unknown_options_name_the_nearest),
		cmocka_unit_test(bad_values_name_the_option_and_what_is_taken),
		cmocka_unit_test(durations_are_exact),
		cmocka_unit_test(what_is_no_duration_is_refused),
		cmocka_unit_test(durations_are_written_short_and_read_back),
		cmocka_unit_test(distance_counts_slips),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
