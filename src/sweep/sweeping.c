/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/sweeping.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/text/textfile.h"
#include "console/command.h"
#include "job/words.h"
#include "session/history.h"
#include "session/sitesecrets.h"
#include "trial/evidence.h"
#include "trial/scripted.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char verb[] = "bench sweep";

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for a sweep");
}

/* ---- what is in its directory ---- */

enum { LOCK_SECONDS = 10 };

/* Whole or not at all; one that is there stays. */
static int put_file(const char *path, const char *text, mode_t mode, struct err *e)
{
	char part[PATH_MAX];
	size_t n = strlen(text);
	int fd, rc = 0;

	if (!access(path, F_OK))
		return 0;
	if ((size_t)snprintf(part, sizeof part, "%s.%d", path, (int)getpid()) >= sizeof part)
		return err_set(e, -ENAMETOOLONG, "%.300s is too long a name", path);
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	errno = fd < 0 ? errno : ENOSPC; /* of what is not written whole */
	if (fd < 0 || write(fd, text, n) != (ssize_t)n || fsync(fd) || rename(part, path))
		rc = err_set(e, -errno, "cannot write %.300s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	if (rc)
		unlink(part);
	return rc;
}

/* One that is there is run as it is only when it is what was asked for. */
static int put_script(struct sweeping *x, struct err *e)
{
	const char *text = x->spec.script;
	struct bytes b = { 0 };
	struct err why;

	if (textfile_read(x->script, "script", strlen(text), &b, &why) || b.len != strlen(text) ||
	    memcmp(b.data, text, b.len) != 0)
		unlink(x->script);
	bytes_free(&b);
	return put_file(x->script, text, 0700, e);
}

/* Those that are there stay. The directory has to be there. */
static int sweepfiles_put(struct sweeping *x, struct err *e)
{
	char path[PATH_MAX];
	int rc = folder_make(x->work, e);

	snprintf(path, sizeof path, "%.4000s/specification.json", x->sweep.directory);
	if (!rc)
		rc = put_file(path, (const char *)x->text.data, 0600, e);
	for (uint32_t i = 0; i < x->spec.nfiles && !rc; i++) {
		if ((size_t)snprintf(path, sizeof path, "%s/%s", x->work, x->spec.file[i].path) >=
		    sizeof path)
			return err_set(e, -ENAMETOOLONG, "%.300s is too long a name",
				       x->spec.file[i].path);
		for (char *at = path + strlen(x->work) + 1; (at = strchr(at, '/')) && !rc; at++) {
			*at = '\0';
			rc = folder_make(path, e);
			*at = '/';
		}
		if (!rc)
			rc = put_file(path, x->spec.file[i].content, 0600, e);
	}
	return rc || !x->spec.script_is_text ? rc : put_script(x, e);
}

int sweepfiles_hold(const char *path, int seconds)
{
	const struct timespec pause = { .tv_nsec = 50 * NS_PER_MS };
	int64_t until = clock_mono_ns() + seconds * NS_PER_S;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	while (flock(fd, LOCK_EX | LOCK_NB)) {
		int rc = errno == EWOULDBLOCK || errno == EINTR ? -EAGAIN : -errno;

		if (rc != -EAGAIN || clock_mono_ns() >= until) {
			close(fd);
			return rc;
		}
		nanosleep(&pause, NULL);
	}
	return fd;
}

/* -EBUSY with a sentence: another process leads this sweep. */
static int sweepfiles_lock(struct sweeping *x, struct err *e)
{
	char path[PATH_MAX + 8];

	snprintf(path, sizeof path, "%s/lock", x->sweep.directory);
	x->lock = sweepfiles_hold(path, LOCK_SECONDS);
	if (x->lock == -EAGAIN)
		return err_set(e, -EBUSY, "another sonde bench sweep is at work on it, in %.300s",
			       x->sweep.directory);
	return x->lock < 0 ? err_set(e, x->lock, "%.300s: %s", path, strerror(-x->lock)) : 0;
}

/* ---- begin and end ---- */

static int open_store(struct sweeping *x, struct err *e)
{
	const struct history_options where = { .store = x->o->store };
	struct database *s = NULL;
	int rc = benchmodels_read(&x->models, &x->o->models, e);

	if (!rc)
		rc = history_open(&s, &where, verb, e);
	x->store.database = s;
	x->store.models = &x->models;
	return rc;
}

static int enter_sweep(struct sweeping *x, struct err *e)
{
	struct sweep *w = &x->sweep;
	char wanted[PATH_MAX], here[PATH_MAX];
	int rc;

	if (x->o->output && *x->o->output == '/')
		snprintf(wanted, sizeof wanted, "%s", x->o->output);
	else if (!getcwd(here, sizeof here))
		return err_set(e, -errno, "this directory no longer exists");
	else if (x->o->output)
		snprintf(wanted, sizeof wanted, "%.2000s/%.2000s", here, x->o->output);
	else
		snprintf(wanted, sizeof wanted, "%.4000s/sweep_%s", here, x->uid);
	snprintf(w->directory, sizeof w->directory, "%.4000s", wanted);
	w->uid = x->uid;
	w->identifier = x->spec.identifier;
	w->user = trial_run_user();
	w->decision = sweep_decision_names[x->spec.decision];
	w->specification = (const char *)x->kept.data;
	w->seed = x->spec.seed;
	w->batch_size = x->spec.batch_size;
	w->start_ns = clock_utc_ns();
	/* A place that cannot be is not kept: another may be named then. */
	w->order = x->spec.order;
	rc = sweep_find(x->store.database, w, e);
	if (!rc)
		rc = folder_make(w->directory, e);
	rc = rc < 0 ? rc : sweep_put(x->store.database, w, e);
	x->spec.order = w->order;
	return rc;
}

static int prepare(struct sweeping *x, struct err *e)
{
	int rc = trial_run_defaults(&x->recording, x->o->interval_ns, e);

	trial_run_host(x->host, sizeof x->host);
	snprintf(x->work, sizeof x->work, "%.4000s/work", x->sweep.directory);
	if (x->spec.script_is_text)
		snprintf(x->script, sizeof x->script, "%.4000s/script", x->sweep.directory);
	snprintf(x->origin, sizeof x->origin, "%s%s", x->builtin ? "built-in:" : "",
		 x->builtin ? x->spec.script : x->script);
	x->stack = calloc(x->spec.nstacks, sizeof *x->stack);
	x->software = calloc(x->spec.nstacks, sizeof *x->software);
	x->trial = calloc(x->beside.n, sizeof *x->trial);
	x->beside.ended = sweeptrial_ended;
	x->beside.ctx = x;
	if (!rc && (!x->stack || !x->software || !x->trial))
		rc = no_memory(e);
	return rc ? rc : sweepstack_cache(x->o->stacks, x->cache, e);
}

static int begin(struct sweeping *x, struct err *e)
{
	int rc = sweepspace_init(&x->space, &x->spec) ? no_memory(e) : 0;

	if (!rc)
		rc = sweephalving_plan(x, e);
	if (!rc)
		rc = open_store(x, e);
	if (!rc)
		rc = enter_sweep(x, e);
	if (!rc)
		rc = prepare(x, e);
	return rc;
}

int sweeping_begin(struct sweeping *x, struct err *e)
{
	int rc = begin(x, e);

	if (!rc)
		rc = folder_make(x->sweep.directory, e);
	if (!rc)
		rc = sweepfiles_lock(x, e);
	if (!rc)
		rc = sweep_ask_anew(x->store.database, &x->sweep, e);
	if (!rc)
		rc = sweepfiles_put(x, e);
	if (!rc && x->o->executor == SWEEP_LOCAL &&
	    !sweephost_has(&x->spec.run, x->lacks, sizeof x->lacks))
		say("%s: %s", verb, x->lacks);
	return rc;
}

int sweeping_join(struct sweeping *x, struct err *e)
{
	int rc = begin(x, e);

	return rc ? rc : sweepfiles_put(x, e);
}

void sweeping_end(struct sweeping *x)
{
	database_close(x->store.database);
	trial_store_free(&x->store);
	models_free(&x->models);
	for (uint32_t i = 0; x->stack && i < x->spec.nstacks; i++)
		sweepstack_free(&x->stack[i]);
	for (uint32_t i = 0; x->software && i < x->spec.nstacks; i++)
		bench_facts_free(&x->software[i]);
	bench_facts_free(&x->tree);
	free(x->stack);
	free(x->software);
	free(x->swept);
	free(x->order);
	sweepspace_free(&x->space);
	bytes_free(&x->text);
	bytes_free(&x->kept);
	sitesecrets_free(x->secrets);
	pool_free(&x->pool);
	beside_close(&x->beside);
	free(x->trial);
	if (x->lock >= 0)
		close(x->lock);
}

/* ---- combinations ---- */

const char *sweeping_stack(const struct sweeping *x, const struct swept *p)
{
	return x->spec.stack[p->at[SWEEP_AXIS_STACK]].name;
}

const char *sweeping_environment(const struct sweeping *x, const struct swept *p)
{
	return x->spec.environments[p->at[SWEEP_AXIS_ENVIRONMENT]].name;
}

static const char *parameters_of(struct sweeping *x, const struct swept *p)
{
	struct bytes b = { 0 };
	struct json j = { .out = &b };
	const char *text = NULL;

	json_object(&j);
	for (uint32_t i = 0; i < x->spec.nparameters; i++)
		json_put_text(&j, x->spec.parameter[i].name,
			      x->spec.parameter[i].values.word[p->at[SWEEP_AXIS_PARAMETER + i]]);
	json_object_end(&j);
	if (!b.failed)
		text = pool_text(&x->pool, (const char *)b.data, b.len);
	bytes_free(&b);
	return text;
}

struct swept *sweeping_enter(struct sweeping *x, uint32_t combination, int *rc, struct err *e)
{
	void *grown = array_room(x->swept, x->nswept, &x->cap, sizeof(struct swept *));
	struct swept *p = pool_take(&x->pool, sizeof *p);
	size_t done = (size_t)x->spec.batch_size * sizeof(bool);
	size_t warm = (size_t)x->o->jobs * sizeof(bool);

	*rc = 0;
	if (grown)
		x->swept = grown;
	if (p) {
		*p = (struct swept){ .combination = combination,
				     .wanted = x->spec.batch_size,
				     .warm = pool_take(&x->pool, warm),
				     .done = pool_take(&x->pool, done) };
		sweepspace_at(&x->space, combination, p->at);
		p->parameters = parameters_of(x, p);
	}
	if (!grown || !p || !p->parameters || !p->done || !p->warm) {
		*rc = no_memory(e);
		return NULL;
	}
	memset(p->done, 0, done);
	memset(p->warm, 0, warm);
	p->batch = (struct trial_batch){ .uid = p->batch_uid,
					 .source = "sweep",
					 .origin = x->origin,
					 .script_sha256 = x->sha256,
					 .user = x->sweep.user,
					 .specification = p->parameters,
					 .start_ns = clock_utc_ns() };
	x->swept[x->nswept++] = p;
	return p;
}

static int64_t find_next(struct sweeping *x, int *rc, struct err *e)
{
	struct sweep_score *score = calloc(x->space.combinations, sizeof *score);
	int64_t next = -1;

	*rc = 0;
	if (!score) {
		*rc = no_memory(e);
		return -1;
	}
	for (uint32_t i = 0; i < x->nswept && !*rc; i++) {
		const struct swept *p = x->swept[i];

		score[p->combination].state = SWEEP_FAILED;
		if (!p->skipped && p->batch.id)
			*rc = sweep_score_of(x->store.database, &p->batch, &x->spec, INT64_MAX,
					     &score[p->combination], e);
	}
	if (!*rc)
		next = sweepspace_next(&x->space, &x->spec, score);
	free(score);
	return next;
}

/* Those that need no result are all chosen at the first call. */
static int64_t choose(struct sweeping *x, int *rc, struct err *e)
{
	*rc = 0;
	if (!x->order) {
		x->order = calloc(x->space.combinations, sizeof *x->order);
		if (!x->order) {
			*rc = no_memory(e);
			return -1;
		}
		x->norder = sweepspace_choose(&x->space, &x->spec, x->order);
	}
	return x->nswept < x->norder ? (int64_t)x->order[x->nswept] : -1;
}

struct swept *sweeping_next(struct sweeping *x, int *rc, struct err *e)
{
	int64_t next =
		sweep_needs_results(x->spec.decision) ? find_next(x, rc, e) : choose(x, rc, e);

	return *rc || next < 0 ? NULL : sweeping_enter(x, (uint32_t)next, rc, e);
}

uint32_t sweeping_arguments(struct sweeping *x, const struct swept *p, char *argv[SWEEP_ARGV],
			    uint32_t n)
{
	for (uint32_t i = 0; i < x->spec.arguments.n && n < SWEEP_ARGV - 1; i++) {
		struct bytes b = { 0 };

		sweepspace_word(&b, &x->spec, p->at, x->spec.arguments.word[i]);
		argv[n] = b.failed ? NULL : pool_text(&x->pool, (const char *)b.data, b.len - 1);
		bytes_free(&b);
		if (!argv[n++])
			return 0;
	}
	argv[n] = NULL;
	return n;
}

/* As one would give it to bench run, without secrets. NULL: out of memory. */
static const char *command_text(struct sweeping *x, const struct swept *p)
{
	char *argv[SWEEP_ARGV] = { x->builtin ? (char *)x->spec.script : x->script };
	struct bytes b = { 0 };
	const char *text = NULL;

	if (sweeping_arguments(x, p, argv, 1))
		words_join(x->secrets, &b, argv);
	if (b.len && !b.failed)
		text = pool_text(&x->pool, (const char *)b.data, b.len);
	bytes_free(&b);
	return text;
}

static const char *cannot_be(struct sweeping *x, const struct swept *p)
{
	uint32_t i = p->at[SWEEP_AXIS_STACK];

	if (*x->lacks)
		return x->lacks;
	sweepstack_make(&x->stack[i], &x->spec.stack[i], x->cache);
	return *x->stack[i].reason ? x->stack[i].reason : NULL;
}

int sweeping_open(struct sweeping *x, struct swept *p, struct err *e)
{
	struct sweep_point point = { .combination = p->combination,
				     .position = x->nswept,
				     .stack = sweeping_stack(x, p),
				     .environment = sweeping_environment(x, p),
				     .parameters = p->parameters };
	char here[600];
	int rc;

	p->batch.command = command_text(x, p);
	if (!p->batch.command)
		return no_memory(e);
	p->skipped = cannot_be(x, p);
	point.skipped = p->skipped;
	if (p->skipped && x->o->element) { /* what is so on one node need not be so on another */
		snprintf(here, sizeof here, "%.80s: %.500s", x->host, p->skipped);
		point.skipped = here;
	}
	rc = sweepknown_name(x, p, e);
	if (!rc)
		rc = sweep_put_point(x->store.database, &x->sweep, &point,
				     p->skipped ? NULL : &p->batch, e);
	return rc || p->skipped
		       ? rc
		       : sweep_done(x->store.database, &p->batch, p->done, x->spec.batch_size, e);
}

/* ---- successive halving ---- */

int sweephalving_plan(struct sweeping *x, struct err *e)
{
	uint32_t *order, n;

	if (x->spec.decision != SWEEP_HALVING)
		return 0;
	order = calloc(x->space.combinations, sizeof *order);
	if (!order)
		return err_set(e, -ENOMEM, "out of memory for a sweep");
	n = (uint32_t)sweepspace_choose(&x->space, &x->spec, order);
	free(order);
	if (n && !halving_plan(&x->halving, &x->spec, n))
		return err_set(e, -EINVAL,
			       "budget: %" PRId64 " trials are too few for %u combinations with at "
			       "least %" PRId64 " trials: give at least %" PRId64
			       ", or a count of combinations",
			       x->spec.budget, n, x->spec.minimum, x->halving.needed);
	if (n && x->halving.trials > SWEEP_TRIALS)
		return err_set(e, -EINVAL,
			       "these are %" PRId64 " trials, more than %d: give a smaller budget, "
			       "or a count of combinations",
			       x->halving.trials, SWEEP_TRIALS);
	if (n)
		x->spec.batch_size = x->halving.round[x->halving.nrounds - 1].trials;
	return 0;
}

/* Those that run here, in live. */
static uint32_t find_live(const struct sweeping *x, uint32_t *live)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->nswept; i++)
		if (!x->swept[i]->skipped)
			live[n++] = i;
	return n;
}

