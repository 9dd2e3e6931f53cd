/* SPDX-License-Identifier: Apache-2.0 */
#include "store/history.h"

#include "base/array.h"
#include "store/history_columns.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	COLUMNS = (int)HISTORY_TEXTS + (int)HISTORY_NUMBERS + 1,
	HOSTS_AT_ONCE = 200,
	FIGURE_FIELDS = 4
};

/* PostgreSQL refuses rows whose indexed texts take more than a third of a page, which is 2,704
 * bytes; one that is no UTF-8 becomes three. */
enum { KEY_BYTES = 800 };

const char *const history_text_columns[HISTORY_TEXTS] = {
	[HISTORY_UID] = "uid",
	[HISTORY_NAME] = "name",
	[HISTORY_COMMAND] = "command",
	[HISTORY_USER] = "user_name",
	[HISTORY_CLUSTER] = "cluster",
	[HISTORY_SCHEDULER] = "scheduler",
	[HISTORY_JOB_ID] = "job_id",
	[HISTORY_ARRAY_ID] = "array_id",
	[HISTORY_ARRAY_INDEX] = "array_index",
	[HISTORY_ACCOUNT] = "account",
	[HISTORY_QUEUE] = "queue",
	[HISTORY_PATH] = "path",
	[HISTORY_STATE] = "state",
	[HISTORY_VERSION] = "version",
};

const struct history_column history_number_columns[HISTORY_NUMBERS] = {
	[HISTORY_WALL_SECONDS] = { "wall_seconds", false },
	[HISTORY_EXIT_CODE] = { "exit_code", true },
	[HISTORY_SIGNAL] = { "signal", true },
	[HISTORY_NODES] = { "nodes", true },
};

void history_free(struct history *h)
{
	pool_free(&h->pool);
	free(h->run);
	free(h->figure);
	free(h->host);
	*h = (struct history){ 0 };
}

/* ---- what is added ---- */

void history_add(struct history *h)
{
	struct history_run *moved = array_room(h->run, h->n, &h->cap, sizeof *h->run);

	h->failed |= !moved;
	if (!moved)
		return;
	h->run = moved;
	h->run[h->n] = (struct history_run){ 0 };
	for (size_t i = 0; i < HISTORY_NUMBERS; i++)
		h->run[h->n].number[i] = NAN;
	h->n++;
}

static const char *keep(struct history *h, const char *text)
{
	const char *copy = text ? pool_text(&h->pool, text, strlen(text)) : NULL;

	h->failed |= text && !copy;
	return copy;
}

/* Cut where a character of UTF-8 ends, when it is too long for an index. */
static const char *keep_key(struct history *h, const char *text)
{
	size_t n = text ? strnlen(text, KEY_BYTES + 1) : 0;
	const char *copy;

	if (n <= KEY_BYTES)
		return keep(h, text);
	for (n = KEY_BYTES; n && ((unsigned char)text[n] & 0xc0) == 0x80;)
		n--;
	copy = pool_text(&h->pool, text, n);
	h->failed |= !copy;
	return copy;
}

void history_add_text(struct history *h, enum history_text which, const char *text)
{
	bool is_key = which == HISTORY_UID || which == HISTORY_NAME;

	if (!h->failed)
		h->run[h->n - 1].text[which] = is_key ? keep_key(h, text) : keep(h, text);
}

/* A run's figures and hosts lie side by side: none of another run comes in between. */
static void add_figure(struct history *h, struct history_run *r, const struct history_figure *f)
{
	struct history_figure *moved;

	if (h->failed || (isnan(f->value) && !f->text))
		return;
	moved = array_room(h->figure, h->nfigures, &h->figure_cap, sizeof *h->figure);
	h->failed |= !moved;
	if (!moved)
		return;
	if (!r->nfigures++)
		r->first_figure = h->nfigures;
	h->figure = moved;
	h->figure[h->nfigures++] =
		(struct history_figure){ keep_key(h, f->name), keep(h, f->text), f->value };
}

static void add_host(struct history *h, struct history_run *r, const char *host)
{
	const char **moved;

	if (h->failed || !host)
		return;
	moved = array_room(h->host, h->nhosts, &h->host_cap, sizeof *h->host);
	h->failed |= !moved;
	if (!moved)
		return;
	if (!r->nhosts++)
		r->first_host = h->nhosts;
	h->host = moved;
	h->host[h->nhosts++] = keep_key(h, host);
}

void history_add_figure(struct history *h, const char *name, double value, const char *text)
{
	if (!h->failed)
		add_figure(h, &h->run[h->n - 1], &(struct history_figure){ name, text, value });
}

void history_add_host(struct history *h, const char *host)
{
	if (!h->failed)
		add_host(h, &h->run[h->n - 1], host);
}

static const struct history_figure *find_figure(const struct history *h,
						const struct history_run *r, const char *name)
{
	for (uint32_t i = 0; i < r->nfigures; i++)
		if (!strcmp(h->figure[r->first_figure + i].name, name))
			return &h->figure[r->first_figure + i];
	return NULL;
}

