/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "cmd/command.h"
#include "cmd/outfile.h"
#include "cmd/say.h"
#include "recording/join.h"
#include "sink/sink.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMATS_MAX = 8 };

struct export_options {
	const char *to, *output, *metrics, *table;
	bool wide, raw, combine;
	int64_t from_ns, until_ns, every_ns;
};

static const struct option rows[] = {
	{ .name = "to",
	  .type = ARG_TEXT,
	  .value = "FORMATS",
	  .fallback = "csv",
	  .help = "Formats, separated by commas: csv, json.",
	  OPTION_OFFSET(struct export_options, to) },
	{ .name = "output",
	  .letter = 'o',
	  .type = ARG_TEXT,
	  .value = "DIR",
	  .help = "Directory of the files, made when it is not there; - writes one table to "
		  "standard output.",
	  OPTION_OFFSET(struct export_options, output) },
	{ .name = "table",
	  .type = ARG_TEXT,
	  .value = "NAME",
	  .help = "Only this table: series, processes, commands, marks, spans or states.",
	  OPTION_OFFSET(struct export_options, table) },
	{ .name = "metrics",
	  .type = ARG_TEXT,
	  .value = "GLOBS",
	  .help = "Only series whose name matches one of these, separated by commas: "
		  "'disk.*,node.*'.",
	  OPTION_OFFSET(struct export_options, metrics) },
	{ .name = "wide",
	  .type = ARG_FLAG,
	  .help = "Series: a row for each node and instant, a column for each metric and device.",
	  OPTION_OFFSET(struct export_options, wide) },
	{ .name = "raw",
	  .type = ARG_FLAG,
	  .help = "Series: counters as they were read instead of rates, and nothing computed.",
	  OPTION_OFFSET(struct export_options, raw) },
	{ .name = "combine",
	  .type = ARG_FLAG,
	  .help = "Series: one value for all devices or processes of a node.",
	  OPTION_OFFSET(struct export_options, combine) },
	{ .name = "every",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .min = 1000,
	  .max = INT64_MAX,
	  .help = "Series: mean, minimum and maximum of windows this long instead of every sample.",
	  OPTION_OFFSET(struct export_options, every_ns) },
	{ .name = "from",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .help = "Leave out what was before this time since the run began.",
	  OPTION_OFFSET(struct export_options, from_ns) },
	{ .name = "until",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .help = "Leave out what was at or after this time since the run began.",
	  OPTION_OFFSET(struct export_options, until_ns) },
};

static const struct example examples[] = {
	{ "export --to csv,json", "the newest recording here, into its own directory" },
	{ "export -o - --metrics 'node.*' --wide", "a table for a plot, to standard output" },
};

static const struct export_table {
	const char *name;
	enum frame_table table;
	const char *domain;
} tables[] = {
	{ "series", FRAME_SERIES, NULL },
	{ "processes", FRAME_INSTANCES, "process" },
	{ "commands", FRAME_INSTANCES, "command" },
	{ "marks", FRAME_MARKS, NULL },
	{ "spans", FRAME_SPANS, NULL },
	{ "states", FRAME_STATES, NULL },
};
enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

struct export
{
	const struct export_options *o;
	struct run *run;
	const char *directory; /* NULL: standard output */
	const struct sink *sink[FORMATS_MAX];
	size_t nsinks;
};

static void say_known_formats(const char *unknown)
{
	char list[256] = "";

	for (size_t i = 0; i < nsinks; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "",
			 sinks[i]->name);
	say("export: unknown format '%s'; the formats are %s", unknown, list);
}

static bool find_formats(struct export *x)
{
	for (const char *at = x->o->to; *at;) {
		size_t n = strcspn(at, ",");
		char name[32];

		snprintf(name, sizeof(name), "%.*s", (int)(n < sizeof(name) ? n : sizeof(name) - 1),
			 at);
		if (n && (x->nsinks == FORMATS_MAX || !(x->sink[x->nsinks] = sink_find(name)))) {
			say_known_formats(name);
			return false;
		}
		x->nsinks += n > 0;
		at += n + (at[n] == ',');
	}
	if (!x->nsinks)
		say_known_formats("");
	return x->nsinks > 0;
}

static bool is_table(const char *name)
{
	for (size_t i = 0; i < TABLES; i++)
		if (!strcmp(tables[i].name, name))
			return true;
	return false;
}

/* Whether the options make sense together; says why not. */
static bool understand(struct export *x, int noperands, char **operands)
{
	const struct export_options *o = x->o;

	if (noperands > 1)
		say("export: one recording at a time, '%s' is too much", operands[1]);
	else if (o->table && !is_table(o->table))
		say("export: there is no table '%s'; the tables are series, processes, commands, "
		    "marks, spans, "
		    "states",
		    o->table);
	else if (find_formats(x)) {
		if (!o->output || strcmp(o->output, "-") || x->nsinks == 1)
			return true;
		say("export: standard output takes one format, not '%s'", o->to);
	}
	return false;
}

