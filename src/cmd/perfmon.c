/* SPDX-License-Identifier: Apache-2.0 */
/* perfmon.c - perfmon's command line: its flags, its files, its ways to be ended. */
#include "base/clock.h"
#include "base/text/json.h"
#include "console/command.h"
#include "output/outfile.h"
#include "perfmon/aside.h"
#include "perfmon/results.h"
#include "session/attached.h"
#include "sink/sink.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* The job's processes may be long in coming; a step that follows another one is not. Before the
 * scheduler ends the job, the recording has to be closed and the results be written. */
#define AWAIT_NS  (60 * NS_PER_S)
#define ALONE_NS  (20 * NS_PER_S) /* in a step that may keep those of the job from starting */
#define OTHERS_NS (2 * ALONE_NS)  /* and on other nodes, which the first decides for */
#define SHORT_NS  (60 * NS_PER_S) /* a recording that a new one replaces */
#define CLAIM_NS  (20 * NS_PER_S) /* who is to leave the job to this one closes its recording */
#define GRACE_NS  (10 * NS_PER_S)
#define MARGIN_NS (30 * NS_PER_S)

#define NAME "sonde-perfmon"

struct perfmon_options {
	struct perfmon_names names;
	const char *launcher, *formats, *stacks;
	int64_t interval_ns, sync_ns;
	bool report, verbose;
};

#define NAMED(flag, member, what)                                                                  \
	{                                                                                          \
		.name = flag, .type = ARG_TEXT, .value = "NAME", .bare = "", .follows = true,      \
		.help = what, OPTION_OFFSET(struct perfmon_options, names.member)                  \
	}

static const struct option rows[] = {
	{ .name = "save_dir",
	  .letter = 'd',
	  .type = ARG_TEXT,
	  .value = "DIR",
	  .bare = "",
	  .follows = true,
	  .help = "Write the files to DIR, which all nodes of the job must see. Default: the "
		  "current directory.",
	  OPTION_OFFSET(struct perfmon_options, names.save_dir) },
	{ .name = "prefix",
	  .letter = 'p',
	  .type = ARG_TEXT,
	  .value = "NAME",
	  .bare = "",
	  .follows = true,
	  .help = "Create this subdirectory for the job's files.",
	  OPTION_OFFSET(struct perfmon_options, names.prefix) },
	{ .name = "launcher",
	  .letter = 'l',
	  .type = ARG_TEXT,
	  .value = "NAME",
	  .bare = "",
	  .follows = true,
	  .help = "Launcher of the job's MPI tasks; only logged.",
	  OPTION_OFFSET(struct perfmon_options, launcher) },
	{ .name = "sampling_freq",
	  .letter = 'i',
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .fallback = "30s",
	  .min = 1000000,
	  .max = INT64_C(3600000000000),
	  .help = "Time between samples.",
	  OPTION_OFFSET(struct perfmon_options, interval_ns) },
	{ .name = "check_point",
	  .letter = 'c',
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .fallback = "15m",
	  .bare = "15m",
	  .follows = true,
	  .help = "Write data to disk at least this often, like --sync of `sonde run`.",
	  OPTION_OFFSET(struct perfmon_options, sync_ns) },
	{ .name = "gen_report",
	  .letter = 'r',
	  .type = ARG_FLAG,
	  .help = "Write the job's report.",
	  OPTION_OFFSET(struct perfmon_options, report) },
	{ .name = "export",
	  .letter = 'e',
	  .type = ARG_TEXT,
	  .value = "FORMATS",
	  .bare = "csv",
	  .follows = true,
	  .help = "Write the job's tables in these formats, separated by blanks or commas: csv, "
		  "hdf5, parquet, pickle, feather, orc.",
	  OPTION_OFFSET(struct perfmon_options, formats) },
	STACKS_OPTION(struct perfmon_options, stacks),
	NAMED("system", system, "For a benchmark test: the system it runs on."),
	NAMED("partition", partition, "For a benchmark test: the partition."),
	NAMED("env", env, "For a benchmark test: the environment."),
	NAMED("name", name, "For a benchmark test: its name."),
	{ .name = "verbose",
	  .letter = 'v',
	  .type = ARG_FLAG,
	  .help = "Log more, to one file per node, and write each node's options to configs/.",
	  OPTION_OFFSET(struct perfmon_options, verbose) },
};