/* The best of the round stay in live; how many of the n. */
static int decide(struct sweeping *x, uint32_t *live, uint32_t *n, int64_t trials,
		  struct sweep_score *score, struct err *e)
{
	uint32_t kept;

	for (uint32_t i = 0; i < *n; i++) {
		const struct swept *p = x->swept[live[i]];
		int rc = sweep_score_of(x->store.database, &p->batch, &x->spec, trials,
					&score[live[i]], e);

		if (rc)
			return rc;
	}
	kept = halving_keep(live, *n, score, x->spec.eta);
	for (uint32_t i = kept; i < *n; i++)
		x->swept[live[i]]->is_out = true;
	if (*n && score[live[0]].state == SWEEP_KNOWN)
		x->best = x->swept[live[0]];
	*n = kept;
	return 0;
}

static int run_rounds(struct sweeping *x, uint32_t *live, struct sweep_score *score,
		      int (*run)(struct sweeping *, uint32_t, struct err *), struct err *e)
{
	uint32_t n = find_live(x, live);
	int rc = 0;

	for (uint32_t k = 0; k < x->halving.nrounds && n && !rc && !x->refused; k++) {
		int64_t trials = x->halving.round[k].trials;

		if (!x->o->quiet)
			say("bench sweep: round %u of %u: %u combination%s, %" PRId64
			    " trials of each",
			    k + 1, x->halving.nrounds, n, n == 1 ? "" : "s", trials);
		for (uint32_t i = 0; i < n; i++)
			x->swept[live[i]]->wanted = trials;
		rc = run(x, 0, e);
		if (!rc)
			rc = decide(x, live, &n, trials, score, e);
	}
	return rc;
}

int sweephalving_run(struct sweeping *x, int (*run)(struct sweeping *, uint32_t, struct err *),
		     struct err *e)
{
	uint32_t *live = calloc(x->nswept + 1u, sizeof *live);
	struct sweep_score *score = calloc(x->nswept + 1u, sizeof *score);
	int rc = live && score ? run_rounds(x, live, score, run, e)
			       : err_set(e, -ENOMEM, "out of memory for a sweep");

	free(live);
	free(score);
	return rc;
}