static int write_file(const struct export *x, const struct export_table *t, const struct sink *k,
		      struct frame *f, struct err *e)
{
	struct outfile out;
	char name[64];
	int rc;

	snprintf(name, sizeof(name), "%s.%s", t->name, k->name);
	rc = outfile_open(&out, x->directory, name, e);
	if (rc)
		return rc;
	rc = sink_run(k, f, out.file, e);
	return outfile_close(&out, rc, e);
}

static int export_table(const struct export *x, const struct export_table *t, struct err *e)
{
	const struct export_options *o = x->o;
	const struct selection sel = { .table = t->table,
				       .domain = t->domain,
				       .wide = o->wide,
				       .raw = o->raw,
				       .combine = o->combine,
				       .metrics = o->metrics,
				       .from_s = (double)o->from_ns / NS_PER_S,
				       .to_s = (double)o->until_ns / NS_PER_S,
				       .every_s = (double)o->every_ns / NS_PER_S };
	struct frame *f;
	int rc = frame_open(&f, x->run, &sel, e);

	for (size_t i = 0; i < x->nsinks && !rc; i++) {
		rc = i ? frame_rewind(f) : 0;
		if (rc)
			err_set(e, rc, "%s: %s", x->run->path, strerror(-rc));
		else if (x->directory)
			rc = write_file(x, t, x->sink[i], f, e);
		else if ((rc = sink_run(x->sink[i], f, stdout, e)))
			err_set(e, rc, "cannot write to standard output: %s", strerror(-rc));
	}
	frame_close(f);
	return rc;
}

static int export_tables(const struct export *x, struct err *e)
{
	const char *only = x->o->table ? x->o->table : x->directory ? NULL : "series";
	int rc = 0;

	for (size_t i = 0; i < TABLES && !rc; i++)
		if (!only || !strcmp(tables[i].name, only))
			rc = export_table(x, &tables[i], e);
	return rc;
}

static void say_done(const struct export *x, const char *path)
{
	const struct run_damage *d = x->run->damages;

	if (x->run->ndamages)
		say("export: %s is damaged in %u places, first in %s at byte %llu: %s; what is "
		    "undamaged was "
		    "exported",
		    path, x->run->ndamages, d->file, (unsigned long long)d->offset, d->what);
	else if (x->directory)
		say("exported %s to %s", path, x->directory);
}

static int export_run(struct export *x, const char *path)
{
	struct err e = { "" };
	char own[PATH_MAX];
	int rc = run_open(&x->run, path, &e);

	if (rc) {
		say("export: %s", e.text);
		return EXIT_FAILED;
	}
	x->directory = x->o->output;
	if (!x->directory)
		x->directory = outfile_directory(path, own, sizeof(own));
	else if (!strcmp(x->directory, "-"))
		x->directory = NULL;
	rc = export_tables(x, &e);
	if (rc)
		say("export: %s", e.text);
	else
		say_done(x, path);
	if (!rc && x->run->ndamages)
		rc = -EIO;
	run_close(x->run);
	return rc == -EINVAL ? EXIT_USAGE : rc ? EXIT_FAILED : EXIT_OK;
}

static int export_exec(const void *options, int noperands, char **operands)
{
	struct export x = { .o = options };
	char newest[PATH_MAX];
	struct err e = { "" };

	if (!understand(&x, noperands, operands))
		return EXIT_USAGE;
	if (noperands)
		return export_run(&x, operands[0]);
	if (run_newest(".", newest, sizeof(newest), &e)) {
		say("export: %s", e.text);
		return EXIT_FAILED;
	}
	say("exporting %s", newest);
	return export_run(&x, newest);
}

const struct command command_export = {
	.name = "export",
	.operands = "[DIR]",
	.what = "Write a recording as tables",
	.description = "Writes series, processes, commands, marks, spans and states (what could "
		       "not be measured, and "
		       "why) as a file each, named by table and format. Without DIR, the newest "
		       "sonde_* directory here. "
		       "Counters become rates; --raw leaves them as they were read. A cell of "
		       "which nothing is known is "
		       "empty in CSV and null in JSON, never 0.\n\n"
		       "The series table is tidy: a row for each node, metric, instance and time. "
		       "With --wide it has a "
		       "row for each node and time.\n\n"
		       "A file that is there is replaced when the new one is complete, not before. "
		       "Exit code 1 also "
		       "means that the recording is damaged and something was left out.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct export_options),
	COMMAND_EXAMPLES(examples),
	.exec = export_exec,
};