static const struct example examples[] = {
	{ "perfmon -i 5 -e csv hdf5", "in a job script, started once on each node, in the "
				      "background with &" },
};

struct perfmon {
	const struct perfmon_options *o;
	uint64_t formats; /* bit i: sinks[i] */
	struct recording_options recording;
	struct recording_plan plan;
	struct perfmon_place place;
	struct logfile log;
	struct ipc ipc;
	struct aside aside;
	bool saw, moved;                   /* processes of the job; to a step of its own */
	char directory[PATH_MAX];          /* of the recording */
	char file[256];                    /* this node's in it; "" */
	char id[128];                      /* of the job, as files are named after it; "" */
	int64_t began_utc_ns, ends_utc_ns; /* of this recording; of the job, 0: not known */
	struct err why;                    /* the last thing that went wrong */
};

static bool add_formats(uint64_t *formats, const char *names)
{
	for (const char *at = names; *at;) {
		size_t n = strcspn(at, ","), i = 0;

		while (i < nsinks && (strlen(sinks[i]->name) != n ||
				      memcmp(sinks[i]->name, at, n) || sinks[i]->series_only))
			i++;
		if (i == nsinks) {
			say("perfmon: -e: unknown format '%.*s'; expected csv, hdf5, parquet, "
			    "pickle, feather or orc",
			    (int)n, at);
			return false;
		}
		*formats |= UINT64_C(1) << i;
		at += n + (at[n] == ',');
	}
	return true;
}

/* Words behind the first one of -e are operands to the option table. */
static bool find_formats(struct perfmon *x, int n, char **operands)
{
	if (n && !x->o->formats) {
		say("perfmon: unexpected argument '%s'", operands[0]);
		return false;
	}
	if (x->o->formats && !add_formats(&x->formats, x->o->formats))
		return false;
	for (int i = 0; i < n; i++)
		if (!add_formats(&x->formats, operands[i]))
			return false;
	return true;
}

/* As the scheduler numbers it, which is what job scripts have: of an array, each element's own. */
static void find_id(struct perfmon *x)
{
	const char *raw = x->plan.identity.job.text[BATCH_RAW_ID];

	snprintf(x->id, sizeof x->id, "%s", raw ? raw : "");
	for (char *c = x->id; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("-._", *c))
			*c = '_';
}

enum order { ORDER_FIRST, ORDER_OTHER, ORDER_UNKNOWN };

/* Which of the job's nodes this is. The first of the copies may be on another one than the job's.
 */
static enum order order_of(const struct batch_job *j)
{
	int64_t index = j->number[BATCH_NODE_INDEX], nodes = j->number[BATCH_NODES];
	int64_t rank = j->number[BATCH_RANK];

	if (index == 0 || (index < 0 && nodes == 1))
		return ORDER_FIRST;
	if (index > 0)
		return rank == 0 ? ORDER_UNKNOWN : ORDER_OTHER;
	if (nodes < 1 || rank < 0)
		return ORDER_UNKNOWN;
	return rank ? ORDER_OTHER : ORDER_FIRST;
}

/* Everything that can be known to be wrong before a file is made. */
static bool plan(struct perfmon *x)
{
	const struct perfmon_options *o = x->o;
	struct err e = { "" };

	x->recording = (struct recording_options){ .interval_ns = o->interval_ns,
						   .sync_ns = o->sync_ns,
						   .perf = "all",
						   .stacks = o->stacks };
	if (perfmon_place_find(&x->place, &o->names, &e)) {
		say("perfmon: %s", e.text);
		return false;
	}
	if (!recording_plan(&x->plan, &x->recording))
		return false;
	find_id(x);
	if ((size_t)snprintf(x->directory, sizeof x->directory, "%s/%s", x->place.directory,
			     x->plan.named) >= sizeof x->directory) {
		say("perfmon: the name of the directory %s is too long; name another with -d",
		    x->place.directory);
		return false;
	}
	x->plan.directory = x->directory;
	return true;
}

