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
#include "base/crc32c.h"
#include "push/http.h"
#include "push/job_rows.h"
#include "push/push.h"
#include "report/summary/past.h"
#include "store/place.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
