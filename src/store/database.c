/* SPDX-License-Identifier: Apache-2.0 */
#include "store/database.h"

#include "base/helper.h"
#include "base/text/escape.h"
#include "store/schema.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static bool begins(const char *text, const char *scheme)
{
	return !strncasecmp(text, scheme, strlen(scheme));
}

/* A password lies behind the last @ of all that may be host or user: one in it that was not written
 * as %40 is not shown either. */
static void hide(struct place *p)
{
	const char *rest = p->where + strcspn(p->where, "/") + 2, *query = strchr(rest, '?');
	size_t n = query ? (size_t)(query - rest) : strlen(rest), user;
	const char *at = memrchr(rest, '@', n), *colon;

	colon = at ? memchr(rest, ':', (size_t)(at - rest)) : NULL;
	user = colon ? (size_t)(colon - rest) : at ? (size_t)(at - rest) : 0;
	p->secret = colon || (query && strcasestr(query, "password="));
	if (at)
		snprintf(p->shown, sizeof p->shown, "%.*s%.*s%.*s", (int)(rest - p->where),
			 p->where, (int)user, rest, (int)(n - (size_t)(at - rest)), at);
	else
		snprintf(p->shown, sizeof p->shown, "%.*s%.*s", (int)(rest - p->where), p->where,
			 (int)n, rest);
}

int place_parse(struct place *p, const char *text, struct err *e)
{
	const char *scheme = strstr(text, "://");

	*p = (struct place){ .postgres =
				     begins(text, "postgres://") || begins(text, "postgresql://") };
	if (!*text || strlen(text) >= sizeof p->where)
		return err_set(e, -EINVAL, "a store is a file, or postgres://user@host/database");
	if (scheme && !p->postgres && !memchr(text, '/', (size_t)(scheme - text)))
		return err_set(e, -EINVAL,
			       "there is no such kind of store: it is a file, for SQLite, or "
			       "postgres://user@host/database");
	snprintf(p->where, sizeof p->where, "%s", text);
	if (p->postgres)
		hide(p);
	else
		snprintf(p->shown, sizeof p->shown, "%s", text);
	return 0;
}

/* Its parents, too, as the XDG base directory specification has it: mode 0700. The reason is that
 * of the first that is missing. */
static int make_directories(char *path)
{
	int why = ENOENT;

	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST && why == ENOENT)
			why = errno;
		*slash = '/';
	}
	if (!mkdir(path, 0700) || errno == EEXIST)
		return 0;
	return errno == ENOENT ? -why : -errno;
}

int place_data(const char *(*variable)(const char *), const char *name, char *out, size_t size,
	       struct err *e)
{
	const char *data = variable("XDG_DATA_HOME"), *home = variable("HOME");
	int n, rc;

	if (data && data[0] == '/')
		n = snprintf(out, size, "%s/sonde", data);
	else if (home && home[0] == '/')
		n = snprintf(out, size, "%s/.local/share/sonde", home);
	else
		return err_set(e, -ENOENT,
			       "there is no place for the history: set HOME or XDG_DATA_HOME");
	if (n < 0 || (size_t)n + strlen(name) + 2 > size)
		return err_set(e, -ENAMETOOLONG, "the path of the history is too long");
	rc = make_directories(out);
	if (rc)
		return err_set(e, rc, "cannot make %.300s: %s", out, strerror(-rc));
	if (*name)
		snprintf(out + n, size - (size_t)n, "/%s", name);
	return 0;
}

int place_default(struct place *p, const char *given, const char *(*variable)(const char *),
		  struct err *e)
{
	char path[PATH_MAX] = "";
	int rc;

	if (!given)
		given = variable("SONDE_STORE");
	if (given)
		return place_parse(p, given, e);
	rc = place_data(variable, "history.sqlite", path, sizeof path, e);
	return rc ? rc : place_parse(p, path, e);
}

struct field field_int(int64_t v)
{
	return (struct field){ .type = FIELD_INT, .i = v };
}

struct field field_real(double v)
{
	return (struct field){ .type = isnan(v) ? FIELD_NULL : FIELD_REAL, .d = v };
}

struct field field_text(const char *s)
{
	return (struct field){ .type = s ? FIELD_TEXT : FIELD_NULL, .s = s };
}

double field_number(const struct field *f)
{
	return f->type == FIELD_INT ? (double)f->i : f->type == FIELD_REAL ? f->d : NAN;
}

