/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/show_views.h"
#include "console/command.h"
#include "recording/join.h"
#include "report/judging/rules.h"
#include "report/machine.h"
#include "report/page/page_events.h"
#include "report/phases/span_totals.h"
#include "report/summary/code.h"
#include "report/summary/own.h"
#include "report/summary/pipeline.h"
#include "report/summary/reason.h"
#include "report/summary/summary.h"
#include "report/summary/tracking.h"
#include "report/text/metrics_json.h"
#include "session/find.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRACKER_OFF, TRACKER_FIGURES_OF_NODES, TRACKER_SAMPLES };
#define CODE_BY                                                                                    \
	"all|function|line|module|class|command|process|thread|rank|node|phase|object|place|file|directory|extension|mount"

#define VIEWS                                                                                        \
	"--code, --waits, --memory, --path, --steps, --pipelines, --mpi, --files, --peers, --spans " \
	"and --tracker"

static const struct option rows[] = {
	{ .name = "all",
	  .letter = 'a',
	  .help = "Print everything: all verdicts and figures, the machine, all nodes side by "
		  "side, the largest processes and commands, phases and marks.",
	  OPTION_OFFSET(struct show_options, all) },
	{ .name = "json",
	  .help = "Print the summary as JSON, schema sonde/show/1.",
	  OPTION_OFFSET(struct show_options, json) },
	{ .name = "markdown",
	  .help = "Print all verdicts and figures as Markdown, for the summary of a CI job.",
	  OPTION_OFFSET(struct show_options, markdown) },
	{ .name = "spans",
	  .help = "Print the totals of spans instead, by kind of track and name, the counters of "
		  "tracks, and how long the job and each node took; with --json as schema "
		  "sonde/spans/1.",
	  OPTION_OFFSET(struct show_options, spans) },
	{ .name = "code",
	  .help = "Print which code the CPU time went to instead, by kind of code and by function; "
		  "with --json as schema sonde/code/1. Needs a recording with stacks.",
	  OPTION_OFFSET(struct show_options, code) },
	{ .name = "waits",
	  .help = "Print what the job's threads did with their time instead: on a CPU, ready, and "
		  "waiting, for what and in which functions; with --json as schema "
		  "sonde/waits/1. Needs a recording with waits.",
	  OPTION_OFFSET(struct show_options, waits) },
	{ .name = "path",
	  .help = "Print the critical path instead: the chain of processes that is the job's time, "
		  "and what the job would take if one were half as long; with --json as schema "
		  "sonde/path/1.",
	  OPTION_OFFSET(struct show_options, path) },
	{ .name = "memory",
	  .help = "Print which code touched the job's memory first instead: of what was resident at "
		  "the peak, and in all; with --json as schema sonde/memory/1. Needs a recording "
		  "with --memory.",
	  OPTION_OFFSET(struct show_options, memory) },
	{ .name = "files",
	  .help = "Print the files that the job used instead: bytes, calls, time, sequential share, "
		  "opens, stats and missing names; with --json as schema "
		  "sonde/files/1. Needs a recording with --files.",
	  OPTION_OFFSET(struct show_options, files) },
	{ .name = "peers",
	  .help = "Print with whom the job talked by TCP instead: bytes, retransmissions, round trip, "
		  "and whether the reader, the send buffer or the network limited it; of several "
		  "nodes, the bytes from node to node; with --json as schema sonde/peers/1. Needs a "
		  "recording with --peers.",
	  OPTION_OFFSET(struct show_options, peers) },
	{ .name = "mpi",
	  .help = "Print what the job's ranks did with MPI instead: efficiencies of the job and of "
		  "its phases, time and bytes by function and rank, and who comes last; with "
		  "--json as schema sonde/mpi/1. Needs a recording with --annotations mpi.",
	  OPTION_OFFSET(struct show_options, mpi) },
	{ .name = "pipelines",
	  .help = "Print the tasks of Snakemake, Nextflow, make, GNU parallel and others instead, by "
		  "rule: how many, wall time, peak memory, cores, I/O, and lines to paste; with "
		  "--json as schema sonde/pipelines/1.",
	  OPTION_OFFSET(struct show_options, pipelines) },
	{ .name = "steps",
	  .help = "Print the job's steps (iterations) instead: how many, how long, which were slow "
		  "and what was different in them; with --json as schema sonde/steps/1.",
	  OPTION_OFFSET(struct show_options, steps) },
	{ .name = "by",
	  .value = CODE_BY,
	  .type = ARG_CHOICE,
	  .fallback = "all",
	  .help = "Print this table only, with more rows: of waits with --waits, of memory with "
		  "--memory, else of code; "
		  "object and place (both together, with the line) are of waits only; of files with "
		  "--files: file, directory, extension, mount, phase, process and command.",
	  OPTION_OFFSET(struct show_options, by) },
	{ .name = "classes",
	  .value = "FILE|DIR",
	  .type = ARG_TEXT,
	  .help = "Add the classes of code in FILE, or in all *.classes files of DIR. They replace "
		  "built-in classes of the same name.",
	  OPTION_OFFSET(struct show_options, classes) },
	{ .name = "pipeline-rules",
	  .value = "FILE|DIR",
	  .type = ARG_TEXT,
	  .help = "Add the workflow tools in FILE, or in all *.pipelines files of DIR. They replace "
		  "built-in tools of the same name; implies --pipelines.",
	  OPTION_OFFSET(struct show_options, pipeline_rules) },
	{ .name = "tracker",
	  .value = "off|figures|samples",
	  .type = ARG_CHOICE,
	  .fallback = "off",
	  .bare = "figures",
	  .help = "Print JSON for experiment trackers: figures, one value of each per node; or "
		  "samples of each node, at most 1,000.",
	  OPTION_OFFSET(struct show_options, tracker) },
	{ .name = "rules",
	  .value = "FILE|DIR",
	  .type = ARG_TEXT,
	  .help = "Add the rules in FILE, or in all *.rules files of DIR. They replace built-in "
		  "rules of the same name.",
	  OPTION_OFFSET(struct show_options, rules) },
	{ .name = "metrics",
	  .value = "GLOB,...",
	  .type = ARG_TEXT,
	  .help = "Compare these metrics across nodes, too; implies --all.",
	  OPTION_OFFSET(struct show_options, metrics) },
};

