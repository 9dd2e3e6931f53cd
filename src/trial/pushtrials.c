/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/pushtrials.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/text/jsontree.h"
#include "bench/group.h"
#include "core/tracker.h"
#include "session/history.h"
#include "store/database.h"
#include "trial/lockfile.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BENCH "bench:"
#define SWEEP "sweep:"

enum { KEY = 251 /* with its NUL: MLflow's limit */ };

/* A combination of a sweep, or a batch alone. */
struct point {
	int64_t batch;
	const char *stack, *environment, *parameters; /* NULL: of no sweep */
};

/* What ran the trials of a batch. */
struct software {
	int64_t batch, environment;
	struct push_list *facts;
	const char *lock; /* of all.file; NULL: none */
};

struct trials_read {
	struct pushtrials *x;
	struct database *s;
	struct point *point;
	struct software *software;
	uint32_t npoints, point_cap, nsoftware, software_cap;
};

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for the trials");
}

static char *keep(struct trials_read *r, const char *text)
{
	return text ? pool_text(&r->x->pool, text, strlen(text)) : NULL;
}

/* ---- lists ---- */

static const char *find(const struct push_list *l, const char *name)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].name, name))
			return l->v[i].text;
	return NULL;
}

static int add_as_is(struct trials_read *r, struct push_list *l, const char *name, const char *text)
{
	void *grown = array_room(l->v, l->n, &l->cap, sizeof *l->v);
	const struct push_text new = { keep(r, name), keep(r, text) };

	if (grown)
		l->v = grown;
	if (!grown || !new.name || !new.text)
		return -ENOMEM;
	l->v[l->n++] = new;
	return 0;
}

/* What is not known, or is there by that name, stays out. */
static int add(struct trials_read *r, struct push_list *l, const char *name, const char *text)
{
	char key[KEY];

	tracker_key(key, sizeof key, name);
	return text && *text && !find(l, key) ? add_as_is(r, l, key, text) : 0;
}

static int add_number(struct trials_read *r, struct push_list *l, const char *name, int64_t v)
{
	char text[32];

	snprintf(text, sizeof text, "%" PRId64, v);
	return add(r, l, name, text);
}

/* A second one of a name is told by a prefix; of the same value it tells nothing. */
static int add_of_sweep(struct trials_read *r, struct push_list *l, const char *name,
			const char *text)
{
	char variable[KEY + 8], other[KEY + 8];
	const char *said = find(l, name), *set;

	snprintf(variable, sizeof variable, "env.%.240s", name);
	snprintf(other, sizeof other, "sweep.%.240s", name);
	set = find(l, variable);
	if (!text || (said && !strcmp(said, text)) || (set && !strcmp(set, text)))
		return 0;
	return add(r, l, said ? other : name, text);
}

/* ---- software ---- */

static int read_facts(struct trials_read *r, struct push_list *l, int64_t environment,
		      struct err *e)
{
	const struct field v = field_int(environment), *row;
	int rc = database_query(r->s,
				"SELECT name, text FROM environment_facts WHERE environment_id = "
				"$1 ORDER BY name",
				&v, 1, e);

	while (!rc && (rc = database_next(r->s, &row, e)) > 0)
		rc = row[0].s && row[1].s && add_as_is(r, l, row[0].s, row[1].s) ? no_memory(e) : 0;
	return rc;
}

/* Files of the same text are one. */
static int add_file(struct trials_read *r, struct software *w, const char *name, struct bytes *text)
{
	struct push_trials *all = &r->x->all;
	char digest[SHA256_HEX], path[120];
	struct push_file f = { .length = text->len };
	void *grown;

	sha256_hex(digest, text->data, text->len);
	snprintf(path, sizeof path, "locks/%.8s/%s", digest, name);
	for (uint32_t i = 0; i < all->nfiles && !w->lock; i++)
		w->lock = !strcmp(all->file[i].name, path) ? all->file[i].name : NULL;
	if (w->lock)
		return 0;
	grown = array_room(all->file, all->nfiles, &all->file_cap, sizeof *all->file);
	if (grown)
		all->file = grown;
	f.name = keep(r, path);
	f.data = pool_text(&r->x->pool, (const char *)text->data, text->len);
	if (!grown || !f.name || !f.data)
		return -ENOMEM;
	all->file[all->nfiles++] = f;
	w->lock = f.name;
	return 0;
}

