/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/trace/trace.h"
#include "base/clock.h"
#include "base/files.h"
#include "console/command.h"
#include "output/outfile.h"
#include "recording/join.h"
#include "report/phases/phases.h"
#include "session/find.h"
#include "sink/gzip.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* All of them, for people. */
#define TRACEFILE_ENDINGS ".trace, .json, .json.gz, .tar.gz or .pftrace"

/* Browsers give up on texts much longer than this many events make. */
enum { CHROME_EVENTS_MAX = 1000000 };

struct tracefile_kind {
	const char *ending;
	const struct trace_format *format;
	int (*write)(struct trace *t, const struct tracefile_kind *k, const struct outfile *out,
		     struct trace_count *n, struct err *e);
};

static int write_plain(struct trace *t, const struct tracefile_kind *k, const struct outfile *out,
		       struct trace_count *n, struct err *e)
{
	return trace_write(t, k->format, out->file, n, e);
}

static int no_stream(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for compressing");
}

/* The compressed stream ends, and with it what could not be written of it. */
static int end_packed(FILE *packed, int rc, struct err *e)
{
	if (fclose(packed) && !rc)
		rc = err_set(e, -errno, "%s", strerror(errno));
	return rc;
}

static int write_gzip(struct trace *t, const struct tracefile_kind *k, const struct outfile *out,
		      struct trace_count *n, struct err *e)
{
	FILE *packed = gzip_open(out->file);

	if (!packed)
		return no_stream(e);
	return end_packed(packed, trace_write(t, k->format, packed, n, e), e);
}

enum { TAR_BLOCK = 512, TAR_NAME = 100, TAR_END_BLOCKS = 2 };

struct tar_head {
	char name[TAR_NAME], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100];
	char magic[6], version[2], rest[TAR_BLOCK - 265];
};
_Static_assert(sizeof(struct tar_head) == TAR_BLOCK, "a block of ustar");

/* FILE.tar.gz holds FILE.trace. */
static void name_member(char name[TAR_NAME], const char *path, const char *ending)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t n = strlen(base) - strlen(ending), most = TAR_NAME - sizeof ".trace";

	snprintf(name, TAR_NAME, "%.*s.trace", (int)(n < most ? n : most), base);
}

static int put_head(FILE *out, const char *name, uint64_t size)
{
	struct tar_head h = { .type = '0' };
	const unsigned char *byte = (const unsigned char *)&h;
	unsigned sum = 0;

	memcpy(h.name, name, strlen(name));
	memcpy(h.mode, "0000600", 8);
	memcpy(h.uid, "0000000", 8);
	memcpy(h.gid, "0000000", 8);
	memcpy(h.mtime, "00000000000", 12);
	memcpy(h.magic, "ustar", 6);
	memcpy(h.version, "00", 2);
	/* Octal ends at 8 GiB; there the size is binary, as GNU tar has it. */
	if (size >> 33) {
		h.size[0] = (char)0x80;
		for (int i = 0; i < 8; i++)
			h.size[11 - i] = (char)(size >> 8 * i & 0xff);
	} else {
		snprintf(h.size, sizeof h.size, "%011llo", (unsigned long long)size);
	}
	memset(h.sum, ' ', sizeof h.sum);
	for (size_t i = 0; i < sizeof h; i++)
		sum += byte[i];
	snprintf(h.sum, sizeof h.sum, "%06o", sum);
	return fwrite(&h, sizeof h, 1, out) == 1 ? 0 : -errno;
}

/* What was written to `from`, in whole blocks, and the end of the archive. */
static int put_member(FILE *out, FILE *from, uint64_t size)
{
	static const char zeros[TAR_BLOCK];
	char part[1 << 16];
	size_t n, pad = (size_t)(-size % TAR_BLOCK);

	rewind(from);
	while ((n = fread(part, 1, sizeof part, from)) > 0)
		if (fwrite(part, 1, n, out) != n)
			return -errno;
	if (ferror(from))
		return -EIO;
	if (fwrite(zeros, 1, pad, out) != pad)
		return -errno;
	for (int i = 0; i < TAR_END_BLOCKS; i++)
		if (fwrite(zeros, sizeof zeros, 1, out) != 1)
			return -errno;
	return 0;
}

static int pack_member(const struct outfile *out, const struct tracefile_kind *k, FILE *from,
		       struct err *e)
{
	FILE *packed = gzip_open(out->file);
	char name[TAR_NAME];
	off_t size = ftello(from);
	int rc;

	if (!packed)
		return no_stream(e);
	name_member(name, out->path, k->ending);
	rc = put_head(packed, name, (uint64_t)size);
	if (!rc)
		rc = put_member(packed, from, (uint64_t)size);
	if (rc)
		err_set(e, rc, "%s", strerror(-rc));
	return end_packed(packed, rc, e);
}

/* An archive tells a file's size before the file: that waits beside it, without a name. */
static int write_tar(struct trace *t, const struct tracefile_kind *k, const struct outfile *out,
		     struct trace_count *n, struct err *e)
{
	char directory[PATH_MAX];
	int fd, rc;
	FILE *whole;

	fd = unnamed_open(outfile_directory(out->temporary, directory, sizeof directory));
	if (fd < 0)
		return err_set(e, fd, "%s", strerror(-fd));
	whole = fdopen(fd, "w+");
	if (!whole) {
		close(fd);
		return no_stream(e);
	}
	rc = trace_write(t, k->format, whole, n, e);
	if (!rc)
		rc = pack_member(out, k, whole, e);
	fclose(whole);
	return rc;
}

static const struct tracefile_kind kinds[] = {
	{ ".trace", &trace_chrome, write_plain },     { ".json", &trace_chrome, write_plain },
	{ ".json.gz", &trace_chrome, write_gzip },    { ".tar.gz", &trace_chrome, write_tar },
	{ ".pftrace", &trace_perfetto, write_plain },
};

/* NULL: no ending says how a file of that name is to be written. */
static const struct tracefile_kind *tracefile_kind(const char *path)
{
	size_t n = strlen(path);

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		size_t length = strlen(kinds[i].ending);

		if (n > length && path[n - length - 1] != '/' &&
		    !strcmp(path + n - length, kinds[i].ending))
			return &kinds[i];
	}
	return NULL;
}

/* Whether viewers open so much of it. */
static bool tracefile_suits(const struct tracefile_kind *k, uint64_t events)
{
	return k->format != &trace_chrome || events <= CHROME_EVENTS_MAX;
}

/* Write it; out->path says where. 0, or -errno with a sentence. */
static int tracefile_write(struct outfile *out, struct trace *t, const struct tracefile_kind *k,
			   const char *path, struct trace_count *n, struct err *e)
{
	const char *slash = strrchr(path, '/');
	char directory[PATH_MAX];
	int rc;

	/* outfile_directory takes a path that is a directory for the place itself. */
	snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - path) : 1,
		 slash ? path : ".");
	rc = outfile_open(out, *directory ? directory : "/", slash ? slash + 1 : path, e);
	if (rc)
		return rc;
	return outfile_close(out, k->write(t, k, out, n, e), e);
}

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
	outputs_report_losses("trace", r);
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
	struct outputs written = { .verb = "trace", .recording = path, .json = o->json };
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
		outputs_add(&written, out.path);
		say_done(path, r, file, &n);
	}
	if (outputs_end(&written, r->ndamages) && !rc)
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
