/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/suite/suite.h"

#include "base/array.h"
#include "base/clock.h"
#include "bench/amun/amun.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SUITE(x, name, indicator)                                                                  \
	bool suite_##x(struct suite_results *r, const struct suite_source *s);
#include "suites.def"
#undef SUITE

#define SUITE(x, name, indicator) { name, indicator, suite_##x },
const struct suite suites[] = {
#include "suites.def"
};
#undef SUITE
const size_t nsuites = sizeof suites / sizeof suites[0];

const struct suite *suite_find(const char *name)
{
	for (size_t i = 0; i < nsuites; i++)
		if (!strcmp(suites[i].name, name))
			return &suites[i];
	return NULL;
}

void suite_results_free(struct suite_results *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		free(r->benchmark[i].trial);
	free(r->benchmark);
	bench_facts_free(&r->facts);
	pool_free(&r->pool);
	*r = (struct suite_results){ 0 };
}

int suite_read(struct suite_results *r, const struct suite *suite, const struct suite_source *s,
	       struct err *e)
{
	bool known;

	*r = (struct suite_results){ .load_1m = NAN };
	known = suite->read(r, s);
	if (r->failed || r->facts.failed)
		return err_set(e, -ENOMEM, "out of memory for benchmarks");
	return known ? 0 : err_set(e, -EBADMSG, "it is not a result file of %s", suite->name);
}

/* ---- benchmarks and their trials ---- */

struct suite_benchmark *suite_add_benchmark(struct suite_results *r, const char *name)
{
	void *grown;

	if (r->n == SUITE_BENCHMARKS) {
		r->left_out++;
		return NULL;
	}
	grown = array_room(r->benchmark, r->n, &r->cap, sizeof *r->benchmark);
	if (!grown) {
		r->failed = true;
		return NULL;
	}
	r->benchmark = grown;
	r->benchmark[r->n] = (struct suite_benchmark){ .name = name, .start_ns = r->start_ns };
	return &r->benchmark[r->n++];
}

struct suite_trial *suite_add_trial(struct suite_results *r, struct suite_benchmark *b)
{
	void *grown;

	if (b->n == SUITE_REPEATS) {
		r->left_out++;
		return NULL;
	}
	grown = array_room(b->trial, b->n, &b->cap, sizeof *b->trial);
	if (!grown) {
		r->failed = true;
		return NULL;
	}
	b->trial = grown;
	b->trial[b->n] = (struct suite_trial){ .exit_code = NAN, .memory_bytes = NAN };
	return &b->trial[b->n++];
}

struct suite_trial *suite_add_value(struct suite_results *r, struct suite_benchmark *b,
				    const char *column, const struct jsontree *v)
{
	struct suite_object o;
	struct suite_trial *t;

	if (!v || v->type != JSONDOC_NUMBER || !isfinite(v->number)) {
		r->left_out++;
		return NULL;
	}
	t = suite_add_trial(r, b);
	if (!t)
		return NULL;
	suite_object_begin(&o);
	json_put_real(&o.j, column, v->number);
	t->result = suite_object_end(r, &o);
	return t;
}

/* ---- objects ---- */

void suite_object_begin(struct suite_object *o)
{
	*o = (struct suite_object){ 0 };
	o->j.out = &o->text;
	json_object(&o->j);
}

const char *suite_object_end(struct suite_results *r, struct suite_object *o)
{
	const char *kept;

	json_object_end(&o->j);
	kept = o->text.failed ? NULL : pool_text(&r->pool, (const char *)o->text.data, o->text.len);
	bytes_free(&o->text);
	r->failed |= !kept;
	return kept;
}

static void put_as_text(struct json *j, const struct jsontree *v)
{
	struct bytes b = { 0 };
	struct json inner = { .out = &b };

	jsontree_write(&inner, v);
	bytes_u8(&b, 0);
	if (b.failed)
		j->out->failed = true;
	else
		json_text(j, (const char *)b.data);
	bytes_free(&b);
}

void suite_put_parameter(struct suite_object *o, const char *name, const struct jsontree *v)
{
	static const char *const columns[] = { "benchmark", "command", "group", "unit",
					       "seconds",   "bytes",   "value", "trial_id" };
	char other[128];

	for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
		if (!strcasecmp(name, columns[i])) {
			snprintf(other, sizeof other, "parameter_%s", name);
			name = other;
			break;
		}
	json_key(&o->j, name);
	if (v->type == JSONDOC_OBJECT || v->type == JSONDOC_ARRAY)
		put_as_text(&o->j, v);
	else
		jsontree_write(&o->j, v);
}

static void put_member(struct json *j, const struct jsontree *v)
{
	json_key(j, v->key);
	if (v->type != JSONDOC_OBJECT) {
		jsontree_write(j, v);
		return;
	}
	json_object(j);
	for (v = v->first; v; v = v->next)
		if (v->type != JSONDOC_ARRAY) {
			json_key(j, v->key);
			jsontree_write(j, v);
		}
	json_object_end(j);
}

const char *suite_said(struct suite_results *r, const struct jsontree *object)
{
	struct suite_object o;

	suite_object_begin(&o);
	for (const struct jsontree *v = object->first; v; v = v->next)
		if (v->type != JSONDOC_ARRAY)
			put_member(&o.j, v);
	return suite_object_end(r, &o);
}

/* ---- what all of them state ---- */

void suite_rename_facts(struct suite_results *r, const char *const (*names)[2], size_t n)
{
	for (uint32_t i = 0; i < r->facts.n; i++)
		for (size_t k = 0; k < n; k++)
			if (!strcmp(r->facts.fact[i].name, names[k][0]))
				r->facts.fact[i].name = names[k][1];
}

/* "01:00" in seconds; -1: it is none. */
static int64_t distance_of(const char *text)
{
	static const char digits[] = "0123456789";
	int64_t hours, minutes;

	if (strlen(text) != strlen("01:00") || text[2] != ':' || strspn(text, digits) != 2 ||
	    strspn(text + 3, digits) != 2)
		return -1;
	hours = (text[0] - '0') * 10 + text[1] - '0';
	minutes = (text[3] - '0') * 10 + text[4] - '0';
	return hours > 23 || minutes > 59 ? -1 : hours * 3600 + minutes * 60;
}

int64_t suite_time(const char *text)
{
	int64_t ns, distance_s;
	const char *rest = text ? clock_of_iso(text, &ns) : NULL,
		   *zone = rest ? strpbrk(rest, "+-") : NULL;

	if (!zone)
		return rest ? ns : 0;
	distance_s = distance_of(zone + 1);
	if (distance_s < 0 ||
	    __builtin_add_overflow(ns, (*zone == '-' ? 1 : -1) * distance_s * NS_PER_S, &ns))
		return 0;
	return ns > 0 ? ns : 0;
}
