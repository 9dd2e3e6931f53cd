/* SPDX-License-Identifier: Apache-2.0 */
#include "console/command.h"
#include "console/say.h"
#include "recording/join.h"
#include "report/judging/rules.h"
#include "report/machine.h"
#include "report/page/page_events.h"
#include "report/phases/span_totals.h"
#include "report/summary/code.h"
#include "report/summary/filesused.h"
#include "report/summary/mpi.h"
#include "report/summary/own.h"
#include "report/summary/path.h"
#include "report/summary/reason.h"
#include "report/summary/steps.h"
#include "report/summary/summary.h"
#include "report/summary/touched.h"
#include "report/summary/tracking.h"
#include "report/summary/waittime.h"
#include "report/text/metrics_json.h"
#include "session/find.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRACKER_OFF, TRACKER_FIGURES_OF_NODES, TRACKER_SAMPLES };
/* Rows of a table of code. */
enum { CODE_ROWS = 10, CODE_ROWS_BY = 50, CODE_ROWS_JSON = 1000 };
/* --by: none, then stacks_by, then what only waits have. */
#define CODE_BY                                                                                    \
	"all|function|line|module|class|command|process|thread|rank|node|phase|object|place|file|directory|extension|mount"
enum { BY_OBJECT = STACKS_BY_NUMBER_OF + 1, BY_PLACE, BY_FILE, BY_MOUNT = BY_FILE + 3 };

struct show_options {
	bool json, markdown, spans, all, code, waits, memory, mpi, path, files, steps;
	bool newest; /* it was not named */
	int64_t tracker, by;
	const char *rules, *metrics, *classes;
};

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
	{ .name = "mpi",
	  .help = "Print what the job's ranks did with MPI instead: efficiencies of the job and of "
		  "its phases, time and bytes by function and rank, and who comes last; with "
		  "--json as schema sonde/mpi/1. Needs a recording with --annotations mpi.",
	  OPTION_OFFSET(struct show_options, mpi) },
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
	{ "show --path sonde_1234", "which processes decided how long a build took" },
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
	int rc = 0;

	summary_markdown(s, &out);
	if (s->code && s->code->stacks)
		code_markdown(s->code, CODE_ROWS, &out);
	if (out.failed)
		rc = err_set(e, -ENOMEM, "out of memory for the summary of %.300s", r->path);
	else
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

static int print_all(struct bytes *out, const struct run *r, struct err *e)
{
	int rc = out->failed ? err_set(e, -ENOMEM, "out of memory for %.300s", r->path) : 0;

	if (!rc)
		fwrite(out->data, 1, out->len, stdout);
	bytes_free(out);
	return rc;
}

/* Which code it was. Nothing recorded is no error: one line says what to do. */
static int print_code(const struct show_options *o, const struct summary *s, struct run *r,
		      struct err *e)
{
	struct code *code = s->code;
	bool phases = o->json || o->by == STACKS_BY_PHASE + 1;
	struct bytes out = { 0 };
	int rc = phases && code && code->stacks ? code_phases(code, r, e) : 0;

	if (rc) {
		return rc;
	} else if (o->json) {
		code_json(code, r, CODE_ROWS_JSON, &out);
		rc = print_all(&out, r, e);
	} else if (!code || !code->stacks) {
		say("show: no stacks in %s%s", r->path, code ? "" : "; record them with --stacks");
		if (code)
			code_print_gaps(code, stderr);
	} else if (o->by) {
		code_print_by(code, (enum stacks_by)(o->by - 1), stdout,
			      o->all ? UINT_MAX : CODE_ROWS_BY);
	} else {
		code_print(code, stdout, o->all ? UINT_MAX : CODE_ROWS);
	}
	return rc;
}

