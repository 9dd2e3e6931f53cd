/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "console/command.h"
#include "console/lost.h"
#include "console/say.h"
#include "console/written.h"
#include "output/tracefile.h"
#include "recording/join.h"
#include "report/phases/phases.h"
#include "session/choose.h"

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
	  .help = "Write to FILE; its extension selects the format: " TRACEFILE_ENDINGS
		  ". Default: trace.json in the recording's directory, or trace.pftrace if it has "
		  "more events than viewers accept as JSON.",
	  OPTION_OFFSET(struct trace_options, output) },
	{ .name = "from",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .help = "Skip everything before this time since the start of the run.",
	  OPTION_OFFSET(struct trace_options, from_ns) },
	{ .name = "to",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .help = "Skip everything from this time since the start of the run.",
	  OPTION_OFFSET(struct trace_options, to_ns) },
	{ .name = "min-duration",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .help = "Skip spans and processes shorter than this.",
	  OPTION_OFFSET(struct trace_options, min_ns) },
	{ .name = "metrics",
	  .type = ARG_TEXT,
	  .value = "GLOBS",
	  .help = "Write counters of metrics that match one of these patterns, separated by "
		  "commas, including metrics of processes: 'process.cpu_cores'. Default: cores, "
		  "memory, GPUs, power and traffic of the job, the nodes and their devices.",
	  OPTION_OFFSET(struct trace_options, metrics) },
	{ .name = "rules",
	  .type = ARG_TEXT,
	  .value = "FILE|DIR",
	  .help = "Pair marks into phases by the rules in FILE, or in all *.phases files of DIR, "
		  "like `sonde phases`.",
	  OPTION_OFFSET(struct trace_options, rules) },
	{ .name = "json",
	  .type = ARG_FLAG,
	  .help = "Print the name of the written file as JSON.",
	  OPTION_OFFSET(struct trace_options, json) },
};

static const struct example examples[] = {
	{ "trace", "the newest recording here, as trace.json in its directory" },
	{ "trace sonde_1234 -o job.pftrace", "for ui.perfetto.dev" },
	{ "trace -o start.json.gz --from 0 --to 30s --min-duration 10ms", "only the first 30 "
									  "seconds" },
};

static void say_done(const char *path, const struct run *r, const char *file,
		     const struct trace_count *n)
{
	char samples[64] = "", left_out[64] = "";

	if (n->samples)
		snprintf(samples, sizeof samples, ", stack samples %" PRIu64, n->samples);
	if (n->short_slices)
		snprintf(left_out, sizeof left_out, "; shorter slices left out: %" PRIu64,
			 n->short_slices);
	say("trace: wrote %s (slices %" PRIu64 ", marks %" PRIu64 ", counter values %" PRIu64
	    "%s%s)",
	    file, n->slices, n->marks, n->values, samples, left_out);
	lost_say("trace", r);
	if (r->ndamages)
		say("trace: %s is damaged (places: %u), first in %s at byte %llu: %s; the "
		    "undamaged part was written",
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
		say("trace: this may be too large for viewers as JSON (events: up to %" PRIu64
		    "); write a smaller .pftrace, or select less with --from, --to and "
		    "--min-duration",
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
		rc = err_set(e, -EIO, "cannot write the name of the file to standard output");
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
		"Writes one timeline of everything: process lifetimes, spans on their tracks, "
		"marks and their phases, and counters of cores, memory, GPUs, power and traffic, "
		"for all nodes on one clock. Open it with ui.perfetto.dev, chrome://tracing or "
		"speedscope; the data stays in your browser.\n\n"
		"The extension of the file selects the format: .trace and .json (Chrome's JSON), "
		".json.gz (the same, compressed), .tar.gz (an archive that holds a .trace), "
		".pftrace (Perfetto's protobuf, smaller, for millions of events).\n\n"
		"An existing file is replaced only when the new one is complete. The file is "
		"readable by its owner only, like the recording.\n\n"
		"DIR is a directory that Sonde wrote, or one of its files. Default: the newest "
		"recording here. Exit code 1 also means that the recording is damaged and some "
		"data was skipped.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct trace_options),
	COMMAND_EXAMPLES(examples),
	.exec = trace_exec,
};
