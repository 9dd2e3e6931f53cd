/* SPDX-License-Identifier: Apache-2.0 */
/* bench_run.c - run a benchmark again and again and keep every trial. */
#include "base/clock.h"
#include "bench/group.h"
#include "console/command.h"
#include "job/words.h"
#include "session/history.h"
#include "session/sitesecrets.h"
#include "trial/benchprint.h"
#include "trial/beside.h"
#include "trial/evidence.h"
#include "trial/scripted.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIALS_MAX = 100000, WARMUPS_MAX = 1000 };

struct run_options {
	struct recording_options recording; /* of most rows, which are not offered, the defaults */
	int64_t repeat, warmup, limit_ns, jobs;
	struct option_list environment, models, tags;
	const char *store, *output, *note;
	bool quiet, json;
};

static const struct option rows[] = {
	{ .name = "repeat",
	  .letter = 'n',
	  .type = ARG_COUNT,
	  .value = "N",
	  .fallback = "1",
	  .min = 1,
	  .max = TRIALS_MAX,
	  .help = "Number of trials.",
	  OPTION_OFFSET(struct run_options, repeat) },
	{ .name = "warmup",
	  .type = ARG_COUNT,
	  .value = "N",
	  .fallback = "0",
	  .max = WARMUPS_MAX,
	  .help = "Run this many warm-up trials first, and discard them. With --jobs, on the "
		  "cores of each job.",
	  OPTION_OFFSET(struct run_options, warmup) },
	{ .name = "jobs",
	  .letter = 'j',
	  .type = ARG_COUNT,
	  .value = "N",
	  .fallback = "1",
	  .min = 1,
	  .max = SCRIPTED_MOST,
	  .help = "Run N trials at a time, each on cores of its own.",
	  OPTION_OFFSET(struct run_options, jobs) },
	BENCH_ENVIRONMENT(struct run_options),
	{ .name = "timeout",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .fallback = "1h",
	  .max = INT64_C(604800) * NS_PER_S,
	  .help = "Stop a trial after this time; it then counts as failed. 0: never.",
	  OPTION_OFFSET(struct run_options, limit_ns) },
	BENCH_INTERVAL(struct run_options, recording.interval_ns),
	STACKS_OPTION(struct run_options, recording.stacks),
	WAITS_OPTION(struct run_options, recording.waits),
	{ .name = "output",
	  .letter = 'o',
	  .type = ARG_TEXT,
	  .value = "DIR",
	  .help = "Write the recordings to DIR, which must not exist. Default: bench_, the name "
		  "of the script and the time.",
	  OPTION_OFFSET(struct run_options, output) },
	BENCH_TRIALS_STORE(struct run_options),
	BENCH_MODELS(struct run_options),
	{ .name = "note",
	  .type = ARG_TEXT,
	  .value = "TEXT",
	  .help = "Write this note about the batch, as sonde bench note does.",
	  OPTION_OFFSET(struct run_options, note) },
	{ .name = "tag",
	  .type = ARG_LIST,
	  .value = "NAME",
	  .help = "Give the batch this tag. Repeatable.",
	  OPTION_OFFSET(struct run_options, tags) },
	BENCH_QUIET(struct run_options),
	{ .name = "json",
	  .type = ARG_FLAG,
	  .help = "Print the statistics as JSON, schema sonde/bench-stats/1.",
	  OPTION_OFFSET(struct run_options, json) },
};

static const struct example examples[] = {
	{ "bench run -n 10 --warmup 1 ./matmul.py", "ten trials after one warm-up trial" },
	{ "bench run -n 10 --env MATMUL_MATRIX_SIZE=1024 --timeout 5m ./matmul.py",
	  "with another parameter" },
	{ "bench run -n 5 stream --threads 4", "a built-in benchmark with its own option" },
	{ "bench run -n 10 -- sleep 0.1", "time any command" },
	{ "bench run -n 10 --jobs 2 ./matmul.py", "two trials at a time, on disjoint cores" },
};

struct bench_run {
	const struct run_options *o;
	struct trial_run run; /* what all have in common */
	struct beside beside;
	char *const *words;          /* as they were given */
	bool plain;                  /* behind "--": any command */
	struct chosen_script script; /* as it is executed */
	char origin[PATH_MAX], directory[PATH_MAX], host[256];
	char sha256[SHA256_HEX], uid[33];
	struct models models;
	struct bench_facts software;
	struct bytes command;
	struct trial_batch batch;
	struct trial_store store;
};

/* ---- before the first trial ---- */

