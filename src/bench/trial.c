/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/trial.h"

#include "base/array.h"
#include "base/hash.h"
#include "bench/indicator.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for an indicator's row");
}

/* A text that outlives the statement; it is in *kept. */
static struct field as_text(const struct jsontree *v, enum model_type type, struct bytes *kept)
{
	struct json j = { .out = kept };

	if (v->type == JSONDOC_STRING && type != MODEL_JSON)
		return field_text(v->text);
	jsontree_write(&j, v);
	bytes_u8(kept, 0);
	return field_text(kept->failed ? NULL : (const char *)kept->data);
}

static struct field field_of(const struct jsontree *v, enum model_type type, struct bytes *kept)
{
	if (v->type == JSONDOC_NULL)
		return (struct field){ 0 };
	switch (type) {
	case MODEL_INT:
		return field_int(v->integer);
	case MODEL_REAL:
		return field_real(v->number);
	case MODEL_BOOL:
		return field_int(v->type == JSONDOC_TRUE);
	case MODEL_TEXT:
	case MODEL_ANY:
	case MODEL_JSON:
	case MODEL_TYPES:
		break;
	}
	return as_text(v, type, kept);
}

/* The row of a trial, which is there: by its batch and number. */
struct indicator_trial {
	int64_t batch, number;
};

static int indicator_put(struct database *s, const struct model *m, struct indicator_trial trial,
			 const struct contract *c, struct err *e)
{
	struct field *v = calloc(c->nvalues + 2u, sizeof *v);
	struct bytes *kept = calloc(c->nvalues + 2u, sizeof *kept), sql = { 0 };
	uint32_t n = 2;
	int rc;

	if (!v || !kept) {
		free(v);
		free(kept);
		return no_memory(e);
	}
	v[0] = field_int(trial.batch);
	v[1] = field_int(trial.number);
	bytes_printf(&sql, "INSERT INTO %s (trial_id", m->table);
	for (uint32_t i = 0; i < c->nvalues; i++) {
		const struct model_column *column = model_find(m, c->value[i].v->key);

		if (!column)
			continue; /* a null of which nothing else is known */
		bytes_puts(&sql, ", ");
		indicator_quote(&sql, column->name);
		v[n] = field_of(c->value[i].v, column->type, &kept[n]);
		n++;
	}
	/* One statement: the trial's id need not come here first. */
	bytes_puts(&sql, ") VALUES ((SELECT id FROM trials WHERE batch_id = $1 AND number = $2)");
	for (uint32_t i = 2; i < n; i++)
		bytes_printf(&sql, ", $%u", i + 1);
	bytes_puts(&sql, ")");
	bytes_u8(&sql, 0);
	rc = sql.failed ? no_memory(e) : database_exec_later(s, (const char *)sql.data, v, n, e);
	for (uint32_t i = 0; i < n; i++)
		bytes_free(&kept[i]);
	free(kept);
	free(v);
	bytes_free(&sql);
	return rc;
}

/* ---- what wait4(2) says ---- */

const char *const trial_usage_names[TRIAL_USAGES] = {
	"ru_utime",  "ru_stime",    "ru_maxrss", "ru_ixrss",   "ru_idrss",   "ru_isrss",
	"ru_minflt", "ru_majflt",   "ru_nswap",  "ru_inblock", "ru_oublock", "ru_msgsnd",
	"ru_msgrcv", "ru_nsignals", "ru_nvcsw",  "ru_nivcsw"
};

const char *const trial_noise_names[TRIAL_NOISES] = {
	[NOISE_OTHERS] = "others_ratio", [NOISE_WAITED] = "waited_ratio",
	[NOISE_STEAL] = "steal_ratio",   [NOISE_THROTTLED] = "throttled_ratio",
	[NOISE_HEAT] = "heat_throttles", [NOISE_FREQUENCY] = "frequency_hertz",
};

enum { FIRST_COUNT = 2 }; /* before them are the two times */

static double seconds(struct timeval t)
{
	return ((double)t.tv_sec * 1e6 + (double)t.tv_usec) / 1e6;
}

void trial_take_usage(struct trial *t, const struct rusage *u)
{
	const long counts[] = { u->ru_maxrss,  u->ru_ixrss,  u->ru_idrss,  u->ru_isrss,
				u->ru_minflt,  u->ru_majflt, u->ru_nswap,  u->ru_inblock,
				u->ru_oublock, u->ru_msgsnd, u->ru_msgrcv, u->ru_nsignals,
				u->ru_nvcsw,   u->ru_nivcsw };

	_Static_assert(sizeof counts / sizeof counts[0] + FIRST_COUNT == TRIAL_USAGES, "all of it");
	t->usage[0] = seconds(u->ru_utime);
	t->usage[1] = seconds(u->ru_stime);
	for (unsigned i = FIRST_COUNT; i < TRIAL_USAGES; i++)
		t->usage[i] = (double)counts[i - FIRST_COUNT];
}

