/* SPDX-License-Identifier: Apache-2.0 */
/* bench_run.c - run a benchmark again and again and keep every trial. */
#include "base/clock.h"
#include "base/sha256.h"
#include "base/textfile.h"
#include "cmd/benchmodels.h"
#include "cmd/benchtell.h"
#include "cmd/builtin.h"
#include "cmd/evidence.h"
#include "cmd/history.h"
#include "cmd/say.h"
#include "cmd/scripted.h"
#include "job/words.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TRIALS_MAX = 100000, WARMUPS_MAX = 1000, SCRIPT_BYTES = 64 << 20, KEPT_BYTES = 65536 };

struct run_options {
	struct recording_options recording; /* its rows are not offered; the defaults are taken */
	int64_t repeat, warmup, limit_ns;
	struct option_list environment, models;
	const char *store, *output;
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
	  .help = "How many trials.",
	  OPTION_OFFSET(struct run_options, repeat) },
	{ .name = "warmup",
	  .type = ARG_COUNT,
	  .value = "N",
	  .fallback = "0",
	  .max = WARMUPS_MAX,
	  .help = "Run it so often before, and keep nothing of that.",
	  OPTION_OFFSET(struct run_options, warmup) },
	{ .name = "env",
	  .type = ARG_LIST,
	  .value = "NAME=VALUE",
	  .help = "A variable of the script's environment; may be given again.",
	  OPTION_OFFSET(struct run_options, environment) },
	{ .name = "timeout",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .fallback = "1h",
	  .max = INT64_C(604800) * NS_PER_S,
	  .help = "End a trial that takes longer, which has failed then; 0: never.",
	  OPTION_OFFSET(struct run_options, limit_ns) },
	{ .name = "interval",
	  .letter = 'i',
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .fallback = "1s",
	  .min = NS_PER_MS,
	  .max = 3600 * NS_PER_S,
	  .help = "Time between samples of each trial's recording.",
	  OPTION_OFFSET(struct run_options, recording.interval_ns) },
	{ .name = "output",
	  .letter = 'o',
	  .type = ARG_TEXT,
	  .value = "DIR",
	  .help = "Directory of the recordings, which must not be there; without it bench_, the "
		  "script's name and the time.",
	  OPTION_OFFSET(struct run_options, output) },
	{ .name = "store",
	  .type = ARG_TEXT,
	  .value = "WHERE",
	  .help = "Keep the trials in this store: a file, or postgres://user@host/database without a "
		  "password; else in SONDE_STORE, else in this user's.",
	  OPTION_OFFSET(struct run_options, store) },
	{ .name = "model",
	  .type = ARG_LIST,
	  .value = "FILE",
	  .help = "Columns of indicators, beside the built-in ones; may be given again.",
	  OPTION_OFFSET(struct run_options, models) },
	{ .name = "quiet",
	  .letter = 'q',
	  .type = ARG_FLAG,
	  .help = "Say nothing of each trial.",
	  OPTION_OFFSET(struct run_options, quiet) },
	{ .name = "json",
	  .type = ARG_FLAG,
	  .help = "Print the statistics as JSON, schema sonde/bench-stats/1.",
	  OPTION_OFFSET(struct run_options, json) },
};

static const struct example examples[] = {
	{ "bench run -n 10 --warmup 1 ./matmul.py", "ten trials, after one that does not count" },
	{ "bench run -n 10 --env MATMUL_MATRIX_SIZE=1024 --timeout 5m ./matmul.py",
	  "another parameter" },
	{ "bench run -n 5 stream --threads 4", "a built-in benchmark, with an option of its own" },
};