static void config_text(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	json_text(j, text && text[0] ? text : NULL);
}

/* JSON is YAML, too. */
static void config(struct bytes *b, const struct perfmon *x)
{
	const struct perfmon_options *o = x->o;
	const struct batch_job *job = &x->plan.identity.job;
	struct json j = { .out = b, .indent = true };

	json_object(&j);
	config_text(&j, "scheduler", batch_job_system(job));
	config_text(&j, "job_id", x->id);
	config_text(&j, "host_name", x->plan.identity.host);
	config_text(&j, "node_name", job->node);
	config_text(&j, "master_node", job->nodes.n ? hostlist_name(&job->nodes, 0) : job->node);
	json_key(&j, "num_nodes");
	json_int(&j, job->number[BATCH_NODES] < 1 ? 1 : job->number[BATCH_NODES]);
	config_text(&j, "launcher", o->launcher);
	config_text(&j, "save_dir", x->place.save_dir);
	config_text(&j, "prefix", o->names.prefix);
	config_text(&j, "data_dir", x->place.directory);
	config_text(&j, "recording", x->directory);
	config_text(&j, "ipc_file", x->ipc.path);
	json_key(&j, "sampling_freq");
	json_real(&j, (double)o->interval_ns / NS_PER_S);
	json_key(&j, "check_point");
	json_real(&j, (double)o->sync_ns / NS_PER_S);
	json_put_bool(&j, "gen_report", o->report);
	json_key(&j, "export");
	json_array(&j);
	for (size_t i = 0; i < nsinks; i++)
		if (x->formats >> i & 1)
			json_text(&j, sinks[i]->name);
	json_array_end(&j);
	config_text(&j, "system", o->names.system);
	config_text(&j, "partition", o->names.partition);
	config_text(&j, "env", o->names.env);
	config_text(&j, "name", o->names.name);
	json_put_bool(&j, "verbose", o->verbose);
	json_object_end(&j);
	bytes_u8(b, '\n');
}

static void write_config(const struct perfmon *x)
{
	char directory[PATH_MAX + 16], name[192];
	struct err e = { "" };
	struct bytes b = { 0 };
	struct outfile out;
	int bad = 0;

	snprintf(directory, sizeof directory, "%s/configs", x->place.directory);
	snprintf(name, sizeof name, "%s_run_config.yml", x->plan.identity.host);
	config(&b, x);
	if (!outfile_open(&out, directory, name, &e)) {
		if (b.failed || fwrite(b.data, 1, b.len, out.file) != b.len)
			bad = err_set(&e, -EIO, "%s", strerror(errno));
		outfile_close(&out, bad, &e);
	}
	if (e.text[0])
		log_warning(&x->log, "%s", e.text);
	bytes_free(&b);
}

static bool begin(struct perfmon *x)
{
	const struct identity *who = &x->plan.identity;
	struct err e = { "" };

	if (perfmon_place_make(&x->place, &e) ||
	    logfile_open(&x->log, x->place.save_dir, who->host, x->o->verbose, &e)) {
		say("perfmon: %s", e.text);
		return false;
	}
	if (who->job.why.text[0])
		log_warning(&x->log, "%s", who->job.why.text);
	if (x->id[0] &&
	    ipc_begin(&x->ipc, x->id, order_of(&who->job) != ORDER_OTHER && !getenv(ASIDE_VARIABLE),
		      &e))
		log_warning(&x->log, "%s", e.text);
	if (x->o->verbose)
		write_config(x);
	return true;
}

static void log_sentence(void *ctx, const char *sentence)
{
	struct perfmon *x = ctx;

	log_warning(&x->log, "%s", sentence);
	err_set(&x->why, 0, "%s", sentence);
}

/* Is this a step of Slurm that others may wait for, and not perfmon's own? */
static bool may_block(const struct perfmon *x)
{
	const struct batch_job *j = &x->plan.identity.job;
	const char *system = batch_job_system(j);

	return system && !strcmp(system, "slurm") && j->part == BATCH_PART_STEP &&
	       !getenv(ASIDE_VARIABLE);
}