static void put_text(struct bytes *out, const char *text)
{
	struct bytes clean = { 0 };
	bool whole = escape_is_utf8(text);

	if (!whole) {
		escape_utf8(&clean, text);
		bytes_u8(&clean, 0);
		out->failed |= clean.failed;
		text = clean.failed ? "" : (const char *)clean.data;
	}
	bytes_varint(out, strlen(text) + 1);
	bytes_put(out, text, strlen(text) + 1);
	bytes_free(&clean);
}

void field_put(struct bytes *out, const struct field *f)
{
	uint64_t bits;

	bytes_u8(out, (uint8_t)f->type);
	switch (f->type) {
	case FIELD_INT:
		bytes_zigzag(out, f->i);
		break;
	case FIELD_REAL:
		memcpy(&bits, &f->d, sizeof bits);
		bytes_u64(out, bits);
		break;
	case FIELD_TEXT:
		put_text(out, f->s);
		break;
	case FIELD_NULL:
	case FIELD_TYPES:
		break;
	}
}

static bool get_text(struct scan *s, const char **text)
{
	uint64_t n = scan_varint(s);
	const uint8_t *at = s->bad || !n || n > SIZE_MAX ? NULL : scan_take(s, (size_t)n);

	*text = (const char *)at;
	return at && !at[n - 1] && !memchr(at, 0, (size_t)n - 1);
}

bool field_get(struct scan *s, struct field *f)
{
	uint8_t type = scan_u8(s);
	uint64_t bits;

	*f = (struct field){ 0 };
	if (s->bad || type >= FIELD_TYPES)
		return false;
	f->type = (enum field_type)type;
	switch (f->type) {
	case FIELD_INT:
		f->i = scan_zigzag(s);
		break;
	case FIELD_REAL:
		bits = scan_u64(s);
		memcpy(&f->d, &bits, sizeof bits);
		break;
	case FIELD_TEXT:
		return get_text(s, &f->s);
	case FIELD_NULL:
	case FIELD_TYPES:
		break;
	}
	return !s->bad;
}

size_t store_message_begin(struct bytes *out, enum store_message kind)
{
	bytes_u32(out, kind);
	bytes_u32(out, 0);
	return out->len;
}

void store_message_end(struct bytes *out, size_t begun)
{
	size_t n = out->len - begun;

	out->failed |= n > STORE_MESSAGE_MAX;
	for (size_t i = 0; i < 4 && !out->failed; i++)
		out->data[begun - 4 + i] = (uint8_t)(n >> 8 * i);
}

bool store_message_head(const uint8_t head[STORE_HEAD], uint32_t *kind, uint32_t *length)
{
	struct scan s = { .at = head, .end = head + STORE_HEAD };

	*kind = scan_u32(&s);
	*length = scan_u32(&s);
	return *kind >= STORE_OPEN && *kind <= STORE_FAILED && *length <= STORE_MESSAGE_MAX;
}

enum { PATIENCE_MS = 30000, RESULT_MAX = 1 << 30 };
/* Answers that nobody has heard yet: so few that they never fill the socket. */
enum { OWED_MAX = 128, LATER_BYTES = 65536 };

struct database {
	struct talk helper;
	struct talk_ahead ahead;
	struct place place;
	struct bytes message, answer;
	struct bytes later;  /* messages that are sent with the next one */
	struct bytes result; /* rows of the last query */
	struct scan at;      /* the next of them */
	struct field *row;   /* [room] */
	uint32_t ncolumns, room;
	uint32_t owed; /* answers to statements that were not waited for */
};

static int lost(struct err *e)
{
	return helper_lost("database", "libsqlite3-0", e);
}

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for what the store is asked");
}

static int send_later(struct database *s, struct err *e)
{
	bool good = !s->later.len || talk_write(s->helper.socket, s->later.data, s->later.len);

	bytes_reset(&s->later);
	return good ? 0 : lost(e);
}

static int send_message(struct database *s, struct err *e)
{
	int rc = send_later(s, e);

	if (rc)
		return rc;
	if (s->message.failed)
		return no_memory(e);
	return talk_write(s->helper.socket, s->message.data, s->message.len) ? 0 : lost(e);
}

/* The next message of the helper: its kind, or -errno. */
static int hear(struct database *s, struct err *e)
{
	uint8_t head[STORE_HEAD];
	uint32_t kind, length;

	if (!talk_read_ahead(s->helper.socket, &s->ahead, head, sizeof head) ||
	    !store_message_head(head, &kind, &length))
		return lost(e);
	bytes_reset(&s->answer);
	if (!bytes_room(&s->answer, length + 1u))
		return no_memory(e);
	s->answer.len = length;
	return talk_read_ahead(s->helper.socket, &s->ahead, s->answer.data, length) ? (int)kind
										    : lost(e);
}

