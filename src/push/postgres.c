/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres.c - a whole run as rows of the store (store/schema.c) on a server of PostgreSQL.
 *
 * All of it in one transaction: who looks sees the job as it was or as it is, and one that was
 * killed has left nothing. The job's row is taken first, so that of several pushes of one job the
 * others wait; what is in the database already is known by a sum over the recording, and then
 * nothing is sent. A job that went on since is replaced whole.
 */
#include "base/clock.h"
#include "base/hash.h"
#include "base/text/decimal.h"
#include "base/text/escape.h"
#include "core/frame/run.h"
#include "push/http.h"
#include "push/push.h"
#include "report/summary/past.h"
#include "store/database.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A whole run as rows of the store's tables, in the text form of PostgreSQL's COPY. They stream:
 * memory does not grow with the run. */
struct job_rows {
	struct run *run;
	struct database *store;
	int64_t id;            /* of the run in the store */
	bool with_environment; /* of the job, of which else nothing is put */
	uint64_t samples;      /* put so far */
	struct bytes text;     /* rows on their way */
	bool begun;            /* the last one has a cell */
};

static int job_rows_put(struct job_rows *w, struct err *e);
static void job_rows_free(struct job_rows *w);

#define URL_VARIABLE "SONDE_POSTGRES_URL"

/* What tells this recording from what it was or will be. */
static void content_of(const struct run *r, bool with_environment, char out[64])
{
	uint64_t rows = 0;
	uint32_t sum = 0;

	for (uint32_t i = 1; i < r->nnodes; i++) {
		const struct run_node *n = &r->nodes[i];
		const int64_t what[] = { (int64_t)n->rows, n->first_ns, n->last_ns, n->complete };

		sum = n->host ? crc32c(sum, n->host, strlen(n->host)) : sum;
		sum = crc32c(sum, what, sizeof what);
		rows += n->rows;
	}
	snprintf(out, 64, "%" PRIu64 "-%u-%u-%u-%08" PRIx32 "%s", rows, r->nnodes, r->nmetas,
		 r->ndamages, sum, with_environment ? "-environment" : "");
}

/* 1 when the store has this very content. */
static int is_there(struct job_rows *w, const char *content, struct err *e)
{
	struct field id = field_int(w->id);
	const struct field *found = NULL;
	int rc =
		database_query(w->store, "SELECT content FROM pushes WHERE run_id = $1", &id, 1, e);

	if (!rc)
		rc = database_next(w->store, &found, e);
	return rc > 0 && found ? found[0].type == FIELD_TEXT && !strcmp(found[0].s, content) : rc;
}

static int note(struct job_rows *w, const char *content, struct err *e)
{
	const struct field v[] = { field_int(w->id), field_text(content),
				   field_int((int64_t)w->samples), field_int(clock_utc_ns()) };

	return database_exec(w->store,
			     "INSERT INTO pushes (run_id, content, samples, pushed_ns) "
			     "VALUES ($1, $2, $3, $4) ON CONFLICT (run_id) DO UPDATE SET "
			     "content = excluded.content, samples = excluded.samples, "
			     "pushed_ns = excluded.pushed_ns",
			     v, sizeof v / sizeof v[0], e);
}

/* 1 when all was there already. */
static int put_run(struct job_rows *w, const struct history *past, struct err *e)
{
	char content[64];
	int rc = history_put(w->store, past, 0, &w->id, e);

	content_of(w->run, w->with_environment, content);
	if (!rc)
		rc = is_there(w, content, e);
	if (!rc)
		rc = job_rows_put(w, e);
	return rc ? rc : note(w, content, e);
}

static int attempt(const struct push_job *j, const char *where, const struct history *past,
		   struct push_result *r, struct err *e)
{
	struct job_rows w = { .run = j->run, .with_environment = j->with_environment };
	int rc = database_open(&w.store, where, e);

	if (!rc)
		rc = database_begin(w.store, e);
	if (!rc)
		rc = put_run(&w, past, e);
	r->nothing_new = rc == 1;
	if (rc == 1) /* and so nothing is changed */
		rc = 0;
	else if (!rc)
		rc = database_commit(w.store, e);
	r->requests++;
	r->values = rc || r->nothing_new ? 0 : w.samples;
	database_close(w.store);
	job_rows_free(&w);
	return rc;
}

static int make_past(struct history *past, const struct push_job *j, struct err *e)
{
	char absolute[PATH_MAX];
	struct summary s;
	int rc = summary_make_as(&s, j->run, &(struct summary_wish){ .compared = past_metrics }, e);

	if (rc)
		return rc;
	if (past_add(past, j->run, &s, realpath(j->run->path, absolute), clock_utc_ns()))
		rc = err_set(e, -ENOMEM, "out of memory for the summary");
	summary_free(&s);
	return rc;
}

