/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite.c - the store in a file. A rollback journal and POSIX locks, no write-ahead log: its
 * shared memory does not work on network file systems.
 */
#include "database/driver.h"

#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 16 };

struct kept_statement {
	char *sql; /* NULL: none */
	sqlite3_stmt *statement;
	bool by_place; /* $1 is its first parameter, $2 its second, ... */
	uint64_t used; /* the one that was asked for longest ago goes first */
};

struct sqlite {
	sqlite3 *db;
	char where[PATH_MAX];
	struct kept_statement kept[KEPT];
	uint64_t asked;
};

static int fail(struct sqlite *s, struct err *e)
{
	int result = sqlite3_extended_errcode(s->db) & 0xff, code = sqlite3_system_errno(s->db);

	switch (result) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return err_set(e, -EAGAIN, "others keep %.300s busy; try again later", s->where);
	case SQLITE_FULL:
		return err_set(e, -ENOSPC, "there is no space left for %.300s", s->where);
	case SQLITE_NOMEM:
		return err_set(e, -ENOMEM, "out of memory");
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		return err_set(
			e, -EBADMSG,
			"%.300s is not a database of SQLite, or is damaged; move it away, and a "
			"new one is made",
			s->where);
	case SQLITE_READONLY:
		return err_set(e, -EACCES, "%.300s may not be written to", s->where);
	case SQLITE_CANTOPEN:
		return err_set(e, code ? -code : -EIO, "cannot open %.300s: %s", s->where,
			       code ? strerror(code) : sqlite3_errmsg(s->db));
	case SQLITE_CONSTRAINT:
	case SQLITE_MISMATCH:
	case SQLITE_TOOBIG:
		return err_set(e, -EPROTO, "%.300s refuses: %.150s", s->where,
			       sqlite3_errmsg(s->db));
	default:
		return err_set(e, -EIO, "%.300s: SQLite: %.150s", s->where, sqlite3_errmsg(s->db));
	}
}

