/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "console/command.h"
#include "import/importer.h"
#include "import/write.h"
#include "output/outfile.h"
#include "perfmon/results.h"
#include "push/table.h"
#include "source/catalogue.h"
#include "trial/benchimport.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct cascade_table {
	struct table_place place;
	const char *
		pool; /* POOL or ACCOUNT$POOL, which the place's partition goes before; NULL: all */
	int64_t patience_ns;
};

struct passing {
	const struct table *table;
	int (*take)(void *ctx, const char *name, const char *text, size_t n);
	void *ctx;
};

static int pass(void *ctx, unsigned page, const char *text, size_t n)
{
	const struct passing *p = ctx;
	char name[ADDRESS_MAX + 32];

	snprintf(name, sizeof name, "%s, page %u,", p->table->server.shown, page);
	return p->take(p->ctx, name, text, n);
}

/* A pool alone is found among all: the account is a part of the key. */
static int cascade_table_pages(void *table,
			       int (*take)(void *ctx, const char *name, const char *text, size_t n),
			       void *ctx, struct err *e)
{
	const struct cascade_table *c = table;
	const char *partition = c->place.partition;
	struct table t;
	struct passing p = { &t, take, ctx };
	int rc = table_open(&t, &c->place, c->patience_ns, e);

	if (!*partition && c->pool && strchr(c->pool, '$'))
		partition = c->pool;
	if (!rc)
		rc = table_pages(&t, partition, pass, &p, e);
	table_close(&t);
	return rc;
}

#define IMPORTER(x, name) " " name
static const char formats[] =
#include "import.def"
	" amun"
#define SUITE(x, name, indicator) " " name
#include "suites.def"
	;
#undef SUITE
#undef IMPORTER

#define SUITE(x, name, indicator) " or " name " FILE"
static const char suites[] =
#include "suites.def"
	;
#undef SUITE

struct import_options {
	const char *output, *store, *into, *node, *rank, *align;
	struct table_files table;
	int64_t threads, subsample, patience_ns;
	bool json;
};

static const struct option rows[] = {
	{ .name = "output",
	  .letter = 'o',
	  .type = ARG_TEXT,
	  .value = "DIR",
	  .help = "Write the recording to DIR, which must not exist. Default: sonde_ and the name "
		  "of the source, such as sonde_perfmon_4711.",
	  OPTION_OFFSET(struct import_options, output) },
	{ .name = "into",
	  .type = ARG_TEXT,
	  .value = "DIR",
	  .help = "Timelines: add the timeline to the recording DIR of the same job, beside "
		  "what Sonde recorded.",
	  OPTION_OFFSET(struct import_options, into) },
	{ .name = "node",
	  .type = ARG_TEXT,
	  .value = "HOST",
	  .help = "Timelines and profiles: the node that it is of. Default: with --into the only "
		  "node of DIR, or that of --rank; else a name made from the file's.",
	  OPTION_OFFSET(struct import_options, node) },
	{ .name = "rank",
	  .type = ARG_TEXT,
	  .value = "N",
	  .help = "Timelines and profiles: the rank that it is of. Rows of a timeline begin with it. Of a "
		  "file with several ranks (darshan, nsys), only this one is imported. "
		  "Default: what the file says.",
	  OPTION_OFFSET(struct import_options, rank) },
	{ .name = "align",
	  .type = ARG_TEXT,
	  .value = "NAME",
	  .help = "With --into: the first event NAME of the file happened at the first mark or "
		  "span NAME of the node. For files that do not say when they were written.",
	  OPTION_OFFSET(struct import_options, align) },
	{ .name = "threads",
	  .letter = 'j',
	  .type = ARG_COUNT,
	  .value = "N",
	  .fallback = "8",
	  .min = 1,
	  .max = 64,
	  .help = "scanner: number of profiles to read at the same time.",
	  OPTION_OFFSET(struct import_options, threads) },
	{ .name = "subsample",
	  .type = ARG_COUNT,
	  .value = "K",
	  .min = 1,
	  .max = INT32_MAX,
	  .help = "scanner: import only K workers, spread evenly; each keeps its number.",
	  OPTION_OFFSET(struct import_options, subsample) },
	{ .name = "store",
	  .type = ARG_TEXT,
	  .value = "WHERE",
	  .help = "amun and benchmark suites: write trials to this store. Default: SONDE_STORE, "
		  "else your own store.",
	  OPTION_OFFSET(struct import_options, store) },
	{ .name = "configdir",
	  .type = ARG_TEXT,
	  .value = "DIR",
	  .help = "cascade: read the table that credentials.json, config.json and pool.json of "
		  "DIR name, in Batch Shipyard's format, instead of FILE.",
	  OPTION_OFFSET(struct import_options, table.directory) },
	{ .name = "credentials",
	  .type = ARG_TEXT,
	  .value = "FILE",
	  .help = "cascade: use this file instead of credentials.json of --configdir.",
	  OPTION_OFFSET(struct import_options, table.credentials) },
	{ .name = "config",
	  .type = ARG_TEXT,
	  .value = "FILE",
	  .help = "cascade: use this file instead of its config.json.",
	  OPTION_OFFSET(struct import_options, table.config) },
	{ .name = "pool",
	  .type = ARG_TEXT,
	  .value = "FILE",
	  .help = "cascade: use this file instead of its pool.json.",
	  OPTION_OFFSET(struct import_options, table.pool) },
	{ .name = "patience",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .fallback = "1m",
	  .max = INT64_C(86400) * NS_PER_S,
	  .help = "cascade: retry for this long if a server does not answer or asks to retry "
		  "later.",
	  OPTION_OFFSET(struct import_options, patience_ns) },
	{ .name = "json",
	  .type = ARG_FLAG,
	  .help = "Print the names of the written files as JSON.",
	  OPTION_OFFSET(struct import_options, json) },
};

