/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"
#include "bench/amun/amun.h"
#include "bench/amun/amun_layout.h"
#include "bench/sweep/sweep.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a stack's name: each package of it has a byte and a space. */
enum { NAME_BYTES = 240, NAME_PACKAGES = NAME_BYTES / 2 };

struct report {
	struct amun *a;
	const struct amun_layout *l;
	struct sweep sweep;
	struct pool pool;
	uint32_t missing;
};

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for a report of Dependency Monkey");
}

static const char *kept(struct pool *pool, struct bytes *b)
{
	const char *text = b->failed ? NULL : pool_text(pool, (const char *)b->data, b->len);

	bytes_free(b);
	return text;
}

/* ---- a stack ---- */

/* "tensorflow==2.2.0 numpy==1.19.1 (1a2b3c4d)": what was asked for, as the lock has it, and which
 * lock. */
static const char *name_of(struct report *r, const struct jsontree *product)
{
	const struct jsontree *project = jsontree_find(product, "project"),
			      *wanted = jsontree_find(jsontree_find(project, "requirements"),
						      "packages"),
			      *lock = jsontree_find(jsontree_find(project, "requirements_locked"),
						    "default");
	struct bytes b = { 0 }, text = { 0 };
	struct json j = { .out = &text };
	char digest[SHA256_HEX];
	unsigned n = 0;

	for (const struct jsontree *v = wanted && wanted->type == JSONDOC_OBJECT ? wanted->first
										 : NULL;
	     v && b.len < NAME_BYTES && n < NAME_PACKAGES; v = v->next, n++) {
		const char *version = jsontree_text(jsontree_find(lock, v->key), "version");

		bytes_printf(&b, "%s%.60s%.40s", b.len ? " " : "", v->key, version ? version : "");
	}
	if (lock) {
		jsontree_write(&j, lock);
		sha256_hex(digest, text.data, text.len);
		bytes_printf(&b, "%s(%.8s)", b.len ? " " : "", digest);
	} else if (!b.len) {
		bytes_puts(&b, "unknown");
	}
	bytes_free(&text);
	return kept(&r->pool, &b);
}

/* How good the adviser took it to be: a parameter, as it varies with the stack. */
static const char *parameters_of(struct report *r, const struct jsontree *product)
{
	double score = jsontree_number(product, "score");
	struct bytes b = { 0 };
	struct json j = { .out = &b };
	char text[40];

	json_object(&j);
	if (isfinite(score)) {
		snprintf(text, sizeof text, "%.6g", score);
		json_key(&j, "adviser_score");
		json_text(&j, text);
	}
	json_object_end(&j);
	return kept(&r->pool, &b);
}

/* ---- its trials ---- */

/* The id that Amun gave, or the folder that the stack was written to. */
static const char *response_of(const struct jsontree *v)
{
	const struct jsontree *response = jsontree_find(v, "response");

	if (v->type == JSONDOC_STRING)
		return v->text;
	if (response && response->type == JSONDOC_OBJECT)
		return jsontree_text(response, "inspection_id");
	return response && response->type == JSONDOC_STRING ? response->text : NULL;
}

static int is_imported(struct report *r, const char *uid, struct err *e)
{
	const struct field v = field_text(uid), *row = NULL;
	int rc = database_first(r->a->store->database, "SELECT id FROM batches WHERE uid = $1", &v,
				1, &row, e);

	return rc < 0 ? rc : rc > 0 && row;
}

static int put_response(struct report *r, const struct jsontree *v, uint32_t number, struct err *e)
{
	const struct jsontree *product = jsontree_find(v, "product");
	const char *said = response_of(v);
	const char *response = said && strlen(said) <= AMUN_ID_MAX ? said : NULL;
	char uid[320], missing[400];
	struct batch b = { .uid = uid, .source = "amun" };
	struct sweep_point p = { .combination = number,
				 .position = number + 1,
				 .stack = name_of(r, product),
				 .environment = "amun",
				 .parameters = parameters_of(r, product),
				 .skipped = missing };
	int there;

	if (!p.stack || !p.parameters)
		return no_memory(e);
	snprintf(uid, sizeof uid, "amun:%.300s", response ? response : "");
	there = response ? is_imported(r, uid, e) : 0;
	if (there < 0)
		return there;
	if (there)
		p.skipped = NULL;
	else if (response)
		snprintf(missing, sizeof missing, "%.300s was not imported", response);
	else
		snprintf(missing, sizeof missing, "Amun gave no %s", said ? "id" : "answer");
	r->missing += !there;
	return sweep_put_point(r->a->store->database, &r->sweep, &p, there ? &b : NULL, e);
}

/* ---- all of it ---- */

static int start(struct report *r, const char *digest, const char *path, struct err *e)
{
	const struct jsontree *said = jsontree_find(r->l->arguments, "dependency-monkey");
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path,
		   *dot = strrchr(name, '.'), *decision = jsontree_text(said, "decision_type");
	struct bytes b = { 0 };
	struct json j = { .out = &b };
	double seed = jsontree_number(said, "seed"),
	       trials = jsontree_number(jsontree_find(said, "context"), "batch_size");

	if (r->l->arguments)
		jsontree_write(&j, r->l->arguments);
	else
		bytes_puts(&b, "{}");
	r->sweep = (struct sweep){
		.uid = pool_text(&r->pool, digest, 16),
		.identifier = pool_text(&r->pool, name,
					dot && dot > name ? (size_t)(dot - name) : strlen(name)),
		.decision = decision ? decision : "all",
		.specification = kept(&r->pool, &b),
		.seed = fabs(seed) < 1e15 ? (int64_t)seed : 0,
		.batch_size = trials >= 1 && trials < 1e6 ? (int64_t)trials : 1,
		.start_ns = amun_time(r->l->date),
	};
	if (!r->sweep.uid || !r->sweep.identifier || !r->sweep.specification)
		return no_memory(e);
	return sweep_put(r->a->store->database, &r->sweep, e);
}

static void report_counts(const struct report *r, uint32_t stacks)
{
	double skipped = jsontree_number(r->l->monkey, "skipped");

	trial_note_put(r->a->note, "a report of Dependency Monkey: sweep:%.16s, stacks: %u",
		       r->sweep.uid, stacks);
	if (r->missing)
		trial_note_put(
			r->a->note,
			"of %u stacks the results are missing; import their inspections, then this "
			"report again",
			r->missing);
	r->a->left_out += r->missing;
	if (skipped >= 1)
		trial_note_put(r->a->note,
			       "%.0f stacks were not sent to Amun; the report does not say which",
			       skipped);
}

int amun_monkey_import(struct amun *a, const struct amun_layout *l, const char *digest,
		       const char *path, struct err *e)
{
	struct report r = { .a = a, .l = l };
	uint32_t n = 0;
	int rc = start(&r, digest, path, e);

	if (!rc)
		rc = sweep_ask_anew(a->store->database, &r.sweep, e);
	for (const struct jsontree *v = jsontree_find(l->monkey, "responses")->first; v && !rc;
	     v = v->next)
		rc = put_response(&r, v, n++, e);
	if (!rc) {
		a->sweeps++;
		report_counts(&r, n);
	}
	pool_free(&r.pool);
	return rc;
}