/* A copy in the step that was left may still have it. */
static int claim(struct perfmon *x, struct attached *a)
{
	int64_t until = getenv(ASIDE_VARIABLE) ? clock_mono_ns() + CLAIM_NS : 0;
	int bad;

	while ((bad = attached_claim(a, &x->plan, NULL, &x->why)) == -EEXIST &&
	       clock_mono_ns() < until) {
		attached_take_over(a, &x->plan, NAME);
		nanosleep(&(struct timespec){ .tv_nsec = 50 * NS_PER_MS }, NULL);
	}
	return bad;
}

/* The recording is there. */
static void opened(const void *context, const char *name)
{
	struct perfmon *const *x = context;

	snprintf((*x)->file, sizeof(*x)->file, "%s", name);
	aside_say_ready();
}

static void plan_aside(struct perfmon *x, const struct attached *a)
{
	const struct batch_job *job = &x->plan.identity.job;

	x->aside = (struct aside){ .job = job,
				   .members = &a->members,
				   .saw = &x->saw,
				   .alone_ns = clock_mono_ns() + ALONE_NS,
				   .decides = may_block(x) && order_of(job) == ORDER_FIRST };
}

/* What this one recorded while it kept the job waiting, the new step's recording has, too. */
static void forget(const struct perfmon *x)
{
	int stem = (int)strlen(x->file) - (int)strlen(".sonde");
	char path[PATH_MAX + 256];

	if (stem <= 0 || clock_utc_ns() - x->began_utc_ns > SHORT_NS)
		return;
	snprintf(path, sizeof path, "%s/%s", x->directory, x->file);
	unlink(path);
	snprintf(path, sizeof path, "%s/%.*s.tail", x->directory, stem, x->file);
	unlink(path);
}

#define OVERLAP                                                                                    \
	"since Slurm 20.11 steps do not share CPUs, so the job's own steps waited for those of "   \
	"this one; start it with srun --overlap"

static void step_aside(struct perfmon *x)
{
	struct err e = { "" };

	x->moved = !aside_continue(&x->aside, &e);
	if (x->moved)
		log_info(&x->log, "perfmon continues in a step of its own: " OVERLAP);
	else
		log_error(&x->log, "The job is not recorded any longer: " OVERLAP " (%s)", e.text);
	if (x->moved)
		forget(x);
}

static void after_recording(struct perfmon *x)
{
	if (x->ipc.over)
		log_info(&x->log, "%s reports that the job is over", x->ipc.path);
	log_info(&x->log, "The recording of this node is closed");
	if (attached_taken_over())
		x->moved = true;
	else if (x->aside.due && !x->ipc.over && !attached_signalled())
		step_aside(x);
	else if (!x->saw)
		log_error(&x->log,
			  "No process of the job, except those that wait for others, ran here");
}

static void begin_recording(struct perfmon *x, struct attached *a, struct recorder_options *r)
{
	bool waits = may_block(x) && !x->aside.decides;

	*r = attached_recorder(&x->plan, a);
	r->await_ns = waits ? OTHERS_NS : AWAIT_NS;
	r->grace_ns = GRACE_NS;
	r->duration_ns = attached_until_ns(a->ends_utc_ns, MARGIN_NS);
	x->ends_utc_ns = a->ends_utc_ns;
	x->began_utc_ns = clock_utc_ns();
	r->ipc = x->id[0] ? &x->ipc : NULL;
	r->elsewhere = "name another with -d or -p";
	r->saw = &x->saw;
	r->leave = aside_is_due;
	r->leave_ctx = &x->aside;
	r->say = log_sentence;
	r->say_ctx = x;
	r->opened = opened;
	log_info(&x->log, "Recording %s into %s", a->members.how, x->directory);
	log_debug(&x->log, "A sample every %.6g s, synced every %.6g s; launcher: %s",
		  (double)x->o->interval_ns / NS_PER_S, (double)x->o->sync_ns / NS_PER_S,
		  x->o->launcher && x->o->launcher[0] ? x->o->launcher : "not given");
}