static const struct example examples[] = {
	{ "import perfmon job-metrics-4711", "data of perfmon, as sonde_perfmon_job-metrics-4711" },
	{ "import lightgbm-perf perf.json -o training", "the file saved by perf.py" },
	{ "import benchmon savedir -o job", "the data saved by benchmon-run, of all nodes" },
	{ "import scanner ~/.scanner/db faces -o faces", "the newest job of that name" },
	{ "import cascade perf.json mypool", "how the nodes of a Batch Shipyard pool started" },
	{ "import cascade https://me.table.core.windows.net/shipyardperf mypool",
	  "from the table itself; AZURE_STORAGE_KEY has the key" },
	{ "import cascade --configdir config -o start", "from the table that Batch Shipyard's "
							"files name" },
	{ "import chrome-trace profile.json.gz", "a timeline of PyTorch's profiler, or of others" },
	{ "import chrome-trace rank3.json --into sonde_1234 --rank 3", "beside what Sonde "
								       "recorded" },
	{ "import nsys report.sqlite --into sonde_1234", "from nsys export --type sqlite" },
	{ "import otlp traces.json --into sonde_1234", "OpenTelemetry's spans, beside what Sonde "
						       "recorded" },
	{ "import darshan job.dxt.txt --into sonde_1234", "each read and write that Darshan "
							  "traced" },
	{ "import pprof cpu.pb.gz", "a CPU profile of a Go program; then show --code" },
	{ "import perf-script app.perf.txt", "from perf script; then show --code" },
	{ "import amun inspections", "Amun's trials, into the store" },
	{ "import pytest-benchmark results.json", "its benchmarks, into the store" },
};

struct importing {
	const struct importer *importer;
	const struct import_options *options;
	const char *job;
	char to[PATH_MAX];
	struct outputs written;
	struct cascade_table *table; /* what is imported is not a file; or NULL */
	struct place_options place;
};

/* "." and ".." have names, too. */
static const char *by_name(const char *path, char whole[PATH_MAX])
{
	const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
	bool is_dots = !last[strspn(last, ".")];

	return is_dots && realpath(path, whole) ? whole : path;
}

