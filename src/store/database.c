/* SPDX-License-Identifier: Apache-2.0 */
#include "store/database.h"

#include "base/helper.h"
#include "store/place.h"
#include "store/schema.h"
#include "store/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
