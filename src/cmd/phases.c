/* SPDX-License-Identifier: Apache-2.0 */
#include "report/phases/phases.h"
#include "console/command.h"
#include "core/frame/run.h"
#include "output/outfile.h"
#include "recording/join.h"
#include "report/phases/cascade.h"
#include "session/find.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct cascade_wish {
	const char *directory; /* of ACCOUNT-POOL.dat, .plot and .png; NULL: no files */
	bool local, as_graph_py, json;
};

enum { DPI = 150 };
#define WIDTH  (18 / 2.54 * 72)
#define HEIGHT (12 / 2.54 * 72)

static int save(const char *directory, const char *stem, const char *ending, struct bytes *text,
		struct err *e)
{
	struct outfile out;
	char name[640];
	int rc = text->failed ? err_set(e, -ENOMEM, "out of memory for the pool's files") : 0;

	snprintf(name, sizeof name, "%s.%s", stem, ending);
	if (!rc)
		rc = drawfile_save(&out, directory, name, text, e);
	bytes_free(text);
	return rc;
}

static int paint(const struct cascade_report *c, const struct cascade_pool *p,
		 const char *directory, const char *stem, struct err *e)
{
	struct document d = { .format = DOCUMENT_PNG, .dpi = DPI };
	struct bytes drawing = { 0 };
	struct outfile out;
	char name[640], title[1100];
	int rc;

	snprintf(name, sizeof name, "%s.png", stem);
	snprintf(d.title, sizeof d.title, "%.255s", cascade_title(p, title, sizeof title));
	cascade_draw(&drawing, c, p, WIDTH, HEIGHT);
	rc = drawfile_paint(&out, directory, name, &d, &drawing, e);
	bytes_free(&drawing);
	return rc;
}

/* Two pools whose names differ in what no file may be called are told apart by a number. */
static void name_files(const struct cascade_report *c, uint32_t pool, char *out, size_t size)
{
	char other[600];
	uint32_t before = 0;

	cascade_file_name(&c->pools.pool[pool], out, size);
	for (uint32_t i = 0; i < pool; i++)
		before += !strcmp(cascade_file_name(&c->pools.pool[i], other, sizeof other), out);
	if (before)
		snprintf(out + strlen(out), size - strlen(out), ".%u", before + 1);
}

/* The chart comes last: where its helper is missing the others are there. */
static int write_files(const struct cascade_report *c, const char *directory, struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; i < c->pools.n && !rc; i++) {
		const struct cascade_pool *p = &c->pools.pool[i];
		struct bytes table = { 0 }, script = { 0 };
		char stem[620];

		name_files(c, i, stem, sizeof stem);
		cascade_table(&table, c, p);
		cascade_script(&script, p, stem);
		rc = save(directory, stem, "dat", &table, e);
		if (!rc)
			rc = save(directory, stem, "plot", &script, e);
		else
			bytes_free(&script);
		if (!rc)
			rc = paint(c, p, directory, stem, e);
		if (!rc)
			say("wrote %s/%s.dat, .plot and .png", directory, stem);
	}
	return rc;
}

static int print(const struct cascade_report *c, bool json)
{
	struct bytes b = { 0 };
	int code;

	if (json)
		cascade_report_json(&b, c);
	else
		cascade_report_text(&b, c);
	code = print_bytes(&b);
	bytes_free(&b);
	return code;
}

static int tell(const struct cascade_report *c, const struct cascade_wish *w, struct err *e)
{
	uint32_t lacking = cascade_report_lacking(c);
	int code, rc;

	if (!c->pools.n) {
		say("phases: %s holds no start-up event of a pool", c->run->path);
		return EXIT_FAILED;
	}
	code = print(c, w->json);
	rc = w->directory ? write_files(c, w->directory, e) : 0;
	if (rc)
		say("phases: %s", e->text);
	if (lacking)
		say("phases: nodes with events that lack or cannot be read: %u; what they lack is "
		    "said above",
		    lacking);
	return rc || lacking ? EXIT_FAILED : code;
}