static const struct example examples[] = {
	{ "show", "the newest recording here, in about five lines" },
	{ "show --all first_try", "every verdict and figure of a recording" },
	{ "show --json sonde_1234", "everything, for a script" },
	{ "show --markdown sonde_1234", "for the summary of a CI job" },
	{ "show --spans faces", "totals of each kind of thread" },
	{ "show --code sonde_1234", "the kinds of code and the functions that used the CPU" },
	{ "show --by line sonde_1234", "the lines that used most" },
	{ "show --waits sonde_1234", "what the threads waited for, and in which functions" },
	{ "show --peers sonde_1234", "with whom it talked by TCP, and what limited that" },
	{ "show --path sonde_1234", "which processes decided how long a build took" },
	{ "show --pipelines sonde_1234", "what the rules of a workflow need" },
	{ "show --memory sonde_1234", "which functions touched the memory of the peak first" },
	{ "show --files --by directory sonde_1234", "the directories whose files the job used" },
	{ "show --mpi sonde_1234", "where the ranks' time in MPI went, and who was late" },
	{ "show --steps sonde_1234", "how long its iterations took, and which were slow" },
	{ "show --tracker", "figures per node for an experiment tracker" },
	{ "show --metrics 'gpu.*'", "compare nodes by the use of their GPUs, too" },
};

static bool wants_colour(void)
{
	const char *no_color = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && !(no_color && *no_color);
}

/* The summary itself, in five lines; or, of all that there is, what stands below it. */
static int print_own(const struct show_options *o, const struct summary *brief, struct run *r,
		     struct err *e)
{
	struct own own;
	int rc = own_make(&own, r, e);

	if (!rc && brief)
		summary_print_brief(brief, &own, stdout, wants_colour(), o->newest);
	else if (!rc)
		own_print(&own, r, stdout);
	own_free(&own);
	return rc;
}

static int print_markdown(const struct summary *s, struct run *r, struct err *e)
{
	struct bytes out = { 0 };
	struct pipelines p;
	int rc;

	summary_markdown(s, &out);
	if (s->code && s->code->stacks)
		code_markdown(s->code, SHOW_ROWS, &out);
	rc = pipelines_make(&p, s, r, NULL, e);
	if (!rc)
		pipelines_markdown(&out, &p);
	pipelines_free(&p);
	if (!rc && out.failed)
		rc = err_set(e, -ENOMEM, "out of memory for the summary of %.300s", r->path);
	if (!rc)
		fwrite(out.data, 1, out.len, stdout);
	bytes_free(&out);
	return rc;
}

static int print(const struct show_options *o, const struct summary *s, struct run *r,
		 struct err *e)
{
	int rc;

	if (o->markdown)
		return print_markdown(s, r, e);
	if (o->json) {
		summary_json(s, r, stdout);
		return 0;
	}
	if (!o->all && !o->metrics)
		return print_own(o, s, r, e);
	summary_print(s, stdout, wants_colour());
	machine_print(r, stdout);
	reason_print(&s->reason, stdout);
	summary_print_nodes(s, stdout);
	summary_print_tops(s, stdout);
	rc = print_own(o, NULL, r, e);
	return rc ? rc : page_events_print(r, stdout, e);
}

static int print_tracker(bool samples, const struct summary *s, struct run *r, struct err *e)
{
	struct bytes out = { 0 };
	struct json j = { .out = &out, .indent = true };
	struct tracking t;
	int rc = tracking_make(&t, r, s, samples ? TRACKING_SAMPLES : 0, e);

	if (!rc && samples)
		tracking_samples_json(&t, &j);
	else if (!rc)
		tracking_json(&t, &j);
	bytes_u8(&out, '\n');
	if (!rc && out.failed)
		rc = err_set(e, -ENOMEM, "out of memory for the figures of %.300s", r->path);
	if (!rc)
		fwrite(out.data, 1, out.len, stdout);
	tracking_free(&t);
	bytes_free(&out);
	return rc;
}

