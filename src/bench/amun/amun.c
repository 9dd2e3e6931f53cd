/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/amun/amun.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/text/number.h"
#include "base/text/textfile.h"
#include "bench/amun/amun_layout.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { RESULTS_MAX = 100000, KEPT_BYTES = 65536, FAILURES_TOLD = 20 };

int64_t amun_time(const char *text)
{
	int64_t ns;

	return text && clock_of_iso(text, &ns) ? ns : 0;
}

/* ---- a result ---- */

static void take_usage(struct trial *t, const struct jsontree *usage)
{
	for (unsigned i = 0; i < TRIAL_USAGES; i++) {
		double v = jsontree_number(usage, trial_usage_names[i]);

		t->usage[i] = v >= 0 && v < 1e15 ? v : (double)NAN;
	}
}

/* Cut where a row has no room for more. */
static const char *shortened(struct pool *pool, const char *text)
{
	return text ? pool_text(pool, text, strnlen(text, KEPT_BYTES)) : NULL;
}

static const char *output_of(struct pool *pool, const struct jsontree *v)
{
	struct bytes b = { 0 };
	struct json j = { .out = &b };
	const char *kept = NULL;

	if (!v)
		return NULL;
	if (v->type == JSONDOC_STRING)
		return shortened(pool, v->text);
	jsontree_write(&j, v);
	if (!b.failed)
		kept = pool_text(pool, (const char *)b.data,
				 b.len < KEPT_BYTES ? b.len : KEPT_BYTES);
	bytes_free(&b);
	return kept;
}

/* What Amun's wrapper says around what the script printed. */
static void take_result(struct trial *t, const struct jsontree *v, struct pool *pool)
{
	const char *start = jsontree_text(v, "start_datetime");

	t->exit_code = jsontree_number(v, "exit_code");
	t->host = jsontree_text(v, "hostname");
	t->script_sha256 = jsontree_text(v, "script_sha256");
	t->start_ns = amun_time(start ? start : jsontree_text(v, "datetime"));
	t->end_ns = amun_time(jsontree_text(v, "end_datetime"));
	if (t->start_ns && t->end_ns >= t->start_ns)
		t->duration_s = (double)(t->end_ns - t->start_ns) / 1e9;
	take_usage(t, jsontree_find(v, "usage"));
	t->err = shortened(pool, jsontree_text(v, "stderr"));
	t->out = output_of(pool, jsontree_find(v, "stdout"));
	if (!isnan(t->exit_code) && t->exit_code != 0)
		snprintf(t->reason, sizeof t->reason, "it ended with exit code %.0f", t->exit_code);
}

/* A file that is JSON, or NULL and *e says why. */
static const struct jsontree *read_json(const char *path, const char *what, struct pool *pool,
					char digest[SHA256_HEX], struct err *e)
{
	struct bytes b = { 0 };
	const struct jsontree *v = NULL;
	struct err why = { "" };

	if (!textfile_read(path, what, CONTRACT_DOCUMENT, &b, e)) {
		v = jsontree_read(pool, b.len ? b.data : (const uint8_t *)"", b.len, &why);
		if (!v)
			err_set(e, -EBADMSG, "%.300s: %s", path, why.text);
		else if (digest)
			sha256_hex(digest, b.data, b.len);
	}
	bytes_free(&b);
	return v;
}

struct inspection {
	struct trial_batch batch;
	char folder[PATH_MAX];
	const struct jsontree *specification;
	struct pool pool;
};

struct result {
	int64_t number; /* from 1 */
	const char *path;
	const struct jsontree *document; /* NULL: there is none, and why: */
	const char *why;
	const char *log;               /* what the container said; NULL: it is not there */
	const struct jsontree *hwinfo; /* that lies beside the result */
	const char *started, *ended;   /* by the cluster; NULL: not known */
};

/* What is in the result, and what it says of how it came about. */
static int take_document(struct trial *t, struct contract *said, const struct result *r,
			 struct pool *pool)
{
	struct err why = { "" };
	int rc = contract_take(said, r->document, &why);

	if (rc == -ENOMEM)
		return rc;
	if (said->wrapped)
		take_result(t, said->wrapped, pool);
	t->said = said;
	t->said_well = !rc;
	if (rc && !*t->reason)
		snprintf(t->reason, sizeof t->reason, "%s", why.text);
	return 0;
}

static void take_cluster_times(struct trial *t, const struct result *r)
{
	if (t->start_ns || t->end_ns)
		return;
	t->start_ns = amun_time(r->started);
	t->end_ns = amun_time(r->ended);
}

