/* SPDX-License-Identifier: Apache-2.0 */
/* end.c - a span of a job script ends. */
#include "cmd/command.h"
#include "cmd/marked.h"

struct end_options {
	const char *track;
};

static const struct option rows[] = {
	MARKED_TRACK(struct end_options, track),
};

static const struct example examples[] = {
	{ "end imaging", "the phase is over" },
	{ "end --track left imaging images=412", "with what is known by then" },
};

static int end(const void *given, int n, char **words)
{
	const struct end_options *o = given;
	struct bytes text = { 0 };

	if (!marked_words(&text, "end", n, words)) {
		bytes_free(&text);
		return EXIT_USAGE;
	}
	if (o->track)
		marked_word(&text, "track", o->track);
	return marked_write(MARK_END, "end", words[0], &text);
}

const struct command command_end = {
	.name = "end",
	.operands = "NAME [KEY=VALUE ...]",
	.what = "End a span in the recording of the job",
	.description =
		"Ends the innermost span of this name that `sonde begin` began on the same track. "
		"An end without a begin is recorded as a mark that says so. Its words are put "
		"behind those of the begin. As with `sonde mark`, nothing happens outside of "
		"`sonde run`.\n\n"
		"Without any program: echo 'E imaging' >>\"$SONDE_MARKS\".",
	COMMAND_OPTIONS(rows),
	COMMAND_EXAMPLES(examples),
	.size = sizeof(struct end_options),
	.exec = end,
};
