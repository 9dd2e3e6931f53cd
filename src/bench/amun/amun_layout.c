/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/amun/amun_layout.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/text/number.h"
#include "base/text/textfile.h"
#include "bench/amun/amun.h"
#include "bench/sweep/sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 100000, DEPTH_MAX = 4 };

void amun_layout_free(struct amun_layout *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		free(l->inspection[i].told);
	free(l->inspection);
	pool_free(&l->pool);
	*l = (struct amun_layout){ 0 };
}

static bool is_object(const struct jsontree *v)
{
	return v && v->type == JSONDOC_OBJECT;
}

static bool has(const struct jsontree *v, const char *key)
{
	return jsontree_find(v, key);
}

/* What the wrapper says around a script's output, or that output alone. */
static bool is_result(const struct jsontree *v)
{
	if (!is_object(v))
		return false;
	if (has(v, "stdout"))
		return has(v, "exit_code") || has(v, "usage") || has(v, "script_sha256") ||
		       has(v, "hwinfo") || has(v, "stderr");
	return (has(v, "exit_code") && has(v, "usage")) ||
	       (has(v, "@result") && has(v, "@parameters"));
}

/* ---- one result ---- */

/* Old logs are the text that the wrapper printed: it is JSON if the wrapper came to its end. */
static const struct jsontree *read_text(struct amun_layout *l, const char *text)
{
	struct err ignored;

	return text[strspn(text, " \t\r\n")] == '{'
		       ? jsontree_read(&l->pool, text, strlen(text), &ignored)
		       : NULL;
}

static const char *first_text(const struct jsontree *v, const char *a, const char *b)
{
	const char *text = jsontree_text(v, a);

	return text ? text : jsontree_text(v, b);
}

static struct amun_told told_of(struct amun_layout *l, const struct jsontree *v, int64_t number)
{
	const struct jsontree *inner = jsontree_find(v, "result");
	struct amun_told t = { .number = number };

	if (v->type == JSONDOC_STRING) {
		t.result = read_text(l, v->text);
		if (!is_result(t.result)) {
			t.result = NULL;
			t.log = v->text;
		}
	} else if (is_result(v)) {
		t.result = v;
	} else if (is_result(inner)) {
		t.result = inner;
		t.hwinfo = jsontree_find(v, "hwinfo");
	}
	if (!t.log)
		t.log = first_text(v, "log", "job_logs");
	return t;
}

static void add_told(struct amun_layout *l, struct amun_inspection *x, const struct jsontree *v,
		     int64_t number)
{
	void *grown = array_room(x->told, x->n, &x->cap, sizeof *x->told);

	if (!grown) {
		l->failed = true;
		return;
	}
	x->told = grown;
	x->told[x->n++] = told_of(l, v, number);
}

/* {"0": ..., "1": ...} counts from 0, as the folders do. */
static int64_t number_of(const char *key, int64_t otherwise)
{
	int64_t n = -1;

	return key && *key >= '0' && *key <= '9' && number_i64(&key, &n) && !*key && n >= 0 &&
			       n < NUMBER_MAX
		       ? n + 1
		       : otherwise;
}

/* A result, a list of results, or results by their number. */
static void add_results(struct amun_layout *l, struct amun_inspection *x, const struct jsontree *v)
{
	int64_t number = 0;

	if (v->type == JSONDOC_STRING || is_result(v) || is_result(jsontree_find(v, "result"))) {
		add_told(l, x, v, 1);
		return;
	}
	for (const struct jsontree *i = v->first; i; i = i->next)
		add_told(l, x, i, number_of(i->key, ++number));
}

/* ---- an inspection ---- */

static struct amun_inspection *add_inspection(struct amun_layout *l, const char *id)
{
	void *grown = array_room(l->inspection, l->n, &l->cap, sizeof *l->inspection);

	if (!grown) {
		l->failed = true;
		return NULL;
	}
	l->inspection = grown;
	l->inspection[l->n] = (struct amun_inspection){ .id = id };
	return &l->inspection[l->n++];
}