static int check_environment(const struct option_list *list, struct err *e)
{
	for (uint32_t i = 0; i < list->n; i++) {
		const char *is = strchr(list->text[i], '=');

		if (!is || is == list->text[i] || is - list->text[i] > 255)
			return err_set(e, -EINVAL, "option --env takes NAME=VALUE, not '%.100s'",
				       list->text[i]);
	}
	return 0;
}

static int check_note(const struct run_options *o, struct err *e)
{
	int rc = o->note ? batch_note_check(o->note, e) : 0;

	for (uint32_t i = 0; i < o->tags.n && !rc; i++)
		rc = batch_tag_check(o->tags.text[i], e);
	return rc;
}

static int put_note(struct bench_run *x, struct database *s, struct err *e)
{
	int rc = x->o->note ? batch_note_put(s, x->batch.id, x->o->note, e) : 0;

	for (uint32_t i = 0; i < x->o->tags.n && !rc; i++)
		rc = batch_tag_put(s, x->batch.id, x->o->tags.text[i], e);
	return rc;
}

static int make_directory(struct bench_run *x, struct err *e)
{
	const char *slash = strrchr(x->words[0], '/');
	char when[CLOCK_STAMP];

	clock_stamp(clock_utc_ns(), when);
	if (x->o->output)
		snprintf(x->directory, sizeof x->directory, "%s", x->o->output);
	else
		snprintf(x->directory, sizeof x->directory, "bench_%.200s_%s_%d",
			 slash ? slash + 1 : x->words[0], when, (int)getpid());
	if (!mkdir(x->directory, 0700))
		return 0;
	return err_set(e, -errno, "cannot make %.300s: %s%s", x->directory, strerror(errno),
		       errno == EEXIST ? "; existing directories are not changed: choose another "
					 "one with -o"
				       : "");
}

static int open_store(struct bench_run *x, struct err *e)
{
	const struct history_options where = { .store = x->o->store };
	struct database *s = NULL;
	int rc = history_open(&s, &where, "bench run", e);

	x->store.database = s;
	x->store.models = &x->models;
	if (!rc)
		rc = database_begin(s, e);
	if (!rc)
		rc = batch_put(s, &x->batch, e);
	if (!rc)
		rc = put_note(x, s, e);
	return rc ? rc : database_commit(s, e);
}

/* What its trials have in common. */
static void share(struct bench_run *x)
{
	x->run.verb = "bench run";
	x->run.argv = x->script.argv;
	x->run.environment = &x->o->environment;
	x->run.limit_ns = x->o->limit_ns;
	x->run.software = &x->software;
	x->run.batch = &x->batch;
	x->run.store = &x->store;
	x->run.host = x->host;
	x->run.of = x->o->repeat;
	x->run.plain = x->plain;
	x->run.quiet = x->o->quiet;
}

/* Its words, and what was chosen for its trials, without secrets. */
static void put_command(struct bench_run *x, const char *script)
{
	const struct secret_list *secrets = sitesecrets_read(false);

	words_join(secrets, &x->command, x->script.builtin ? x->words : x->script.argv);
	bytes_u8(&x->command, 0);
	varied_environment(&x->software, secrets, &x->o->environment);
	varied_arguments(&x->software, secrets, x->words, script);
	varied_tree(&x->software, x->script.builtin ? NULL : script, ".");
	sitesecrets_free(secrets);
}

static int prepare(struct bench_run *x, struct err *e)
{
	struct recording_plan plan;
	const char *script;
	int rc = check_environment(&x->o->environment, e);

	if (!rc)
		rc = check_note(x->o, e);
	if (!rc)
		rc = beside_open(&x->beside, x->o->jobs, e);
	if (!rc)
		rc = benchmodels_read(&x->models, &x->o->models, e);
	if (!rc)
		rc = chosen_script_find(&x->script, x->words, e);
	if (!rc)
		rc = trial_run_defaults(&x->run.recording, x->o->recording.interval_ns, e);
	if (rc)
		return rc == -ENOMEM ? rc : -EINVAL;
	x->run.recording.stacks = x->o->recording.stacks;
	x->run.recording.waits = x->o->recording.waits;
	if (!recording_plan(&plan, &x->run.recording))
		return err_set(e, -EINVAL, "the trials cannot be recorded");
	snprintf(x->uid, sizeof x->uid, "%s", plan.run_id);
	script = software_script(x->script.path, x->words + 1);
	put_command(x, script);
	if (x->script.builtin)
		snprintf(x->origin, sizeof x->origin, "built-in:%s", x->words[0]);
	else if (!realpath(script, x->origin))
		snprintf(x->origin, sizeof x->origin, "%s", script);
	if (trial_run_digest(script, x->sha256))
		x->batch.script_sha256 = x->sha256;
	trial_run_host(x->host, sizeof x->host);
	x->batch.user = trial_run_user();
	x->batch.uid = x->uid;
	x->batch.source = "run";
	x->batch.origin = x->origin;
	x->batch.command = x->command.failed ? x->script.path : (const char *)x->command.data;
	x->batch.start_ns = clock_utc_ns();
	software_find(&x->software, x->script.path, &x->o->environment);
	share(x);
	rc = make_directory(x, e);
	if (rc)
		return rc;
	rc = open_store(x, e);
	if (rc)
		rmdir(x->directory);
	return rc;
}

