/* SPDX-License-Identifier: Apache-2.0 */
/* begin.c - a span of a job script begins. */
#include "console/command.h"
#include "session/marked.h"

struct begin_options {
	const char *track;
};

static const struct option rows[] = {
	MARKED_TRACK(struct begin_options, track),
};

static const struct example examples[] = {
	{ "begin imaging field=3", "start a phase of the job" },
	{ "begin --track left imaging", "one of several at the same time" },
};

static int begin(const void *given, int n, char **words)
{
	const struct begin_options *o = given;
	struct bytes text = { 0 };

	if (!marked_words(&text, "begin", n, words)) {
		bytes_free(&text);
		return EXIT_USAGE;
	}
	if (o->track)
		marked_word(&text, "track", o->track);
	return marked_write(MARK_BEGIN, "begin", words[0], &text);
}

const struct command command_begin = {
	.name = "begin",
	.operands = "NAME [KEY=VALUE ...]",
	.what = "Start a span in the job's recording",
	.description =
		"Starts a span that lasts until `sonde end NAME`. The span, with its start, end "
		"and duration, is in spans.csv of `sonde export` and on the page. Spans may be "
		"nested. A span that never ends is shown as open.\n\n"
		"Use --track to distinguish spans that run at the same time. As with `sonde "
		"mark`, nothing happens outside of `sonde run`.\n\n"
		"Without any program: echo 'B imaging' >>\"$SONDE_MARKS\".",
	COMMAND_OPTIONS(rows),
	COMMAND_EXAMPLES(examples),
	.size = sizeof(struct begin_options),
	.exec = begin,
};
