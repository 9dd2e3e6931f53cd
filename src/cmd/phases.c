/* SPDX-License-Identifier: Apache-2.0 */
#include "report/phases.h"

#include "cmd/cascadefile.h"
#include "cmd/choose.h"
#include "cmd/command.h"
#include "cmd/print.h"
#include "cmd/say.h"
#include "recording/join.h"

#include <errno.h>
#include <stdio.h>

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
	  .help = "Pair marks by the rules in FILE, or in all files *.phases of DIR, too; a rule "
		  "there replaces the built-in one of its name.",
	  OPTION_OFFSET(struct phases_options, rules) },
	{ .name = "phases",
	  .type = ARG_TEXT,
	  .value = "GLOBS",
	  .help = "Only phases whose name matches one of these, separated by commas.",
	  OPTION_OFFSET(struct phases_options, names) },
	{ .name = "metrics",
	  .type = ARG_TEXT,
	  .value = "GLOBS",
	  .help = "Figures of metrics that match one of these, separated by commas; '*': all. "
		  "Without it cores, memory, input and output, power, GPUs and network.",
	  OPTION_OFFSET(struct phases_options, metrics) },
	{ .name = "all",
	  .help = "Every phase by itself, too, and what each node had of each key.",
	  OPTION_OFFSET(struct phases_options, all) },
	{ .name = "csv",
	  .type = ARG_CHOICE,
	  .value = "off|phases|totals",
	  .fallback = "off",
	  .bare = "phases",
	  .help = "Print a table of values separated by commas: a row for each phase, or for what "
		  "they add up to by name, key and node.",
	  OPTION_OFFSET(struct phases_options, csv) },
	{ .name = "json",
	  .help = "Print phases, totals and figures as JSON, schema sonde/phases/1.",
	  OPTION_OFFSET(struct phases_options, json) },
	{ .name = "cascade",
	  .help = "How the nodes of a Batch Shipyard pool started, with the numbers of its "
		  "graph.py; with --json schema sonde/cascade/1.",
	  OPTION_OFFSET(struct phases_options, cascade) },
	{ .name = "output",
	  .letter = 'o',
	  .type = ARG_TEXT,
	  .value = "DIR",
	  .help = "With --cascade: write ACCOUNT-POOL.dat, .plot (for gnuplot) and .png there.",
	  OPTION_OFFSET(struct phases_options, output) },
	{ .name = "local",
	  .help = "With --cascade: times of this machine's time zone, as graph.py has them; else "
		  "UTC.",
	  OPTION_OFFSET(struct phases_options, local) },
	{ .name = "as-graph-py",
	  .help = "With --cascade: the kB, MB, GB and TB of images are 1024^n, as graph.py has "
		  "them; else 1000^n, as docker means them.",
	  OPTION_OFFSET(struct phases_options, as_graph_py) },
};

static const struct example examples[] = {
	{ "phases", "the newest recording here" },
	{ "phases --all --metrics 'job.*' sonde_1234", "each phase, with all that the job did" },
	{ "phases --cascade -o . start", "a pool's start-up, and its chart" },
	{ "phases --rules site.phases --csv sonde_1234", "by rules of one's own, as a table" },
};

static int print_csv(const struct phase_report *p, bool totals)
{
	struct err e = { "" };
	int rc = phase_report_csv(p, totals, stdout, &e);

	if (!rc && (fflush(stdout) || ferror(stdout)))
		rc = err_set(&e, -EIO, "standard output did not take the table");
	if (rc)
		say("phases: %s", e.text);
	return rc ? EXIT_FAILED : EXIT_OK;
}

static int print(const struct phases_options *o, const struct phase_report *p)
{
	struct bytes b = { 0 };

	if (o->csv)
		return print_csv(p, o->csv == CSV_TOTALS);
	if (o->json)
		phase_report_json(&b, p);
	else
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
			say("phases: no phase in %s is called '%s'; without --phases all are shown",
			    path, o->names);
		else if (!p.phases.n)
			say("phases: there is no phase in %s; `sonde begin` and `sonde end` make "
			    "some",
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
		say("phases: --json and --csv are two forms: choose one");
		return false;
	}
	if (!o->cascade && (o->output || o->local || o->as_graph_py)) {
		say("phases: --output, --local and --as-graph-py go with --cascade");
		return false;
	}
	if (o->cascade && (o->rules || o->names || o->metrics || o->csv || o->all)) {
		say("phases: --cascade has its own rules and numbers: leave out --rules, --phases, "
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
	int code = cascadefile_tell(r, &wish);

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
	.what = "Show a recording's phases: how long they took and what they used",
	.description =
		"Phases are the spans of a recording (`sonde begin`, `end` and `span`) and its "
		"marks, paired by rules: NAME-start and NAME-end to begin with. For each name it "
		"prints how often, how long in all, on average, at least and at most, when the "
		"first began, and what metrics were meanwhile: mean, most, and what rates add up "
		"to. Rows below tell the same by key and by node, where there are several.\n\n"
		"Rules are data: --rules adds those of a site, docs/phases.md says how they are "
		"written. What did not end has no duration; it is counted and told, as are ends "
		"without a start and phases that cross each other.\n\n"
		"--cascade tells of the start-up of Batch Shipyard's pools, which `sonde import "
		"cascade` reads: exit code 1 then also means that a node lacks an event.\n\n"
		"DIR is a directory that sonde made, or one file of it; without it the newest "
		"recording here is taken. Exit code 1 also means that the recording is "
		"damaged and something was left out.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct phases_options),
	COMMAND_EXAMPLES(examples),
	.exec = phases_exec,
};
