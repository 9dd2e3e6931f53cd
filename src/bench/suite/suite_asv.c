/* SPDX-License-Identifier: Apache-2.0 */
/* suite_asv.c - one result file of asv: a commit in an environment on a machine. What is measured
 * follows from a benchmark's name; names of parameters and units are in benchmarks.json only. */
#include "bench/suite/suite.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const names[][2] = {
	{ "machine.cpu", "host.cpu_model" },
	{ "machine.num_cpu", "host.cpus_count" },
	{ "machine.arch", "host.architecture" },
};

/* By result_columns; a row ends where nothing more is known. */
static const struct jsontree *cell(const struct suite_source *s, const struct jsontree *row,
				   const char *column)
{
	const struct jsontree *name = jsontree_find(s->document, "result_columns")->first,
			      *v = row->first;

	for (; name && v; name = name->next, v = v->next)
		if (name->type == JSONDOC_STRING && !strcmp(name->text, column))
			return v;
	return NULL;
}

/* ms since 1970 */
static int64_t time_of(const struct jsontree *v)
{
	return v && v->type == JSONDOC_NUMBER && v->number > 0 && v->number < 9e12
		       ? (int64_t)v->number * NS_PER_MS
		       : 0;
}

/* time_, timeraw_, mem_, peakmem_, track_, of the last part of a name. */
static const char *column_of(const char *name)
{
	const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;

	if (!strncmp(last, "time", 4) || !strncmp(last, "Time", 4))
		return "seconds";
	return !strncmp(last, "mem", 3) || !strncmp(last, "peakmem", 7) ? "bytes" : "value";
}

static const struct jsontree *at(const struct jsontree *list, uint32_t i)
{
	const struct jsontree *v = list && list->type == JSONDOC_ARRAY ? list->first : NULL;

	for (; v && i; i--)
		v = v->next;
	return v;
}

static uint32_t length(const struct jsontree *list)
{
	uint32_t n = 0;

	for (const struct jsontree *v = list && list->type == JSONDOC_ARRAY ? list->first : NULL;
	     v && n < SUITE_BENCHMARKS; v = v->next)
		n++;
	return n;
}

/* Values are as Python writes them: 'a' is a. */
static void put_value(struct suite_results *r, struct suite_object *o, const char *name,
		      const struct jsontree *v)
{
	struct jsontree bare = *v;
	size_t n = v->type == JSONDOC_STRING ? strlen(v->text) : 0;

	if (n >= 2 && v->text[0] == '\'' && v->text[n - 1] == '\'') {
		bare.text = pool_text(&r->pool, v->text + 1, n - 2);
		r->failed |= !bare.text;
	}
	if (bare.text || v->type != JSONDOC_STRING)
		suite_put_parameter(o, name, &bare);
}

/* The number-th combination of all parameters' values; the last varies fastest. */
static void put_combination(struct suite_results *r, struct suite_object *o,
			    const struct jsontree *params, const struct jsontree *own_names,
			    uint64_t number)
{
	enum { PARAMETERS = 64 };
	uint64_t of[PARAMETERS], after = 1;
	uint32_t n = length(params);
	char otherwise[32];

	if (n > PARAMETERS)
		return;
	for (uint32_t i = n; i-- > 0;) {
		uint32_t values = length(at(params, i));

		of[i] = values ? number / after % values : 0;
		after = values && after < UINT32_MAX ? after * values : after;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct jsontree *v = at(at(params, i), (uint32_t)of[i]),
				      *name = at(own_names, i);

		snprintf(otherwise, sizeof otherwise, "param%u", i + 1);
		if (v)
			put_value(r, o,
				  name && name->type == JSONDOC_STRING ? name->text : otherwise, v);
	}
}

struct row {
	const char *name, *column;
	const struct jsontree *row, *params, *stated; /* stated: in benchmarks.json; or NULL */
	const char *unit;
};

static const char *parameters_of(struct suite_results *r, const struct row *x, uint64_t number)
{
	struct suite_object o;

	suite_object_begin(&o);
	json_put_text(&o.j, "benchmark", x->name);
	if (x->unit && !strcmp(x->column, "value"))
		json_put_text(&o.j, "unit", x->unit);
	put_combination(r, &o, x->params, jsontree_find(x->stated, "param_names"), number);
	return suite_object_end(r, &o);
}

