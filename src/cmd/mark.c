/* SPDX-License-Identifier: Apache-2.0 */
/* mark.c - a mark of a job script, in the recording of its job. */
#include "cmd/command.h"
#include "cmd/marked.h"
#include "cmd/say.h"

#include <stdlib.h>

struct mark_options {
	const char *value, *unit, *track;
};

static const struct option rows[] = {
	{ .name = "value",
	  .type = ARG_TEXT,
	  .value = "NUMBER",
	  .help = "A number that the script measured itself. Another word for value=NUMBER.",
	  OPTION_OFFSET(struct mark_options, value) },
	{ .name = "unit",
	  .type = ARG_TEXT,
	  .value = "UNIT",
	  .help = "What it counts: images/s. Another word for unit=UNIT.",
	  OPTION_OFFSET(struct mark_options, unit) },
	MARKED_TRACK(struct mark_options, track),
};

static const struct example examples[] = {
	{ "mark epoch n=3 loss=0.12", "what the script knows, at this time" },
	{ "mark throughput --value 412 --unit images/s", "a number that it measured" },
};

static bool is_number(const char *text)
{
	char *end;

	strtod(text, &end);
	return end > text && !*end;
}

static int mark(const void *given, int n, char **words)
{
	const struct mark_options *o = given;
	struct bytes text = { 0 };

	if (o->value && !is_number(o->value)) {
		say("mark: --value takes a number, not '%s'", o->value);
		return EXIT_USAGE;
	}
	if (!marked_words(&text, "mark", n, words)) {
		bytes_free(&text);
		return EXIT_USAGE;
	}
	if (o->value)
		marked_word(&text, "value", o->value);
	if (o->unit)
		marked_word(&text, "unit", o->unit);
	if (o->track)
		marked_word(&text, "track", o->track);
	return marked_write(MARK_POINT, "mark", words[0], &text);
}

const struct command command_mark = {
	.name = "mark",
	.operands = "NAME [KEY=VALUE ...]",
	.what = "Put a mark into the recording of the job",
	.description =
		"Says, from a script that runs under `sonde run`, what happens now: the mark is in the "
		"recording with its time, in marks.csv of `sonde export` and on the page.\n\n"
		"It appends a line to the file that the variable SONDE_MARKS names. Nobody is "
		"waited for. Without that variable nothing happens, and a mark that cannot be "
		"written is said on standard error: in both cases the exit code is 0, so that "
		"no job fails for its marks.\n\n"
		"Without any program: echo 'M epoch n=3' >>\"$SONDE_MARKS\". Such a line gets "
		"the time of the file's last change.",
	COMMAND_OPTIONS(rows),
	COMMAND_EXAMPLES(examples),
	.size = sizeof(struct mark_options),
	.exec = mark,
};
