/* SPDX-License-Identifier: Apache-2.0 */
/* mark.c - a mark of a job script, in the recording of its job. */
#include "base/clock.h"
#include "base/decimal.h"
#include "cmd/command.h"
#include "cmd/marked.h"
#include "cmd/say.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mark_options {
	const char *value, *unit, *track;
	const char *source, *event, *ts, *message;
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
	{ .name = "source",
	  .type = ARG_TEXT,
	  .value = "SOURCE",
	  .help = "A mark SOURCE:EVENT in lower case, as Batch Shipyard's perf.py sets it: who "
		  "says it. With --event, and without NAME.",
	  OPTION_OFFSET(struct mark_options, source) },
	{ .name = "event",
	  .type = ARG_TEXT,
	  .value = "EVENT",
	  .help = "With --source: what happened.",
	  OPTION_OFFSET(struct mark_options, event) },
	{ .name = "ts",
	  .type = ARG_TEXT,
	  .value = "SECONDS",
	  .help = "With --source: when, in seconds since 1970, UTC; without it now.",
	  OPTION_OFFSET(struct mark_options, ts) },
	{ .name = "message",
	  .type = ARG_TEXT,
	  .value = "TEXT",
	  .help = "With --source: what is said with it: diff=3.5,size=1024.",
	  OPTION_OFFSET(struct mark_options, message) },
};

static const struct example examples[] = {
	{ "mark epoch n=3 loss=0.12", "what the script knows, at this time" },
	{ "mark throughput --value 412 --unit images/s", "a number that it measured" },
	{ "mark --source cascade --event pull-end --message img=ubuntu,diff=3.5",
	  "an event of a node's start" },
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
	return o->source || o->event || o->ts || o->message;
}

static bool name_event(const struct mark_options *o, int nwords, char name[MARK_NAME_MAX])
{
	if (!o->source || !*o->source || !o->event || !*o->event) {
		say("mark: --source and --event belong together, and --ts and --message to both");
		return false;
	}
	if (nwords || o->value || o->unit || o->track) {
		say("mark: --source and --event make the name, and --message says all else; leave "
		    "out NAME, words and other options");
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
	*utc_ns = llround(s * 1e6) * 1000;
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
	.what = "Put a mark into the recording of the job",
	.description =
		"Says, from a script that runs under `sonde run`, what happens now: the mark is in the "
		"recording with its time, in marks.csv of `sonde export` and on the page.\n\n"
		"It appends a line to the file that the variable SONDE_MARKS names. Nobody is "
		"waited for. Without that variable nothing happens, and a mark that cannot be "
		"written is said on standard error: in both cases the exit code is 0, so that "
		"no job fails for its marks.\n\n"
		"With --source and --event it is a mark SOURCE:EVENT with that message, at the time "
		"of --ts, as the start-up events of Batch Shipyard's nodes are.\n\n"
		"Without any program: echo 'M epoch n=3' >>\"$SONDE_MARKS\". Such a line gets "
		"the time of the file's last change.",
	COMMAND_OPTIONS(rows),
	COMMAND_EXAMPLES(examples),
	.size = sizeof(struct mark_options),
	.exec = mark,
};
