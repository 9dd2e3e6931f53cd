/* SPDX-License-Identifier: Apache-2.0 */
/* begin.c - a span of a job script begins. */
#include "cmd/command.h"
#include "cmd/marked.h"

struct begin_options {
	const char *track;
};

static const struct option rows[] = {
	MARKED_TRACK(struct begin_options, track),
};

static const struct example examples[] = {
	{ "begin imaging field=3", "a phase of the job begins" },
	{ "begin --track left imaging", "beside others" },
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
	.what = "Begin a span in the recording of the job",
	.description =
		"From now on, until `sonde end NAME`, the job is in this span: it is in spans.csv of "
		"`sonde export` and on the page, with its begin, end and duration. Spans may lie "
		"within one another. One that never ends stays open, and is shown so.\n\n"
		"Where several things run at the same time, --track tells them apart. As with "
		"`sonde mark`, nothing happens outside of `sonde run`.\n\n"
		"Without any program: echo 'B imaging' >>\"$SONDE_MARKS\".",
	COMMAND_OPTIONS(rows),
	COMMAND_EXAMPLES(examples),
	.size = sizeof(struct begin_options),
	.exec = begin,
};