struct bench_run {
	const struct run_options *o;
	struct recording_options recording;
	char *const *words;          /* as they were given */
	struct chosen_script script; /* as it is executed */
	char origin[PATH_MAX], directory[PATH_MAX], host[256];
	char sha256[SHA256_HEX], uid[33];
	struct models models;
	struct facts software;
	struct bytes command;
	struct batch batch;
	struct trial_store store;
	int64_t failed;
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

/* What an own table of RECORDING_OPTIONS gives without any word. */
static int recording_defaults(struct recording_options *r, struct err *e)
{
	static const struct option own[] = { RECORDING_OPTIONS };
	struct args none = { 0, NULL, false, 0 };

	return args_parse(own, sizeof own / sizeof own[0], r, &none, e);
}

static void hash_script(struct bench_run *x)
{
	struct bytes b = { 0 };
	struct err e;

	if (!textfile_read(x->script.path, "script", SCRIPT_BYTES, &b, &e) && b.len) {
		sha256_hex(x->sha256, b.data, b.len);
		x->batch.script_sha256 = x->sha256;
	}
	bytes_free(&b);
}

static int make_directory(struct bench_run *x, struct err *e)
{
	const char *slash = strrchr(x->words[0], '/');
	time_t now = time(NULL);
	char when[32] = "";
	struct tm tm;

	if (gmtime_r(&now, &tm))
		strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", &tm);
	if (x->o->output)
		snprintf(x->directory, sizeof x->directory, "%s", x->o->output);
	else
		snprintf(x->directory, sizeof x->directory, "bench_%.200s_%s_%d",
			 slash ? slash + 1 : x->words[0], when, (int)getpid());
	if (!mkdir(x->directory, 0700))
		return 0;
	return err_set(e, -errno, "cannot make %.300s: %s%s", x->directory, strerror(errno),
		       errno == EEXIST ? "; nothing is added to it, choose another place with -o"
				       : "");
}

static void find_user(struct bench_run *x)
{
	const struct passwd *p = getpwuid(geteuid());

	x->batch.user = p ? p->pw_name : NULL;
	if (gethostname(x->host, sizeof x->host - 1))
		x->host[0] = '\0';
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
	return rc ? rc : database_commit(s, e);
}

static int prepare(struct bench_run *x, struct err *e)
{
	struct recording_plan plan;
	int rc = check_environment(&x->o->environment, e);

	if (!rc)
		rc = benchmodels_read(&x->models, &x->o->models, e);
	if (!rc)
		rc = chosen_script_find(&x->script, x->words, e);
	if (!rc)
		rc = recording_defaults(&x->recording, e);
	if (rc)
		return rc == -ENOMEM ? rc : -EINVAL;
	x->recording.interval_ns = x->o->recording.interval_ns;
	x->recording.quiet = true;
	if (!recording_plan(&plan, &x->recording))
		return err_set(e, -EINVAL, "the trials cannot be recorded");
	snprintf(x->uid, sizeof x->uid, "%s", plan.run_id);
	words_join(&x->command, x->script.builtin ? x->words : x->script.argv);
	bytes_u8(&x->command, 0);
	if (x->script.builtin)
		snprintf(x->origin, sizeof x->origin, "built-in:%s", x->words[0]);
	else if (!realpath(x->script.path, x->origin))
		snprintf(x->origin, sizeof x->origin, "%s", x->script.path);
	hash_script(x);
	find_user(x);
	x->batch.uid = x->uid;
	x->batch.source = "run";
	x->batch.origin = x->origin;
	x->batch.command = x->command.failed ? x->script.path : (const char *)x->command.data;
	x->batch.start_ns = clock_utc_ns();
	software_find(&x->software, x->script.path, &x->o->environment);
	rc = make_directory(x, e);
	if (rc)
		return rc;
	rc = open_store(x, e);
	if (rc)
		rmdir(x->directory);
	return rc;
}

/* ---- a trial ---- */

static void keep_file(const char *directory, const char *name, const struct bytes *b)
{
	char path[PATH_MAX];
	size_t n = b->len ? b->len - 1 : 0;
	int fd;

	if ((size_t)snprintf(path, sizeof path, "%s/%s", directory, name) >= sizeof path)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (write(fd, b->data, n) != (ssize_t)n)
		say("bench run: %s could not be kept: %s", path, strerror(errno));
	close(fd);
}

/* As much as a row has room for; the files have more. */
static const char *shortened(struct bytes *b)
{
	if (!b->len || b->failed)
		return NULL;
	if (b->len > KEPT_BYTES)
		b->data[KEPT_BYTES] = '\0';
	return (const char *)b->data;
}

static void take_end(struct trial *t, const struct scripted *r)
{
	const struct scripted_report *p = &r->report;

	scripted_failed(r, t->reason, sizeof t->reason);
	t->load_1m = r->load_1m;
	if (!r->reported)
		return;
	t->start_ns = p->start_utc_ns;
	t->end_ns = p->end_utc_ns;
	if (p->code) {
		t->exit_code = p->code;
		return;
	}
	t->duration_s = (double)p->end.wall_ns / 1e9;
	trial_take_usage(t, &p->end.usage);
	if (WIFSIGNALED(p->end.status))
		t->signal = WTERMSIG(p->end.status);
	else
		t->exit_code = WEXITSTATUS(p->end.status);
}

static int put(struct bench_run *x, struct trial *t, struct evidence *v, struct err *e)
{
	struct database *s = x->store.database;
	int rc = database_begin(s, e);

	for (uint32_t i = 0; i < x->software.n; i++)
		facts_add(&v->facts, x->software.fact[i].name, x->software.fact[i].text);
	if (!rc && v->past.n && history_is_kept())
		rc = history_put(s, &v->past, 0, &t->run_id, e);
	if (!rc)
		rc = environment_put(s, v->facts.fact, v->facts.n, &t->environment_id, e);
	if (!rc)
		rc = trial_put(&x->store, &x->batch, t, e);
	if (!rc)
		return database_commit(s, e);
	database_rollback(s);
	return rc;
}

static int keep(struct bench_run *x, struct scripted *r, const char *directory, int64_t number,
		struct err *e)
{
	struct contract said = { 0 };
	struct evidence v;
	struct trial t;
	struct err why = { "" };
	int rc;