/* The exit code. */
static int cascadefile_print(const struct run *r, const struct cascade_wish *w)
{
	struct cascade_report c;
	struct err e = { "" };
	int rc = cascade_report_make(&c, r, w->as_graph_py, w->local, &e), code = EXIT_FAILED;

	if (rc)
		say("phases: %s", e.text);
	else
		code = tell(&c, w, &e);
	cascade_report_free(&c);
	return code;
}

enum { CSV_OFF, CSV_PHASES, CSV_TOTALS };

struct phases_options {
	const char *rules, *names, *metrics, *output;
	int64_t csv;
	bool json, all, cascade, local, as_graph_py;
};

static const struct option rows[] = {
	{ .name = "rules",
	  .type = ARG_TEXT,
	  .value = "FILE|DIR",
	  .help = "Add the rules in FILE, or in all *.phases files of DIR, that pair marks into "
		  "phases. They replace built-in rules of the same name.",
	  OPTION_OFFSET(struct phases_options, rules) },
	{ .name = "phases",
	  .type = ARG_TEXT,
	  .value = "GLOBS",
	  .help = "Show only phases whose name matches one of these patterns, separated by "
		  "commas.",
	  OPTION_OFFSET(struct phases_options, names) },
	{ .name = "metrics",
	  .type = ARG_TEXT,
	  .value = "GLOBS",
	  .help = "Show metrics that match one of these patterns, separated by commas; '*': all. "
		  "Default: cores, memory, I/O, power, GPUs and network.",
	  OPTION_OFFSET(struct phases_options, metrics) },
	{ .name = "all",
	  .help = "Also show every single phase, and the values of each key per node.",
	  OPTION_OFFSET(struct phases_options, all) },
	{ .name = "csv",
	  .type = ARG_CHOICE,
	  .value = "off|phases|totals",
	  .fallback = "off",
	  .bare = "phases",
	  .help = "Print CSV: one row per phase, or per total by name, key and node.",
	  OPTION_OFFSET(struct phases_options, csv) },
	{ .name = "json",
	  .help = "Print phases, totals and figures as JSON, schema sonde/phases/1.",
	  OPTION_OFFSET(struct phases_options, json) },
	{ .name = "cascade",
	  .help = "Show how the nodes of a Batch Shipyard pool started, with the numbers of its "
		  "graph.py; with --json schema sonde/cascade/1.",
	  OPTION_OFFSET(struct phases_options, cascade) },
	{ .name = "output",
	  .letter = 'o',
	  .type = ARG_TEXT,
	  .value = "DIR",
	  .help = "With --cascade: write ACCOUNT-POOL.dat, .plot (for gnuplot) and .png to DIR.",
	  OPTION_OFFSET(struct phases_options, output) },
	{ .name = "local",
	  .help = "With --cascade: use local time, like graph.py; default: UTC.",
	  OPTION_OFFSET(struct phases_options, local) },
	{ .name = "as-graph-py",
	  .help = "With --cascade: read kB, MB, GB and TB of images as powers of 1024, like "
		  "graph.py; default: powers of 1000, like docker.",
	  OPTION_OFFSET(struct phases_options, as_graph_py) },
};

static const struct example examples[] = {
	{ "phases", "the newest recording here" },
	{ "phases --all --metrics 'job.*' sonde_1234", "every phase, with all metrics of the job" },
	{ "phases --cascade -o . start", "a pool's start-up, and its chart" },
	{ "phases --rules site.phases --csv sonde_1234", "with your own rules, as CSV" },
};

static int print_data(const struct phases_options *o, const struct phase_report *p)
{
	struct err e = { "" };
	int rc = o->json ? phase_report_json(p, stdout, &e)
			 : phase_report_csv(p, o->csv == CSV_TOTALS, stdout, &e);

	if (!rc && fflush(stdout))
		rc = -errno;
	if (rc && rc != -ENOMEM)
		err_set(&e, rc, "cannot write to standard output: %s", strerror(-rc));
	if (rc)
		say("phases: %s", e.text);
	return rc ? EXIT_FAILED : EXIT_OK;
}

