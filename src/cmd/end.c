/* SPDX-License-Identifier: Apache-2.0 */
/* end.c - a span of a job script ends. */
#include "console/command.h"
#include "session/marked.h"

struct end_options {
	const char *track;
};

static const struct option rows[] = {
	MARKED_TRACK(struct end_options, track),
};

static const struct example examples[] = {
	{ "end imaging", "end the phase" },
	{ "end --track left imaging images=412", "with results known at the end" },
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
	.what = "End a span in the job's recording",
	.description =
		"Ends the innermost span of this name that `sonde begin` started on the same "
		"track. An end without a start is recorded as a mark and reported. Its KEY=VALUE "
		"pairs are appended to those of the start. As with `sonde mark`, nothing happens "
		"outside of `sonde run`.\n\n"
		"Without any program: echo 'E imaging' >>\"$SONDE_MARKS\".",
	COMMAND_OPTIONS(rows),
	COMMAND_EXAMPLES(examples),
	.size = sizeof(struct end_options),
	.exec = end,
};
