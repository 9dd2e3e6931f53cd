/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/suite/suite.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/text/escape.h"
#include "base/text/textfile.h"
#include "bench/amun/amun.h"
#include "bench/suite/suite_import.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
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

enum { FAILURES_TOLD = 20 };

struct file {
	const struct suite *suite;
	const char *path;
	char absolute[PATH_MAX];
	struct pool pool;
	struct suite_source source;
	struct suite_results results;
	int64_t environment_id;
};

/* ---- trials ---- */

/* As a script would print it. */
static int contract_of(struct contract *c, const struct file *f, const struct suite_benchmark *b,
		       const struct suite_trial *t, struct err *e)
{
	struct bytes text = { 0 };
	struct json j = { .out = &text };
	struct err why = { "" };
	int rc;

	json_object(&j);
	json_put_text(&j, "name", f->suite->indicator);
	json_put_text(&j, "component", f->suite->name);
	if (b->version)
		json_put_text(&j, "version", b->version);
	bytes_puts(&text, ",\"@parameters\":");
	bytes_puts(&text, b->parameters);
	bytes_puts(&text, ",\"@result\":");
	bytes_puts(&text, t->result);
	json_object_end(&j);
	rc = text.failed ? -ENOMEM : contract_read(c, text.data, text.len, &why);
	bytes_free(&text);
	return rc == -ENOMEM ? err_set(e, rc, "out of memory for a trial")
	       : rc          ? err_set(e, rc, "%s", why.text)
			     : 0;
}

static void take_failure(struct trial *t, const struct suite_trial *from)
{
	if (from->failed)
		snprintf(t->reason, sizeof t->reason, "%s", from->failed);
	else if (!isnan(from->exit_code) && from->exit_code != 0)
		snprintf(t->reason, sizeof t->reason, "it ended with exit code %.0f",
			 from->exit_code);
}

static void tell_failure(struct suite_import *x, const struct suite_benchmark *b,
			 const struct trial *t)
{
	if (!*t->reason)
		return;
	x->failed++;
	if (x->failed <= FAILURES_TOLD)
		trial_note_put(x->note, "%.200s, trial %" PRId64 " failed: %.500s", b->name,
			       t->number, t->reason);
	else if (x->failed == FAILURES_TOLD + 1)
		trial_note_put(x->note,
			       "more trials failed; sonde bench list and show print the reasons");
}

static int put_trial(struct suite_import *x, const struct file *f, const struct trial_batch *batch,
		     const struct suite_benchmark *b, uint32_t i, struct err *e)
{
	const struct suite_trial *from = &b->trial[i];
	struct contract said = { 0 };
	struct err why = { "" };
	struct trial t;
	int rc = 0;

	trial_init(&t, i + INT64_C(1));
	t.host = f->results.host;
	t.load_1m = f->results.load_1m;
	t.start_ns = b->start_ns;
	t.environment_id = f->environment_id;
	t.exit_code = from->exit_code;
	t.peak_memory_bytes = from->memory_bytes;
	take_failure(&t, from);
	if (from->result) {
		rc = contract_of(&said, f, b, from, &why);
		t.said = &said;
		t.said_well = !rc;
		if (rc && !*t.reason)
			snprintf(t.reason, sizeof t.reason, "%s", why.text);
	}
	rc = rc == -ENOMEM ? err_set(e, rc, "%s", why.text) : trial_put(x->store, batch, &t, e);
	x->trials += !rc;
	if (!rc)
		tell_failure(x, b, &t);
	contract_free(&said);
	return rc;
}

/* By all that is stated of it: asv adds to a file what is measured later. */
static int digest_of(char digest[SHA256_HEX], const struct suite_results *r,
		     const struct suite_benchmark *b, struct err *e)
{
	struct bytes t = { 0 };
	int rc;

	bytes_text(&t, b->name);
	bytes_text(&t, b->parameters);
	bytes_text(&t, b->version);
	bytes_text(&t, r->host);
	bytes_zigzag(&t, b->start_ns);
	for (uint32_t i = 0; i < b->n; i++) {
		bytes_text(&t, b->trial[i].result);
		bytes_text(&t, b->trial[i].failed);
	}
	rc = t.failed ? err_set(e, -ENOMEM, "out of memory for a benchmark") : 0;
	if (!rc)
		sha256_hex(digest, t.data, t.len);
	bytes_free(&t);
	return rc;
}