	trial_init(&t, number);
	take_end(&t, r);
	t.host = *x->host ? x->host : NULL;
	rc = contract_read(&said, r->out.data, r->out.len - 1, &why);
	t.said = &said;
	t.said_well = !rc;
	if (rc && !*t.reason)
		snprintf(t.reason, sizeof t.reason, "%s", why.text);
	mkdir(directory, 0700); /* when there is no recording */
	keep_file(directory, "stdout", &r->out);
	keep_file(directory, "stderr", &r->err);
	if (evidence_read(&v, &t, directory, &why))
		say("bench run: trial %" PRId64 " has no recording: %s", number, why.text);
	t.out = shortened(&r->out);
	t.err = shortened(&r->err);
	rc = put(x, &t, &v, e);
	x->failed += !rc && *t.reason;
	if (!rc && !x->o->quiet)
		benchtell_trial(&t, x->o->repeat);
	evidence_free(&v);
	contract_free(&said);
	return rc;
}

static int trial(struct bench_run *x, int64_t number, struct err *e)
{
	struct recording_options o = x->recording;
	struct recording_plan plan;
	struct scripted_wish w = { .argv = x->script.argv,
				   .environment = &x->o->environment,
				   .limit_ns = x->o->limit_ns,
				   .plan = &plan };
	struct scripted r;
	char directory[PATH_MAX];
	int rc;

	if ((size_t)snprintf(directory, sizeof directory, "%s/sonde_%04" PRId64, x->directory,
			     number) >= sizeof directory)
		return err_set(e, -ENAMETOOLONG, "the recordings' directory is too long a name");
	o.output = directory;
	if (!recording_plan(&plan, &o))
		return err_set(e, -EINVAL, "trial %" PRId64 " cannot be recorded", number);
	rc = scripted_run(&r, &w, e);
	if (!rc)
		rc = keep(x, &r, directory, number, e);
	scripted_free(&r);
	return rc;
}

static int warm_up(struct bench_run *x, struct err *e)
{
	const struct scripted_wish w = { .argv = x->script.argv,
					 .environment = &x->o->environment,
					 .limit_ns = x->o->limit_ns };
	char why[600];
	int rc = 0;

	for (int64_t i = 0; i < x->o->warmup && !rc; i++) {
		struct scripted r;

		rc = scripted_run(&r, &w, e);
		if (!rc && scripted_failed(&r, why, sizeof why))
			say("bench run: while warming up: %s", why);
		scripted_free(&r);
	}
	return rc;
}

static int run_exec(const void *options, int noperands, char **operands)
{
	struct bench_run x = { .o = options, .words = operands };
	struct err e = { "" };
	int rc, code = EXIT_FAILED;

	if (!noperands) {
		say("bench run: which script? sonde bench run SCRIPT [ARGS...]");
		return EXIT_USAGE;
	}
	rc = prepare(&x, &e);
	if (!rc)
		rc = warm_up(&x, &e);
	for (int64_t i = 1; i <= x.o->repeat && !rc; i++)
		rc = trial(&x, i, &e);
	if (rc) {
		say("bench run: %s", e.text);
		code = rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	} else {
		code = benchtell_stats(x.store.database, &x.batch.id, 1, x.o->json);
		code = code == EXIT_OK && x.failed ? EXIT_FAILED : code;
	}
	database_close(x.store.database);
	trial_store_free(&x.store);
	chosen_script_free(&x.script);
	models_free(&x.models);
	facts_free(&x.software);
	bytes_free(&x.command);
	return code;
}

const struct command command_bench_run = {
	.name = "bench run",
	.operands = "SCRIPT [ARGS...]",
	.what = "Run a benchmark again and again, and keep every trial",
	.description = BUILTIN_RULE
	"\n\n"
	"Each trial is a row of the store: what the script said, how it ended, its own use of "
	"the machine as wait4(2) tells it, when and for how long it ran; its environment: "
	"hardware, system, interpreter and packages, once for all trials that share it; the "
	"governor, the load before; memory, energy and counters of its recording, which is "
	"kept beside what it printed in a directory for each trial.\n\n"
	"A trial that fails is kept with its reason: the script ended otherwise than with "
	"exit code 0, took too long, left processes behind, printed what is no result, or one "
	"that does not fit the columns of its indicator. The others go on.\n\n"
	"Exit code 1: a trial failed. What was kept is for sonde bench list, show and stats, "
	"and for sonde compare.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct run_options),
	COMMAND_EXAMPLES(examples),
	.stop_at_operand = true,
	.exec = run_exec,
};