static int open_file(void *state, const char *where, int64_t patience_ms, struct err *e)
{
	struct sqlite *s = state;

	snprintf(s->where, sizeof s->where, "%s", where);
	if (sqlite3_open_v2(where, &s->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		return s->db ? fail(s, e) : err_set(e, -ENOMEM, "out of memory");
	sqlite3_busy_timeout(s->db,
			     patience_ms > 0 && patience_ms < INT_MAX ? (int)patience_ms : 0);
	if (sqlite3_exec(s->db,
			 "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; "
			 "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF",
			 NULL, NULL, NULL) != SQLITE_OK)
		return fail(s, e);
	return 0;
}

static int bind_one(sqlite3_stmt *statement, int at, const struct field *f)
{
	switch (f->type) {
	case FIELD_INT:
		return sqlite3_bind_int64(statement, at, f->i);
	case FIELD_REAL:
		return sqlite3_bind_double(statement, at, f->d);
	case FIELD_TEXT:
		return sqlite3_bind_text(statement, at, f->s, -1, SQLITE_STATIC);
	case FIELD_NULL:
	case FIELD_TYPES:
		break;
	}
	return sqlite3_bind_null(statement, at);
}

static bool is_by_place(sqlite3_stmt *statement)
{
	char name[16];

	for (int i = 1; i <= sqlite3_bind_parameter_count(statement); i++) {
		const char *own = sqlite3_bind_parameter_name(statement, i);

		snprintf(name, sizeof name, "$%d", i);
		if (!own || strcmp(own, name) != 0)
			return false;
	}
	return true;
}

static int bind_by_place(sqlite3_stmt *statement, const struct field *v, uint32_t n)
{
	int rc = SQLITE_OK, places = sqlite3_bind_parameter_count(statement);

	for (int i = 0; i < places && (uint32_t)i < n && rc == SQLITE_OK; i++)
		rc = bind_one(statement, i + 1, &v[i]);
	return rc;
}

/* $1 is a name here, and not a place: each is looked for. */
static int bind(sqlite3_stmt *statement, const struct field *v, uint32_t n)
{
	int rc = SQLITE_OK;

	for (uint32_t i = 0; i < n && rc == SQLITE_OK; i++) {
		char name[16];
		int at;

		snprintf(name, sizeof name, "$%u", i + 1);
		at = sqlite3_bind_parameter_index(statement, name);
		if (at)
			rc = bind_one(statement, at, &v[i]);
	}
	return rc;
}

static struct field column(sqlite3_stmt *statement, int i)
{
	switch (sqlite3_column_type(statement, i)) {
	case SQLITE_INTEGER:
		return field_int(sqlite3_column_int64(statement, i));
	case SQLITE_FLOAT:
		return field_real(sqlite3_column_double(statement, i));
	case SQLITE_NULL:
		return (struct field){ 0 };
	default: /* a blob is no text: up to its first NUL */
		return field_text((const char *)sqlite3_column_text(statement, i));
	}
}

static int step(sqlite3_stmt *statement, struct answer *a)
{
	int rc;

	while ((rc = sqlite3_step(statement)) == SQLITE_ROW && !a->lost) {
		int n = sqlite3_column_count(statement);

		answer_row(a, n);
		for (int i = 0; i < n; i++)
			answer_field(a, column(statement, i));
	}
	return rc == SQLITE_DONE || rc == SQLITE_ROW ? SQLITE_OK : rc;
}

/* The statement as it was prepared before, or is now; NULL: it cannot be kept. Who asks for one
 * thing again and again pays for its plan once. */
static const struct kept_statement *kept(struct sqlite *s, const char *sql)
{
	struct kept_statement *oldest = &s->kept[0];
	const char *rest = "";

	for (size_t i = 0; i < KEPT; i++) {
		if (s->kept[i].sql && !strcmp(s->kept[i].sql, sql)) {
			s->kept[i].used = ++s->asked;
			return &s->kept[i];
		}
		if (s->kept[i].used < oldest->used)
			oldest = &s->kept[i];
	}
	sqlite3_finalize(oldest->statement);
	free(oldest->sql);
	*oldest = (struct kept_statement){ .sql = strdup(sql), .used = ++s->asked };
	if (!oldest->sql ||
	    sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &oldest->statement,
			       &rest) != SQLITE_OK ||
	    *rest) {
		sqlite3_finalize(oldest->statement);
		free(oldest->sql);
		*oldest = (struct kept_statement){ 0 };
		return NULL;
	}
	oldest->by_place = is_by_place(oldest->statement);
	return oldest;
}

/* One with fields, which is one alone. */
static int execute_kept(struct sqlite *s, const struct kept_statement *k, const struct field *v,
			uint32_t n, struct answer *a, struct err *e)
{
	sqlite3_stmt *statement = k->statement;
	int rc = k->by_place ? bind_by_place(statement, v, n) : bind(statement, v, n);

	if (rc == SQLITE_OK)
		rc = step(statement, a);
	if (rc != SQLITE_OK)
		rc = fail(s, e);
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return rc;
}

static int execute(void *state, const char *sql, const struct field *v, uint32_t n,
		   struct answer *a, struct err *e)
{
	struct sqlite *s = state;
	const struct kept_statement *again = n ? kept(s, sql) : NULL;

	if (again)
		return execute_kept(s, again, v, n, a, e);
	while (*sql) {
		sqlite3_stmt *statement = NULL;
		int rc = sqlite3_prepare_v2(s->db, sql, -1, &statement, &sql);

		if (rc == SQLITE_OK && statement)
			rc = bind(statement, v, n);
		if (rc == SQLITE_OK && statement)
			rc = step(statement, a);
		if (rc != SQLITE_OK)
			rc = fail(s, e);
		sqlite3_finalize(statement);
		if (rc)
			return rc;
	}
	return 0;
}

static void close_file(void *state)
{
	struct sqlite *s = state;

	for (size_t i = 0; i < KEPT; i++) {
		sqlite3_finalize(s->kept[i].statement);
		free(s->kept[i].sql);
	}
	sqlite3_close(s->db);
}

const struct driver driver_sqlite = {
	.size = sizeof(struct sqlite),
	.open = open_file,
	.exec = execute,
	.close = close_file,
};