/* The table of waits that --by names. False: waits have none. */
static bool waits_table(int64_t by, enum waiting_by *out)
{
	const char *name = by == BY_OBJECT  ? waiting_by_names[WAITING_BY_OBJECT]
			   : by == BY_PLACE ? waiting_by_names[WAITING_BY_PLACE]
					    : stacks_by_names[by - 1];

	for (int i = 0; i < WAITING_BY_NUMBER_OF; i++)
		if (!strcmp(name, waiting_by_names[i])) {
			*out = (enum waiting_by)i;
			return true;
		}
	return false;
}

static int print_waits_json(const struct waittime *w, const struct run *r, struct err *e)
{
	struct bytes out = { 0 };

	waittime_json(w, r, CODE_ROWS_JSON, &out);
	return print_all(&out, r, e);
}

/* What was waited for. Nothing recorded is no error: one line says what to do. */
static int print_waits(const struct show_options *o, struct run *r, struct err *e)
{
	enum waiting_by by = WAITING_BY_OBJECT;
	struct waittime *w;
	int rc = waittime_make(&w, r, o->json || o->by == STACKS_BY_PHASE + 1, e);

	if (rc)
		return rc;
	if (o->json)
		rc = print_waits_json(w, r, e);
	else if (!w || !w->waiting)
		say("show: no waits in %s%s%s", r->path,
		    w && w->refused ? ": " : "; record them with --waits",
		    w && w->refused ? w->refused : "");
	else if (o->by && waits_table(o->by, &by))
		waittime_print_by(w->waiting, by, stdout, o->all ? UINT_MAX : CODE_ROWS_BY);
	else
		waittime_print(w, stdout, o->all ? UINT_MAX : CODE_ROWS);
	waittime_free(w);
	return rc;
}

/* What ranks did with MPI. Nothing recorded is no error: one line says what to do. */
static int print_mpi(const struct show_options *o, const struct summary *s, struct run *r,
		     struct err *e)
{
	struct bytes out = { 0 };
	int rc = s->mpi ? mpi_phases_make(s->mpi, r, e) : 0;

	if (rc)
		return rc;
	if (o->json) {
		mpi_json(s->mpi, r, &out);
		return print_all(&out, r, e);
	}
	if (s->mpi)
		mpi_print(s->mpi, r, stdout);
	else
		say("show: no calls of MPI in %s; record them with --annotations mpi", r->path);
	return 0;
}

/* Which code touched memory. Nothing recorded is no error: one line says what to do. */
static int print_memory(const struct show_options *o, const struct summary *s, struct run *r,
			struct err *e)
{
	struct touched_memory *t = s->touched;
	bool phases = o->json || o->by == STACKS_BY_PHASE + 1;
	struct bytes out = { 0 };
	int rc = phases && t && t->peak ? touched_phases(t, r, e) : 0;

	if (rc)
		return rc;
	if (o->json) {
		touched_json(t, r, CODE_ROWS_JSON, &out);
		return print_all(&out, r, e);
	}
	if (!t || !t->peak)
		say("show: no samples of page faults in %s%s%s", r->path,
		    t && t->refused ? ": " : "; record them with --memory",
		    t && t->refused ? t->refused : "");
	else if (o->by)
		touched_print_by(t, (enum stacks_by)(o->by - 1), stdout,
				 o->all ? UINT_MAX : CODE_ROWS_BY);
	else
		touched_print(t, stdout, o->all ? UINT_MAX : CODE_ROWS);
	return 0;
}

/* Which processes were the time of the job. */
static int print_path(const struct show_options *o, const struct summary *s, struct run *r,
		      struct err *e)
{
	struct bytes out = { 0 };
	struct path p;
	int rc = path_make(&p, s, r, e);

	if (!rc && o->json)
		path_json(&out, &p, s);
	else if (!rc && p.root == UINT32_MAX)
		say("show: no process of the job is known from its start to its end in %s",
		    r->path);
	else if (!rc)
		path_text(&out, &p, s, o->all);
	path_free(&p);
	if (!rc)
		return print_all(&out, r, e);
	bytes_free(&out);
	return rc;
}

