/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/sweeping.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/folder.h"
#include "console/say.h"
#include "job/words.h"
#include "session/history.h"
#include "session/sitesecrets.h"
#include "sweep/sweepfiles.h"
#include "sweep/sweephalving.h"
#include "sweep/sweephost.h"
#include "sweep/sweepknown.h"
#include "trial/benchmodels.h"
#include "trial/varied.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	x->trial = calloc(x->beside.n, sizeof *x->trial);
	x->beside.ended = sweeptrial_ended;
	x->beside.ctx = x;
	if (!rc && (!x->stack || !x->software || !x->trial))
		rc = no_memory(e);
	return rc ? rc : sweepstack_cache(x->o->stacks, x->cache, e);
}

int sweeping_begin(struct sweeping *x, struct err *e)
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
		rc = sweephalving_plan(x, e);
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
