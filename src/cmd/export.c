/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "console/command.h"
#include "output/outfile.h"
#include "output/tablefile.h"
#include "perfmon/results.h"
#include "recording/join.h"
#include "session/find.h"
#include "session/history.h"
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
	X("counters", FRAME_COUNTERS, NULL)                                                        \
	X("states", FRAME_STATES, NULL)
#define ROW(name, table, domain)  { name, table, domain },
#define NAME(name, table, domain) " " name
#define SINK(x)                   " " #x
#define PROFILE(x)                " " #x

#define TO_STANDARD_OUTPUT "-"
#define DOCUMENTS          "perfmon"
#define PROFILES           "scanner"

static const char known_tables[] = "One of these tables:" TABLES(NAME) ".";
static const char known_formats[] =
	"Formats, separated by commas:"
#include "sinks.def"
	" " DOCUMENTS " " PROFILES
#include "profiles.def"
	". folded, pprof and speedscope are of stacks (`sonde run --stacks`).";
static const char table_words[] = TABLES(NAME);
static const char format_words[] =
#include "sinks.def"
	" " DOCUMENTS " " PROFILES
#include "profiles.def"
	;

struct export_options {
	const char *to, *output, *append, *lake, *metrics, *table, *names, *what;
	bool wide, raw, combine, json;
	int64_t from_ns, until_ns, every_ns, wait_ns;
};

static const struct option rows[] = {
	{ .name = "to",
	  .type = ARG_TEXT,
	  .value = "FORMATS",
	  .fallback = "csv",
	  .help = known_formats,
	  .words = format_words,
	  OPTION_OFFSET(struct export_options, to) },
	{ .name = "output",
	  .letter = 'o',
	  .type = ARG_TEXT,
	  .value = "DIR",
	  .help = "Write the files to DIR, created if missing; - writes one table to standard "
		  "output.",
	  OPTION_OFFSET(struct export_options, output) },
	{ .name = "append",
	  .type = ARG_TEXT,
	  .value = "FILE",
	  .help = "Add the tables to this file, which may hold tables of other jobs; each table "
		  "is named after its job.",
	  OPTION_OFFSET(struct export_options, append) },
	{ .name = "lake",
	  .type = ARG_TEXT,
	  .value = "ROOT",
	  .help = "Write the series, sorted, to ROOT/cluster=NAME/date=DATE/JOB.parquet.",
	  OPTION_OFFSET(struct export_options, lake) },
	{ .name = "wait",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .fallback = "60s",
	  .help = "With --append: wait this long for another export to the same file.",
	  OPTION_OFFSET(struct export_options, wait_ns) },
	{ .name = "table",
	  .type = ARG_TEXT,
	  .value = "NAME",
	  .help = known_tables,
	  .words = table_words,
	  OPTION_OFFSET(struct export_options, table) },
	{ .name = "names",
	  .type = ARG_TEXT,
	  .value = "perfmon",
	  .words = DOCUMENTS,
	  .help = "Use perfmon's tables, columns and units: cpu_metrics, perf_metrics, "
		  "nv_gpu_metrics, one row per host and time.",
	  OPTION_OFFSET(struct export_options, names) },
	{ .name = "what",
	  .type = ARG_TEXT,
	  .value = "cpu|waits|memory",
	  .words = "cpu waits memory",
	  .help = "Of folded, pprof and speedscope: the samples of CPU time (the default), or the "
		  "time of threads by what they waited for (`sonde run --waits`), or the resident memory at "
		  "the peak by what touched it first, in bytes (`sonde run --memory`).",
	  OPTION_OFFSET(struct export_options, what) },
	{ .name = "metrics",
	  .type = ARG_TEXT,
	  .value = "GLOBS",
	  .help = "Write only series that match one of these patterns, separated by commas: "
		  "'disk.*,node.*'.",
	  OPTION_OFFSET(struct export_options, metrics) },
	{ .name = "wide",
	  .type = ARG_FLAG,
	  .help = "Series: one row per node and time, one column per metric and device.",
	  OPTION_OFFSET(struct export_options, wide) },
	{ .name = "raw",
	  .type = ARG_FLAG,
	  .help = "Series: raw counters instead of rates, without derived metrics.",
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
	  .help = "Series: mean, minimum and maximum (--wide: mean) over windows of this length, "
		  "instead of every sample.",
	  OPTION_OFFSET(struct export_options, every_ns) },
	{ .name = "from",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .help = "Skip everything before this time since the start of the run.",
	  OPTION_OFFSET(struct export_options, from_ns) },
	{ .name = "until",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .help = "Skip everything from this time since the start of the run.",
	  OPTION_OFFSET(struct export_options, until_ns) },
	{ .name = "json",
	  .type = ARG_FLAG,
	  .help = "Print the names of the written files as JSON.",
	  OPTION_OFFSET(struct export_options, json) },
};

