/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "cmd/choose.h"
#include "cmd/command.h"
#include "cmd/say.h"
#include "cmd/tracefile.h"
#include "cmd/written.h"
#include "recording/join.h"
#include "report/phases.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

struct trace_options {
	const char *output, *metrics, *rules;
	int64_t from_ns, to_ns, min_ns;
	bool json;
};

static const struct option rows[] = {
	{ .name = "output",
	  .letter = 'o',
	  .type = ARG_TEXT,
	  .value = "FILE",
	  .help = "File to write, whose ending says how: " TRACEFILE_ENDINGS
		  ". Without it trace.json in the recording's directory, or trace.pftrace when "
		  "there is more than viewers take as JSON.",
	  OPTION_OFFSET(struct trace_options, output) },
	{ .name = "from",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .help = "Leave out what was before this time since the run began.",
	  OPTION_OFFSET(struct trace_options, from_ns) },
	{ .name = "to",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .help = "Leave out what was at or after this time since the run began.",
	  OPTION_OFFSET(struct trace_options, to_ns) },
	{ .name = "min-duration",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .help = "Leave out spans and processes shorter than this.",
	  OPTION_OFFSET(struct trace_options, min_ns) },
	{ .name = "metrics",
	  .type = ARG_TEXT,
	  .value = "GLOBS",
	  .help = "Counters of what matches one of these, separated by commas; of processes, "
		  "too: 'process.cpu_cores'. Without it cores, memory, GPUs, power and traffic of "
		  "the job, the nodes and their devices.",
	  OPTION_OFFSET(struct trace_options, metrics) },
	{ .name = "rules",
	  .type = ARG_TEXT,
	  .value = "FILE|DIR",
	  .help = "Pair marks to phases by the rules in FILE, or in all files *.phases of DIR, "
		  "too, as phases does.",
	  OPTION_OFFSET(struct trace_options, rules) },
	{ .name = "json",
	  .type = ARG_FLAG,
	  .help = "Say which file was written, as JSON on standard output.",
	  OPTION_OFFSET(struct trace_options, json) },
};

static const struct example examples[] = {
	{ "trace", "the newest recording here, as trace.json in its directory" },
	{ "trace sonde_1234 -o job.pftrace", "for ui.perfetto.dev" },
	{ "trace -o start.json.gz --from 0 --to 30s --min-duration 10ms", "the first half minute" },
};

static void say_done(const char *path, const struct run *r, const char *file,
		     const struct trace_count *n)
{
	if (n->short_slices)
		say("trace: wrote %s (slices %" PRIu64 ", marks %" PRIu64
		    ", counter values %" PRIu64 "; shorter slices left out: %" PRIu64 ")",
		    file, n->slices, n->marks, n->values, n->short_slices);
	else
		say("trace: wrote %s (slices %" PRIu64 ", marks %" PRIu64
		    ", counter values %" PRIu64 ")",
		    file, n->slices, n->marks, n->values);
	if (r->ndamages)
		say("trace: %s is damaged (places: %u), first in %s at byte %llu: %s; what is "
		    "undamaged was written",
		    path, r->ndamages, r->damages->file, (unsigned long long)r->damages->offset,
		    r->damages->what);
}

/* The file that was asked for, or the one that suits so many events. */
static const char *choose_file(const struct trace_options *o, const char *path, uint64_t events,
			       char *own, size_t size)
{
	const struct tracefile_kind *json = tracefile_kind("trace.json");
	char directory[PATH_MAX];

	if (!o->output) {
		snprintf(own, size, "%s/trace.%s",
			 outfile_directory(path, directory, sizeof directory),
			 tracefile_suits(json, events) ? "json" : "pftrace");
		return own;
	}
	if (!tracefile_suits(tracefile_kind(o->output), events))
		say("trace: this may be more than viewers take as JSON (events: up to %" PRIu64
		    "); a .pftrace is smaller, --from, --to and --min-duration choose less",
		    events);
	return o->output;
}

static int write_trace(const struct trace_options *o, struct trace *t, const struct run *r,
		       const char *path, struct err *e)
{
	struct written written = { .verb = "trace", .recording = path, .json = o->json };
	char own[PATH_MAX + 16];
	struct outfile out;
	struct trace_count n;
	const char *file;
	uint64_t events;
	int rc = trace_estimate(t, &events, e);

	if (rc)
		return rc;
	file = choose_file(o, path, events, own, sizeof own);
	rc = tracefile_write(&out, t, tracefile_kind(file), file, &n, e);
	if (!rc) {
		written_add(&written, out.path);
		say_done(path, r, file, &n);
	}
	if (written_end(&written, r->ndamages) && !rc)
		rc = err_set(e, -EIO, "standard output did not take the name of the file");
	return rc;
}

/* Spans are in the trace as such. */
static int trace_run(const struct trace_options *o, struct run *r, const char *path)
{
	const struct phase_report_wish marks = { .rules = o->rules, .marks_only = true };
	struct phase_report made;
	const struct trace_wish wish = { .metrics = o->metrics,
					 .from_s = (double)o->from_ns / NS_PER_S,
					 .to_s = (double)o->to_ns / NS_PER_S,
					 .min_ns = o->min_ns,
					 .phases = &made.phases };
	struct err e = { "" };
	struct trace *t = NULL;
	int code = EXIT_OK;
	int rc = phase_report_make(&made, r, &marks, &e);

	if (!rc)
		rc = trace_open(&t, r, &wish, &e);

	if (rc == -EINVAL)
		code = EXIT_USAGE;
	if (!rc)
		rc = write_trace(o, t, r, path, &e);
	if (rc)
		say("trace: %s", e.text);
	if (!code && (rc || r->ndamages))
		code = EXIT_FAILED;
	trace_close(t);
	phase_report_free(&made);
	return code;
}

static int trace_exec(const void *options, int noperands, char **operands)
{
	const struct trace_options *o = options;
	struct choice c;
	int code;

	if (o->output && !tracefile_kind(o->output)) {
		say("trace: -o %s: a trace's name ends with " TRACEFILE_ENDINGS, o->output);
		return EXIT_USAGE;
	}
	code = choose_recording(&c, "trace", "tracing", noperands, operands);
	if (code)
		return code;
	code = trace_run(o, c.run, c.path);
	run_close(c.run);
	return code;
}

const struct command command_trace = {
	.name = "trace",
	.operands = "[DIR]",
	.what = "Write a recording as a timeline for trace viewers",
	.description =
		"Writes one timeline of everything: the lifetimes of processes, spans on their "
		"tracks, marks and the phases that they make, and counters of cores, memory, GPUs, "
		"power and traffic, of all nodes on one clock. Viewers such as ui.perfetto.dev, "
		"chrome://tracing and speedscope open it; what is opened in them stays in the "
		"browser.\n\n"
		"The ending of the file's name says how it is written: .trace, .json (Chrome's "
		"JSON), .json.gz (the same, compressed), .tar.gz (an archive that holds a .trace), "
		".pftrace (Perfetto's protobuf, smaller, for millions of events).\n\n"
		"An existing file is replaced only when the new one is complete. Only its owner "
		"may read it, as with the recording.\n\n"
		"DIR is a directory that sonde made, or one file of it; without it the newest "
		"recording here is taken. Exit code 1 also means that the recording is damaged and "
		"something was left out.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct trace_options),
	COMMAND_EXAMPLES(examples),
	.exec = trace_exec,
};
