/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libpq.h - the few functions of PostgreSQL's library that are used, loaded when a store is there:
 * without the library, stores in files work all the same.
 *
 * Names, numbers and types are those of libpq-fe.h, which keeps them since 9.0.
 */
#ifndef SONDE_DATABASE_LIBPQ_H
#define SONDE_DATABASE_LIBPQ_H

#include "base/err.h"

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

#endif
