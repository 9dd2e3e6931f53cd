/* SPDX-License-Identifier: Apache-2.0 */
/* mark.c - a mark of a job script, in the recording of its job. */
#include "base/clock.h"
#include "base/text/decimal.h"
#include "console/command.h"
#include "core/phase/cascade.h"
#include "session/marked.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mark_options {
	const char *value, *unit, *track;
	const char *source, *event, *ts, *message, *prefix;
};

static const struct option rows[] = {
	{ .name = "value",
	  .type = ARG_TEXT,
	  .value = "NUMBER",
	  .help = "A number that the script measured. Same as value=NUMBER.",
	  OPTION_OFFSET(struct mark_options, value) },
	{ .name = "unit",
	  .type = ARG_TEXT,
	  .value = "UNIT",
	  .help = "The unit of NUMBER: images/s. Same as unit=UNIT.",
	  OPTION_OFFSET(struct mark_options, unit) },
	MARKED_TRACK(struct mark_options, track),
	{ .name = "source",
	  .type = ARG_TEXT,
	  .value = "SOURCE",
	  .help = "With --event, and without NAME: write a mark SOURCE:EVENT in lower case, in "
		  "the format of Batch Shipyard's perf.py.",
	  OPTION_OFFSET(struct mark_options, source) },
	{ .name = "event",
	  .type = ARG_TEXT,
	  .value = "EVENT",
	  .help = "With --source: the event.",
	  OPTION_OFFSET(struct mark_options, event) },
	{ .name = "ts",
	  .type = ARG_TEXT,
	  .value = "SECONDS",
	  .help = "With --source: the time, in seconds since 1970, UTC. Default: now.",
	  OPTION_OFFSET(struct mark_options, ts) },
	{ .name = "message",
	  .type = ARG_TEXT,
	  .value = "TEXT",
	  .help = "With --source: details of the event: diff=3.5,size=1024.",
	  OPTION_OFFSET(struct mark_options, message) },
	{ .name = "prefix",
	  .type = ARG_TEXT,
	  .value = "TEXT",
	  .help = "With --source: how the names of Batch Shipyard's tables begin. For scripts "
		  "that call perf.py with it; the table is chosen by `sonde push`.",
	  OPTION_OFFSET(struct mark_options, prefix) },
};

static const struct example examples[] = {
	{ "mark epoch n=3 loss=0.12", "what the script knows at this time" },
	{ "mark throughput --value 412 --unit images/s", "a number that it measured" },
	{ "mark --source cascade --event pull-end --message img=ubuntu,diff=3.5",
	  "an event of a node's start-up" },
};

static bool is_number(const char *text)
{
	char *end;

	strtod(text, &end);
	return end > text && !*end;
}

/* ---- as perf.py sets them ---- */

static bool is_event(const struct mark_options *o)
{
	return o->source || o->event || o->ts || o->message || o->prefix;
}

static bool name_event(const struct mark_options *o, int nwords, char name[MARK_NAME_MAX])
{
	if (!o->source || !*o->source || !o->event || !*o->event) {
		say("mark: --source needs --event, and --ts, --message and --prefix need both");
		return false;
	}
	if (nwords || o->value || o->unit || o->track) {
		say("mark: --source and --event form the name; remove NAME, KEY=VALUE and other "
		    "options, and put details into --message");
		return false;
	}
	if (snprintf(name, MARK_NAME_MAX, "%s:%s", o->source, o->event) >= MARK_NAME_MAX) {
		say("mark: SOURCE:EVENT has at most %d bytes", MARK_NAME_MAX - 1);
		return false;
	}
	for (char *c = name; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	if (o->message && strpbrk(o->message, "\n\r")) {
		say("mark: --message takes one line");
		return false;
	}
	return true;
}

/* To the microsecond, as the keys of its table are. */
static bool time_of(const char *ts, int64_t *utc_ns)
{
	char *end;
	double s = decimal_parse(ts, &end);

	if (end == ts || *end || !(s > 0 && s < 9e9))
		return false;
	*utc_ns = cascade_key_ns(s);
	return true;
}

static int mark_event(const struct mark_options *o, int nwords)
{
	char name[MARK_NAME_MAX];
	struct bytes text = { 0 };
	int64_t utc_ns = 0;

	if (!name_event(o, nwords, name))
		return EXIT_USAGE;
	if (o->ts && !time_of(o->ts, &utc_ns)) {
		say("mark: --ts takes seconds since 1970, not '%s'", o->ts);
		return EXIT_USAGE;
	}
	if (o->message)
		bytes_puts(&text, o->message);
	return o->ts ? marked_write_at(MARK_POINT, "mark", name, &text, utc_ns)
		     : marked_write(MARK_POINT, "mark", name, &text);
}

static int mark(const void *given, int n, char **words)
{
	const struct mark_options *o = given;
	struct bytes text = { 0 };

	if (is_event(o))
		return mark_event(o, n);
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
	.operands = "[NAME [KEY=VALUE ...]]",
	.what = "Add a mark to the job's recording",
	.description =
		"Records, from a script that runs under `sonde run`, what happens now. The mark "
		"is in the recording with its time, in marks.csv of `sonde export`, and on the "
		"page.\n\n"
		"The command appends a line to the file named by the variable SONDE_MARKS, and "
		"waits for nothing. Without that variable it does nothing. If it cannot write the "
		"mark, it prints a message on standard error. The exit code is 0 in both cases, "
		"so that no job fails because of its marks.\n\n"
		"With --source and --event it writes a mark SOURCE:EVENT with the message, at the "
		"time of --ts, like the start-up events of Batch Shipyard's nodes.\n\n"
		"Without any program: echo 'M epoch n=3' >>\"$SONDE_MARKS\". Such a line gets the "
		"time at which the file was last changed.",
	COMMAND_OPTIONS(rows),
	COMMAND_EXAMPLES(examples),
	.size = sizeof(struct mark_options),
	.exec = mark,
};
