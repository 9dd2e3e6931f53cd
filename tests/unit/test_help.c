/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "console/completion.h"
#include "console/help.h"

struct opts {
	const char *output;
	int64_t interval;
	bool quiet;
};

/* Text with everything that roff and the shells take for their own. */
#define NASTY "It's a \\ [x]: `y` \"z\" $HOME %d."

static const struct option rows[] = {
	{ .name = "interval",
	  .letter = 'i',
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .fallback = "1s",
	  .help = "Time between samples, which is said at such length that it does not fit into "
		  "one line.",
	  .min = NS_PER_MS,
	  .max = 3600 * NS_PER_S,
	  OPTION_OFFSET(struct opts, interval) },
	{ .name = "output",
	  .letter = 'o',
	  .type = ARG_TEXT,
	  .value = "DIR",
	  .help = NASTY,
	  OPTION_OFFSET(struct opts, output) },
	{ .name = "summary",
	  .type = ARG_TEXT,
	  .value = "FILE",
	  .help = "x.",
	  OPTION_OFFSET(struct opts, output) },
	{ .name = "quiet",
	  .letter = 'q',
	  .help = "Say nothing.",
	  OPTION_OFFSET(struct opts, quiet) },
	{ .name = "inner",
	  .help = "Not for people.",
	  .hidden = true,
	  OPTION_OFFSET(struct opts, quiet) },
};

static const struct example examples[] = { { "try -i 1s -- ./app", "once a second" } };

static const struct command command_try = {
	.name = "try",
	.operands = "-- CMD [ARGS...]",
	.what = "Try it on a command",
	.description =
		"First paragraph.\n\n.TH is no request here, 'nor' this: \\fBx.\n'quoted line.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct opts),
	COMMAND_EXAMPLES(examples),
	.usage_code = 125,
};
static const struct command command_look = { .name = "look", .operands = "[DIR]", .what = NASTY };
static const struct command command_inner = { .name = "inner",
					      .what = "Not for people",
					      .hidden = true };

/* In place of src/console/command.c. */
const struct command *const commands[] = { &command_try, &command_look, &command_inner };
const size_t ncommands = 3;

static char *text_of(void (*make)(struct bytes *))
{
	struct bytes b = { 0 };

	make(&b);
	bytes_u8(&b, '\0');
	assert_false(b.failed);
	return (char *)b.data;
}

static void help_of_try(struct bytes *b)
{
	help_command(b, &command_try);
}

static void man_of_try(struct bytes *b)
{
	man_command(b, &command_try);
}

static void man_of_look(struct bytes *b)
{
	man_command(b, &command_look);
}

static void assert_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}

static void assert_lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("'%s' is in:\n%s", part, text);
}

static void help_has_usage_examples_and_options(void **state)
{
	char *text = text_of(help_of_try);

	(void)state;
	assert_int_equal(strncmp(text, "usage: sonde try [options] -- CMD [ARGS...]\n", 44), 0);
	assert_contains(text, "\n  -i, --interval TIME     Time between");
	assert_contains(text, "one line. (default 1s; 1ms\n                          to 1h)\n");
	assert_contains(text, "\n      --summary FILE      x.\n");
	assert_contains(text, "\n  -h, --help              ");
	assert_lacks(text, "inner");
	assert_true(strstr(text, "examples:") < strstr(text, "options:"));
	assert_contains(text, "\n\nFirst paragraph.\n\n.TH is");
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		assert_true(strcspn(line, "\n") <= 80);
	free(text);
}

static void the_overview_names_commands_but_hidden_ones(void **state)
{
	char *help = text_of(help_overview), *man = text_of(man_overview);

	(void)state;
	assert_contains(help, "\n  try         Try it on a command\n");
	assert_lacks(help, "inner");
	assert_contains(man, "\\fBsonde\\-try\\fR(1)");
	assert_lacks(man, "inner");
	free(help);
	free(man);
}

static void man_pages_hold_text_and_no_requests_of_it(void **state)
{
	char *text = text_of(man_of_try);

	(void)state;
	assert_contains(text, ".TH SONDE\\-TRY 1 ");
	assert_contains(text, "sonde\\-try \\- try it on a command\n");
	assert_contains(text, "\\fB\\-i\\fR, \\fB\\-\\-\\fR\\fBinterval\\fR \\fITIME\\fR\n");
	assert_contains(text, "\n\\&.TH is no request");
	assert_contains(text, "\\efBx.");
	assert_contains(text, "\n\\&'quoted line.");
	assert_contains(text, "\n125 when sonde itself failed");
	assert_lacks(text, "inner");
	free(text);
	text = text_of(man_of_look);
	assert_contains(text, "2 when it was called wrongly");
	free(text);
}

enum { NOT_INSTALLED = 127 };

/* The exit status of a program with an option that makes it check the file at path. */
static int judged(const char *program, const char *option, const char *path)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		if (!freopen("/dev/null", "w", stdout))
			_exit(1);
		execlp(program, program, option, path, (char *)NULL);
		_exit(NOT_INSTALLED);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void assert_judged(const char *program, const char *option, void (*make)(struct bytes *))
{
	char path[] = "test_help.XXXXXX", *text = text_of(make);
	int fd = mkstemp(path), status;
	size_t n = strlen(text);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, n), (ssize_t)n);
	close(fd);
	status = judged(program, option, path);
	unlink(path);
	free(text);
	if (status == NOT_INSTALLED)
		print_message("%s is not installed: not checked by it\n", program);
	else
		assert_int_equal(status, 0);
}

static void shells_and_mandoc_accept_what_is_written(void **state)
{
	(void)state;
	assert_judged("bash", "-n", completion_bash);
	assert_judged("zsh", "-n", completion_zsh);
	assert_judged("fish", "-n", completion_fish);
	assert_judged("mandoc", "-Werror", man_of_try);
	assert_judged("mandoc", "-Werror", man_of_look);
	assert_judged("mandoc", "-Werror", man_overview);
}

static void completions_know_what_takes_a_value(void **state)
{
	char *bash = text_of(completion_bash), *zsh = text_of(completion_zsh),
	     *fish = text_of(completion_fish);

	(void)state;
	assert_contains(bash, "values=' --interval -i --output -o --summary '");
	assert_contains(bash, "directories=' --output -o '");
	assert_contains(bash, "files=' --summary '");
	assert_contains(zsh, "'(-i --interval)'{-i,--interval=}'[Time between");
	assert_contains(zsh, "\\[x\\]\\:");
	assert_contains(fish, "-l output -s o -x -a '(__fish_complete_directories)' -d 'It\\'s");
	assert_lacks(bash, "inner");
	assert_lacks(zsh, "inner");
	assert_lacks(fish, "inner");
	free(bash);
	free(zsh);
	free(fish);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(help_has_usage_examples_and_options),
		cmocka_unit_test(the_overview_names_commands_but_hidden_ones),
		cmocka_unit_test(man_pages_hold_text_and_no_requests_of_it),
		cmocka_unit_test(shells_and_mandoc_accept_what_is_written),
		cmocka_unit_test(completions_know_what_takes_a_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