/* Nothing that failed goes by unsaid. */
static void tell_failure(struct amun *a, const struct inspection *x, const struct trial *t)
{
	if (!*t->reason)
		return;
	a->failed++;
	if (a->failed <= FAILURES_TOLD)
		trial_note_put(a->note, "%.200s, result %" PRId64 " failed: %.500s",
			       x->batch.uid + strlen("amun:"), t->number - 1, t->reason);
	else if (a->failed == FAILURES_TOLD + 1)
		trial_note_put(a->note, "more results failed; sonde bench list and show tell why");
}

static int put_result(struct amun *a, struct inspection *x, const struct result *r, struct err *e)
{
	struct contract said = { 0 };
	struct amun_facts facts = { 0 };
	struct pool pool = { 0 };
	struct trial t;
	int rc = 0;

	trial_init(&t, r->number);
	if (r->document)
		rc = take_document(&t, &said, r, &pool);
	else
		snprintf(t.reason, sizeof t.reason, "%s", r->why);
	if (r->log && !(t.err && *t.err))
		t.err = r->log;
	t.path = r->path;
	take_cluster_times(&t, r);
	amun_facts_of(&facts, &(struct amun_facts_source){
				      said.wrapped ? said.wrapped : r->document, x->specification,
				      r->hwinfo, x->folder, r->number - 1 });
	if (*facts.wrong.text)
		trial_note_put(a->note, "%.600s; the facts in it are left out", facts.wrong.text);
	if (facts.facts.left_out)
		trial_note_put(
			a->note,
			"%.300s: %u facts of its machine and software are left out: it has more than "
			"there is room for",
			r->path, facts.facts.left_out);
	if (rc || facts.facts.failed)
		rc = err_set(e, -ENOMEM, "out of memory for a trial");
	if (!rc)
		rc = environment_put(a->store->database, facts.facts.fact, facts.facts.n,
				     &t.environment_id, e);
	if (!rc)
		rc = trial_put(a->store, &x->batch, &t, e);
	a->trials += !rc;
	if (!rc)
		tell_failure(a, x, &t);
	amun_facts_free(&facts);
	contract_free(&said);
	pool_free(&pool);
	return rc;
}

/* The end of it: there it says why there is no more. */
static const char *log_beside(const char *result, struct pool *pool)
{
	char path[PATH_MAX];
	struct bytes b = { 0 };
	const char *kept = NULL;
	struct err e;
	size_t cut;

	snprintf(path, sizeof path, "%.*slog", (int)(strlen(result) - strlen("result")), result);
	if (!textfile_read(path, "log", CONTRACT_DOCUMENT, &b, &e) && b.len) {
		cut = b.len > KEPT_BYTES ? b.len - KEPT_BYTES : 0;
		kept = pool_text(pool, (const char *)b.data + cut, b.len - cut);
	}
	bytes_free(&b);
	return kept;
}

static int import_result(struct amun *a, struct inspection *x, int64_t number, const char *path,
			 struct err *e)
{
	struct result r = { .number = number, .path = path };
	struct pool pool = { 0 };
	struct err why = { "" };
	int rc = trial_exists(a->store->database, &x->batch, number, e);

	if (rc) {
		a->there_already += rc > 0;
		return rc < 0 ? rc : 0;
	}
	r.document = read_json(path, "result", &pool, NULL, &why);
	r.why = why.text;
	r.log = log_beside(path, &pool);
	if (!r.document && !r.log) {
		trial_note_put(a->note, "%.700s; it is left out", why.text);
		a->left_out++;
	} else {
		rc = put_result(a, x, &r, e);
	}
	pool_free(&pool);
	return rc;
}

/* ---- an inspection ---- */

