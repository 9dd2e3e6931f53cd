/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/sweeping.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/folder.h"
#include "cmd/benchmodels.h"
#include "cmd/history.h"
#include "cmd/say.h"
#include "cmd/sitesecrets.h"
#include "cmd/sweepfiles.h"
#include "cmd/sweephost.h"
#include "cmd/sweepknown.h"
#include "cmd/varied.h"
#include "job/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CLAIM_SECONDS = 60, ARGV_WORDS = SWEEP_WORDS + 16, ATTEMPTS_MOST = 10000 };
static const char verb[] = "bench sweep";

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for a sweep");
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
	if (!rc && (!x->stack || !x->software))
		rc = no_memory(e);
	return rc ? rc : sweepstack_cache(x->o->stacks, x->cache, e);
}

int sweeping_begin(struct sweeping *x, struct err *e)
{
	int rc = sweepspace_init(&x->space, &x->spec) ? no_memory(e) : 0;

	if (!rc)
		rc = open_store(x, e);
	if (!rc)
		rc = enter_sweep(x, e);
	if (!rc)
		rc = prepare(x, e);
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
	int rc = sweepspace_init(&x->space, &x->spec) ? no_memory(e) : 0;

	if (!rc)
		rc = open_store(x, e);
	if (!rc)
		rc = enter_sweep(x, e);
	if (!rc)
		rc = prepare(x, e);
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

	*rc = 0;
	if (grown)
		x->swept = grown;
	if (p) {
		*p = (struct swept){ .combination = combination,
				     .done = pool_take(&x->pool, done) };
		sweepspace_at(&x->space, combination, p->at);
		p->parameters = parameters_of(x, p);
	}
	if (!grown || !p || !p->parameters || !p->done) {
		*rc = no_memory(e);
		return NULL;
	}
	memset(p->done, 0, done);
	p->batch = (struct batch){ .uid = p->batch_uid,
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
			*rc = sweep_score_of(x->store.database, &p->batch, &x->spec,
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

/* The words behind the script. How many there are then; 0: out of memory. */
static uint32_t add_arguments(struct sweeping *x, const struct swept *p, char *argv[ARGV_WORDS],
			      uint32_t n)
{
	for (uint32_t i = 0; i < x->spec.arguments.n && n < ARGV_WORDS - 1; i++) {
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
	char *argv[ARGV_WORDS] = { x->builtin ? (char *)x->spec.script : x->script };
	struct bytes b = { 0 };
	const char *text = NULL;

	if (add_arguments(x, p, argv, 1))
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

/* ---- a trial ---- */

static bool add_all(struct option_list *list, struct pool *pool, const struct sweep_variables *v)
{
	for (uint32_t i = 0; i < v->n; i++)
		if (!sweepstack_set(list, pool, v->v[i].name, v->v[i].text))
			return false;
	return true;
}

/* To what the list has: the specification's, then the environment's and the parameters'. */
static int environment_of(struct sweeping *x, const struct swept *p, struct option_list *list,
			  struct err *e)
{
	const struct sweep_spec *s = &x->spec;
	bool room;

	room = add_all(list, &x->pool, &s->environment) &&
	       add_all(list, &x->pool, &s->environments[p->at[SWEEP_AXIS_ENVIRONMENT]].variables);
	for (uint32_t i = 0; i < s->nparameters && room; i++)
		room = sweepstack_set(list, &x->pool, s->parameter[i].name,
				      s->parameter[i].values.word[p->at[SWEEP_AXIS_PARAMETER + i]]);
	return room ? 0
		    : err_set(e, -EINVAL,
			      "a trial has more than %d variables, with those of its stack",
			      OPTION_LIST_MAX);
}

static int command_of(struct sweeping *x, const struct swept *p, char *argv[ARGV_WORDS],
		      struct err *e)
{
	struct stack_made *m = &x->stack[p->at[SWEEP_AXIS_STACK]];
	const char *image = x->spec.stack[p->at[SWEEP_AXIS_STACK]].base;
	static char exec[] = "exec", pwd[] = "--pwd", bind[] = "--bind";
	uint32_t n = 0;

	if (*m->runtime) {
		char *run[] = { m->runtime, exec,    bind,         x->sweep.directory,
				pwd,        x->work, (char *)image };

		memcpy(argv, run, sizeof run);
		n = sizeof run / sizeof run[0];
	}
	if (*m->python && software_is_python(x->script))
		argv[n++] = m->python;
	argv[n++] = x->script;
	if (x->builtin)
		argv[n++] = (char *)x->spec.script;
	return add_arguments(x, p, argv, n) ? 0 : no_memory(e);
}

/* What runs the trials of a stack: asked once. */
static const struct bench_facts *software_of(struct sweeping *x, const struct swept *p)
{
	uint32_t i = p->at[SWEEP_AXIS_STACK];
	struct bench_facts *f = &x->software[i];

	if (f->n)
		return f;
	if (!*x->stack[i].runtime)
		software_find(f, x->script, &x->stack[i].environment);
	bench_facts_put(f, "stack.name", x->spec.stack[i].name);
	if (*x->stack[i].fingerprint)
		bench_facts_put(f, "stack.fingerprint", x->stack[i].fingerprint);
	for (uint32_t k = 0; k < x->spec.stack[i].modules.n; k++) {
		char name[32];

		snprintf(name, sizeof name, "stack.module_%u", k + 1);
		bench_facts_put(f, name, x->spec.stack[i].modules.word[k]);
	}
	if (*x->stack[i].runtime)
		bench_facts_put(f, "stack.image", x->spec.stack[i].base);
	return f;
}

/* What the specification chooses for a combination; that of its stack is told by packages. */
static int varied_of(struct sweeping *x, const struct swept *p, struct bench_facts *f,
		     struct err *e)
{
	char *argv[ARGV_WORDS] = { x->builtin ? (char *)x->spec.script : x->script };
	struct option_list chosen = { .n = 0 };
	int rc = environment_of(x, p, &chosen, e);

	if (!rc && !add_arguments(x, p, argv, 1))
		rc = no_memory(e);
	if (rc)
		return rc;
	varied_environment(f, x->secrets, &chosen);
	varied_arguments(f, x->secrets, argv, argv[0]);
	if (!x->tree_is_known)
		varied_tree(&x->tree, x->builtin || x->spec.script_is_text ? NULL : x->script,
			    x->folder);
	x->tree_is_known = true;
	for (uint32_t i = 0; i < x->tree.n; i++)
		bench_facts_put(f, x->tree.fact[i].name, x->tree.fact[i].text);
	return f->failed ? no_memory(e) : 0;
}

/* What a killed one left stays: the next has another name. */
static bool free_name(char out[PATH_MAX], const char *folder, int64_t number)
{
	for (int attempt = 1; attempt < ATTEMPTS_MOST; attempt++) {
		int n = snprintf(out, PATH_MAX, "%.4000s/sonde_%04" PRId64, folder, number);

		if (attempt > 1)
			snprintf(out + n, PATH_MAX - (size_t)n, ".%d", attempt);
		if (access(out, F_OK))
			return true;
	}
	return false;
}

/* One that is a file may be written to while the sweep is at work. */
static bool script_has_changed(const struct sweeping *x)
{
	char digest[SHA256_HEX];

	return !x->spec.script_is_text &&
	       (!trial_run_digest(x->script, digest) || strcmp(digest, x->sha256) != 0);
}

static int run_it(struct sweeping *x, struct swept *p, int64_t number, const char *folder,
		  struct err *e)
{
	char *argv[ARGV_WORDS], directory[PATH_MAX];
	struct option_list environment = x->stack[p->at[SWEEP_AXIS_STACK]].environment;
	struct bench_facts varied = { 0 };
	struct trial_run run = { .verb = verb,
				 .argv = argv,
				 .environment = &environment,
				 .in = x->work,
				 .limit_ns = (int64_t)(x->spec.timeout_s * 1e9),
				 .recording = x->recording,
				 .varied = &varied,
				 .batch = &p->batch,
				 .store = &x->store,
				 .host = x->host,
				 .of = x->spec.batch_size,
				 .quiet = x->o->quiet };
	int rc = environment_of(x, p, &environment, e);

	if (rc)
		return rc;
	if (script_has_changed(x))
		return err_set(e, -ESTALE,
			       "%.300s has changed since this sweep began; begin it again: with "
			       "another script it is another sweep",
			       x->script);
	rc = command_of(x, p, argv, e);
	if (!rc)
		rc = varied_of(x, p, &varied, e);
	run.software = software_of(x, p);
	if (!rc && (number == 1 || (!x->o->element && !p->warm)))
		rc = trial_run_warmup(&run, x->spec.warmup, e);
	p->warm = true;
	if (!rc && !free_name(directory, folder, number))
		rc = err_set(e, -EEXIST, "%.300s has no room for another recording", folder);
	if (!rc)
		rc = trial_run(&run, number, directory, e);
	bench_facts_free(&varied);
	return rc;
}

static int run_unless_there(struct sweeping *x, struct swept *p, int64_t number, const char *folder,
			    struct err *e)
{
	int there = trial_exists(x->store.database, &p->batch, number, e);

	return there ? (there < 0 ? there : 0) : run_it(x, p, number, folder, e);
}

int sweeping_trial(struct sweeping *x, struct swept *p, int64_t number, struct err *e)
{
	char folder[PATH_MAX], claim[PATH_MAX];
	int fd, rc;

	snprintf(folder, sizeof folder, "%.4000s/combination_%06u", x->sweep.directory,
		 p->combination + 1);
	snprintf(claim, sizeof claim, "%.4060s/claim_%04" PRId64, folder, number);
	rc = folder_make(folder, e);
	if (rc)
		return rc;
	/* Whoever runs it holds this, with the processes that see the trial to its end. */
	fd = sweepfiles_hold(claim, CLAIM_SECONDS);
	if (fd == -EAGAIN) {
		say("%s: trial %" PRId64 " of combination %u is run by another process", verb,
		    number, p->combination + 1);
		return 0;
	}
	if (fd < 0)
		return err_set(e, fd, "%.300s: %s", claim, strerror(-fd));
	rc = run_unless_there(x, p, number, folder, e);
	if (!rc)
		unlink(claim);
	close(fd);
	return rc;
}

struct sweep_turn *sweeping_turns(struct sweeping *x, uint32_t first, int64_t *n, struct err *e)
{
	uint32_t chosen = x->nswept - first;
	struct sweep_turn *turn;

	*n = chosen * x->spec.batch_size;
	turn = calloc((size_t)*n + 1, sizeof *turn);
	if (!turn) {
		no_memory(e);
		return NULL;
	}
	sweepspace_turns(&x->spec, chosen, turn);
	for (int64_t i = 0; i < *n; i++)
		turn[i].chosen += first;
	return turn;
}

int sweeping_run(struct sweeping *x, uint32_t first, struct err *e)
{
	int64_t n;
	struct sweep_turn *turn = sweeping_turns(x, first, &n, e);
	int rc = turn ? 0 : -ENOMEM;

	for (int64_t i = 0; i < n && !rc; i++) {
		struct swept *p = x->swept[turn[i].chosen];

		if (!p->skipped && !p->done[turn[i].number - 1])
			rc = sweeping_trial(x, p, turn[i].number, e);
	}
	free(turn);
	return rc;
}