/* Its iterations. None is no error: one line says what would show them. */
static int print_steps(const struct show_options *o, const struct summary *s, struct run *r,
		       struct err *e)
{
	struct bytes out = { 0 };

	if (o->json)
		steps_json(&out, s->iterations, r);
	else if (s->iterations->n)
		steps_text(&out, s->iterations, r, o->all);
	else
		say("show: no steps in %s: nothing repeats that takes four samples or more; for "
		    "shorter ones record with a shorter interval (-i), or mark them (sonde mark)",
		    r->path);
	return print_all(&out, r, e);
}

static bool files_table(int64_t by, enum used_by *out)
{
	*out = USED_BY_FILE;
	if (by >= BY_FILE && by <= BY_MOUNT)
		*out = (enum used_by)(by - BY_FILE);
	else if (by == STACKS_BY_PHASE + 1)
		*out = USED_BY_PHASE;
	else if (by == STACKS_BY_PROCESS + 1)
		*out = USED_BY_PROCESS;
	else if (by == STACKS_BY_COMMAND + 1)
		*out = USED_BY_COMMAND;
	else
		return !by;
	return true;
}

static int print_files(const struct show_options *o, const struct summary *s, struct run *r,
		       struct err *e)
{
	struct bytes out = { 0 };
	enum used_by by;
	int rc;

	(void)files_table(o->by, &by);
	if (o->json) {
		rc = files_used_json(s->files_used, r, &out, e);
		return rc ? rc : print_all(&out, r, e);
	}
	if (!s->files_used) {
		say("show: no files in %s; record them with --files", r->path);
		return 0;
	}
	return files_used_print(s->files_used, r, by,
				o->all  ? SIZE_MAX
				: o->by ? CODE_ROWS_BY
					: CODE_ROWS,
				stdout, e);
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
			&(struct summary_wish){ .all = o->json && !o->tracker && !o->code &&
						       !o->mpi && !o->memory && !o->path &&
						       !o->steps && !o->files && json_needs_all(r),
						.site = site,
						.compared = o->metrics,
						.classes = o->classes },
			e);
	if (!rc && o->tracker)
		rc = print_tracker(o->tracker == TRACKER_SAMPLES, &s, r, e);
	else if (!rc && o->code)
		rc = print_code(o, &s, r, e);
	else if (!rc && o->files)
		rc = print_files(o, &s, r, e);
	else if (!rc && o->memory)
		rc = print_memory(o, &s, r, e);
	else if (!rc && o->path)
		rc = print_path(o, &s, r, e);
	else if (!rc && o->steps)
		rc = print_steps(o, &s, r, e);
	else if (!rc && o->mpi)
		rc = print_mpi(o, &s, r, e);
	else if (!rc)
		rc = print(o, &s, r, e);
	summary_free(&s);
	rules_free(site);
	return rc;
}

static int show(const struct show_options *o, struct run *r, struct err *e)
{
	int rc = o->spans   ? print_spans(o, r, e)
		 : o->waits ? print_waits(o, r, e)
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
	options.code |= options.by && !options.waits && !options.memory && !options.files;
	if (options.code + options.waits + options.memory + options.mpi + options.files +
		    options.path + options.steps + options.spans + (options.tracker != 0) >
	    1) {
		say("show: use each of --code, --waits, --memory, --path, --steps, --mpi, --files, --spans "
		    "and --tracker without the others");
		return EXIT_USAGE;
	}
	if (options.markdown &&
	    (options.json || options.spans || options.tracker || options.code || options.waits ||
	     options.memory || options.path || options.steps || options.mpi || options.files)) {
		say("show: use --markdown without --json, --spans, --code, --waits, --memory, "
		    "--path, --steps, --mpi, --files and --tracker");
		return EXIT_USAGE;
	}
	if (options.waits && options.by && !waits_table(options.by, &by)) {
		say("show: waits have no table by %s", stacks_by_names[options.by - 1]);
		return EXIT_USAGE;
	}
	if (options.files && !files_table(options.by, &used)) {
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