static int failure(struct database *s, struct err *e)
{
	struct scan at = { .at = s->answer.data, .end = s->answer.data + s->answer.len };
	struct field code, sentence;

	if (!field_get(&at, &code) || !field_get(&at, &sentence) || code.type != FIELD_INT ||
	    sentence.type != FIELD_TEXT || code.i >= 0 || code.i < -4095)
		return lost(e);
	return err_set(e, (int)code.i, "%s", sentence.s);
}

/* Rows are kept when they are wanted. */
static int take_rows(struct database *s, bool wanted, struct err *e)
{
	struct scan at = { .at = s->answer.data, .end = s->answer.data + s->answer.len };
	uint64_t n = scan_varint(&at);

	if (!wanted)
		return 0;
	if (at.bad || !n || n > STORE_FIELDS_MAX || (s->ncolumns && n != s->ncolumns))
		return lost(e);
	if (s->result.len + s->answer.len > RESULT_MAX)
		return err_set(e, -E2BIG, "the store has more rows for this than fit into memory");
	s->ncolumns = (uint32_t)n;
	bytes_put(&s->result, at.at, (size_t)(at.end - at.at));
	return s->result.failed ? no_memory(e) : 0;
}

/* All of an answer. */
static int take_answer(struct database *s, bool wanted, struct err *e)
{
	int rc = 0, kind = 0, bad = 0;

	while (!rc && kind != STORE_DONE) {
		kind = hear(s, e);
		if (kind < 0)
			rc = kind;
		else if (kind == STORE_FAILED)
			return failure(s, e);
		else if (kind == STORE_ROWS)
			bad = bad ? bad : take_rows(s, wanted, e);
		else if (kind != STORE_DONE)
			rc = lost(e);
	}
	return rc ? rc : bad;
}

/* What was not waited for; the first that went wrong counts. */
static int settle(struct database *s, struct err *e)
{
	int first = send_later(s, e);

	for (; s->owed; s->owed--) {
		struct err why = { "" };
		int rc = take_answer(s, false, &why);

		if (rc && !first)
			first = err_set(e, rc, "%s", why.text);
	}
	return first;
}

/* Ask, and hear all of the answer. */
static int ask(struct database *s, bool wanted, struct err *e)
{
	int rc = send_message(s, e), before;

	if (rc)
		return rc;
	before = settle(s, e);
	rc = take_answer(s, wanted, before ? NULL : e);
	return before ? before : rc;
}

static size_t begin(struct database *s, enum store_message kind)
{
	bytes_reset(&s->message);
	return store_message_begin(&s->message, kind);
}

static void put_statement(struct database *s, const char *sql, const struct field *v, uint32_t n)
{
	const struct field text = field_text(sql);
	size_t begun = begin(s, STORE_EXEC);

	field_put(&s->message, &text);
	for (uint32_t i = 0; i < n; i++)
		field_put(&s->message, &v[i]);
	store_message_end(&s->message, begun);
}

static int execute(struct database *s, const char *sql, const struct field *v, uint32_t n,
		   bool wanted, struct err *e)
{
	put_statement(s, sql, v, n);
	return ask(s, wanted, e);
}

int database_exec_later(struct database *s, const char *sql, const struct field *v, uint32_t n,
			struct err *e)
{
	int rc = s->owed == OWED_MAX ? settle(s, e) : 0;

	if (rc)
		return rc;
	put_statement(s, sql, v, n);
	if (s->message.failed)
		return no_memory(e);
	bytes_put(&s->later, s->message.data, s->message.len);
	if (s->later.failed) {
		s->later.failed = false;
		return no_memory(e);
	}
	s->owed++;
	return s->later.len > LATER_BYTES ? send_later(s, e) : 0;
}

int database_exec(struct database *s, const char *sql, const struct field *v, uint32_t n,
		  struct err *e)
{
	return execute(s, sql, v, n, false, e);
}

int database_exec_bytes(struct database *s, struct bytes *sql, const struct field *v, uint32_t n,
			struct err *e)
{
	int rc;

	bytes_u8(sql, 0);
	rc = sql->failed ? no_memory(e) : database_exec(s, (const char *)sql->data, v, n, e);
	bytes_free(sql);
	return rc;
}