/* ---- batches, environments ---- */

void trial_init(struct trial *t, int64_t number)
{
	*t = (struct trial){ .number = number,
			     .exit_code = NAN,
			     .signal = NAN,
			     .duration_s = NAN,
			     .load_1m = NAN,
			     .peak_memory_bytes = NAN,
			     .energy_j = NAN,
			     .energy_apportioned_j = NAN };
	for (unsigned i = 0; i < TRIAL_USAGES; i++)
		t->usage[i] = NAN;
	for (unsigned i = 0; i < TRIAL_NOISES; i++)
		t->noise[i] = NAN;
}

static struct field time_field(int64_t ns)
{
	return ns ? field_int(ns) : (struct field){ 0 };
}

static struct field whole_field(double v)
{
	return isfinite(v) && fabs(v) < 1e18 ? field_int((int64_t)v) : (struct field){ 0 };
}

static struct field id_field(int64_t id)
{
	return id ? field_int(id) : (struct field){ 0 };
}

/* The first field of the first row. */
static int ask_id(struct database *s, const char *sql, const struct field *v, uint32_t n,
		  int64_t *id, struct err *e)
{
	const struct field *row = NULL;
	int rc = database_first(s, sql, v, n, &row, e);

	*id = rc > 0 && row ? row[0].i : 0;
	return rc < 0 ? rc : 0;
}

int batch_put(struct database *s, struct trial_batch *b, struct err *e)
{
	const struct field v[] = { field_text(b->uid),      field_text(b->source),
				   field_text(b->origin),   field_text(b->script_sha256),
				   field_text(b->command),  field_text(b->user),
				   time_field(b->start_ns), field_text(b->specification) };
	int rc = database_exec(
		s,
		"INSERT INTO batches (uid, source, origin, script_sha256, command, "
		"user_name, start_ns, specification) VALUES ($1, $2, $3, $4, $5, $6, $7, "
		"$8) ON CONFLICT (uid) DO NOTHING",
		v, sizeof v / sizeof v[0], e);

	return rc ? rc : ask_id(s, "SELECT id FROM batches WHERE uid = $1", v, 1, &b->id, e);
}

static int by_name(const void *a, const void *b)
{
	const struct bench_fact *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int put_facts(struct database *s, const struct bench_fact *fact, uint32_t n, int64_t id,
		     struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; i < n && !rc; i++) {
		const struct field v[] = { field_int(id), field_text(fact[i].name),
					   field_text(fact[i].text) };

		rc = database_exec(
			s,
			"INSERT INTO environment_facts (environment_id, name, text) VALUES "
			"($1, $2, $3) ON CONFLICT DO NOTHING",
			v, 3, e);
	}
	return rc;
}

int environment_put(struct database *s, struct bench_fact *fact, uint32_t n, int64_t *id,
		    struct err *e)
{
	struct bytes b = { 0 };
	char digest[SHA256_HEX];
	struct field v;
	int rc;

	if (n)
		qsort(fact, n, sizeof *fact, by_name);
	for (uint32_t i = 0; i < n; i++) {
		bytes_text(&b, fact[i].name);
		bytes_text(&b, fact[i].text);
	}
	rc = b.failed ? err_set(e, -ENOMEM, "out of memory for facts of the machine") : 0;
	sha256_hex(digest, b.len ? b.data : (const uint8_t *)"", rc ? 0 : b.len);
	bytes_free(&b);
	*id = 0;
	if (rc)
		return rc;
	v = field_text(digest);
	rc = ask_id(s, "SELECT id FROM environments WHERE digest = $1", &v, 1, id, e);
	if (rc || *id)
		return rc;
	rc = database_exec(s,
			   "INSERT INTO environments (digest) VALUES ($1) ON CONFLICT DO NOTHING",
			   &v, 1, e);
	if (!rc)
		rc = ask_id(s, "SELECT id FROM environments WHERE digest = $1", &v, 1, id, e);
	return rc ? rc : put_facts(s, fact, n, *id, e);
}

/* ---- trials ---- */

void trial_store_free(struct trial_store *s)
{
	for (uint32_t i = 0; i < s->nknown; i++)
		model_free(&s->known[i]);
	free(s->known);
	*s = (struct trial_store){ 0 };
}