/* In the pool, like what is in it. */
static struct push_list *keep_list(struct trials_read *r, const struct push_list *l)
{
	struct push_list *kept = pool_take(&r->x->pool, sizeof *kept);
	struct push_text *v = pool_take(&r->x->pool, (l->n + 1u) * sizeof *v);

	if (!kept || !v)
		return NULL;
	if (l->n)
		memcpy(v, l->v, l->n * sizeof *v);
	*kept = (struct push_list){ .v = v, .n = l->n };
	return kept;
}

static int make_software(struct trials_read *r, struct software *w, const char *specification,
			 struct err *e)
{
	struct push_list facts = { 0 };
	struct bytes text = { 0 };
	const char *name;
	int rc = w->environment ? read_facts(r, &facts, w->environment, e) : 0;

	w->facts = rc ? NULL : keep_list(r, &facts);
	free(facts.v);
	if (!w->facts)
		return rc ? rc : no_memory(e);
	name = rc ? NULL : lockfile_make(&text, w->facts, specification);
	if (text.failed || (name && add_file(r, w, name, &text)))
		rc = no_memory(e);
	bytes_free(&text);
	return rc;
}

/* NULL with a sentence: it failed. */
static const struct software *software_of(struct trials_read *r, const struct bench_group *g,
					  int64_t environment, struct err *e)
{
	struct software w = { .batch = g->batch.id, .environment = environment };
	void *grown;

	for (uint32_t i = r->nsoftware; i-- > 0 && r->software[i].batch == w.batch;)
		if (r->software[i].environment == environment)
			return &r->software[i];
	grown = array_room(r->software, r->nsoftware, &r->software_cap, sizeof *r->software);
	if (grown)
		r->software = grown;
	if (make_software(r, &w, g->batch.specification, e))
		return NULL;
	if (!grown) {
		no_memory(e);
		return NULL;
	}
	r->software[r->nsoftware] = w;
	return &r->software[r->nsoftware++];
}

/* ---- a trial ---- */

static int add_parameters(struct trials_read *r, struct push_list *l, const struct bench_group *g,
			  uint32_t at, const struct software *w)
{
	int rc = 0;

	for (uint32_t i = 0; i < g->nparameters && !rc; i++)
		rc = add(r, l, g->parameter[i].name, g->parameter[i].text[at]);
	for (uint32_t i = 0; i < w->facts->n && !rc; i++)
		if (!strncmp(w->facts->v[i].name, "env.", 4))
			rc = add(r, l, w->facts->v[i].name, w->facts->v[i].text);
	return rc ? rc : add(r, l, "script.arguments", find(w->facts, "script.arguments"));
}

/* What the matrix says of it. */
static int add_point(struct trials_read *r, struct push_list *l, const struct point *p)
{
	struct pool pool = { 0 };
	struct err ignored;
	const struct jsontree *v =
		p->parameters ? jsontree_read(&pool, p->parameters, strlen(p->parameters), &ignored)
			      : NULL;
	int rc = add_of_sweep(r, l, "stack", p->stack);

	if (!rc)
		rc = add_of_sweep(r, l, "environment", p->environment);
	for (v = v ? v->first : NULL; v && !rc; v = v->next)
		rc = v->key && v->type == JSONDOC_STRING ? add_of_sweep(r, l, v->key, v->text) : 0;
	pool_free(&pool);
	return rc;
}

