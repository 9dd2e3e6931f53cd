/* SPDX-License-Identifier: Apache-2.0 */
/* span.c - a command as a span of the recording of the job that it runs in. */
#include "console/command.h"
#include "core/phase/mark.h"
#include "job/launch.h"
#include "session/marked.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct span_options {
	const char *track;
};

static const struct option rows[] = {
	MARKED_TRACK(struct span_options, track),
};

static const struct example examples[] = {
	{ "span imaging -- ./image field_3", "record when a step of the script started and ended" },
};

/* Two commands of one name at the same time: each ends what it began. */
static void put_words(struct bytes *text, const struct span_options *o, const int *status)
{
	char number[sizeof MARK_COMMAND + 16];

	snprintf(number, sizeof number, MARK_COMMAND "%d", (int)getpid());
	marked_word(text, "track", o->track ? o->track : number);
	if (!status)
		return;
	snprintf(number, sizeof number, "%d",
		 WIFSIGNALED(*status) ? WTERMSIG(*status) : WEXITSTATUS(*status));
	marked_word(text, WIFSIGNALED(*status) ? "signal" : "exit_code", number);
}

static int run_it(const struct span_options *o, const char *name, char **argv)
{
	struct sentinel sentinel;
	struct launch_signals saved;
	struct launch l = {
		.argv = argv, .saved = &saved, .sentinel = &sentinel, .recorder = -1, .let_go = true
	};
	struct launch_end end;
	struct bytes text = { 0 };
	struct err e = { "" };
	int code, status;

	if (launch_begin(&saved, &e)) {
		say("span: %s", e.text);
		return LAUNCH_FAILED;
	}
	sentinel_start(&sentinel);
	put_words(&text, o, NULL);
	marked_write(MARK_BEGIN, "span", name, &text);
	code = launch_command(&l, &end, &e);
	status = code ? code << 8 : end.status;
	put_words(&text, o, &status);
	marked_write(MARK_END, "span", name, &text);
	if (!code)
		launch_repeat(end.status);
	say("span: %s", e.text);
	return code == LAUNCH_NO_PROCESS ? LAUNCH_NOT_EXECUTABLE : code;
}

static int span(const void *given, int n, char **words)
{
	struct bytes text = { 0 };
	int command = n > 1 && !strcmp(words[1], "--") ? 2 : 1;
	bool sound = marked_words(&text, "span", n ? 1 : 0, words);

	bytes_free(&text);
	if (sound && n > command)
		return run_it(given, words[0], words + command);
	if (sound)
		say("span: no command given: sonde span NAME -- CMD [ARGS...]");
	return LAUNCH_FAILED;
}

const struct command command_span = {
	.name = "span",
	.operands = "NAME -- CMD [ARGS...]",
	.what = "Run a command as a span in the job's recording",
	.description =
		"Runs CMD and adds to the job's recording when it started, when it ended and how. "
		"Outside of `sonde run` it only runs CMD.\n\n"
		"Signals sent to sonde are passed on to CMD. Exit status: that of CMD; if a "
		"signal ends CMD, sonde ends by the same signal; 125 for a usage error of sonde, "
		"126 if CMD cannot be executed, 127 if CMD is not found.",
	COMMAND_OPTIONS(rows),
	COMMAND_EXAMPLES(examples),
	.size = sizeof(struct span_options),
	.stop_at_operand = true,
	.usage_code = LAUNCH_FAILED,
	.exec = span,
};