/* sonde_FORMAT_NAME, here. */
static void choose_place(struct importing *x, const char *path, const char *output)
{
	size_t n = strlen(path), first;

	while (n > 1 && path[n - 1] == '/')
		n--;
	for (first = n; first && path[first - 1] != '/';)
		first--;
	if (output)
		snprintf(x->to, sizeof x->to, "%s", output);
	else
		snprintf(x->to, sizeof x->to, "sonde_%s_%.*s", x->importer->name, (int)(n - first),
			 path + first);
}

static int write_store(struct importing *x, const struct import *i, struct err *e)
{
	char from[PATH_MAX + 64];

	snprintf(from, sizeof from, "%s %s", x->importer->name, i->path);
	return import_write(i->store, i->dirfd, from, outputs_in, &x->written, e);
}

static int read_and_write(struct importing *x, struct store *s, const char *path, struct err *e)
{
	struct import import = { .path = path,
				 .find = catalogue_find,
				 .store = s,
				 .job = x->job,
				 .threads = (unsigned)x->options->threads,
				 .subsample = (unsigned)x->options->subsample,
				 .pages = x->table ? cascade_table_pages : NULL,
				 .pages_ctx = x->table,
				 .wrote = outputs_in,
				 .ctx = &x->written };
	struct map map;
	int rc = perfmonfile_map(&map, e);

	import.map = &map;
	rc = rc ? rc : import_place_find(&x->place, &import.place, e);
	import.dirfd = open(x->to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!rc && import.dirfd < 0)
		rc = err_set(e, -errno, "cannot open %.300s: %s", x->to, strerror(errno));
	if (!rc)
		rc = x->importer->run(&import, e);
	if (!rc)
		rc = write_store(x, &import, e);
	if (import.dirfd >= 0)
		close(import.dirfd);
	map_free(&map);
	return rc;
}

/* A directory that nothing was put into is taken away again. */
static int import_all(struct importing *x, struct store *s, const char *path, struct err *e)
{
	int rc;

	if (!x->place.into && mkdir(x->to, 0700))
		return err_set(e, -errno, "cannot make %.300s: %s%s", x->to, strerror(errno),
			       errno == EEXIST ? "; existing files are not overwritten: choose "
						 "another directory with -o"
					       : "");
	rc = store_open(s, x->to);
	rc = rc ? err_set(e, rc, "no temporary file in %.300s: %s", x->to, strerror(-rc))
		: read_and_write(x, s, path, e);
	if (rc && !x->written.files && !x->place.into)
		rmdir(x->to);
	return rc;
}

static int import_run(struct importing *x, const char *path)
{
	struct store s = { 0 };
	struct err e = { "" };
	int rc = import_all(x, &s, path, &e), code;

	for (uint32_t i = 0; i < s.nnotes; i++)
		say("import: %s", s.note[i]);
	if (s.nnotes == STORE_NOTES_MAX && s.left_out)
		say("import: only the first %d of these messages are shown; skipped in total: %" PRIu64,
		    STORE_NOTES_MAX, s.left_out);
	if (rc)
		say("import: %s", e.text);
	else
		say("imported %s to %s: hosts: %u", path, x->to, x->written.files);
	code = rc ? EXIT_FAILED : outputs_end(&x->written, 0);
	if (s.left_out)
		code = EXIT_FAILED;
	store_close(&s);
	return code;
}

static void say_usage(void)
{
	char known[512] = "";
	size_t n = 0;

	for (size_t i = 0; i < nimporters && n < sizeof known; i++)
		n += (size_t)snprintf(known + n, sizeof known - n, "%s %s %s", i ? " or" : "",
				      importers[i]->name, importers[i]->operand);
	say("import: give a format and what to import:%s or amun PATH%s", known, suites);
}

/* ---- the table of cascade ---- */

static bool names_files(const struct import_options *o)
{
	return o->table.directory || o->table.credentials || o->table.config || o->table.pool;
}

