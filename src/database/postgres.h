/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres.h - a connection to PostgreSQL on which nothing is waited for without end.
 *
 * libpq's own PQexec waits as long as the server's kernel acknowledges. Here a server that has said
 * nothing for `patience_ms` is asked on a second connection whether it is there; when that gets no
 * answer either, or one statement takes SESSION_TIMES as long, the session is over: silent_ms says
 * how long nothing came, and all that is asked later fails at once.
 */
#ifndef SONDE_DATABASE_POSTGRES_H
#define SONDE_DATABASE_POSTGRES_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The few functions of PostgreSQL's library that are used, loaded when a store is there: without
 * the library, stores in files work all the same.
 *
 * Names, numbers and types are those of libpq-fe.h, which keeps them since 9.0. */

struct pg_conn;
struct pg_result;

enum { CONNECTION_OK = 0 };
enum { PQPING_OK = 0, PQPING_NO_RESPONSE = 2 };
enum {
	PGRES_EMPTY_QUERY = 0,
	PGRES_COMMAND_OK = 1,
	PGRES_TUPLES_OK = 2,
	PGRES_COPY_IN = 4,
};
enum { PG_DIAG_SQLSTATE = 'C', PG_DIAG_MESSAGE_PRIMARY = 'M' };

/* clang-format off */
#define LIBPQ_FUNCTIONS(X) \
	X(void *, PQconninfoParse, (const char *, char **)) \
	X(void, PQconninfoFree, (void *)) \
	X(struct pg_conn *, PQconnectdbParams, (const char *const *, const char *const *, int)) \
	X(int, PQpingParams, (const char *const *, const char *const *, int)) \
	X(int, PQstatus, (const struct pg_conn *)) \
	X(char *, PQerrorMessage, (const struct pg_conn *)) \
	X(void, PQfinish, (struct pg_conn *)) \
	X(void *, PQsetNoticeProcessor, (struct pg_conn *, void (*)(void *, const char *), void *)) \
	X(int, PQsocket, (const struct pg_conn *)) \
	X(int, PQsetnonblocking, (struct pg_conn *, int)) \
	X(int, PQflush, (struct pg_conn *)) \
	X(int, PQconsumeInput, (struct pg_conn *)) \
	X(int, PQisBusy, (struct pg_conn *)) \
	X(int, PQsendQuery, (struct pg_conn *, const char *)) \
	X(int, PQsendQueryParams, (struct pg_conn *, const char *, int, const unsigned *, \
	  const char *const *, const int *, const int *, int)) \
	X(int, PQresultStatus, (const struct pg_result *)) \
	X(char *, PQresultErrorField, (const struct pg_result *, int)) \
	X(int, PQntuples, (const struct pg_result *)) \
	X(int, PQnfields, (const struct pg_result *)) \
	X(unsigned, PQftype, (const struct pg_result *, int)) \
	X(int, PQgetisnull, (const struct pg_result *, int, int)) \
	X(char *, PQgetvalue, (const struct pg_result *, int, int)) \
	X(void, PQclear, (struct pg_result *)) \
	X(int, PQputCopyData, (struct pg_conn *, const char *, int)) \
	X(int, PQputCopyEnd, (struct pg_conn *, const char *)) \
	X(struct pg_result *, PQgetResult, (struct pg_conn *))
/* clang-format on */

struct libpq {
#define FUNCTION(type, name, arguments) type(*name) arguments;
	LIBPQ_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/* 0, or -ENOENT with a sentence when the library is not there or lacks a function. */
int libpq_load(struct libpq *l, struct err *e);

enum { SESSION_TIMES = 30, SESSION_OPTIONS = 8 };

struct session {
	struct libpq pq;
	struct pg_conn *connection; /* NULL: closed */
	const char *value[SESSION_OPTIONS];
	char connect_timeout[16];
	int64_t patience_ms, silent_ms; /* silent 0: it answers */
};

/* A statement may take so long, in all. */
int64_t session_statement_ms(const struct session *s);
/* The address is borrowed. 0 when there is a connection, which may be a bad one: PQstatus; or
 * -ENOMEM. */
int session_open(struct session *s, const char *where, int64_t patience_ms);
void session_close(struct session *s);
/* Whether somebody answers there, on a connection of its own: PQPING_... */
int session_ping(const struct session *s);

/* As PQexec and PQexecParams; NULL when nothing came. */
struct pg_result *session_exec(struct session *s, const char *sql);
struct pg_result *session_exec_params(struct session *s, const char *sql, int n,
				      const char *const *text);
/* As PQputCopyData with all of it sent. */
bool session_copy(struct session *s, const char *rows, size_t n);
bool session_copy_end(struct session *s);
/* As PQgetResult. */
struct pg_result *session_result(struct session *s);

#endif
