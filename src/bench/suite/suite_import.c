/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/suite/suite_import.h"

#include "base/sha256.h"
#include "base/text/escape.h"
#include "base/text/textfile.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAILURES_TOLD = 20 };

static void note(struct suite_import *x, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void note(struct suite_import *x, const char *format, ...)
{
	char text[768];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	x->note(x->ctx, text);
}

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
		note(x, "%.200s, trial %" PRId64 " failed: %.500s", b->name, t->number, t->reason);
	else if (x->failed == FAILURES_TOLD + 1)
		note(x, "more trials failed; sonde bench list and show print the reasons");
}

static int put_trial(struct suite_import *x, const struct file *f, const struct batch *batch,
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
	struct batch batch = { .source = f->suite->name,
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
		note(x,
		     "benchmarks of which the file has no single values: %" PRIu32 "; each is "
		     "one trial, its median",
		     r->medians);
	if (r->skipped)
		note(x, "skipped by their own choice, and left out: %" PRIu32, r->skipped);
	if (r->facts.left_out)
		note(x, "facts of its machine for which there is no room, left out: %" PRIu32,
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
