/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known.c - what makes a combination the same in another sweep: a specification that grew, by a
 * value, a stack or trials, finds what an earlier one has run.
 *
 * The name of its batch is a digest of all that its trials get, not of what else is tried: a
 * specification without its matrix, decision and number of trials, then the combination's own
 * stack, environment and parameters, the user and, unless a cluster runs them, the machine.
 */
#include "sweep/sweeping.h"

#include "console/say.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Of a specification: what decides which trials there are, and changes none of them. */
static bool is_about_which(const char *key)
{
	static const char *const keys[] = { "matrix", "batch_size", "count", "decision" };

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

bool sweepknown_common(const struct jsontree *document, char out[SHA256_HEX])
{
	struct bytes b = { 0 };
	struct json j = { .out = &b };
	bool well;

	json_object(&j);
	for (const struct jsontree *v = document->first; v; v = v->next) {
		if (is_about_which(v->key))
			continue;
		json_key(&j, v->key);
		jsontree_write(&j, v);
	}
	json_object_end(&j);
	well = !b.failed;
	if (well)
		sha256_hex(out, b.data, b.len);
	bytes_free(&b);
	return well;
}

static void put_words(struct json *j, const char *key, const struct sweep_words *w)
{
	json_key(j, key);
	json_array(j);
	for (uint32_t i = 0; i < w->n; i++)
		json_text(j, w->word[i]);
	json_array_end(j);
}

static void put_stack(struct json *j, const struct sweep_stack *s)
{
	json_put_text(j, "stack", s->name);
	json_put_text(j, "base", s->base);
	put_words(j, "modules", &s->modules);
	put_words(j, "packages", &s->packages);
	json_put_text(j, "requirements", s->requirements);
	json_put_text(j, "locked", s->locked);
	json_put_text(j, "interpreter", s->interpreter);
	put_words(j, "pip", &s->pip);
	if (s->python_version)
		json_put_text(j, "python_version", s->python_version);
}

static void put_environment(struct json *j, const struct sweep_environment *s)
{
	json_put_text(j, "environment", s->name);
	json_key(j, "variables");
	json_array(j);
	for (uint32_t i = 0; i < s->variables.n; i++) {
		json_text(j, s->variables.v[i].name);
		json_text(j, s->variables.v[i].text);
	}
	json_array_end(j);
}

static int name_anew(struct sweeping *x, struct swept *p, struct err *e)
{
	bool here = x->o->executor == SWEEP_LOCAL;
	char digest[SHA256_HEX];
	struct bytes b = { 0 };
	struct json j = { .out = &b };

	json_object(&j);
	json_put_text(&j, "common", x->common);
	json_put_text(&j, "user", x->sweep.user);
	json_put_text(&j, "host", here ? x->host : NULL);
	put_stack(&j, &x->spec.stack[p->at[SWEEP_AXIS_STACK]]);
	put_environment(&j, &x->spec.environments[p->at[SWEEP_AXIS_ENVIRONMENT]]);
	json_put_text(&j, "parameters", p->parameters);
	json_object_end(&j);
	if (b.failed) {
		bytes_free(&b);
		return err_set(e, -ENOMEM, "out of memory for a sweep");
	}
	sha256_hex(digest, b.data, b.len);
	bytes_free(&b);
	snprintf(p->batch_uid, sizeof p->batch_uid, "sweep:%.32s", digest);
	return 0;
}

int sweepknown_name(struct sweeping *x, struct swept *p, struct err *e)
{
	int rc = sweep_batch_uid(x->store.database, &x->sweep, p->combination, p->batch_uid,
				 sizeof p->batch_uid, e);

	return rc ? (rc < 0 ? rc : 0) : name_anew(x, p, e);
}

void sweepknown_say(const struct sweeping *x)
{
	int64_t known = 0, all = 0;

	for (uint32_t i = 0; i < x->nswept; i++) {
		const struct swept *p = x->swept[i];

		for (int64_t k = 0; k < x->spec.batch_size && !p->skipped; k++, all++)
			known += p->done[k];
	}
	if (known && !x->o->quiet)
		say("bench sweep: %" PRId64 " of %" PRId64
		    " trials are in the store already; %" PRId64 " will run",
		    known, all, all - known);
}