static int compare_numbers(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The N of results/N, ascending. */
static int find_results(const char *folder, int64_t **number, uint32_t *n, struct err *e)
{
	char path[PATH_MAX];
	uint32_t cap = 0;
	struct dirent *d;
	DIR *dir;
	int rc = 0;

	*number = NULL;
	*n = 0;
	if ((size_t)snprintf(path, sizeof path, "%s/results", folder) >= sizeof path)
		return err_set(e, -ENAMETOOLONG, "a name in %.200s is too long", folder);
	dir = opendir(path);
	if (!dir)
		return err_set(e, -errno, "cannot read %.300s: %s", path, strerror(errno));
	while (!rc && (d = readdir(dir))) {
		const char *at = d->d_name;
		int64_t value;
		void *grown;

		if (*at < '0' || *at > '9' || !number_i64(&at, &value) || *at ||
		    value > RESULTS_MAX)
			continue;
		grown = array_room(*number, *n, &cap, sizeof **number);
		if (!grown) {
			rc = err_set(e, -ENOMEM, "out of memory for results");
			continue;
		}
		*number = grown;
		(*number)[(*n)++] = value;
	}
	closedir(dir);
	if (*n)
		qsort(*number, *n, sizeof **number, compare_numbers);
	return rc;
}

static void tell_missing(struct amun *a, const struct inspection *x, const int64_t *number,
			 uint32_t n)
{
	double wanted = jsontree_number(x->specification, "batch_size");
	int64_t last = n ? number[n - 1] + 1 : 0;

	if (last > n)
		trial_note_put(a->note,
			       "%.300s: %" PRId64 " of %" PRId64 " results are missing in between",
			       x->folder, last - n, last);
	if (wanted > (double)last)
		trial_note_put(a->note,
			       "%.300s: a batch of %.0f was requested, but %" PRId64
			       " results came",
			       x->folder, wanted, last);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void take_specification(struct inspection *x)
{
	struct bytes b = { 0 };
	struct json j = { .out = &b };

	x->batch.origin = jsontree_text(x->specification, "script");
	x->batch.start_ns = amun_time(jsontree_text(x->specification, "@created"));
	jsontree_write(&j, x->specification);
	if (!b.failed)
		x->batch.specification = pool_text(&x->pool, (const char *)b.data, b.len);
	bytes_free(&b);
}

static void read_specification(struct amun *a, struct inspection *x)
{
	char path[PATH_MAX];
	struct stat st;
	struct err why = { "" };

	if ((size_t)snprintf(path, sizeof path, "%s/build/specification", x->folder) >=
		    sizeof path ||
	    stat(path, &st))
		return;
	x->specification = read_json(path, "specification", &x->pool, NULL, &why);
	if (!x->specification) {
		trial_note_put(a->note, "%.700s; the inspection is taken without it", why.text);
		return;
	}
	take_specification(x);
}

static int in_transaction(struct amun *a, struct inspection *x, const int64_t *number, uint32_t n,
			  struct err *e)
{
	struct database *s = a->store->database;
	char path[PATH_MAX];
	int rc = database_begin(s, e);

	if (!rc)
		rc = batch_put(s, &x->batch, e);
	for (uint32_t i = 0; i < n && !rc; i++) {
		if ((size_t)snprintf(path, sizeof path, "%s/results/%" PRId64 "/result", x->folder,
				     number[i]) < sizeof path)
			rc = import_result(a, x, number[i] + 1, path, e);
	}
	if (!rc)
		return database_commit(s, e);
	database_rollback(s);
	return rc;
}

static int import_inspection(struct amun *a, const char *folder, struct err *e)
{
	struct inspection x = { .batch = { .source = "amun" } };
	char uid[NAME_MAX + 16];
	int64_t *number = NULL;
	uint32_t n = 0;
	int rc;

	if (!realpath(folder, x.folder))
		return err_set(e, -errno, "cannot read %.300s: %s", folder, strerror(errno));
	snprintf(uid, sizeof uid, "amun:%.255s", base_name(x.folder));
	x.batch.uid = uid;
	rc = find_results(x.folder, &number, &n, e);
	if (!rc) {
		read_specification(a, &x);
		tell_missing(a, &x, number, n);
		rc = in_transaction(a, &x, number, n, e);
	}
	a->inspections += !rc;
	free(number);
	pool_free(&x.pool);
	return rc;
}

/* ---- what was named ---- */

static bool is_inspection(const char *path)
{
	char results[PATH_MAX];
	struct stat st;

	return (size_t)snprintf(results, sizeof results, "%s/results", path) < sizeof results &&
	       !stat(results, &st) && S_ISDIR(st.st_mode);
}

/* ---- a document ---- */

static int put_told(struct amun *a, struct inspection *x, const struct amun_inspection *from,
		    const char *path, struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; i < from->n && !rc; i++) {
		const struct amun_told *told = &from->told[i];
		const struct result r = { .number = told->number,
					  .path = path,
					  .document = told->result,
					  .why = "no result is in it",
					  .log = shortened(&x->pool, told->log),
					  .hwinfo = told->hwinfo,
					  .started = from->n == 1 ? from->started : NULL,
					  .ended = from->n == 1 ? from->ended : NULL };

		if (told->again || (!r.document && !r.log)) {
			trial_note_put(a->note, "%.200s, result %" PRId64 "%s",
				       x->batch.uid + strlen("amun:"), r.number - 1,
				       told->again ? " is in it more than once; the first is taken"
						   : ": no result is in it; it is left out");
			a->left_out++;
			continue;
		}
		rc = trial_exists(a->store->database, &x->batch, r.number, e);
		a->there_already += rc > 0;
		rc = rc ? (rc < 0 ? rc : 0) : put_result(a, x, &r, e);
	}
	return rc;
}

/* One that says no name has that of its document's content. */
static int import_told(struct amun *a, const struct amun_inspection *from, const char *name,
		       const char *path, struct err *e)
{
	struct inspection x = { .batch = { .source = "amun" },
				.specification = from->specification };
	char uid[320];
	int rc;

	snprintf(uid, sizeof uid, "amun:%.300s", from->id ? from->id : name);
	x.batch.uid = uid;
	if (x.specification)
		take_specification(&x);
	if (!x.batch.start_ns)
		x.batch.start_ns = amun_time(from->created);
	if (!from->n) {
		trial_note_put(a->note, "%.300s has no result: it was not run, or its build failed",
			       uid + 5);
		a->left_out++;
	}
	rc = database_begin(a->store->database, e);
	if (!rc) {
		rc = batch_put(a->store->database, &x.batch, e);
		if (!rc)
			rc = put_told(a, &x, from, path, e);
		if (!rc)
			rc = database_commit(a->store->database, e);
		else
			database_rollback(a->store->database);
	}
	a->inspections += !rc;
	pool_free(&x.pool);
	return rc;
}

static int import_layout(struct amun *a, const struct amun_layout *l, const char *digest,
			 const char *path, struct err *e)
{
	char name[SHA256_HEX + 16];
	int rc = 0;

	for (uint32_t i = 0; i < l->n && !rc; i++) {
		if (i)
			snprintf(name, sizeof name, "%s-%" PRIu32, digest, i + 1);
		else
			snprintf(name, sizeof name, "%s", digest);
		rc = import_told(a, &l->inspection[i], name, path, e);
	}
	if (!rc && l->monkey)
		rc = amun_monkey_import(a, l, digest, path, e);
	return rc;
}

static int import_document(struct amun *a, const char *path, struct err *e)
{
	char digest[SHA256_HEX], absolute[PATH_MAX];
	struct pool pool = { 0 };
	struct amun_layout l = { 0 };
	struct err why = { "" };
	const struct jsontree *document = read_json(path, "result", &pool, digest, e);
	int rc = document ? amun_layout_read(&l, document, &why) : -EBADMSG;

	if (document && rc)
		err_set(e, rc, "%.300s: %s", path, why.text);
	if (!rc)
		rc = import_layout(a, &l, digest, realpath(path, absolute) ? absolute : path, e);
	amun_layout_free(&l);
	pool_free(&pool);
	return rc;
}

/* ---- a folder of them ---- */

static bool is_document(const char *name, const char *path)
{
	const char *dot = strrchr(name, '.');
	struct stat st;

	return ((dot && !strcmp(dot, ".json")) ||
		!strncmp(name, "inspection-", strlen("inspection-"))) &&
	       !stat(path, &st) && S_ISREG(st.st_mode);
}

/* What is not theirs is left out, and said. */
static int import_one(struct amun *a, const char *name, const char *path, uint32_t *found,
		      struct err *e)
{
	struct err why = { "" };
	int rc;

	if (is_inspection(path)) {
		++*found;
		return import_inspection(a, path, e);
	}
	if (!is_document(name, path))
		return 0;
	++*found;
	rc = import_document(a, path, &why);
	if (rc != -ENOENT && rc != -EBADMSG)
		return rc ? err_set(e, rc, "%s", why.text) : 0;
	trial_note_put(a->note, "%.700s; it is left out", why.text);
	a->left_out++;
	return 0;
}

static int import_folder(struct amun *a, const char *path, struct err *e)
{
	struct dirent **names = NULL;
	int n = scandir(path, &names, NULL, alphasort), rc = 0;
	uint32_t found = 0;

	if (n < 0)
		return err_set(e, -errno, "cannot read %.300s: %s", path, strerror(errno));
	for (int i = 0; i < n; i++) {
		char inner[PATH_MAX];

		if (!rc && names[i]->d_name[0] != '.' &&
		    (size_t)snprintf(inner, sizeof inner, "%s/%s", path, names[i]->d_name) <
			    sizeof inner)
			rc = import_one(a, names[i]->d_name, inner, &found, e);
		free(names[i]);
	}
	free(names);
	if (!rc && !found)
		return err_set(
			e, -ENOENT,
			"there is no inspection of Amun in %.300s: a folder with results/0/result, "
			"a folder of such, or a document of one or several",
			path);
	return rc;
}

int amun_import(struct amun *a, const char *path, struct err *e)
{
	struct stat st;

	if (stat(path, &st))
		return err_set(e, -errno, "cannot read %.300s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return import_document(a, path, e);
	return is_inspection(path) ? import_inspection(a, path, e) : import_folder(a, path, e);
}