static int add_tags(struct trials_read *r, struct push_list *l, const struct bench_group *g,
		    uint32_t at, const struct software *w)
{
	static const char *const facts[][2] = { { "sonde.git_commit", "script.git_commit" },
						{ "sonde.git_branch", "script.git_branch" },
						{ "sonde.git_dirty", "script.git_dirty" },
						{ "sonde.stack_fingerprint",
						  "stack.fingerprint" } };
	const struct bench_row *row = &g->row[at];
	char name[KEY + 16], lock[200] = "";
	int rc = add_number(r, l, "sonde.batch", g->batch.id);

	snprintf(lock, sizeof lock, "%s%s", w->lock ? "sonde/" : "", w->lock ? w->lock : "");
	if (rc || add_number(r, l, "sonde.trial", row->number) ||
	    add(r, l, "sonde.indicator", g->indicator) ||
	    add(r, l, "sonde.component", row->component) ||
	    add(r, l, "sonde.script_version", row->version) || add(r, l, "sonde.host", row->host) ||
	    add(r, l, "sonde.reason", row->reason) || add(r, l, "sonde.lock", lock))
		return -ENOMEM;
	for (size_t i = 0; i < sizeof facts / sizeof facts[0] && !rc; i++)
		rc = add(r, l, facts[i][0], find(w->facts, facts[i][1]));
	for (uint32_t i = g->nparameters; i < g->ntexts && !rc; i++) {
		snprintf(name, sizeof name, "sonde.result.%.240s", g->parameter[i].name);
		rc = add(r, l, name, g->parameter[i].text[at]);
	}
	return rc;
}

static int add_figures(struct trials_read *r, struct push_trial *t, const struct bench_group *g,
		       uint32_t at)
{
	char key[KEY];

	t->figure = pool_take(&r->x->pool, (g->nfigures + 1u) * sizeof *t->figure);
	if (!t->figure)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->nfigures; i++) {
		double v = g->figure[i].value[at];
		bool there = false;

		tracker_key(key, sizeof key, g->figure[i].name);
		for (uint32_t k = 0; k < t->nfigures; k++)
			there |= !strcmp(t->figure[k].name, key);
		if (!isfinite(v) || there)
			continue;
		t->figure[t->nfigures] = (struct push_number){ keep(r, key), v };
		if (!t->figure[t->nfigures++].name)
			return -ENOMEM;
	}
	return 0;
}

/* Of a trial that was never started, those of its batch. */
static void add_times(struct push_trial *t, const struct bench_group *g, uint32_t at)
{
	const struct bench_row *row = &g->row[at];
	int64_t start_ns = row->start_ns ? row->start_ns : g->batch.start_ns;

	t->start_ms = start_ns / NS_PER_MS;
	t->end_ms = t->start_ms;
	if (isfinite(row->duration_s) && row->duration_s > 0 && row->duration_s < 1e9)
		t->end_ms += llround(row->duration_s * 1e3);
}

static int add_trial(struct trials_read *r, const struct point *p, const struct bench_group *g,
		     uint32_t at, struct err *e)
{
	const struct software *w = software_of(r, g, g->row[at].environment_id, e);
	struct push_trials *all = &r->x->all;
	void *grown = array_room(all->trial, all->n, &all->cap, sizeof *all->trial);
	struct push_trial *t;
	char uid[600], name[64];

	if (!w)
		return -EIO;
	if (!grown)
		return no_memory(e);
	all->trial = grown;
	t = &all->trial[all->n++];
	*t = (struct push_trial){ .failed = g->row[at].reason != NULL, .facts = w->facts };
	snprintf(uid, sizeof uid, "%.250s %.250s/%" PRId64, all->uid, g->batch.uid,
		 g->row[at].number);
	snprintf(name, sizeof name, BENCH "%" PRId64 "/%" PRId64, g->batch.id, g->row[at].number);
	add_times(t, g, at);
	t->uid = keep(r, uid);
	t->name = keep(r, name);
	if (!t->uid || !t->name || add_parameters(r, &t->parameters, g, at, w) ||
	    add_point(r, &t->parameters, p) || add_tags(r, &t->tags, g, at, w) ||
	    add_figures(r, t, g, at))
		return no_memory(e);
	if (!all->start_ms || (t->start_ms && t->start_ms < all->start_ms))
		all->start_ms = t->start_ms;
	all->end_ms = t->end_ms > all->end_ms ? t->end_ms : all->end_ms;
	return 0;
}