static bool is_address(const char *path)
{
	return !strncmp(path, "https://", 8) || !strncmp(path, "http://", 7);
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* Everybody on the machine sees the command line. */
static int place_of(struct table_place *p, const struct import_options *o, const char *path,
		    struct err *e)
{
	if (names_files(o))
		return table_place_of_files(p, &o->table, variable, e);
	return table_place_of_url(p, path, variable, e);
}

static int import_table(struct importing *x, const char *path)
{
	struct cascade_table t = { .pool = x->job, .patience_ns = x->options->patience_ns };
	struct err e = { "" };
	int code;

	if (place_of(&t.place, x->options, path, &e)) {
		say("import: %s", e.text);
		return EXIT_FAILED;
	}
	x->table = &t;
	if (*t.place.partition)
		x->job = t.place.partition;
	choose_place(x, t.place.url, x->options->output);
	x->written.to = x->to;
	code = import_run(x, t.place.url);
	explicit_bzero(&t, sizeof t);
	return code;
}

/* ---- */

static bool suits(const struct import_options *o, const struct importing *x, int noperands)
{
	bool files = names_files(o);
	int least = files ? 1 : 2, most = files ? 1 : 2 + (x->importer && x->importer->has_jobs);

	if (!x->importer || noperands < least || noperands > most) {
		say_usage();
		return false;
	}
	if (!x->importer->is_timeline && (o->into || o->align)) {
		say("import: --into and --align are for timelines only (chrome-trace, nsys, otlp, "
		    "darshan); remove them");
		return false;
	}
	if (!x->importer->is_timeline && !x->importer->is_profile && (o->node || o->rank)) {
		say("import: --node and --rank are for timelines and profiles only (chrome-trace, "
		    "nsys, otlp, darshan, pprof, perf-script); remove them");
		return false;
	}
	if (o->into && o->output) {
		say("import: --into writes into a recording that exists, and -o a new one; give "
		    "one of both");
		return false;
	}
	if (o->align && !o->into) {
		say("import: --align needs --into, the recording that has the mark");
		return false;
	}
	if (o->subsample && !x->importer->has_workers) {
		say("import: --subsample is for scanner only; remove it");
		return false;
	}
	if (files && strcmp(x->importer->name, "cascade") != 0) {
		say("import: --configdir, --credentials, --config and --pool are for cascade "
		    "only; remove them");
		return false;
	}
	return true;
}

/* Digits alone: it is compared with what others call the same rank. */
static bool take_timeline(struct importing *x, const struct import_options *o)
{
	char *end = NULL;

	x->place = (struct place_options){
		.into = o->into, .node = o->node, .align = o->align, .rank = -1
	};
	if (!o->rank)
		return true;
	errno = 0;
	if (*o->rank >= '0' && *o->rank <= '9')
		x->place.rank = strtoll(o->rank, &end, 10);
	if (end && !*end && !errno && x->place.rank < INT32_MAX)
		return true;
	say("import: --rank needs a number from 0 on, not %s", o->rank);
	return false;
}

static int import_exec(const void *options, int noperands, char **operands)
{
	const struct import_options *o = options;
	struct importing x = { .options = o };
	char whole[PATH_MAX];

	if (noperands == 2 && benchimport_knows(operands[0]))
		return benchimport(operands[0], operands[1], o->store, o->json);
	if (noperands == 2 && !strcmp(operands[0], "amun"))
		return benchimport(NULL, operands[1], o->store, o->json);
	if (noperands)
		x.importer = importer_find(operands[0]);
	if (!suits(o, &x, noperands))
		return EXIT_USAGE;
	x.job = noperands > 2 ? operands[2] : NULL;
	x.written = (struct outputs){ .verb = "import", .recording = x.to, .json = o->json };
	if (noperands == 1 || (!strcmp(x.importer->name, "cascade") && is_address(operands[1])))
		return import_table(&x, noperands > 1 ? operands[1] : NULL);
	if (!take_timeline(&x, o))
		return EXIT_USAGE;
	choose_place(&x, by_name(operands[1], whole), o->into ? o->into : o->output);
	x.written.to = x.to;
	return import_run(&x, operands[1]);
}

const struct command command_import = {
	.name = "import",
	.operands = "FORMAT [PATH [JOB|POOL]]",
	.words = formats,
	.what = "Convert data of another tool to a recording",
	.description =
		"Reads data that another tool wrote and converts it to a recording with one file "
		"per host. All other commands accept it like any recording.\n\n"
		"perfmon DIR: metrics/*.json below DIR, written by perfmon or by `sonde export "
		"--to perfmon`. Numbers of perfmon that are known to be wrong keep a name that "
		"begins with perfmon, and the correct metric reports the reason.\n\n"
		"lightgbm-perf FILE: the samples saved by perf.py of lightgbm-benchmark.\n\n"
		"benchmon DIR: the CSV files of SKA's benchmon in DIR/benchmon_traces_HOST/, or "
		"in one such directory: CPUs, frequencies, memory, network, disks, InfiniBand, "
		"energy. The stages in annotations.csv become spans.\n\n"
		"scanner DB_PATH [JOB]: the profiles of a Scanner job, by id or name; default: "
		"the newest. Each worker and the master become a host, and each of their threads "
		"a track whose intervals are spans; see trace and show --spans. Neither Scanner "
		"nor Sonde compares the clocks of the workers.\n\n"
		"cascade FILE|DIR [POOL]: the start-up events of Batch Shipyard pools, from a "
		"dump of their table as JSON or CSV, or from all such files in a directory; of "
		"one pool or of all. Each node becomes a host, and each event a mark at its own "
		"time; see phases. Instead of a file you can name the table itself: its address, "
		"with the account's key in AZURE_STORAGE_KEY or a signature in "
		"AZURE_STORAGE_SAS_TOKEN, or Batch Shipyard's configuration files "
		"(--configdir).\n\n"
		"chrome-trace FILE: a timeline in Chrome's JSON, plain or compressed with gzip or "
		"zstd, as PyTorch's profiler, JAX, viztracer, clang -ftime-trace, Bazel and Dask "
		"write it: threads become tracks, their events spans, marks and counters. With "
		"--into it joins a recording of the same job, by the absolute time that the file "
		"states, by the machine's clock, or by a mark (--align); else it is reported as "
		"not aligned.\n\n"
		"nsys FILE: the SQLite export of NVIDIA's Nsight Systems: calls of threads (NVTX, "
		"CUDA, MPI, operating system) and the work of GPUs.\n\n"
		"otlp FILE: traces of OpenTelemetry in OTLP, as JSON or protobuf, also as the "
		"Collector's file exporter writes them.\n\n"
		"darshan FILE: the output of darshan-dxt-parser (each read and write) or of "
		"darshan-parser (when each file was first and last opened, read, written and "
		"closed).\n\n"
		"pprof FILE: a profile of CPU time in pprof's format, as Go and `sonde export --to "
		"pprof` write it: stacks for show --code and export.\n\n"
		"perf-script FILE: the text of `perf script`: the samples of its first event become "
		"stacks of CPU time, for show --code and export. A sample of a clock counts for its period; one of another event for the time that the file's frequency or the distance between samples gives.\n\n"
		"amun PATH: trials for `sonde bench list`, not a recording: the directory of an "
		"inspection (build/specification, results/N/result), a directory of several, or a "
		"document: a result, whole inspections of Amun or thoth-storages, or a report of "
		"Dependency Monkey, which becomes a sweep. Trials that were imported before are "
		"skipped; failed ones are reported, with exit code 1.\n\n"
		"pytest-benchmark FILE, google-benchmark FILE, asv FILE, hyperfine FILE: the JSON "
		"that these benchmark suites write, as trials, too: each benchmark with its "
		"parameters is a batch, each of its values a trial.\n\n"
		"Malformed data is skipped and reported. Exit code 1 also means that some data "
		"was skipped.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct import_options),
	COMMAND_EXAMPLES(examples),
	.exec = import_exec,
};