enum { SILENCE_S = 20 }; /* the helper's own, after which it leaves a server that says nothing */

/* The helper does not wait longer for a server that says nothing, unless it is told to. */
static void limit_silence(int64_t patience_ns)
{
	char seconds[24];

	if (patience_ns > 0 && patience_ns < SILENCE_S * NS_PER_S) {
		snprintf(seconds, sizeof seconds, "%d", (int)((patience_ns - 1) / NS_PER_S + 1));
		setenv("SONDE_STORE_PATIENCE", seconds, 0);
	}
}

static int postgres_exec(const struct push_job *j, struct push_result *r, struct err *e)
{
	const char *where = j->url ? j->url : j->variable(URL_VARIABLE);
	int64_t until = clock_mono_ns() + j->patience_ns;
	struct history past = { 0 };
	struct place place;
	int rc;

	if (!where)
		return err_set(e, -EINVAL,
			       "where is the database? " URL_VARIABLE " or --url says it: "
			       "postgres://user@host/database");
	if (place_parse(&place, where, e) || !place.postgres)
		return err_set(e, -EINVAL,
			       "the address of a database of PostgreSQL is "
			       "postgres://user@host:port/database");
	snprintf(r->where, sizeof r->where, "%.400s", place.shown);
	limit_silence(j->patience_ns);
	rc = make_past(&past, j, e);
	if (!rc)
		rc = attempt(j, where, &past, r, e);
	for (unsigned i = 0; (rc == -EHOSTUNREACH || rc == -EAGAIN) && http_pause(i, 0, until); i++)
		rc = attempt(j, where, &past, r, e);
	history_free(&past);
	return rc;
}

const struct push push_postgres = {
	.name = "postgres",
	.what = "a database of PostgreSQL: " URL_VARIABLE,
	.database = true,
	.exec = postgres_exec,
};

enum { BLOCK = 1 << 20 };

/* ---- cells ---- */

static void cell(struct job_rows *w)
{
	if (w->begun)
		bytes_u8(&w->text, '\t');
	w->begun = true;
}

static void put_null(struct job_rows *w)
{
	cell(w);
	bytes_puts(&w->text, "\\N");
}

static void put_int(struct job_rows *w, int64_t v)
{
	cell(w);
	bytes_printf(&w->text, "%" PRId64, v);
}

/* An id of which 0 means none. */
static void put_id(struct job_rows *w, uint32_t id)
{
	if (id)
		put_int(w, id);
	else
		put_null(w);
}

static void put_real(struct job_rows *w, double v)
{
	char number[40];

	cell(w);
	if (isnan(v))
		bytes_puts(&w->text, "NaN");
	else if (isinf(v))
		bytes_puts(&w->text, v < 0 ? "-Infinity" : "Infinity");
	else
		bytes_put(&w->text, number,
			  (size_t)decimal_print(number, sizeof number, "%.17g", v));
}

static void put_text(struct job_rows *w, const char *text)
{
	struct bytes clean = { 0 };

	if (!text) {
		put_null(w);
		return;
	}
	cell(w);
	escape_utf8(&clean, text);
	for (size_t i = 0; i < clean.len; i++) {
		static const char special[] = "\\\t\n\r", letters[] = "\\tnr";
		const char *is = memchr(special, clean.data[i], sizeof special - 1);

		if (is)
			bytes_u8(&w->text, '\\');
		bytes_u8(&w->text, is ? (uint8_t)letters[is - special] : clean.data[i]);
	}
	w->text.failed |= clean.failed;
	bytes_free(&clean);
}

static void put_time(struct job_rows *w, uint32_t node, int64_t mono_ns)
{
	if (mono_ns == INT64_MAX)
		put_null(w);
	else
		put_int(w, run_utc_ns(w->run, node, mono_ns));
}

/* A stored value: an integer as it is, or a real number. */
static void put_stored(struct job_rows *w, const struct metric *m, int64_t stored)
{
	double real;

	if (m->storage == STORE_REAL) {
		memcpy(&real, &stored, sizeof real);
		put_null(w);
		put_real(w, real);
	} else {
		put_int(w, stored);
		put_null(w);
	}
}

static void row(struct job_rows *w)
{
	put_int(w, w->id);
}

static int send_rows(struct job_rows *w, struct err *e)
{
	int rc = w->text.failed ? err_set(e, -ENOMEM, "out of memory for rows")
				: database_copy(w->store, w->text.data, w->text.len, e);

	bytes_reset(&w->text);
	return rc;
}

static int row_end(struct job_rows *w, struct err *e)
{
	bytes_u8(&w->text, '\n');
	w->begun = false;
	return w->text.len < BLOCK && !w->text.failed ? 0 : send_rows(w, e);
}