/* The model of that name as the store has it, as far as is known; a new one is empty. */
static struct model *known(struct trial_store *s, const char *name)
{
	void *grown;

	for (uint32_t i = 0; i < s->nknown; i++)
		if (s->known[i].name && !strcmp(s->known[i].name, name))
			return &s->known[i];
	grown = array_room(s->known, s->nknown, &s->cap, sizeof *s->known);
	if (!grown)
		return NULL;
	s->known = grown;
	s->known[s->nknown] = (struct model){ 0 };
	return &s->known[s->nknown++];
}

int trial_exists(struct database *s, const struct trial_batch *b, int64_t number, struct err *e)
{
	const struct field v[] = { field_int(b->id), field_int(number) };
	int64_t id;
	int rc = ask_id(s, "SELECT id FROM trials WHERE batch_id = $1 AND number = $2", v, 2, &id,
			e);

	return rc ? rc : id != 0;
}

enum { FIXED = 28, NOISES = FIXED + TRIAL_USAGES, COLUMNS = NOISES + TRIAL_NOISES };

static const char fixed_columns[] =
	"batch_id, number, indicator_id, environment_id, state, reason, component, version, "
	"overall_score, score, host, exit_code, signal, start_ns, end_ns, duration_seconds, "
	"load_1m, governor, peak_memory_bytes, energy_joules, energy_apportioned_joules, counters, "
	"document, stdout, stderr, path, run_id, peak_memory_kind";

static void fill(struct field v[COLUMNS], const struct trial_batch *b, const struct trial *t,
		 const struct model *m, const char *document)
{
	const struct contract *c = t->said_well ? t->said : NULL;
	const struct field fixed[FIXED] = {
		field_int(b->id),
		field_int(t->number),
		id_field(m ? m->id : 0),
		id_field(t->environment_id),
		field_text(t->reason[0] ? "failed" : "ok"),
		field_text(t->reason[0] ? t->reason : NULL),
		field_text(c ? c->component : NULL),
		field_text(c && c->version    ? c->version
			   : b->script_sha256 ? b->script_sha256
					      : t->script_sha256),
		field_real(c ? c->overall_score : NAN),
		field_real(!c                             ? NAN
			   : isnan(c->overall_score) && m ? model_score(m, c)
							  : c->overall_score),
		field_text(t->host),
		whole_field(t->exit_code),
		whole_field(t->signal),
		time_field(t->start_ns),
		time_field(t->end_ns),
		field_real(t->duration_s),
		field_real(t->load_1m),
		field_text(t->governor),
		field_real(t->peak_memory_bytes),
		field_real(t->energy_j),
		field_real(t->energy_apportioned_j),
		field_text(t->counters),
		field_text(document),
		field_text(t->out),
		field_text(t->err),
		field_text(t->path),
		id_field(t->run_id),
		field_text(t->peak_memory_kind),
	};

	memcpy(v, fixed, sizeof fixed);
	for (unsigned i = 0; i < TRIAL_USAGES; i++)
		v[FIXED + i] = i < FIRST_COUNT ? field_real(t->usage[i]) : whole_field(t->usage[i]);
	for (unsigned i = 0; i < TRIAL_NOISES; i++)
		v[NOISES + i] = field_real(t->noise[i]);
}

static int put_row(struct database *s, const struct field v[COLUMNS], struct err *e)
{
	struct bytes sql = { 0 };
	int rc;

	bytes_printf(&sql, "INSERT INTO trials (%s", fixed_columns);
	for (unsigned i = 0; i < TRIAL_USAGES; i++)
		bytes_printf(&sql, ", %s", trial_usage_names[i]);
	for (unsigned i = 0; i < TRIAL_NOISES; i++)
		bytes_printf(&sql, ", %s", trial_noise_names[i]);
	bytes_puts(&sql, ") VALUES ($1");
	for (unsigned i = 1; i < COLUMNS; i++)
		bytes_printf(&sql, ", $%u", i + 1);
	bytes_puts(&sql, ")");
	bytes_u8(&sql, 0);
	rc = sql.failed ? err_set(e, -ENOMEM, "out of memory for a trial")
			: database_exec_later(s, (const char *)sql.data, v, COLUMNS, e);
	bytes_free(&sql);
	return rc;
}