static const struct example examples[] = {
	{ "export --to csv,json", "the newest recording here, into its directory" },
	{ "export -o - --metrics 'node.*' --wide", "a table for a plot, to standard output" },
	{ "export --lake lake", "for queries over many jobs" },
	{ "export --to perfmon", "metrics/*.json for scripts that were made for perfmon" },
	{ "export --to speedscope sonde_1234", "where the CPU time went, for speedscope.app" },
	{ "export --to scanner faces -o db", "its spans as a Scanner profile database" },
	{ "export --to sqlite --append jobs.sqlite", "add this job's tables to those of others" },
};

static const struct export_table {
	const char *name;
	enum frame_table table;
	const char *domain;
} tables[] = { TABLES(ROW) };

struct exporting {
	const struct export_options *o;
	struct run *run;
	struct tablefile to;
	uint64_t formats; /* bit i: sinks[i] */
	uint64_t stacks;  /* formats of stacks: profilefile_format */
	bool documents;   /* perfmon's */
	bool profiles;    /* Scanner's */
};

static bool add_stacks(struct exporting *x, const char *name, size_t n)
{
	uint64_t format = profilefile_format(name, n);

	x->stacks |= format;
	return format != 0;
}

static bool add_format(struct exporting *x, const char *name, size_t n)
{
	for (size_t i = 0; i < nsinks; i++)
		if (strlen(sinks[i]->name) == n && !memcmp(sinks[i]->name, name, n)) {
			x->formats |= UINT64_C(1) << i;
			return true;
		}
	if (strlen(DOCUMENTS) == n && !memcmp(DOCUMENTS, name, n))
		x->documents = true;
	else if (strlen(PROFILES) == n && !memcmp(PROFILES, name, n))
		x->profiles = true;
	else
		return add_stacks(x, name, n);
	return true;
}