/* ---- which trials ---- */

static int add_point_of(struct trials_read *r, const struct field *row, struct err *e)
{
	void *grown = array_room(r->point, r->npoints, &r->point_cap, sizeof *r->point);

	if (!grown)
		return no_memory(e);
	r->point = grown;
	r->point[r->npoints++] =
		(struct point){ row[0].i, keep(r, row[1].s), keep(r, row[2].s), keep(r, row[3].s) };
	return 0;
}

static int read_points(struct trials_read *r, int64_t sweep, struct err *e)
{
	const struct field v = field_int(sweep), *row;
	int rc = database_query(r->s,
				"SELECT batch_id, stack, environment, parameters, skipped FROM "
				"sweep_points WHERE sweep_id = $1 ORDER BY combination",
				&v, 1, e);

	while (!rc && (rc = database_next(r->s, &row, e)) > 0) {
		r->x->all.nskipped += row[4].s != NULL;
		rc = row[0].type == FIELD_INT ? add_point_of(r, row, e) : 0;
	}
	return rc;
}

/* A sweep that grew is another one that has the trials of the first: it goes where that went. */
static int find_uid(struct trials_read *r, int64_t sweep, struct err *e)
{
	const struct field v = field_int(sweep), *row = NULL;
	char uid[300];
	int rc = database_first(
		r->s,
		"SELECT w.uid FROM sweeps w JOIN sweeps x ON COALESCE(w.identifier, '') = "
		"COALESCE(x.identifier, '') WHERE x.id = $1 AND (w.id = x.id OR EXISTS (SELECT 1 "
		"FROM sweep_points p JOIN sweep_points q ON p.batch_id = q.batch_id WHERE "
		"p.sweep_id = x.id AND q.sweep_id = w.id)) ORDER BY w.id LIMIT 1",
		&v, 1, &row, e);

	if (rc < 0)
		return rc;
	snprintf(uid, sizeof uid, SWEEP "%.250s", row && row[0].s ? row[0].s : "");
	r->x->all.uid = keep(r, uid);
	return r->x->all.uid ? 0 : no_memory(e);
}

static int read_sweep(struct trials_read *r, const char *name, struct err *e)
{
	struct push_trials *all = &r->x->all;
	const struct field v = field_text(name), *row = NULL;
	int64_t id = 0;
	int rc = database_first(r->s,
				"SELECT id, uid, identifier, start_ns FROM sweeps WHERE uid = $1 "
				"OR identifier = $1 ORDER BY CASE WHEN uid = $1 THEN 0 ELSE 1 END, "
				"id DESC LIMIT 1",
				&v, 1, &row, e);

	if (rc <= 0 || !row)
		return rc < 0 ? rc
			      : err_set(e, -ENOENT,
					"no sweep '%.100s' is kept in %.300s; sonde bench list "
					"--json has the sweep of each batch",
					name, database_shown(r->s));
	id = row[0].i;
	all->name = keep(r, row[2].s ? row[2].s : row[1].s);
	all->start_ms = row[3].type == FIELD_INT ? row[3].i / NS_PER_MS : 0;
	all->is_sweep = true;
	if (!all->name || add(r, &all->tags, "sonde.sweep", row[1].s))
		return no_memory(e);
	rc = find_uid(r, id, e);
	return rc ? rc : read_points(r, id, e);
}

