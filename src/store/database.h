/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database.h - the database that outlives recordings: runs with their summaries, jobs that were
 * pushed. One versioned schema (store/schema.h), in SQLite or PostgreSQL.
 *
 * The same SQL serves both: BIGINT, DOUBLE PRECISION and TEXT; $1, $2, ... stand for fields; INSERT
 * ... ON CONFLICT, window functions and common table expressions are there, RETURNING is not. Times
 * are nanoseconds since 1970 (UTC), columns named _ns. All statements between database_begin and
 * database_commit happen or none does, whoever is killed. Many may write at once: each waits for
 *the others, 30 s at most. What is asked goes to the helper sonde-database over a socket.
 *
 *	struct field v[] = { field_text("matmul"), field_real(1.5) };
 *	int rc = database_open(&s, place.where, &e);
 *	if (!rc) rc = database_begin(s, &e);
 *	if (!rc) rc = database_exec(s, "INSERT INTO trials (name, score) VALUES ($1, $2)", v, 2,
 *&e); if (!rc) rc = database_commit(s, &e); if (!rc) rc = database_query(s, "SELECT name, score
 *FROM trials", NULL, 0, &e); while (!rc && (rc = database_next(s, &row, &e)) > 0) rc =
 *use(row[0].s, row[1].d); database_close(s);
 *
 * A new room of tables is one more version in store/schema.c.
 */
#ifndef SONDE_STORE_DATABASE_H
#define SONDE_STORE_DATABASE_H

#include "base/err.h"
#include "store/wire.h"

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