/* ---- tables ---- */

static int put_nodes(struct job_rows *w, struct err *e)
{
	const struct run *r = w->run;
	int rc = 0;

	for (uint32_t i = 1; i < r->nnodes && !rc; i++) {
		const struct run_node *n = &r->nodes[i];

		row(w);
		put_int(w, i);
		put_text(w, n->host);
		put_time(w, i, n->rows ? n->first_ns : INT64_MAX);
		put_time(w, i, n->rows ? n->last_ns : INT64_MAX);
		if (n->clock_error_ns >= 0)
			put_int(w, n->clock_error_ns);
		else
			put_null(w);
		put_int(w, n->complete);
		rc = row_end(w, e);
	}
	return rc;
}

static int put_metrics(struct job_rows *w, struct err *e)
{
	const struct run *r = w->run;
	int rc = 0;

	for (uint32_t i = 1; i < r->nmetrics && !rc; i++) {
		const struct metric *m = &r->metrics[i].row;

		row(w);
		put_int(w, i);
		put_text(w, m->name ? m->name : "");
		put_text(w, unit_name(m->unit));
		put_text(w, kind_name(m->kind));
		put_text(w, m->domain);
		put_text(w, m->help);
		put_text(w, m->formula);
		put_int(w, m->mul ? m->mul : 1);
		put_int(w, m->div ? m->div : 1);
		rc = row_end(w, e);
	}
	return rc;
}

static int put_instances(struct job_rows *w, struct err *e)
{
	const struct run *r = w->run;
	int rc = 0;

	for (uint32_t i = 1; i < r->ninstances && !rc; i++) {
		const struct run_instance *x = &r->instances[i];

		if (!x->node)
			continue;
		row(w);
		put_int(w, i);
		put_int(w, x->node);
		put_id(w, x->parent);
		put_text(w, x->domain ? x->domain : "");
		put_text(w, x->name);
		put_time(w, x->node, x->birth_ns);
		put_time(w, x->node, x->end_ns);
		put_int(w, (x->flags & INSTANCE_ASIDE) != 0);
		rc = row_end(w, e);
	}
	return rc;
}

static int put_labels(struct job_rows *w, struct err *e)
{
	const struct run *r = w->run;
	int rc = 0;

	for (uint32_t i = 1; i < r->ninstances; i++)
		for (uint32_t n = 0; n < r->instances[i].nlabels && !rc; n++) {
			const struct run_label *l = &r->labels[r->instances[i].first_label + n];

			if (!w->with_environment && key_is_private(l->key))
				continue;
			row(w);
			put_int(w, i);
			put_text(w, l->key ? l->key : "");
			put_text(w, l->value);
			rc = row_end(w, e);
		}
	return rc;
}

static int put_finals(struct job_rows *w, struct err *e)
{
	const struct run *r = w->run;
	int rc = 0;

	for (uint32_t i = 1; i < r->ninstances; i++)
		for (uint32_t n = 0; n < r->instances[i].nfinals && !rc; n++) {
			const struct run_final *f = &r->finals[r->instances[i].first_final + n];

			row(w);
			put_int(w, i);
			put_int(w, f->metric);
			put_stored(w, &r->metrics[f->metric].row, f->value);
			rc = row_end(w, e);
		}
	return rc;
}

static int put_series(struct job_rows *w, struct err *e)
{
	const struct run *r = w->run;
	int rc = 0;

	for (uint32_t i = 1; i < r->nseries && !rc; i++) {
		const struct run_series *s = &r->series[i];

		if (!s->node)
			continue;
		row(w);
		put_int(w, i);
		put_int(w, s->node);
		put_int(w, s->metric);
		put_id(w, s->instance);
		put_text(w, state_name(s->state));
		put_text(w, run_refusal_of(r, s).reason);
		rc = row_end(w, e);
	}
	return rc;
}

static int put_chunk(struct job_rows *w, const struct chunk *c, struct err *e)
{
	const struct run *r = w->run;
	int rc = 0;

	for (uint32_t i = 0; i < c->ncolumns; i++) {
		const struct chunk_column *column = &c->column[i];
		const struct metric *m = &r->metrics[r->series[column->series].metric].row;

		for (uint32_t n = 0; n < c->nrows && !rc; n++) {
			if (!column->present[n])
				continue;
			row(w);
			put_int(w, column->series);
			put_time(w, c->node, c->mono_ns[n]);
			put_stored(w, m, column->value[n]);
			rc = row_end(w, e);
			w->samples++;
		}
	}
	return rc;
}