static int read_batch(struct trials_read *r, const char *word, struct err *e)
{
	const struct point p = { .batch = bench_batch_id(word) };

	if (!p.batch)
		return err_set(e, -EINVAL,
			       "'%.100s' is not a batch: give bench:ID or sweep:NAME; sonde bench "
			       "list lists batches",
			       word);
	r->point = calloc(1, sizeof *r->point);
	if (!r->point)
		return no_memory(e);
	r->point[r->npoints++] = p;
	return 0;
}

/* What the whole has of its first batch, or of its only one. */
static int describe_all(struct trials_read *r, const struct bench_group *g)
{
	struct push_trials *all = &r->x->all;
	char name[300];

	if (!all->is_sweep) {
		snprintf(name, sizeof name, BENCH "%" PRId64 "%s%.200s", g->batch.id,
			 g->indicator ? " " : "", g->indicator ? g->indicator : "");
		all->uid = keep(r, g->batch.uid);
		all->name = keep(r, name);
		all->note = keep(r, g->batch.note);
		all->start_ms = g->batch.start_ns / NS_PER_MS;
		if (!all->uid || !all->name || (g->batch.note && !all->note) ||
		    add_number(r, &all->tags, "sonde.batch", g->batch.id) ||
		    add(r, &all->tags, "sonde.tags", g->batch.tags) ||
		    add(r, &all->tags, "sonde.command", g->batch.command))
			return -ENOMEM;
	}
	if (add(r, &all->tags, "sonde.version", SONDE_VERSION) ||
	    add(r, &all->tags, "sonde.indicator", g->indicator))
		return -ENOMEM;
	return add(r, &all->tags, "sonde.script", g->batch.origin);
}

static int read_trials(struct trials_read *r, const struct point *p, struct err *e)
{
	struct bench_group g = { 0 };
	int rc = bench_group_read(&g, r->s, p->batch, e);

	if (!rc && describe_all(r, &g))
		rc = no_memory(e);
	for (uint32_t i = 0; i < g.ntrials && !rc; i++)
		rc = add_trial(r, p, &g, i, e);
	bench_group_free(&g);
	return rc;
}

/* ---- ---- */

bool pushtrials_is(const char *word)
{
	return !strncmp(word, BENCH, strlen(BENCH)) || !strncmp(word, SWEEP, strlen(SWEEP));
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* A database of PostgreSQL has no directory. */
static int find_beside(struct pushtrials *x, const char *store, struct err *e)
{
	struct place p;
	char *slash;
	int rc = place_default(&p, store, variable, e);

	if (rc || p.postgres)
		return rc ? rc : place_data(variable, "", x->beside, sizeof x->beside, e);
	slash = strrchr(p.where, '/');
	snprintf(x->beside, sizeof x->beside, "%.*s",
		 slash ? (int)(slash - p.where) + (slash == p.where) : 1, slash ? p.where : ".");
	return 0;
}

int pushtrials_read(struct pushtrials *x, const char *store, const char *word, struct err *e)
{
	const struct history_options where = { .store = store };
	struct trials_read r = { .x = x };
	int rc = find_beside(x, store, e);

	if (!rc)
		rc = history_open(&r.s, &where, "push", e);
	if (!rc)
		rc = strncmp(word, SWEEP, strlen(SWEEP)) ? read_batch(&r, word, e)
							 : read_sweep(&r, word + strlen(SWEEP), e);
	for (uint32_t i = 0; i < r.npoints && !rc; i++)
		rc = read_trials(&r, &r.point[i], e);
	if (!rc && !x->all.n)
		rc = err_set(e, -ENOENT, "%.100s has no trial yet; push it when it has", word);
	database_close(r.s);
	free(r.point);
	free(r.software);
	return rc;
}

void pushtrials_free(struct pushtrials *x)
{
	for (uint32_t i = 0; i < x->all.n; i++) {
		free(x->all.trial[i].parameters.v);
		free(x->all.trial[i].tags.v);
	}
	free(x->all.tags.v);
	free(x->all.trial);
	free(x->all.file);
	pool_free(&x->pool);
	*x = (struct pushtrials){ 0 };
}