/* The model its result goes by; it fails when there is none that it fits. */
static int bring(struct trial_store *s, struct trial *t, struct model **m, struct err *e)
{
	struct err why = { "" };
	int rc;

	*m = NULL;
	if (!t->said_well)
		return 0;
	*m = known(s, t->said->name);
	if (!*m)
		return err_set(e, -ENOMEM, "out of memory for models");
	rc = indicator_bring(s->database, s->models ? models_find(s->models, t->said->name) : NULL,
			     t->said, *m, &why);
	if (rc != -EBADMSG)
		return rc ? err_set(e, rc, "%s", why.text) : 0;
	t->said_well = false;
	if (!t->reason[0])
		snprintf(t->reason, sizeof t->reason, "%s", why.text);
	if (!(*m)->id)
		*m = NULL;
	return 0;
}

int trial_put(struct trial_store *s, const struct trial_batch *b, struct trial *t, struct err *e)
{
	struct field v[COLUMNS];
	struct bytes document = { 0 };
	struct json j = { .out = &document };
	struct model *m;
	int rc = bring(s, t, &m, e);

	if (!rc && t->said && t->said->said)
		jsontree_write(&j, t->said->said);
	bytes_u8(&document, 0);
	if (!rc && document.failed)
		rc = err_set(e, -ENOMEM, "out of memory for a trial");
	if (!rc) {
		fill(v, b, t, m, document.len > 1 ? (const char *)document.data : NULL);
		rc = put_row(s->database, v, e);
	}
	bytes_free(&document);
	return rc || !t->said_well
		       ? rc
		       : indicator_put(s->database, m, (struct indicator_trial){ b->id, t->number },
				       t->said, e);
}

void trial_note_put(trial_note *note, const char *format, ...)
{
	char text[768];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	note(text);
}

enum { FACTS_MAX = 5000, DEPTH_MAX = 8 };

void bench_facts_free(struct bench_facts *f)
{
	free(f->fact);
	pool_free(&f->pool);
	*f = (struct bench_facts){ 0 };
}

void bench_facts_put(struct bench_facts *f, const char *name, const char *text)
{
	void *grown = array_room(f->fact, f->n, &f->cap, sizeof *f->fact);
	struct bench_fact new = { pool_text(&f->pool, name, strlen(name)),
				  pool_text(&f->pool, text, strlen(text)) };

	if (grown)
		f->fact = grown;
	if (!grown || !new.name || !new.text)
		f->failed = true;
	else
		f->fact[f->n++] = new;
}

static bool is_of(const char *text, const char *more)
{
	for (const char *p = text; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr(more, *p))
			return false;
	return *text;
}

/* A name that begins with '-' would be an option of pip. */
bool bench_requirement(struct bytes *out, const char *name, const char *text, const char *indent)
{
	static const char package[] = "package.";

	if (strncmp(name, package, sizeof package - 1) != 0)
		return false;
	name += sizeof package - 1;
	if (!isalnum((unsigned char)*name) || !is_of(name, "._-") || !is_of(text, "._+!-"))
		return false;
	bytes_printf(out, "%s%s==%s\n", indent, name, text);
	return true;
}

/* A clock frequency of that moment makes no other machine. */
void bench_facts_add(struct bench_facts *f, const char *name, const char *text)
{
	if (strstr(name, "hz_actual"))
		return;
	if (f->n == FACTS_MAX)
		f->left_out++;
	else
		bench_facts_put(f, name, text);
}

/* One value: a text as it is, null is none, all else as JSON. */
static void bench_facts_add_value(struct bench_facts *f, const char *name, const struct jsontree *v)
{
	struct bytes b = { 0 };
	struct json j = { .out = &b };

	if (v->type == JSONDOC_STRING) {
		bench_facts_add(f, name, v->text);
		return;
	}
	jsontree_write(&j, v);
	bytes_u8(&b, 0);
	if (b.failed)
		f->failed = true;
	else if (v->type != JSONDOC_NULL)
		bench_facts_add(f, name, (const char *)b.data);
	bytes_free(&b);
}

static void flatten(struct bench_facts *f, const char *prefix, const struct jsontree *v,
		    unsigned depth)
{
	char name[BENCH_FACT_NAME];

	if (v->type != JSONDOC_OBJECT || depth == DEPTH_MAX) {
		bench_facts_add_value(f, prefix, v);
		return;
	}
	for (v = v->first; v; v = v->next) {
		snprintf(name, sizeof name, "%.250s.%.250s", prefix, v->key);
		flatten(f, name, v, depth + 1);
	}
}

void bench_facts_flatten(struct bench_facts *f, const char *prefix, const struct jsontree *v)
{
	if (v)
		flatten(f, prefix, v, 0);
}