static const struct jsontree *results_of(const struct jsontree *v)
{
	static const char *const keys[] = { "results", "job_logs", "job_log" };

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		const struct jsontree *found = jsontree_find(v, keys[i]);

		if (found && found->type != JSONDOC_NULL)
			return found;
	}
	return NULL;
}

static bool is_inspection(const struct jsontree *v)
{
	const struct jsontree *results = results_of(v);
	bool named = has(v, "inspection_id") || has(v, "specification") || has(v, "build_log") ||
		     has(v, "build_logs");

	if (!is_object(v) || is_result(v))
		return false;
	if (!results)
		return has(v, "specification") && (has(v, "build_log") || has(v, "build_logs"));
	/* Other programs have results, too. */
	for (const struct jsontree *i = results->first; i && !named; i = i->next)
		named = is_result(i) || is_result(jsontree_find(i, "result"));
	return named || is_result(results);
}

/* As it says itself, or the key it is kept under: inspection-conv1d-0f845f38. */
static const char *id_of(const struct jsontree *v, const char *key)
{
	const char *id = first_text(v, "inspection_id", "inspection_document_id");

	if (!id)
		id = first_text(jsontree_find(v, "result"), "inspection_id",
				"inspection_document_id");
	if (!id && key && !strncmp(key, "inspection-", strlen("inspection-")))
		id = key;
	return id && *id && strlen(id) <= AMUN_ID_MAX ? id : NULL;
}

static void add_whole(struct amun_layout *l, const struct jsontree *v, const char *key)
{
	struct amun_inspection *x = add_inspection(l, id_of(v, key));
	const struct jsontree *results = results_of(v);
	const struct jsontree *job = jsontree_find(jsontree_find(v, "status"), "job");

	if (!x)
		return;
	x->specification = jsontree_find(v, "specification");
	if (!is_object(x->specification))
		x->specification = NULL;
	x->created = jsontree_text(v, "created");
	if (!x->created)
		x->created = jsontree_text(x->specification, "@created");
	x->started = jsontree_text(job, "started_at");
	x->ended = jsontree_text(job, "finished_at");
	if (results)
		add_results(l, x, results);
}

/* ---- a document ---- */

static bool is_monkey(const struct jsontree *v)
{
	const struct jsontree *responses = jsontree_find(v, "responses");

	return responses && responses->type == JSONDOC_ARRAY && has(v, "skipped");
}

static void find(struct amun_layout *l, const struct jsontree *v, const char *key, unsigned depth);

/* Results side by side are those of one inspection. */
static void find_in_list(struct amun_layout *l, const struct jsontree *v, const char *key,
			 unsigned depth)
{
	uint32_t at = UINT32_MAX; /* of the inspection; the array moves */
	int64_t number = 0;

	for (const struct jsontree *i = v->first; i && !l->failed; i = i->next) {
		number++;
		if (!is_result(i) && !is_result(jsontree_find(i, "result"))) {
			find(l, i, NULL, depth + 1);
			continue;
		}
		if (at == UINT32_MAX && add_inspection(l, id_of(i, key)))
			at = l->n - 1;
		if (at != UINT32_MAX)
			add_told(l, &l->inspection[at], i, number);
	}
}

static void find(struct amun_layout *l, const struct jsontree *v, const char *key, unsigned depth)
{
	struct amun_inspection *x;

	if (depth > DEPTH_MAX || (v->type != JSONDOC_OBJECT && v->type != JSONDOC_ARRAY))
		return;
	if (v->type == JSONDOC_ARRAY) {
		find_in_list(l, v, key, depth);
	} else if (is_inspection(v)) {
		add_whole(l, v, key);
	} else if (is_result(v) || is_result(jsontree_find(v, "result"))) {
		x = add_inspection(l, id_of(v, key));
		if (x)
			add_told(l, x, v, 1);
	} else if (is_monkey(v)) {
		l->monkey = v;
	} else {
		for (const struct jsontree *i = v->first; i; i = i->next)
			find(l, i, i->key, depth + 1);
	}
}

