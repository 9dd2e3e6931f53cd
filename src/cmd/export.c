/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "cmd/choose.h"
#include "cmd/command.h"
#include "cmd/outfile.h"
#include "cmd/say.h"
#include "cmd/written.h"
#include "recording/join.h"
#include "sink/sink.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLES(X)                                                                                  \
	X("series", FRAME_SERIES, NULL)                                                            \
	X("processes", FRAME_INSTANCES, "process")                                                 \
	X("commands", FRAME_INSTANCES, "command")                                                  \
	X("marks", FRAME_MARKS, NULL)                                                              \
	X("spans", FRAME_SPANS, NULL)                                                              \
	X("states", FRAME_STATES, NULL)
#define ROW(name, table, domain)  { name, table, domain },
#define NAME(name, table, domain) " " name
#define SINK(x)                   " " #x

#define TO_STANDARD_OUTPUT "-"

static const char known_tables[] = "One of the tables:" TABLES(NAME) ".";
static const char known_formats[] = "Formats, separated by commas:"
#include "sinks.def"
				    ".";

struct export_options {
	const char *to, *output, *metrics, *table;
	bool wide, raw, combine, json;
	int64_t from_ns, until_ns, every_ns;
};

static const struct option rows[] = {
	{ .name = "to",
	  .type = ARG_TEXT,
	  .value = "FORMATS",
	  .fallback = "csv",
	  .help = known_formats,
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
	  .help = known_tables,
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
	  .help = "Series: mean, minimum and maximum (--wide: the mean) of windows this long instead of every sample.",
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
	{ .name = "json",
	  .type = ARG_FLAG,
	  .help = "Say which files were written, as JSON on standard output.",
	  OPTION_OFFSET(struct export_options, json) },
};

static const struct example examples[] = {
	{ "export --to csv,json", "the newest recording here, into its own directory" },
	{ "export -o - --metrics 'node.*' --wide", "a table for a plot, to standard output" },
};

static const struct export_table {
	const char *name;
	enum frame_table table;
	const char *domain;
} tables[] = { TABLES(ROW) };

struct exporting {
	const struct export_options *o;
	struct run *run;
	const char *directory; /* NULL: standard output */
	uint64_t formats;      /* bit i: sinks[i] */
	struct written *written;
};

static bool add_format(struct exporting *x, const char *name, size_t n)
{
	for (size_t i = 0; i < nsinks; i++)
		if (strlen(sinks[i]->name) == n && !memcmp(sinks[i]->name, name, n)) {
			x->formats |= UINT64_C(1) << i;
			return true;
		}
	return false;
}

static bool find_formats(struct exporting *x)
{
	for (const char *at = x->o->to; *at || !x->formats;) {
		size_t n = strcspn(at, ",");

		if (!add_format(x, at, n)) {
			say("export: there is no format '%.*s'. %s", (int)n, at, known_formats);
			return false;
		}
		at += n + (at[n] == ',');
	}
	return true;
}

static bool is_table(const char *name)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (!strcmp(tables[i].name, name))
			return true;
	return false;
}

/* Some formats hold readings, and no other table or shape. */
static bool suits_series_only(const struct exporting *x)
{
	const struct export_options *o = x->o;

	for (size_t i = 0; i < nsinks; i++) {
		if (!(x->formats >> i & 1) || !sinks[i]->series_only)
			continue;
		if (o->wide)
			say("export: %s has a line for each reading; leave out --wide",
			    sinks[i]->name);
		else if (o->table && strcmp(o->table, "series"))
			say("export: %s holds the series, not %s", sinks[i]->name, o->table);
		else
			continue;
		return false;
	}
	return true;
}

/* Whether the options make sense together; says why not. */
static bool understand(struct exporting *x)
{
	const struct export_options *o = x->o;

	if (o->table && !is_table(o->table))
		say("export: there is no table '%s'. %s", o->table, known_tables);
	else if (find_formats(x) && suits_series_only(x)) {
		if (!o->output || strcmp(o->output, TO_STANDARD_OUTPUT))
			return true;
		if (o->json)
			say("export: with -o - the table is what goes to standard output; leave out --json");
		else if (x->formats & (x->formats - 1))
			say("export: standard output takes one format, not '%s'", o->to);
		else
			return true;
	}
	return false;
}

/* Bit i: sinks[i]. */
static uint64_t series_only(void)
{
	uint64_t formats = 0;

	for (size_t i = 0; i < nsinks; i++)
		formats |= (uint64_t)sinks[i]->series_only << i;
	return formats;
}

static int write_file(const struct exporting *x, const struct export_table *t, const struct sink *k,
		      struct frame *f, struct err *e)
{
	struct outfile out;
	char name[64];
	int rc;

