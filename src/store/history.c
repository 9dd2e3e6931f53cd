/* SPDX-License-Identifier: Apache-2.0 */
#include "store/history.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/text/jsondoc.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the figures of a run are called, in the store and as JSON. */

struct history_column {
	const char *name;
	bool whole; /* a BIGINT */
};

enum {
	COLUMNS = (int)HISTORY_TEXTS + (int)HISTORY_NUMBERS + 1,
	HOSTS_AT_ONCE = 200,
	FIGURE_FIELDS = 4
};

/* PostgreSQL refuses rows whose indexed texts take more than a third of a page, which is 2,704
 * bytes; one that is no UTF-8 becomes three. */
enum { KEY_BYTES = 800 };

static const char *const history_text_columns[HISTORY_TEXTS] = {
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

static const struct history_column history_number_columns[HISTORY_NUMBERS] = {
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
	return database_exec_bytes(s, &sql, v, COLUMNS, e);
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
		rc = database_exec_bytes(s, &sql, v, 2 * n, e);
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
	return database_exec_bytes(s, &sql, v, FIGURE_FIELDS * n, e);
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

/* Runs of the history as JSON, and back. */

#define START_KEY "start"

/* What a file of another version might hold is no reason to take all memory. */
enum { HOSTS_MAX = 65536, FIGURES_MAX = 200 };

static void put_number(struct json *j, double v, bool whole)
{
	if (whole && fabs(v) < 1e15)
		json_int(j, (int64_t)v);
	else
		json_real(j, v);
}

static void write_figures(struct json *j, const struct history *h, const struct history_run *r)
{
	json_key(j, "figures");
	json_object(j);
	for (uint32_t i = 0; i < r->nfigures; i++) {
		const struct history_figure *f = &h->figure[r->first_figure + i];

		json_key(j, f->name);
		if (f->text)
			json_text(j, f->text);
		else
			json_real(j, f->value);
	}
	json_object_end(j);
}

void history_json(struct json *j, const struct history *h, const struct history_run *r)
{
	json_object(j);
	for (size_t i = 0; i < HISTORY_TEXTS; i++) {
		json_key(j, history_text_columns[i]);
		json_text(j, r->text[i]);
	}
	json_key(j, START_KEY);
	json_time(j, r->start_ns);
	for (size_t i = 0; i < HISTORY_NUMBERS; i++) {
		json_key(j, history_number_columns[i].name);
		put_number(j, r->number[i], history_number_columns[i].whole);
	}
	json_key(j, "hosts");
	json_array(j);
	for (uint32_t i = 0; i < r->nhosts; i++)
		json_text(j, h->host[r->first_host + i]);
	json_array_end(j);
	write_figures(j, h, r);
	json_object_end(j);
}

static int malformed(struct err *e)
{
	return err_set(e, -EBADMSG, "this is not a run of the history");
}

/* In ns since 1970; 0: it is not a time. */
static int64_t time_of(const char *text)
{
	int64_t ns;
	const char *rest = clock_of_iso(text, &ns);

	return rest && !strcmp(rest, "Z") ? ns : 0;
}

static int parse_hosts(struct history *h, struct jsondoc *d, struct err *e)
{
	enum jsondoc_token t = jsondoc_next(d, e);

	if (t != JSONDOC_ARRAY)
		return malformed(e);
	for (uint32_t n = 0; (t = jsondoc_next(d, e)) == JSONDOC_STRING; n++) {
		if (n == HOSTS_MAX)
			return malformed(e);
		history_add_host(h, d->text);
	}
	return t == JSONDOC_ARRAY_END ? 0 : malformed(e);
}

static int parse_figure(struct history *h, struct jsondoc *d, struct err *e)
{
	char name[64];
	enum jsondoc_token t;

	if (strlen(d->text) >= sizeof name)
		return malformed(e);
	memcpy(name, d->text, strlen(d->text) + 1);
	t = jsondoc_next(d, e);
	if (t == JSONDOC_NUMBER && isfinite(d->number))
		history_add_figure(h, name, d->number, NULL);
	else if (t == JSONDOC_STRING)
		history_add_figure(h, name, NAN, d->text);
	else
		return malformed(e);
	return 0;
}

static int parse_figures(struct history *h, struct jsondoc *d, struct err *e)
{
	enum jsondoc_token t = jsondoc_next(d, e);

	if (t != JSONDOC_OBJECT)
		return malformed(e);
	for (uint32_t n = 0; (t = jsondoc_next(d, e)) == JSONDOC_KEY; n++)
		if (n == FIGURES_MAX || parse_figure(h, d, e))
			return malformed(e);
	return t == JSONDOC_OBJECT_END ? 0 : malformed(e);
}

/* A text or number of the run; what is not known is skipped. */
static int parse_value(struct history *h, size_t text, size_t number, struct jsondoc *d,
		       struct err *e)
{
	enum jsondoc_token t = jsondoc_next(d, e);

	if (text < HISTORY_TEXTS && t == JSONDOC_STRING)
		history_add_text(h, (enum history_text)text, d->text);
	else if (number < HISTORY_NUMBERS && t == JSONDOC_NUMBER && !h->failed)
		h->run[h->n - 1].number[number] = isfinite(d->number) ? d->number : NAN;
	else if (number == HISTORY_NUMBERS && t == JSONDOC_STRING && !h->failed)
		h->run[h->n - 1].start_ns = time_of(d->text);
	else if (!jsondoc_skip(d, t, e))
		return malformed(e);
	return 0;
}

static int parse_member(struct history *h, struct jsondoc *d, struct err *e)
{
	size_t text = 0, number = 0;

	if (!strcmp(d->text, "hosts"))
		return parse_hosts(h, d, e);
	if (!strcmp(d->text, "figures"))
		return parse_figures(h, d, e);
	while (text < HISTORY_TEXTS && strcmp(d->text, history_text_columns[text]) != 0)
		text++;
	while (number < HISTORY_NUMBERS &&
	       strcmp(d->text, history_number_columns[number].name) != 0)
		number++;
	if (number == HISTORY_NUMBERS && strcmp(d->text, START_KEY) != 0)
		number++;
	return parse_value(h, text, number, d, e);
}

int history_parse(struct history *h, const void *text, size_t n, struct err *e)
{
	struct jsondoc d;
	enum jsondoc_token t;
	uint32_t before = h->n;
	int rc = 0;

	history_add(h);
	if (h->failed)
		return err_set(e, -ENOMEM, "out of memory for the history");
	jsondoc_open_text(&d, text, n);
	t = jsondoc_next(&d, e);
	if (t != JSONDOC_OBJECT)
		rc = malformed(e);
	while (!rc && (t = jsondoc_next(&d, e)) == JSONDOC_KEY)
		rc = parse_member(h, &d, e);
	if (!rc && (t != JSONDOC_OBJECT_END || jsondoc_next(&d, e) != JSONDOC_END))
		rc = malformed(e);
	/* The store would refuse it, and with it all that is put there together with it. */
	if (!rc && !h->failed && h->run[before].text[HISTORY_UID] &&
	    !h->run[before].text[HISTORY_STATE])
		rc = malformed(e);
	jsondoc_close(&d);
	if (rc)
		h->n = before;
	return h->failed ? err_set(e, -ENOMEM, "out of memory for the history") : rc;
}