static int print_phases(const struct phases_options *o, const struct phase_report *p)
{
	struct bytes b = { 0 };

	if (o->csv || o->json)
		return print_data(o, p);
	phase_report_text(&b, p, o->all);
	return print_bytes(&b);
}

static int phases_of(const struct phases_options *o, struct run *r, const char *path)
{
	const struct phase_report_wish wish = {
		.names = o->names, .metrics = o->metrics, .rules = o->rules, .figures = true
	};
	struct phase_report p;
	struct err e = { "" };
	int rc = phase_report_make(&p, r, &wish, &e), code;

	if (rc) {
		say("phases: %s", e.text);
		code = rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	} else {
		code = print_phases(o, &p);
		if (!p.phases.n && o->names)
			say("phases: no phase in %s matches '%s'; without --phases all are shown",
			    path, o->names);
		else if (!p.phases.n)
			say("phases: no phase in %s; `sonde begin` and `sonde end` create phases",
			    path);
		if (r->ndamages)
			say("phases: %s is damaged; what is undamaged was read", path);
		if (!code && r->ndamages)
			code = EXIT_FAILED;
	}
	phase_report_free(&p);
	return code;
}

static bool is_clear(const struct phases_options *o)
{
	if (o->json && o->csv) {
		say("phases: use either --json or --csv");
		return false;
	}
	if (!o->cascade && (o->output || o->local || o->as_graph_py)) {
		say("phases: --output, --local and --as-graph-py need --cascade");
		return false;
	}
	if (o->cascade && (o->rules || o->names || o->metrics || o->csv || o->all)) {
		say("phases: --cascade has its own rules and numbers: remove --rules, --phases, "
		    "--metrics, --csv and --all");
		return false;
	}
	return true;
}

static int cascade_of(const struct phases_options *o, const struct run *r)
{
	const struct cascade_wish wish = { .directory = o->output,
					   .local = o->local,
					   .as_graph_py = o->as_graph_py,
					   .json = o->json };
	int code = cascadefile_print(r, &wish);

	if (r->ndamages)
		say("phases: %s is damaged; what is undamaged was read", r->path);
	return r->ndamages ? EXIT_FAILED : code;
}

static int phases_exec(const void *options, int noperands, char **operands)
{
	const struct phases_options *o = options;
	struct choice c;
	int code;

	if (!is_clear(o))
		return EXIT_USAGE;
	code = choose_recording(&c, "phases", "reading", noperands, operands);
	if (code)
		return code;
	code = o->cascade ? cascade_of(o, c.run) : phases_of(o, c.run, c.path);
	run_close(c.run);
	return code;
}

const struct command command_phases = {
	.name = "phases",
	.operands = "[DIR]",
	.what = "Show the phases of a recording: how long they took and what they used",
	.description =
		"Phases are the spans of a recording (`sonde begin`, `end` and `span`) and its "
		"marks, paired by rules, such as NAME-start and NAME-end. For each name it prints "
		"how often the phase ran, its total, mean, shortest and longest duration, when "
		"the first one started, and the metrics during it: mean, maximum and, for rates, "
		"the total. Further rows break this down by key and by node.\n\n"
		"Rules are data files: --rules adds those of your site; docs/phases.md describes "
		"the format. A phase that did not end has no duration. It is counted and "
		"reported, as are ends without a start and phases that partly overlap.\n\n"
		"--cascade shows the start-up of Batch Shipyard pools, which `sonde import "
		"cascade` reads; exit code 1 then also means that a node lacks an event.\n\n"
		"DIR is a directory that Sonde wrote, or one of its files. Default: the newest "
		"recording here. Exit code 1 also means that the recording is damaged and some "
		"data was skipped.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct phases_options),
	COMMAND_EXAMPLES(examples),
	.exec = phases_exec,
};