	snprintf(name, sizeof(name), "%s.%s", t->name, sink_extension(k));
	rc = outfile_open(&out, x->directory, name, e);
	if (rc)
		return rc;
	rc = outfile_close(&out, sink_run(k, f, out.file, e), e);
	if (!rc)
		written_add(x->written, out.path);
	return rc;
}

static int export_formats(const struct exporting *x, const struct export_table *t, uint64_t formats,
			  struct err *e)
{
	const struct export_options *o = x->o;
	const struct selection sel = { .table = t->table,
				       .domain = t->domain,
				       .wide = o->wide,
				       .raw = o->raw,
				       .lasting = formats & series_only(),
				       .combine = o->combine,
				       .metrics = o->metrics,
				       .from_s = (double)o->from_ns / NS_PER_S,
				       .to_s = (double)o->until_ns / NS_PER_S,
				       .every_s = (double)o->every_ns / NS_PER_S };
	struct frame *f = NULL;
	int rc = formats ? frame_open(&f, x->run, &sel, e) : 0;

	for (size_t i = 0; i < nsinks && !rc; i++) {
		if (!(formats >> i & 1))
			continue;
		if (x->directory)
			rc = write_file(x, t, sinks[i], f, e);
		else if ((rc = sink_run(sinks[i], f, stdout, e)))
			err_set(e, rc, "cannot write to standard output: %s", strerror(-rc));
		if (!rc && (rc = frame_rewind(f)))
			err_set(e, rc, "%s: %s", x->run->path, strerror(-rc));
	}
	frame_close(f);
	return rc;
}

static int export_table(const struct exporting *x, const struct export_table *t, struct err *e)
{
	int rc = export_formats(x, t, x->formats & ~series_only(), e);

	if (!rc && t->table == FRAME_SERIES)
		rc = export_formats(x, t, x->formats & series_only(), e);
	return rc;
}

static int export_tables(const struct exporting *x, struct err *e)
{
	const char *only = x->o->table ? x->o->table : x->directory ? NULL : "series";
	int rc = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !rc; i++)
		if (!only || !strcmp(tables[i].name, only))
			rc = export_table(x, &tables[i], e);
	return rc;
}

static void say_done(const struct exporting *x, const char *path)
{
	const struct run_damage *d = x->run->damages;

	if (x->run->ndamages)
		say("export: %s is damaged (places: %u), first in %s at byte %llu: %s; what is "
		    "undamaged was exported",
		    path, x->run->ndamages, d->file, (unsigned long long)d->offset, d->what);
	else if (x->directory)
		say("exported %s to %s", path, x->directory);
}

static int export_run(struct exporting *x, const char *path)
{
	struct written written = { .verb = "export", .recording = path, .json = x->o->json };
	struct err e = { "" };
	char own[PATH_MAX];
	int rc;

	x->directory = x->o->output;
	if (!x->directory)
		x->directory = outfile_directory(path, own, sizeof(own));
	else if (!strcmp(x->directory, TO_STANDARD_OUTPUT))
		x->directory = NULL;
	x->written = &written;
	rc = export_tables(x, &e);
	if (rc)
		say("export: %s", e.text);
	else
		say_done(x, path);
	if (written_end(&written, x->run->ndamages) || (!rc && x->run->ndamages))
		rc = -EIO;
	return rc == -EINVAL ? EXIT_USAGE : rc ? EXIT_FAILED : EXIT_OK;
}

static int export_exec(const void *options, int noperands, char **operands)
{
	struct exporting x = { .o = options };
	struct choice c;
	int code;

	if (!understand(&x))
		return EXIT_USAGE;
	code = choose_recording(&c, "export", "exporting", noperands, operands);
	if (code)
		return code;
	x.run = c.run;
	code = export_run(&x, c.path);
	run_close(c.run);
	return code;
}

const struct command command_export = {
	.name = "export",
	.operands = "[DIR]",
	.what = "Write a recording as tables",
	.description = "Writes series, processes, commands, marks, spans and states (what could "
		       "not be measured, and why) as a file each, named by table and format. "
		       "Without DIR, the newest sonde_* directory here. Counters become rates; "
		       "--raw leaves them as they were read. A cell of which nothing is known "
		       "is empty in CSV and null in JSON, never 0.\n\n"
		       "The series table is tidy: a row for each node, metric, instance and "
		       "time. With --wide it has a row for each node and time.\n\n"
		       "A file that is there is replaced when the new one is complete, not "
		       "before. Exit code 1 also means that the recording is damaged and "
		       "something was left out.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct export_options),
	COMMAND_EXAMPLES(examples),
	.exec = export_exec,
};