const char *history_said(const struct history *h, const struct history_run *r, const char *name)
{
	const struct history_figure *f = find_figure(h, r, name);

	return f ? f->text : NULL;
}

double history_figure(const struct history *h, const struct history_run *r, const char *name)
{
	const struct history_figure *f = find_figure(h, r, name);

	if (f)
		return f->value;
	for (size_t i = 0; i < HISTORY_NUMBERS; i++)
		if (!strcmp(history_number_columns[i].name, name))
			return r->number[i];
	return NAN;
}

/* ---- into the store ---- */

static const char *column_name(size_t i)
{
	if (i < HISTORY_TEXTS)
		return history_text_columns[i];
	i -= HISTORY_TEXTS;
	return i < HISTORY_NUMBERS ? history_number_columns[i].name : "start_ns";
}

static void put_columns(struct bytes *sql, const char *format)
{
	for (size_t i = 0; i < COLUMNS; i++) {
		bytes_puts(sql, i ? ", " : "");
		for (const char *c = format; *c; c++)
			if (*c == '%')
				bytes_puts(sql, column_name(i));
			else
				bytes_u8(sql, (uint8_t)*c);
	}
}

/* ($1, $2), ($3, $4) */
static void put_places(struct bytes *sql, uint32_t rows, uint32_t columns)
{
	for (uint32_t i = 0; i < rows * columns; i++)
		bytes_printf(sql, "%s$%u", i % columns ? ", " : i ? "), (" : "(", i + 1);
	bytes_puts(sql, ")");
}

static int execute(struct database *s, struct bytes *sql, const struct field *v, uint32_t n,
		   struct err *e)
{
	int rc;

	bytes_u8(sql, 0);
	rc = sql->failed ? err_set(e, -ENOMEM, "out of memory for the history")
			 : database_exec(s, (const char *)sql->data, v, n, e);
	bytes_free(sql);
	return rc;
}

static struct field number_field(const struct history_run *r, size_t i)
{
	double v = r->number[i];

	if (!history_number_columns[i].whole)
		return field_real(v);
	return fabs(v) <= 1e15 ? field_int((int64_t)v) : (struct field){ 0 };
}

static int put_run(struct database *s, const struct history_run *r, struct err *e)
{
	struct field v[COLUMNS];
	struct bytes sql = { 0 };

	for (size_t i = 0; i < HISTORY_TEXTS; i++)
		v[i] = field_text(r->text[i]);
	for (size_t i = 0; i < HISTORY_NUMBERS; i++)
		v[HISTORY_TEXTS + i] = number_field(r, i);
	v[COLUMNS - 1] = field_int(r->start_ns);
	bytes_puts(&sql, "INSERT INTO runs (");
	put_columns(&sql, "%");
	bytes_puts(&sql, ") VALUES ");
	put_places(&sql, 1, COLUMNS);
	bytes_puts(&sql, " ON CONFLICT (uid) DO UPDATE SET ");
	put_columns(&sql, "% = excluded.%");
	return execute(s, &sql, v, COLUMNS, e);
}

static int put_hosts(struct database *s, const struct history *h, const struct history_run *r,
		     struct err *e)
{
	struct field v[2 * HOSTS_AT_ONCE];
	int rc = 0;

	for (uint32_t done = 0; done < r->nhosts && !rc;) {
		uint32_t left = r->nhosts - done, n = left < HOSTS_AT_ONCE ? left : HOSTS_AT_ONCE;
		struct bytes sql = { 0 };

		for (uint32_t i = 0; i < n; i++) {
			v[2 * i] = field_int(r->id);
			v[2 * i + 1] = field_text(h->host[r->first_host + done + i]);
		}
		bytes_puts(&sql, "INSERT INTO run_hosts (run_id, host) VALUES ");
		put_places(&sql, n, 2);
		bytes_puts(&sql, " ON CONFLICT DO NOTHING");
		rc = execute(s, &sql, v, 2 * n, e);
		done += n;
	}
	return rc;
}

static int put_figures(struct database *s, const struct history *h, const struct history_run *r,
		       struct err *e)
{
	struct field v[FIGURE_FIELDS * HOSTS_AT_ONCE];
	struct bytes sql = { 0 };
	uint32_t n = r->nfigures < HOSTS_AT_ONCE ? r->nfigures : HOSTS_AT_ONCE;

	if (!n)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct history_figure *f = &h->figure[r->first_figure + i];

		v[FIGURE_FIELDS * i] = field_int(r->id);
		v[FIGURE_FIELDS * i + 1] = field_text(f->name);
		v[FIGURE_FIELDS * i + 2] = f->text ? (struct field){ 0 } : field_real(f->value);
		v[FIGURE_FIELDS * i + 3] = field_text(f->text);
	}
	bytes_puts(&sql, "INSERT INTO summaries (run_id, name, value, text) VALUES ");
	put_places(&sql, n, FIGURE_FIELDS);
	bytes_puts(&sql, " ON CONFLICT DO NOTHING");
	return execute(s, &sql, v, FIGURE_FIELDS * n, e);
}