static int put_benchmark(struct suite_import *x, struct file *f, uint32_t number, struct err *e)
{
	const struct suite_benchmark *b = &f->results.benchmark[number];
	struct trial_batch batch = { .source = f->suite->name,
				     .origin = f->results.origin ? f->results.origin : f->absolute,
				     .command = b->name,
				     .specification = b->said,
				     .start_ns = b->start_ns };
	char digest[SHA256_HEX], uid[SHA256_HEX + 64];
	int rc;

	if (!b->n)
		return 0; /* its values were left out */
	rc = digest_of(digest, &f->results, b, e);
	if (rc)
		return rc;
	snprintf(uid, sizeof uid, "%s:%s", f->suite->name, digest);
	batch.uid = uid;
	rc = batch_put(x->store->database, &batch, e);
	for (uint32_t i = 0; i < b->n && !rc; i++) {
		rc = trial_exists(x->store->database, &batch, i + INT64_C(1), e);
		x->there_already += rc > 0;
		rc = rc ? (rc < 0 ? rc : 0) : put_trial(x, f, &batch, b, i, e);
	}
	x->benchmarks += !rc;
	return rc;
}

/* ---- a file ---- */

static void tell_left_out(struct suite_import *x, const struct file *f)
{
	const struct suite_results *r = &f->results;

	x->left_out = r->left_out;
	if (r->medians)
		trial_note_put(x->note,
			       "benchmarks of which the file has no single values: %" PRIu32
			       "; each is "
			       "one trial, its median",
			       r->medians);
	if (r->skipped)
		trial_note_put(x->note, "skipped by their own choice, and left out: %" PRIu32,
			       r->skipped);
	if (r->facts.left_out)
		trial_note_put(
			x->note,
			"facts of its machine for which there is no room, left out: %" PRIu32,
			r->facts.left_out);
}

static int put_all(struct suite_import *x, struct file *f, struct err *e)
{
	struct database *s = x->store->database;
	int rc = database_begin(s, e);

	if (rc)
		return rc;
	rc = environment_put(s, f->results.facts.fact, f->results.facts.n, &f->environment_id, e);
	for (uint32_t i = 0; i < f->results.n && !rc; i++)
		rc = put_benchmark(x, f, i, e);
	if (!rc)
		return database_commit(s, e);
	database_rollback(s);
	return rc;
}

static const struct jsontree *read_json(const char *path, struct pool *pool, struct err *e)
{
	struct bytes b = { 0 };
	const struct jsontree *v = NULL;
	struct err why = { "" };
	int rc = textfile_read(path, "result", CONTRACT_DOCUMENT, &b, e);

	bytes_u8(&b, 0);
	if (!rc && b.failed)
		err_set(e, -ENOMEM, "out of memory for %.300s", path);
	else if (!rc && !escape_is_utf8((const char *)b.data))
		err_set(e, -EBADMSG, "%.300s: it is not UTF-8, which JSON is written in", path);
	else if (!rc) {
		v = jsontree_read(pool, b.data, b.len - 1, &why);
		if (!v)
			err_set(e, -EBADMSG, "%.300s: %s", path, why.text);
	}
	bytes_free(&b);
	return v;
}

/* asv keeps it in the folder above that of the machine. */
static void read_benchmarks(struct file *f)
{
	char path[PATH_MAX + 32];
	struct err ignored;

	snprintf(path, sizeof path, "%s", f->absolute);
	for (int i = 0; i < 2; i++)
		if (strrchr(path, '/'))
			*strrchr(path, '/') = 0;
	snprintf(path + strlen(path), sizeof path - strlen(path), "/benchmarks.json");
	f->source.benchmarks = read_json(path, &f->pool, &ignored);
}

int suite_import(struct suite_import *x, const struct suite *suite, const char *path, struct err *e)
{
	struct file f = { .suite = suite, .path = path };
	struct err why = { "" };
	int rc;

	if (!realpath(path, f.absolute))
		return err_set(e, -errno, "cannot read %.300s: %s", path, strerror(errno));
	f.source.document = read_json(path, &f.pool, e);
	rc = f.source.document ? 0 : -EBADMSG;
	if (!rc && !strcmp(suite->name, "asv"))
		read_benchmarks(&f);
	if (!rc && (rc = suite_read(&f.results, suite, &f.source, &why)))
		err_set(e, rc, "%.300s: %s", path, why.text);
	if (!rc)
		rc = put_all(x, &f, e);
	if (!rc)
		tell_left_out(x, &f);
	suite_results_free(&f.results);
	pool_free(&f.pool);
	return rc;
}
