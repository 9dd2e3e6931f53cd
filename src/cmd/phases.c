/* SPDX-License-Identifier: Apache-2.0 */
#include "report/phases/phases.h"

#include "console/command.h"
#include "console/print.h"
#include "console/say.h"
#include "output/cascadefile.h"
#include "recording/join.h"
#include "session/choose.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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

static int print(const struct phases_options *o, const struct phase_report *p)
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
		code = print(o, &p);
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