static int put_samples(struct job_rows *w, struct err *e)
{
	struct run *r = w->run;
	struct chunk c;
	int rc = r->rewind(r);

	if (rc)
		return err_set(e, rc, "cannot read the recording again: %s", strerror(-rc));
	while ((rc = r->next_chunk(r, NULL, &c, e)) > 0)
		if ((rc = put_chunk(w, &c, e)))
			break;
	return rc;
}

static int put_marks(struct job_rows *w, struct err *e)
{
	const struct run *r = w->run;
	int rc = 0;

	for (uint32_t i = 0; i < r->nmarks && !rc; i++) {
		const struct run_mark *m = &r->marks[i];

		if (!m->node)
			continue;
		row(w);
		put_int(w, m->node);
		put_id(w, m->instance);
		put_time(w, m->node, m->at_ns);
		put_text(w, m->name);
		put_text(w, m->message);
		rc = row_end(w, e);
	}
	return rc;
}

static int put_span(struct job_rows *w, const struct run_span *s, struct err *e)
{
	row(w);
	put_int(w, s->node);
	put_id(w, s->track);
	put_time(w, s->node, s->begin_ns);
	put_time(w, s->node, s->end_ns);
	put_text(w, s->name);
	put_text(w, s->detail);
	return row_end(w, e);
}

static int put_spans(struct job_rows *w, struct err *e)
{
	struct run *r = w->run;
	const struct run_span *span;
	int rc = 0;

	for (uint32_t i = 0; i < r->nspans && !rc; i++)
		if (r->spans[i].node)
			rc = put_span(w, &r->spans[i], e);
	for (uint32_t i = 0; i < r->npacks && !rc; i++) {
		int n = r->unpack(r, i, &span, e);

		rc = n < 0 ? n : 0;
		for (int k = 0; k < n && !rc; k++)
			rc = put_span(w, &span[k], e);
	}
	return rc;
}

static bool is_put(const struct job_rows *w, const struct run_meta *m)
{
	return m->key && (w->with_environment || !key_is_private(m->key));
}

static int put_metadata(struct job_rows *w, struct err *e)
{
	const struct run *r = w->run;
	int rc = 0;

	for (uint32_t i = 1; i < r->nmetas && !rc; i++) {
		const struct run_meta *m = &r->metas[i];

		if (!is_put(w, m))
			continue;
		row(w);
		put_id(w, m->node);
		put_text(w, m->key);
		put_text(w, m->type == META_TEXT ? m->text : NULL);
		if (m->type == META_INT || m->type == META_BOOL)
			put_int(w, m->value);
		else
			put_null(w);
		if (m->type == META_REAL)
			put_real(w, m->real);
		else
			put_null(w);
		rc = row_end(w, e);
	}
	return rc;
}

/* As store/schema.c has them. */
static const struct part {
	const char *table, *columns; /* behind run_id */
	int (*put)(struct job_rows *w, struct err *e);
} parts[] = {
	{ "nodes", "node, host, begin_ns, end_ns, clock_error_ns, complete", put_nodes },
	{ "metrics", "metric, name, unit, kind, domain, help, formula, mul, div", put_metrics },
	{ "instances", "instance, node, parent, domain, name, birth_ns, end_ns, aside",
	  put_instances },
	{ "labels", "instance, name, text", put_labels },
	{ "finals", "instance, metric, stored, real_value", put_finals },
	{ "series", "series, node, metric, instance, state, reason", put_series },
	{ "samples", "series, time_ns, stored, real_value", put_samples },
	{ "marks", "node, instance, time_ns, name, message", put_marks },
	{ "spans", "node, track, begin_ns, end_ns, name, detail", put_spans },
	{ "metadata", "node, name, text, value, real_value", put_metadata },
};

static int put_part(struct job_rows *w, const struct part *p, struct err *e)
{
	struct field id = field_int(w->id);
	char sql[256];
	int rc;

	snprintf(sql, sizeof sql, "DELETE FROM %s WHERE run_id = $1", p->table);
	rc = database_exec(w->store, sql, &id, 1, e);
	snprintf(sql, sizeof sql, "COPY %s (run_id, %s) FROM STDIN", p->table, p->columns);
	if (!rc)
		rc = database_copy_begin(w->store, sql, e);
	if (!rc)
		rc = p->put(w, e);
	if (!rc)
		rc = send_rows(w, e);
	return rc ? rc : database_copy_end(w->store, e);
}

/* Instead of what the store has of the run; within the caller's transaction. 0 or -errno. */
static int job_rows_put(struct job_rows *w, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < sizeof parts / sizeof parts[0] && !rc; i++)
		rc = put_part(w, &parts[i], e);
	return rc;
}

static void job_rows_free(struct job_rows *w)
{
	bytes_free(&w->text);
}
