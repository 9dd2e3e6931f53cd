/* SPDX-License-Identifier: Apache-2.0 */
/* suite_hyperfine.c - the JSON of hyperfine, and of `sonde compare --export-json`. */
#include "bench/suite/suite.h"

#include <math.h>

static const char *parameters_of(struct suite_results *r, const struct jsontree *v,
				 const char *command)
{
	const struct jsontree *own = jsontree_find(v, "parameters");
	struct suite_object o;

	suite_object_begin(&o);
	json_put_text(&o.j, "command", command);
	for (const struct jsontree *p = own && own->type == JSONDOC_OBJECT ? own->first : NULL; p;
	     p = p->next)
		suite_put_parameter(&o, p->key, p);
	return suite_object_end(r, &o);
}

/* The next one of a list that may be missing or shorter; a number, or NAN. */
static double next_of(const struct jsontree **list)
{
	const struct jsontree *v = *list;

	*list = v ? v->next : NULL;
	return v && v->type == JSONDOC_NUMBER && isfinite(v->number) ? v->number : (double)NAN;
}

static const struct jsontree *first_of(const struct jsontree *v, const char *key)
{
	const struct jsontree *list = jsontree_find(v, key);

	return list && list->type == JSONDOC_ARRAY ? list->first : NULL;
}

/* A null among the exit codes: a signal ended it. */
static void take_run(struct suite_results *r, struct suite_benchmark *b,
		     const struct jsontree *time, const struct jsontree **code,
		     const struct jsontree **memory)
{
	struct suite_trial *t = suite_add_value(r, b, "seconds", time);
	bool by_signal = *code && (*code)->type == JSONDOC_NULL;
	double exit_code = next_of(code), bytes = next_of(memory);

	if (!t)
		return;
	t->exit_code = exit_code;
	t->memory_bytes = bytes;
	if (by_signal)
		t->failed = "it did not exit: a signal ended it";
}

static void take_command(struct suite_results *r, const struct jsontree *v)
{
	const char *command = jsontree_text(v, "command");
	const struct jsontree *time = first_of(v, "times"), *code = first_of(v, "exit_codes"),
			      *memory = first_of(v, "memory_usage_byte");
	struct suite_benchmark *b = command ? suite_add_benchmark(r, command) : NULL;

	r->left_out += !command;
	if (!b)
		return;
	b->parameters = parameters_of(r, v, command);
	b->said = suite_said(r, v);
	if (!time) {
		r->medians += suite_add_value(r, b, "seconds", jsontree_find(v, "median")) != NULL;
	}
	for (; time; time = time->next)
		take_run(r, b, time, &code, &memory);
}

bool suite_hyperfine(struct suite_results *r, const struct suite_source *s);
bool suite_hyperfine(struct suite_results *r, const struct suite_source *s)
{
	const struct jsontree *all = jsontree_find(s->document, "results");

	if (!all || all->type != JSONDOC_ARRAY || !jsontree_text(all->first, "command"))
		return false;
	for (const struct jsontree *v = all->first; v; v = v->next)
		take_command(r, v);
	return true;
}
