/* SPDX-License-Identifier: Apache-2.0 */
/* trials.c - the trials of a sweep that this machine runs. */
#include "sweep/sweeping.h"

#include "base/files.h"
#include "console/command.h"
#include "trial/evidence.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CLAIM_SECONDS = 60, ATTEMPTS_MOST = 10000 };
static const char verb[] = "bench sweep";

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for a sweep");
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

static int command_of(struct sweeping *x, const struct swept *p, char *argv[SWEEP_ARGV],
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
	return sweeping_arguments(x, p, argv, n) ? 0 : no_memory(e);
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
	char *argv[SWEEP_ARGV] = { x->builtin ? (char *)x->spec.script : x->script };
	struct option_list chosen = { .n = 0 };
	int rc = environment_of(x, p, &chosen, e);

	if (!rc && !sweeping_arguments(x, p, argv, 1))
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

/* All that the place needs to run that trial. */
static int fill(struct sweeping *x, struct trial_place *place, const struct swept *p,
		int64_t number, const char *folder, struct err *e)
{
	struct sweep_trial *t = &x->trial[place->index];
	int rc;

	t->environment = x->stack[p->at[SWEEP_AXIS_STACK]].environment;
	t->varied = (struct bench_facts){ 0 };
	place->going = (struct trial_going){ .number = number };
	place->run = (struct trial_run){ .verb = verb,
					 .argv = t->argv,
					 .environment = &t->environment,
					 .in = x->work,
					 .limit_ns = (int64_t)(x->spec.timeout_s * 1e9),
					 .recording = x->recording,
					 .varied = &t->varied,
					 .batch = &p->batch,
					 .store = &x->store,
					 .host = x->host,
					 .of = x->spec.batch_size,
					 .quiet = x->o->quiet };
	rc = environment_of(x, p, &t->environment, e);
	if (rc)
		return rc;
	if (script_has_changed(x))
		return err_set(e, -ESTALE,
			       "%.300s has changed since this sweep began; begin it again: with "
			       "another script it is another sweep",
			       x->script);
	rc = command_of(x, p, t->argv, e);
	if (!rc)
		rc = varied_of(x, p, &t->varied, e);
	place->run.software = software_of(x, p);
	if (number == 1 || (!x->o->element && !p->warm[place->index]))
		place->going.warmups = x->spec.warmup;
	p->warm[place->index] = true;
	if (!rc && !free_name(place->going.directory, folder, number))
		rc = err_set(e, -EEXIST, "%.300s has no room for another recording", folder);
	return rc;
}

void sweeptrial_ended(void *ctx, struct trial_place *place, int rc)
{
	struct sweeping *x = ctx;
	struct sweep_trial *t = &x->trial[place->index];

	if (!rc)
		unlink(t->claim);
	close(place->claim);
	place->claim = -1;
	bench_facts_free(&t->varied);
}

static int begin_unless_there(struct sweeping *x, struct trial_place *place, const struct swept *p,
			      int64_t number, const char *folder, struct err *e)
{
	int there = trial_exists(x->store.database, &p->batch, number, e);
	int rc = there < 0 ? there : 0;

	if (!there)
		rc = fill(x, place, p, number, folder, e);
	if (there || rc)
		sweeptrial_ended(x, place, rc);
	return there || rc ? rc : beside_begin(&x->beside, place, e);
}

/* It runs on when this returns, unless there was nothing to run. */
static int begin_trial(struct sweeping *x, struct swept *p, int64_t number, struct err *e)
{
	char folder[PATH_MAX], *claim;
	struct trial_place *place;
	int rc;

	place = beside_take(&x->beside, &rc, e);
	if (!place)
		return rc;
	claim = x->trial[place->index].claim;
	snprintf(folder, sizeof folder, "%.4000s/combination_%06u", x->sweep.directory,
		 p->combination + 1);
	snprintf(claim, PATH_MAX, "%.4060s/claim_%04" PRId64, folder, number);
	rc = folder_make(folder, e);
	if (rc)
		return rc;
	/* Whoever runs it holds this, with the processes that see the trial to its end. */
	place->claim = sweepfiles_hold(claim, CLAIM_SECONDS);
	if (place->claim == -EAGAIN) {
		say("%s: trial %" PRId64 " of combination %u is run by another process", verb,
		    number, p->combination + 1);
		return 0;
	}
	if (place->claim < 0)
		return err_set(e, place->claim, "%.300s: %s", claim, strerror(-place->claim));
	return begin_unless_there(x, place, p, number, folder, e);
}

int sweeping_trial(struct sweeping *x, struct swept *p, int64_t number, struct err *e)
{
	return beside_finish(&x->beside, begin_trial(x, p, number, e), e);
}

struct sweep_turn *sweeping_turns(struct sweeping *x, uint32_t first, int64_t *n, struct err *e)
{
	uint32_t *chosen = calloc(x->nswept + 1u, sizeof *chosen), nchosen = 0;
	struct sweep_spec spec = x->spec;
	struct sweep_turn *turn;

	spec.batch_size = 0;
	for (uint32_t i = first; i < x->nswept && chosen; i++) {
		if (x->swept[i]->is_out)
			continue;
		chosen[nchosen++] = i;
		if (x->swept[i]->wanted > spec.batch_size)
			spec.batch_size = x->swept[i]->wanted;
	}
	*n = nchosen * spec.batch_size;
	turn = chosen ? calloc((size_t)*n + 1, sizeof *turn) : NULL;
	if (turn)
		sweepspace_turns(&spec, nchosen, turn);
	else
		no_memory(e);
	for (int64_t i = 0; i < *n && turn; i++)
		turn[i].chosen = chosen[turn[i].chosen];
	free(chosen);
	return turn;
}

int sweeping_run(struct sweeping *x, uint32_t first, struct err *e)
{
	int64_t n;
	struct sweep_turn *turn = sweeping_turns(x, first, &n, e);
	int rc = turn ? 0 : -ENOMEM;

	/* Nothing is asked beside a trial that can be asked before. */
	for (uint32_t i = first; i < x->nswept && x->beside.n > 1; i++)
		if (!x->swept[i]->skipped)
			software_of(x, x->swept[i]);

	for (int64_t i = 0; i < n && !rc; i++) {
		struct swept *p = x->swept[turn[i].chosen];

		if (!p->skipped && !p->done[turn[i].number - 1])
			rc = begin_trial(x, p, turn[i].number, e);
	}
	free(turn);
	return beside_finish(&x->beside, rc, e);
}