static bool record(struct perfmon *x)
{
	struct attached a = { .command = "perfmon" };
	struct recorder_options r;
	int bad;

	if (attached_job(&a, &x->plan, NULL, &x->why) || claim(x, &a)) {
		log_error(&x->log, "%s", x->why.text);
		attached_close(&a);
		return false;
	}
	plan_aside(x, &a);
	begin_recording(x, &a, &r);
	r.opened_context = &x;
	bad = recorder_run(&r);
	if (attached_taken_over())
		forget(x); /* as long as nobody else may have its names */
	attached_unclaim(&a);
	if (!bad)
		after_recording(x);
	aside_close(&x->aside);
	attached_close(&a);
	return !bad;
}

static bool results(const struct perfmon *x, enum order order)
{
	const struct perfmon_results p = { .log = &x->log,
					   .place = &x->place,
					   .recording = x->directory,
					   .job = &x->plan.identity.job,
					   .host = x->plan.identity.host,
					   .began_utc_ns = x->began_utc_ns,
					   .ends_utc_ns = x->ends_utc_ns,
					   .id = x->id,
					   .interval_ns = x->o->interval_ns,
					   .formats = x->formats,
					   .report = x->o->report };

	if (order != ORDER_OTHER)
		perfmon_results_wait(&p);
	if (order == ORDER_FIRST || (order == ORDER_UNKNOWN && perfmon_results_are_ours(&p)))
		return perfmon_results_write(&p);
	log_info(&x->log, "%s of the job writes the results",
		 order == ORDER_OTHER ? "The first node" : "Another node");
	return true;
}

static bool monitor(struct perfmon *x)
{
	const struct batch_job *job = &x->plan.identity.job;

	if (job->number[BATCH_LOCAL_RANK] > 0) {
		log_info(&x->log, "Another copy on this node records it");
		return true;
	}
	return record(x) && (x->moved || results(x, order_of(job)));
}

static int perfmon(const void *given, int n, char **operands)
{
	struct perfmon *x = calloc(1, sizeof *x);
	int code = EXIT_USAGE;

	if (!x) {
		say("out of memory");
		return EXIT_FAILED;
	}
	x->o = given;
	/* By this name other copies of Sonde know this one for one of theirs. */
	prctl(PR_SET_NAME, NAME);
	if (find_formats(x, n, operands) && plan(x)) {
		code = begin(x) && monitor(x) ? EXIT_OK : EXIT_FAILED;
		if (code == EXIT_FAILED && x->log.fd)
			say("perfmon: %s; the log in %s has more",
			    x->why.text[0] ? x->why.text : "not all results could be written",
			    x->place.save_dir);
		identity_free(&x->plan.identity);
	}
	logfile_close(&x->log);
	free(x);
	return code;
}

const struct command command_perfmon = {
	.name = "perfmon",
	.operands = "",
	.what = "Record a batch job with perfmon's options and files",
	.description =
		"For job scripts written for perfmon. Start it once on each node of a Slurm, PBS "
		"or OAR job, in the background. It records the job's processes on that node, in "
		"all steps, without Sonde's own. When sonde is called by the name perfmon, it "
		"runs this command.\n\n"
		"It ends 10 s after the last process of the job on this node, when the job script "
		"runs `echo FINISHED >.ipc-$SLURM_JOB_ID`, on TERM, INT, HUP, USR1 or USR2, and "
		"30 s before the job's time limit if that is known. The copy on the first node of "
		"the job then waits for the others and writes the results of all nodes. From a "
		"node that has not closed its recording it takes the data written so far, once "
		"nothing new has arrived for 10 s and two samples.\n\n"
		"Nothing is printed on standard output; ska_sdp_monitoring_metrics.log in the "
		"directory of -d has the log. With --system, --partition, --env and --name the "
		"files go to perfmetrics/SYSTEM/PARTITION/ENV/NAME there, and the HDF5 tables of "
		"all its jobs to test.h5.",
	COMMAND_OPTIONS(rows),
	COMMAND_EXAMPLES(examples),
	.size = sizeof(struct perfmon_options),
	.by_name = true,
	.exec = perfmon,
};