/* Keys may say a number twice, or one that another has by its place. */
static bool find_repeats(struct amun_inspection *x)
{
	int64_t most = 0;
	bool *taken, well;

	for (uint32_t i = 0; i < x->n; i++)
		most = x->told[i].number > most ? x->told[i].number : most;
	taken = calloc((size_t)most + 1, sizeof *taken);
	well = taken;
	for (uint32_t i = 0; taken && i < x->n; i++) {
		struct amun_told *t = &x->told[i];

		t->again = taken[t->number];
		taken[t->number] |= t->result || t->log;
	}
	free(taken);
	return well;
}

int amun_layout_read(struct amun_layout *l, const struct jsontree *document, struct err *e)
{
	const struct jsontree *metadata = jsontree_find(document, "metadata");

	*l = (struct amun_layout){ .arguments = jsontree_find(metadata, "arguments"),
				   .date = jsontree_text(metadata, "datetime") };
	find(l, document, NULL, 0);
	for (uint32_t i = 0; i < l->n && !l->failed; i++)
		l->failed = !find_repeats(&l->inspection[i]);
	if (l->failed)
		return err_set(e, -ENOMEM, "out of memory for inspections");
	if (!l->n && !l->monkey)
		return err_set(e, -ENOENT,
			       "neither a result or an inspection of Amun nor a report of "
			       "Dependency Monkey is in it");
	return 0;
}

/* ---- facts of machines and software ---- */

void amun_facts_free(struct amun_facts *f)
{
	bench_facts_free(&f->facts);
	*f = (struct amun_facts){ 0 };
}

/* Of the lock: {"default": {"numpy": {"version": "==1.2"}}}. */
static void packages(struct bench_facts *f, const struct jsontree *specification)
{
	const struct jsontree *python = jsontree_find(specification, "python");
	const struct jsontree *lock = jsontree_find(python, "requirements_locked");
	const struct jsontree *all = jsontree_find(lock, "default");
	char name[BENCH_FACT_NAME];

	for (const struct jsontree *v = all && all->type == JSONDOC_OBJECT ? all->first : NULL; v;
	     v = v->next) {
		const char *version = jsontree_text(v, "version");

		snprintf(name, sizeof name, "package.%.250s", v->key);
		if (version)
			bench_facts_add(f, name, version + strspn(version, "="));
	}
}

static void hwinfo_beside(struct amun_facts *f, const char *folder, int64_t number)
{
	char path[PATH_MAX];
	const struct jsontree *hwinfo = NULL;
	struct pool pool = { 0 };
	struct bytes b = { 0 };
	struct err e = { "" };
	int rc;

	if (!*folder || (size_t)snprintf(path, sizeof path, "%s/results/%" PRId64 "/hwinfo", folder,
					 number) >= sizeof path)
		return;
	rc = textfile_read(path, "hwinfo", CONTRACT_DOCUMENT, &b, &e);
	if (!rc && b.len) {
		hwinfo = jsontree_read(&pool, b.data, b.len, &e);
		bench_facts_flatten(&f->facts, "hwinfo", hwinfo);
	}
	if (rc && rc != -ENOENT)
		f->wrong = e;
	else if (!rc && b.len && !hwinfo)
		err_set(&f->wrong, -EBADMSG, "%.300s: %s", path, e.text);
	bytes_free(&b);
	pool_free(&pool);
}

static bool is_filled(const struct jsontree *v)
{
	return v && v->type == JSONDOC_OBJECT && v->first;
}

void amun_facts_of(struct amun_facts *f, const struct amun_facts_source *s)
{
	const struct jsontree *hwinfo = jsontree_find(s->result, "hwinfo");

	if (is_filled(hwinfo) || is_filled(s->hwinfo))
		bench_facts_flatten(&f->facts, "hwinfo", is_filled(hwinfo) ? hwinfo : s->hwinfo);
	else
		hwinfo_beside(f, s->folder, s->number);
	bench_facts_flatten(&f->facts, "os_release", jsontree_find(s->result, "os_release"));
	bench_facts_flatten(&f->facts, "runtime_environment",
			    jsontree_find(s->result, "runtime_environment"));
	packages(&f->facts, s->specification);
}

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
	struct trial_batch b = { .uid = uid, .source = "amun" };
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