static struct suite_benchmark *add(struct suite_results *r, const struct suite_source *s,
				   const struct row *x, uint64_t number)
{
	const struct jsontree *version = cell(s, x->row, "version");
	struct suite_benchmark *b = suite_add_benchmark(r, x->name);
	int64_t start_ns = time_of(cell(s, x->row, "started_at"));

	if (!b)
		return NULL;
	b->parameters = parameters_of(r, x, number);
	b->version = version && version->type == JSONDOC_STRING ? version->text : NULL;
	b->start_ns = start_ns ? start_ns : r->start_ns;
	return b;
}

/* null: it failed; NaN: it was skipped. */
static void take_value(struct suite_results *r, const struct suite_source *s, const struct row *x,
		       uint64_t number, const struct jsontree *v, const struct jsontree *samples)
{
	bool has_samples = samples && samples->type == JSONDOC_ARRAY && samples->first;
	struct suite_benchmark *b;
	struct suite_trial *t;

	if (v->type == JSONDOC_NULL && v->no_number) {
		r->skipped++;
		return;
	}
	b = add(r, s, x, number);
	if (!b)
		return;
	if (v->type == JSONDOC_NULL) {
		t = suite_add_trial(r, b);
		if (t)
			t->failed = "asv has no result of it: it failed";
	} else if (has_samples) {
		for (const struct jsontree *i = samples->first; i; i = i->next)
			suite_add_value(r, b, x->column, i);
	} else {
		t = suite_add_value(r, b, x->column, v);
		r->medians += t && !strcmp(x->column, "seconds");
	}
}

static void take_row(struct suite_results *r, const struct suite_source *s,
		     const struct jsontree *v)
{
	struct row x = { .name = v->key, .column = column_of(v->key), .row = v };
	const struct jsontree *result = cell(s, v, "result"), *all = cell(s, v, "samples"),
			      *samples = all && all->type == JSONDOC_ARRAY ? all->first : NULL;
	uint64_t number = 0;

	if (v->type != JSONDOC_ARRAY || !result) {
		r->left_out++;
		return;
	}
	x.params = cell(s, v, "params");
	x.stated = jsontree_find(s->benchmarks, x.name);
	x.unit = jsontree_text(x.stated, "unit");
	if (result->type != JSONDOC_ARRAY) {
		take_value(r, s, &x, 0, result, NULL);
		return;
	}
	for (const struct jsontree *i = result->first; i; i = i->next, number++) {
		take_value(r, s, &x, number, i, samples);
		samples = samples ? samples->next : NULL;
	}
}

static void take_facts(struct suite_results *r, const struct jsontree *d)
{
	const struct jsontree *needed = jsontree_find(d, "requirements"),
			      *python = jsontree_find(d, "python"),
			      *commit = jsontree_find(d, "commit_hash");

	bench_facts_flatten(&r->facts, "machine", jsontree_find(d, "params"));
	bench_facts_flatten(&r->facts, "env", jsontree_find(d, "env_vars"));
	bench_facts_flatten(&r->facts, "runtime.version", python);
	bench_facts_flatten(&r->facts, "script.git_commit", commit);
	if (needed && needed->type == JSONDOC_OBJECT)
		bench_facts_flatten(&r->facts, "package", needed);
	suite_rename_facts(r, names, sizeof names / sizeof names[0]);
}

bool suite_asv(struct suite_results *r, const struct suite_source *s);
bool suite_asv(struct suite_results *r, const struct suite_source *s)
{
	const struct jsontree *all = jsontree_find(s->document, "results"),
			      *columns = jsontree_find(s->document, "result_columns");

	if (!all || all->type != JSONDOC_OBJECT || !columns || columns->type != JSONDOC_ARRAY)
		return false;
	r->host = jsontree_text(jsontree_find(s->document, "params"), "machine");
	r->start_ns = time_of(jsontree_find(s->document, "date"));
	take_facts(r, s->document);
	for (const struct jsontree *v = all->first; v; v = v->next)
		take_row(r, s, v);
	return true;
}