static int print_spans(const struct show_options *o, struct run *r, struct err *e)
{
	struct span_shares shares = { 0 };
	struct span_totals s;
	int rc = span_totals_make(&s, r, e);

	if (!rc)
		rc = span_shares_make(&shares, r, e);
	if (!rc && o->json && span_totals_json(&s, &shares, r, stdout))
		rc = err_set(e, -ENOMEM, "out of memory for the spans of %.300s", r->path);
	if (!rc && !o->json) {
		span_totals_print(&s, r, stdout);
		span_shares_print(&shares, stdout, UINT32_MAX);
	}
	span_shares_free(&shares);
	span_totals_free(&s);
	return rc;
}

static int print_summary(const struct show_options *o, struct run *r, struct err *e)
{
	struct rules *site = NULL;
	struct summary s = { 0 };
	int rc = o->rules ? rules_read(&site, o->rules, e) : 0;

	if (!rc)
		rc = summary_make_as(
			&s, r,
			&(struct summary_wish){ .all = o->json && !o->views && json_needs_all(r),
						.site = site,
						.compared = o->metrics,
						.classes = o->classes },
			e);
	if (!rc && o->tracker)
		rc = print_tracker(o->tracker == TRACKER_SAMPLES, &s, r, e);
	else if (!rc && o->code)
		rc = show_code(o, &s, r, e);
	else if (!rc && o->files)
		rc = show_files(o, &s, r, e);
	else if (!rc && o->peers)
		rc = show_peers(o, &s, r, e);
	else if (!rc && o->memory)
		rc = show_memory(o, &s, r, e);
	else if (!rc && o->path)
		rc = show_path(o, &s, r, e);
	else if (!rc && o->steps)
		rc = show_steps(o, &s, r, e);
	else if (!rc && o->pipelines)
		rc = show_pipelines(o, &s, r, e);
	else if (!rc && o->mpi)
		rc = show_mpi(o, &s, r, e);
	else if (!rc)
		rc = print(o, &s, r, e);
	summary_free(&s);
	rules_free(site);
	return rc;
}

static int show(const struct show_options *o, struct run *r, struct err *e)
{
	int rc = o->spans   ? print_spans(o, r, e)
		 : o->waits ? show_waits(o, r, e)
			    : print_summary(o, r, e);

	if (!rc && (fflush(stdout) || ferror(stdout)))
		return err_set(e, -EIO, "cannot write the summary to standard output");
	return rc;
}

static int show_exec(const void *given, int noperands, char **operands)
{
	struct show_options options = *(const struct show_options *)given;
	struct choice c;
	enum waiting_by by;
	enum used_by used;
	struct err e = { "" };
	int rc, code;

	options.waits |= options.by == BY_OBJECT || options.by == BY_PLACE;
	options.files |= options.by >= BY_FILE;
	options.pipelines |= options.pipeline_rules != NULL;
	options.code |= options.by && !options.waits && !options.memory && !options.files;
	options.views = options.code + options.waits + options.memory + options.mpi +
			options.files + options.path + options.pipelines + options.peers +
			options.steps + options.spans + (options.tracker != 0);
	if (options.views > 1) {
		say("show: use each of " VIEWS " without the others");
		return EXIT_USAGE;
	}
	if (options.markdown && (options.json || options.views)) {
		say("show: use --markdown without --json, " VIEWS);
		return EXIT_USAGE;
	}
	if (options.waits && options.by && !show_waits_table(options.by, &by)) {
		say("show: waits have no table by %s", stacks_by_names[options.by - 1]);
		return EXIT_USAGE;
	}
	if (options.files && !show_files_table(options.by, &used)) {
		say("show: files have no table by %s", stacks_by_names[options.by - 1]);
		return EXIT_USAGE;
	}
	code = choose_recording(&c, "show", "showing", noperands, operands);
	if (code)
		return code;
	options.newest = !noperands;
	rc = show(&options, c.run, &e);
	if (rc)
		say("show: %s", e.text);
	else if (c.run->ndamages)
		say("show: %s is damaged; what is undamaged was read", c.path);
	code = rc || c.run->ndamages ? EXIT_FAILED : EXIT_OK;
	run_close(c.run);
	return code;
}

const struct command command_show = {
	.name = "show",
	.operands = "[DIR]",
	.what = "Show the summary and verdicts of a recording",
	.description =
		"Prints the summary that `sonde run` prints at the end of a job: how the job "
		"ended, the first verdicts, where the time went, and what was used. With --all it "
		"prints every verdict with its evidence, the machine, the largest processes by "
		"CPU, memory and I/O with their start and end, the commands, phases and marks, "
		"and totals by name if there are more than 30 spans. DIR is a directory that "
		"Sonde wrote, or one of its files. Default: the newest recording here, whatever "
		"its name.\n\n"
		"Verdicts come from rules, which are data files: --rules adds those of your site. "
		"A rule without enough data gives no verdict. Exit code 1 also means that the "
		"recording is damaged and some data was skipped.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct show_options),
	COMMAND_EXAMPLES(examples),
	.exec = show_exec,
};
