/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database.h - the store's database: where it is, what is said to the helper that has it, and
 * statements.
 */
#ifndef SONDE_STORE_DATABASE_H
#define SONDE_STORE_DATABASE_H

#include "base/bytes.h"
#include "base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Where a store is: a file of SQLite, or a database of PostgreSQL.
 *
 * `shown` is what sentences name: it never holds a password, nor a query, which may hold one.
 */

struct place {
	char where[PATH_MAX], shown[PATH_MAX];
	bool postgres; /* postgres://... or postgresql://... */
	bool secret;   /* a password is in it */
};

/* 0 or -EINVAL with a sentence that does not repeat it. */
int place_parse(struct place *p, const char *text, struct err *e);

/* The folder of what Sonde keeps for this user, $XDG_DATA_HOME/sonde or ~/.local/share/sonde, made
 * when it is not there; with name a file in it. 0, -ENOENT without a home, -errno. */
int place_data(const char *(*variable)(const char *), const char *name, char *out, size_t size,
	       struct err *e);
/* Where history is: given (--store) when it is not NULL, else SONDE_STORE, else history.sqlite in
 * the folder. */
int place_default(struct place *p, const char *given, const char *(*variable)(const char *),
		  struct err *e);
/* The same for who reads what an option does. */
#define PLACE_DEFAULT "Default: SONDE_STORE, else your own store."

/*
 * What the store and its helper sonde-database say to each other.
 *
 * A message is its kind, its length, and that many bytes. Both sides check every byte. Passwords
 * travel here and in the environment only, never in a command line.
 */

/* A value on its way to a database, as a statement's $1, $2, ..., or back, as a column of a row.
 *
 * Not known is null, never 0: a NAN and a NULL text are. */

enum field_type { FIELD_NULL = 0, FIELD_INT, FIELD_REAL, FIELD_TEXT, FIELD_TYPES };

struct field {
	enum field_type type;
	int64_t i;
	double d;
	const char *s; /* borrowed */
};

struct field field_int(int64_t v);
struct field field_real(double v);      /* NAN: null */
struct field field_text(const char *s); /* NULL: null */

/* What a column holds as a number: NAN when it is null or a text. */
double field_number(const struct field *f);

/* As bytes of a message; texts become valid UTF-8. */
void field_put(struct bytes *out, const struct field *f);
/* The text is borrowed from what is scanned. False when it is malformed. */
bool field_get(struct scan *s, struct field *f);

enum store_message {
	/* What is asked, and answered with DONE or FAILED. */
	STORE_OPEN = 0x31515353, /* fields: place; ms to wait for other writers */
	STORE_EXEC,              /* fields: statement, then its $1, $2, ... */
	STORE_COPY,              /* fields: COPY ... FROM STDIN; then DATA, then COPIED */
	STORE_DATA,              /* rows in PostgreSQL's text form; not answered */
	STORE_COPIED,
	STORE_CLOSE,
	/* The answers. */
	STORE_ROWS, /* varint: columns of a row; then the fields of whole rows */
	STORE_DONE,
	STORE_FAILED /* fields: negative errno, sentence */
};

/* Fields of a statement or a row: no table has more columns, in SQLite 2000, in PostgreSQL 1600. */
enum { STORE_HEAD = 8, STORE_MESSAGE_MAX = 64 << 20, STORE_FIELDS_MAX = 2000 };

/* Returns where it began, for store_message_end. */
size_t store_message_begin(struct bytes *out, enum store_message kind);
void store_message_end(struct bytes *out, size_t begun);
/* Of a head. False when it is none of ours. */
bool store_message_head(const uint8_t head[STORE_HEAD], uint32_t *kind, uint32_t *length);

/*
 * The database that outlives recordings: runs with their summaries, jobs that were
 * pushed. One versioned schema (store/schema.h), in SQLite or PostgreSQL.
 *
 * The same SQL serves both: BIGINT, DOUBLE PRECISION and TEXT; $1, $2, ... stand for fields; INSERT
 * ... ON CONFLICT, window functions and common table expressions are there, RETURNING is not. Times
 * are nanoseconds since 1970 (UTC), columns named _ns. All statements between database_begin and
 * database_commit happen or none does, whoever is killed. Many may write at once: each waits for
 * the others, 30 s at most. What is asked goes to the helper sonde-database over a socket.
 *
 *	struct field v[] = { field_text("matmul"), field_real(1.5) };
 *	int rc = database_open(&s, place.where, &e);
 *	if (!rc)
 *		rc = database_begin(s, &e);
 *	if (!rc)
 *		rc = database_exec(s, "INSERT INTO trials (name, score) VALUES ($1, $2)", v, 2, &e);
 *	if (!rc)
 *		rc = database_commit(s, &e);
 *	if (!rc)
 *		rc = database_query(s, "SELECT name, score FROM trials", NULL, 0, &e);
 *	while (!rc && (rc = database_next(s, &row, &e)) > 0)
 *		rc = use(row[0].s, row[1].d);
 *	database_close(s);
 *
 * A new room of tables is one more version in store/schema.c.
 */

struct database;

/* where: a file for SQLite (created if missing, mode 0600), or postgres://... . The schema
 * is made, or brought to this version. 0; -EHOSTUNREACH: no server answers; -EAGAIN: others write
 * for too long; -EPROTO: of a newer Sonde; or -errno. s is NULL then. */
int database_open(struct database **s, const char *where, struct err *e);
/* The same without a look at the schema. */
int database_connect(struct database **s, const char *where, struct err *e);
/* What was begun and not committed has not happened. NULL is closed. */
void database_close(struct database *s);

bool database_is_postgres(const struct database *s);
const char *database_shown(const struct database *s); /* for sentences: without a password */

int database_begin(struct database *s, struct err *e);
/* For questions only: all of them until database_rollback see the store as it is at the first. In
 * SQLite nobody else can commit meanwhile. */
int database_snapshot(struct database *s, struct err *e);
int database_commit(struct database *s, struct err *e);
void database_rollback(struct database *s);

/* One statement with n fields, or, when n is 0, several with ; between them. 0 or -errno. */
int database_exec(struct database *s, const char *sql, const struct field *v, uint32_t n,
		  struct err *e);
/* The same of a statement that was put together, which is freed. */
int database_exec_bytes(struct database *s, struct bytes *sql, const struct field *v, uint32_t n,
			struct err *e);
/* The same without waiting for its answer: what is wrong with it, the next call says, at the latest
 * database_commit. */
int database_exec_later(struct database *s, const char *sql, const struct field *v, uint32_t n,
			struct err *e);
/* The same; its rows are then there for database_next until the next database_query. */
int database_query(struct database *s, const char *sql, const struct field *v, uint32_t n,
		   struct err *e);
/* 1 and a row, borrowed until the next; 0 at the end; -errno. */
int database_next(struct database *s, const struct field **row, struct err *e);
/* A query of which the first row is all that is wanted: as database_query and database_next. */
int database_first(struct database *s, const char *sql, const struct field *v, uint32_t n,
		   const struct field **row, struct err *e);

/* PostgreSQL only: many rows in the text form of COPY, each ends with a newline. What is wrong with
 * them is told at the end. */
int database_copy_begin(struct database *s, const char *sql, struct err *e);
int database_copy(struct database *s, const void *rows, size_t n, struct err *e);
int database_copy_end(struct database *s, struct err *e);

#endif