int history_put(struct database *s, const struct history *h, uint32_t i, int64_t *id, struct err *e)
{
	static const char *const empty[] = { "DELETE FROM run_hosts WHERE run_id = $1",
					     "DELETE FROM summaries WHERE run_id = $1" };
	struct history_run r = h->run[i];
	struct field uid = field_text(r.text[HISTORY_UID]), v;
	const struct field *row = NULL;
	int rc = put_run(s, &r, e);

	if (!rc)
		rc = database_query(s, "SELECT id FROM runs WHERE uid = $1", &uid, 1, e);
	if (!rc && (rc = database_next(s, &row, e)) == 0)
		rc = err_set(e, -EPROTO, "%.300s does not keep runs", database_shown(s));
	if (rc < 0 || !row)
		return rc;
	*id = r.id = row[0].i;
	v = field_int(r.id);
	rc = database_exec(s, empty[0], &v, 1, e);
	if (!rc)
		rc = database_exec(s, empty[1], &v, 1, e);
	if (!rc)
		rc = put_hosts(s, h, &r, e);
	return rc ? rc : put_figures(s, h, &r, e);
}

/* ---- out of it ---- */

static int read_runs(struct history *h, struct database *s, const struct field *since,
		     struct err *e)
{
	struct bytes sql = { 0 };
	const struct field *row;
	int rc;

	bytes_puts(&sql, "SELECT ");
	put_columns(&sql, "%");
	bytes_puts(&sql, ", id FROM runs WHERE start_ns >= $1 ORDER BY start_ns, id");
	bytes_u8(&sql, 0);
	rc = sql.failed ? err_set(e, -ENOMEM, "out of memory for the history")
			: database_query(s, (const char *)sql.data, since, 1, e);
	bytes_free(&sql);
	while (!rc && (rc = database_next(s, &row, e)) > 0) {
		history_add(h);
		if (h->failed)
			break;
		for (size_t i = 0; i < HISTORY_TEXTS; i++)
			history_add_text(h, (enum history_text)i, row[i].s);
		for (size_t i = 0; i < HISTORY_NUMBERS; i++)
			h->run[h->n - 1].number[i] = field_number(&row[HISTORY_TEXTS + i]);
		h->run[h->n - 1].start_ns = row[COLUMNS - 1].i;
		h->run[h->n - 1].id = row[COLUMNS].i;
		rc = 0;
	}
	return rc;
}

/* The run of a row, whose rows come in the order of the runs, from *at on. NULL: one that came
 * since the runs were read. */
static struct history_run *run_of(const struct history *h, uint32_t *at, int64_t id)
{
	for (uint32_t i = *at; i < h->n; i++)
		if (h->run[i].id == id) {
			*at = i;
			return &h->run[i];
		}
	return NULL;
}

static int read_figures(struct history *h, struct database *s, const struct field *since,
			struct err *e)
{
	const struct field *row;
	uint32_t at = 0;
	int rc = database_query(s,
				"SELECT f.run_id, f.name, f.value, f.text FROM summaries f "
				"JOIN runs r ON r.id = f.run_id WHERE r.start_ns >= $1 "
				"ORDER BY r.start_ns, r.id, f.name",
				since, 1, e);

	while (!rc && (rc = database_next(s, &row, e)) > 0) {
		struct history_run *r = run_of(h, &at, row[0].i);

		rc = 0;
		if (r)
			add_figure(h, r,
				   &(struct history_figure){ row[1].s, row[3].s,
							     field_number(&row[2]) });
	}
	return rc;
}

static int read_hosts(struct history *h, struct database *s, const struct field *since,
		      struct err *e)
{
	const struct field *row;
	uint32_t at = 0;
	int rc = database_query(s,
				"SELECT o.run_id, o.host FROM run_hosts o "
				"JOIN runs r ON r.id = o.run_id WHERE r.start_ns >= $1 "
				"ORDER BY r.start_ns, r.id, o.host",
				since, 1, e);

	while (!rc && (rc = database_next(s, &row, e)) > 0) {
		struct history_run *r = run_of(h, &at, row[0].i);

		rc = 0;
		if (r)
			add_host(h, r, row[1].s);
	}
	return rc;
}

int history_read(struct history *h, struct database *s, int64_t since_ns, struct err *e)
{
	const struct field since = field_int(since_ns);
	int rc = read_runs(h, s, &since, e);

	if (!rc)
		rc = read_figures(h, s, &since, e);
	if (!rc)
		rc = read_hosts(h, s, &since, e);
	return !rc && h->failed ? err_set(e, -ENOMEM, "out of memory for the history") : rc;
}