int database_query(struct database *s, const char *sql, const struct field *v, uint32_t n,
		   struct err *e)
{
	int rc;

	bytes_reset(&s->result);
	s->ncolumns = 0;
	rc = execute(s, sql, v, n, true, e);
	if (rc)
		bytes_reset(&s->result);
	s->at = (struct scan){ .at = s->result.data, .end = s->result.data + s->result.len };
	if (!rc && s->ncolumns > s->room) {
		struct field *grown = reallocarray(s->row, s->ncolumns, sizeof *grown);

		if (!grown)
			return no_memory(e);
		s->row = grown;
		s->room = s->ncolumns;
	}
	return rc;
}

int database_next(struct database *s, const struct field **row, struct err *e)
{
	*row = s->row;
	if (s->at.at == s->at.end)
		return 0;
	for (uint32_t i = 0; i < s->ncolumns; i++)
		if (!field_get(&s->at, &s->row[i]))
			return lost(e);
	return 1;
}

int database_first(struct database *s, const char *sql, const struct field *v, uint32_t n,
		   const struct field **row, struct err *e)
{
	int rc = database_query(s, sql, v, n, e);

	return rc ? rc : database_next(s, row, e);
}

int database_copy_begin(struct database *s, const char *sql, struct err *e)
{
	const struct field text = field_text(sql);
	size_t begun = begin(s, STORE_COPY);

	field_put(&s->message, &text);
	store_message_end(&s->message, begun);
	return ask(s, false, e);
}

int database_copy(struct database *s, const void *rows, size_t n, struct err *e)
{
	for (size_t done = 0; done < n;) {
		size_t part = n - done < STORE_MESSAGE_MAX ? n - done : STORE_MESSAGE_MAX;
		size_t begun = begin(s, STORE_DATA);
		int rc;

		bytes_put(&s->message, (const uint8_t *)rows + done, part);
		store_message_end(&s->message, begun);
		rc = send_message(s, e);
		if (rc)
			return rc;
		done += part;
	}
	return 0;
}

int database_copy_end(struct database *s, struct err *e)
{
	store_message_end(&s->message, begin(s, STORE_COPIED));
	return ask(s, false, e);
}

int database_begin(struct database *s, struct err *e)
{
	/* SQLite: who only reads first, and then writes, may have to give up. */
	return database_exec(s, s->place.postgres ? "BEGIN" : "BEGIN IMMEDIATE", NULL, 0, e);
}

int database_snapshot(struct database *s, struct err *e)
{
	return database_exec(
		s, s->place.postgres ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" : "BEGIN",
		NULL, 0, e);
}

int database_commit(struct database *s, struct err *e)
{
	return database_exec(s, "COMMIT", NULL, 0, e);
}

void database_rollback(struct database *s)
{
	struct err e;

	database_exec(s, "ROLLBACK", NULL, 0, &e);
}

bool database_is_postgres(const struct database *s)
{
	return s->place.postgres;
}

const char *database_shown(const struct database *s)
{
	return s->place.shown;
}

int database_connect(struct database **out, const char *where, struct err *e)
{
	struct field v[] = { field_text(where), field_int(PATIENCE_MS) };
	struct database *s = calloc(1, sizeof *s);
	size_t begun;
	int rc;

	*out = NULL;
	if (!s)
		return no_memory(e);
	rc = place_parse(&s->place, where, e);
	if (!rc)
		rc = talk_open(&s->helper, "database", "libsqlite3-dev", e);
	if (!rc) {
		begun = begin(s, STORE_OPEN);
		field_put(&s->message, &v[0]);
		field_put(&s->message, &v[1]);
		store_message_end(&s->message, begun);
		rc = ask(s, false, e);
	}
	if (rc)
		database_close(s);
	else
		*out = s;
	return rc;
}

int database_open(struct database **s, const char *where, struct err *e)
{
	int rc = database_connect(s, where, e);

	if (!rc)
		rc = schema_bring(*s, schema_latest, e);
	if (rc) {
		database_close(*s);
		*s = NULL;
	}
	return rc;
}

void database_close(struct database *s)
{
	struct err e;

	if (!s)
		return;
	if (s->helper.pid) {
		store_message_end(&s->message, begin(s, STORE_CLOSE));
		ask(s, false, &e);
	}
	talk_close(&s->helper);
	bytes_free(&s->message);
	bytes_free(&s->later);
	bytes_free(&s->answer);
	bytes_free(&s->result);
	free(s->row);
	free(s);
}