static bool find_formats(struct exporting *x)
{
	for (const char *at = x->o->to;
	     *at || !(x->formats || x->documents || x->profiles || x->stacks);) {
		size_t n = strcspn(at, ",");

		if (!add_format(x, at, n)) {
			say("export: unknown format '%.*s'. %s", (int)n, at, known_formats);
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

/* Whether there is such a table; says when there is none. */
static bool knows_table(const struct export_options *o)
{
	if (!o->table || (o->names ? perfmonfile_has(o->table) : is_table(o->table)))
		return true;
	say("export: unknown table '%s'. %s", o->table,
	    o->names ? "perfmon has cpu_metrics, perf_metrics and nv_gpu_metrics." : known_tables);
	return false;
}

/* Another program's tables have its columns and rows. */
static bool suits_names(const struct exporting *x)
{
	const struct export_options *o = x->o;

	if (!o->names)
		return true;
	if (strcmp(o->names, DOCUMENTS) != 0)
		say("export: there are no names '%s'; known is " DOCUMENTS, o->names);
	else if (o->metrics || o->wide || o->raw || o->combine || o->every_ns || o->lake)
		say("export: --names has a fixed format; remove --metrics, --wide, --raw, "
		    "--combine, --every and --lake");
	else
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
			say("export: %s has one line per reading; remove --wide", sinks[i]->name);
		else if (o->names)
			say("export: %s uses Sonde's names; remove --names", sinks[i]->name);
		else if (o->table && strcmp(o->table, "series"))
			say("export: %s holds the series, not %s", sinks[i]->name, o->table);
		else
			continue;
		return false;
	}
	return true;
}

static bool suits_lake(const struct export_options *o)
{
	if (!o->lake ||
	    !(o->output || o->append || o->table || o->wide || o->every_ns || strcmp(o->to, "csv")))
		return true;
	say("export: --lake has a fixed format; remove --to, --output, --append, --table, --wide "
	    "and --every");
	return false;
}

/* Documents have one form, and it is files. */
static bool suits_documents(const struct exporting *x)
{
	const struct export_options *o = x->o;

	if (!(x->documents || x->profiles) ||
	    !(o->append || o->table || o->metrics || o->wide || o->raw || o->combine ||
	      o->every_ns || o->from_ns || o->until_ns ||
	      (o->output && !strcmp(o->output, TO_STANDARD_OUTPUT))))
		return true;
	say("export: " DOCUMENTS " and " PROFILES " have forms of their own, of several files; "
	    "leave out all options but --to, --output and --json");
	return false;
}

static enum sample_kind kind_of(const struct export_options *o)
{
	const char *what = o->what ? o->what : "cpu";

	return !strcmp(what, "waits")    ? SAMPLE_WAITS
	       : !strcmp(what, "memory") ? SAMPLE_RESIDENT
					 : SAMPLE_CPU;
}

/* Stacks are no table. */
static bool suits_stacks(const struct exporting *x)
{
	const struct export_options *o = x->o;

	if (o->what && (!x->stacks || (strcmp(o->what, "cpu") != 0 && kind_of(o) == SAMPLE_CPU))) {
		say("export: --what is cpu, waits or memory, of folded, pprof and speedscope");
		return false;
	}
	if (!x->stacks || !(o->append || o->lake || o->table || o->metrics || o->names || o->wide ||
			    o->raw || o->combine || o->every_ns))
		return true;
	say("export: formats of stacks take --output, --from, --until and --json only; export tables "
	    "by another command");
	return false;
}

/* Of what can hold the tables of several recordings, one format. */
static bool suits_append(const struct exporting *x)
{
	if (!x->o->append)
		return true;
	for (size_t i = 0; i < nsinks; i++)
		if (x->formats == UINT64_C(1) << i && sinks[i]->collects && !x->o->output)
			return true;
	if (x->o->output)
		say("export: --append writes to its own file; remove --output");
	else
		say("export: --append takes one format that holds many tables, sqlite or hdf5, not "
		    "'%s'",
		    x->o->to);
	return false;
}

/* Whether the options make sense together; says why not. */
static bool understand(struct exporting *x)
{
	const struct export_options *o = x->o;

	if (suits_names(x) && knows_table(o) && find_formats(x) && suits_series_only(x) &&
	    suits_append(x) && suits_lake(o) && suits_documents(x) && suits_stacks(x)) {
		if (!o->output || strcmp(o->output, TO_STANDARD_OUTPUT))
			return true;
		if (o->json)
			say("export: -o - writes the table to standard output; remove --json");
		else if (x->formats & (x->formats - 1) || x->stacks & (x->stacks - 1) ||
			 (x->formats && x->stacks))
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
		if (formats >> i & 1)
			rc = tablefile_write(&x->to, t->name, sinks[i], f, e);
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

static void wait_note(const char *path, int64_t wait_ns)
{
	char text[32];

	args_duration_text(wait_ns, text, sizeof(text));
	say("export: waiting up to %s for another export into %s", text, path);
}

/* CSV has no place for words about the table. */
static int export_losses(const struct exporting *x, struct err *e)
{
	for (size_t i = 0; i < nsinks; i++)
		if (x->formats >> i & 1 && !strcmp(sinks[i]->name, "csv"))
			return lossfile_write(&x->to, x->run, e);
	return 0;
}

static int export_tables(const struct exporting *x, struct err *e)
{
	bool all = x->to.directory || x->to.file;
	const char *only = x->o->table ? x->o->table : all ? NULL : "series";
	int rc = export_losses(x, e);

	if (x->documents && !rc)
		rc = perfmonfile_documents(x->run, x->to.directory, x->to.written, e);
	if (x->profiles && !rc)
		rc = scannerfile_write(x->run, x->to.directory, x->to.written, e);
	if (x->stacks && !rc)
		rc = profilefile_write(&(struct profilefile){ x->stacks, x->to.directory,
							      (double)x->o->from_ns / NS_PER_S,
							      (double)x->o->until_ns / NS_PER_S,
							      x->to.written, kind_of(x->o) },
				       x->run, e);
	if (x->o->names && !rc)
		return perfmonfile_tables(x->run,
					  &(struct perfmonfile){ x->to, x->formats, x->o->table,
								 (double)x->o->from_ns / NS_PER_S,
								 (double)x->o->until_ns / NS_PER_S,
								 x->o->wait_ns, wait_note },
					  e);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !rc && x->formats; i++)
		if (!only || !strcmp(tables[i].name, only))
			rc = export_table(x, &tables[i], e);
	return rc;
}

static int export_lake(const struct exporting *x, const char *path, struct err *e)
{
	const struct export_options *o = x->o;
	const struct selection sel = { .raw = o->raw,
				       .combine = o->combine,
				       .metrics = o->metrics,
				       .from_s = (double)o->from_ns / NS_PER_S,
				       .to_s = (double)o->until_ns / NS_PER_S };
	struct bytes summary = { 0 };
	struct lake_job job = { .id = tablefile_job(x->run, path) };
	char written[PATH_MAX];
	struct frame *f = NULL;
	int rc = history_describe(&summary, x->run, path, e);

	job.summary = (const char *)summary.data;
	if (!rc)
		rc = frame_open(&f, x->run, &sel, e);
	if (!rc)
		rc = lakefile_write(o->lake, &job, x->run, f, written, e);
	if (!rc)
		outputs_add(x->to.written, written);
	frame_close(f);
	bytes_free(&summary);
	return rc;
}

/* All tables, or none of them. */
static int append_tables(struct exporting *x, const char *path, struct err *e)
{
	struct collection c;
	int rc = collection_open(&c, x->o->append, x->o->wait_ns, wait_note, e);

	if (rc)
		return rc;
	x->to.file = c.out.file;
	x->to.job = tablefile_job(x->run, path);
	rc = collection_close(&c, export_tables(x, e), e);
	if (!rc)
		outputs_add(x->to.written, x->o->append);
	return rc;
}

static void say_done(const struct exporting *x, const char *path)
{
	const struct run_damage *d = x->run->damages;
	const char *to = x->o->lake ? x->o->lake : x->o->append ? x->o->append : x->to.directory;

	outputs_report_losses("export", x->run);
	if (x->run->ndamages)
		say("export: %s is damaged (places: %u), first in %s at byte %llu: %s; the "
		    "undamaged part was exported",
		    path, x->run->ndamages, d->file, (unsigned long long)d->offset, d->what);
	else if (to)
		say("exported %s to %s", path, to);
}

static int export_run(struct exporting *x, const char *path)
{
	struct outputs written = { .verb = "export", .recording = path, .json = x->o->json };
	struct err e = { "" };
	char own[PATH_MAX];
	int rc;

	x->to.directory = x->o->output;
	if (!x->to.directory && !x->o->append)
		x->to.directory = outfile_directory(path, own, sizeof(own));
	else if (x->to.directory && !strcmp(x->to.directory, TO_STANDARD_OUTPUT))
		x->to.directory = NULL;
	x->to.written = &written;
	x->to.job = tablefile_job(x->run, path);
	rc = x->o->lake     ? export_lake(x, path, &e)
	     : x->o->append ? append_tables(x, path, &e)
			    : export_tables(x, &e);
	if (rc)
		say("export: %s", e.text);
	else
		say_done(x, path);
	if (outputs_end(&written, x->run->ndamages) || (!rc && x->run->ndamages))
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
	.description =
		"Writes one file per table and format: series, processes, commands, marks, spans, "
		"counters and states (what could not be measured, and why). Default DIR: the newest "
		"recording here. Counters become rates; --raw keeps raw counters. Unknown values "
		"are empty in CSV and null in JSON, never 0.\n\n"
		"The series table is tidy: one row per node, metric, instance and time. With "
		"--wide: one row per node and time.\n\n"
		"With --append, one SQLite or HDF5 file holds the tables of several jobs, named "
		"after the job number or the recording, such as series_4711. Tables of the same "
		"job are replaced. Exports run one at a time; others wait for up to --wait.\n\n"
		"With --names perfmon it writes perfmon's tables; SQLite and HDF5 files then hold "
		"those of many jobs, such as cpu_metrics_4711 in cpu_metrics.h5. --to perfmon "
		"writes perfmon's documents, such as metrics/cpu_metrics.json.\n\n"
		"With --lake, the series of each job become a Parquet file in a directory tree "
		"that DuckDB, ClickHouse, pandas and Spark query as one table.\n\n"
		"folded, pprof and speedscope are for profile viewers and need a recording with "
		"stacks: folded for flamegraph.pl and similar tools (stacks.folded, in "
		"microseconds), pprof (stacks.pb.gz), speedscope (stacks.speedscope.json). With "
		"--what waits they have what threads waited for, with --what memory who touched memory first.\n\n"
		"An existing file is replaced only when the new one is complete. Exit code 1 also "
		"means that the recording is damaged and some data was skipped.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct export_options),
	COMMAND_EXAMPLES(examples),
	.exec = export_exec,
};