/* ---- the trials ---- */

static void ended(void *ctx, struct trial_place *p, int rc)
{
	struct bench_run *x = ctx;

	(void)rc;
	x->run.failed += p->run.failed;
}

static int trial(struct bench_run *x, int64_t number, struct err *e)
{
	int rc;
	struct trial_place *p = beside_take(&x->beside, &rc, e);

	if (!p)
		return rc;
	p->run = x->run;
	p->run.failed = 0;
	p->going =
		(struct trial_going){ .number = number, .warmups = p->is_warm ? 0 : x->o->warmup };
	p->is_warm = true;
	if ((size_t)snprintf(p->going.directory, sizeof p->going.directory, "%s/sonde_%04" PRId64,
			     x->directory, number) >= sizeof p->going.directory)
		return err_set(e, -ENAMETOOLONG, "the recordings' directory is too long a name");
	return beside_begin(&x->beside, p, e);
}

static int run_trials(struct bench_run *x, struct err *e)
{
	int rc = 0;

	x->beside.ended = ended;
	x->beside.ctx = x;
	for (int64_t i = 1; i <= x->o->repeat && !rc; i++)
		rc = trial(x, i, e);
	return beside_finish(&x->beside, rc, e);
}

static int run_exec(const void *options, int noperands, char **operands)
{
	struct bench_run x = { .o = options, .words = operands };
	struct err e = { "" };
	int rc, code = EXIT_FAILED;

	if (!noperands) {
		say("bench run: no script given: sonde bench run SCRIPT [ARGS...]");
		return EXIT_USAGE;
	}
	builtin_help(operands);
	x.plain = !strcmp(operands[-1], "--"); /* there is a word before: the verb, at least */
	rc = prepare(&x, &e);
	if (!rc)
		rc = run_trials(&x, &e);
	if (rc) {
		say("bench run: %s", e.text);
		code = rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	} else {
		code = benchprint_stats(x.store.database, &x.batch.id, 1, x.o->json);
		code = code == EXIT_OK && x.run.failed ? EXIT_FAILED : code;
	}
	beside_close(&x.beside);
	database_close(x.store.database);
	trial_store_free(&x.store);
	chosen_script_free(&x.script);
	models_free(&x.models);
	bench_facts_free(&x.software);
	bytes_free(&x.command);
	return code;
}

const struct command command_bench_run = {
	.name = "bench run",
	.operands = "[--] SCRIPT [ARGS...]",
	.what = "Run a benchmark repeatedly and store every trial",
	.description = BUILTIN_RULE
	"\n\n"
	"Each trial is a row in the store: the output of the script, how it ended, its resource "
	"usage from wait4(2), its start and duration; its environment (hardware, system, "
	"interpreter and packages), stored once for all trials that share it; the governor and "
	"the load before the trial; memory, energy and counters of its recording. The recording "
	"and the output are kept in one directory per trial.\n\n"
	"A failed trial is stored with its reason: the script exited with a code other than 0, "
	"took too long, left processes behind, or printed an invalid result or one that does not "
	"fit the columns of its indicator. The remaining trials still run.\n\n"
	"After --, SCRIPT may be any command: its output need not be a result, and only how it "
	"ends (exit code, signal, timeout) makes it fail.\n\n"
	"--jobs N starts trials in the same order, N at a time: each has an equal share of the "
	"cores that this process may use, and the facts trial.jobs and trial.cpus in the store.\n\n"
	"Exit code 1: a trial failed. Use sonde bench list, show and stats, and sonde compare on "
	"the stored trials.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct run_options),
	COMMAND_EXAMPLES(examples),
	.stop_at_operand = true,
	.exec = run_exec,
};
