/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres.c - the store on a server of PostgreSQL, by libpq: it knows its variables (PGHOST,
 * PGPASSWORD, PGPASSFILE, ...).
 */
#include "base/clock.h"
#include "base/err.h"
#include "base/text/decimal.h"
#include "base/text/number.h"
#include "database/driver.h"
#include "store/database.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A connection to PostgreSQL on which nothing is waited for without end.
 *
 * libpq's own PQexec waits as long as the server's kernel acknowledges. Here a server that has said
 * nothing for `patience_ms` is asked on a second connection whether it is there; when that gets no
 * answer either, or one statement takes SESSION_TIMES as long, the session is over: silent_ms says
 * how long nothing came, and all that is asked later fails at once.
 */
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

enum { SESSION_TIMES = 30, SESSION_OPTIONS = 8 };

struct session {
	struct libpq pq;
	struct pg_conn *connection; /* NULL: closed */
	const char *value[SESSION_OPTIONS];
	char connect_timeout[16];
	int64_t patience_ms, silent_ms; /* silent 0: it answers */
};

static int libpq_load(struct libpq *l, struct err *e);
static int64_t session_statement_ms(const struct session *s);
static int session_open(struct session *s, const char *where, int64_t patience_ms);
static void session_close(struct session *s);
static int session_ping(const struct session *s);
static struct pg_result *session_exec(struct session *s, const char *sql);
static struct pg_result *session_exec_params(struct session *s, const char *sql, int n,
					     const char *const *text);
static bool session_copy(struct session *s, const char *rows, size_t n);
static bool session_copy_end(struct session *s);
static struct pg_result *session_result(struct session *s);

enum { NUMBER_SIZE = 32, SAID = 200, PATIENCE_S = 20, PATIENCE_MAX_S = 3600, MS_PER_S = 1000 };

#define PATIENCE "SONDE_STORE_PATIENCE"

/* Of pg_type: their numbers never change. */
enum { BOOL = 16, INT8 = 20, INT2 = 21, INT4 = 23, FLOAT4 = 700, FLOAT8 = 701, NUMERIC = 1700 };

struct postgres {
	struct session session;
	struct place place;
	bool copy_failed;
};

static void say_nothing(void *ctx, const char *message)
{
	(void)ctx;
	(void)message;
}

/* What a class of SQLSTATE means; docs of PostgreSQL, appendix A. */
static int code_of(const char *state)
{
	static const struct {
		const char *begins;
		int code;
	} rows[] = {
		{ "08", -EHOSTUNREACH }, { "40", -EAGAIN },    { "55P03", -EAGAIN },
		{ "57P0", -EAGAIN },     { "57014", -EAGAIN }, { "53100", -ENOSPC },
		{ "53", -EAGAIN },       { "42501", -EACCES }, { "28", -EACCES },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (!strncmp(state, rows[i].begins, strlen(rows[i].begins)))
			return rows[i].code;
	return -EPROTO;
}

static int lost(const struct postgres *p, struct err *e)
{
	if (p->session.silent_ms)
		return err_set(e, -EHOSTUNREACH, "%.200s has not answered for %lld s",
			       p->place.shown, (long long)p->session.silent_ms / MS_PER_S);
	return err_set(e, -EHOSTUNREACH, "the connection to %.200s was lost", p->place.shown);
}

static int fail(const struct postgres *p, const struct pg_result *r, struct err *e)
{
	const struct libpq *pq = &p->session.pq;
	const char *state = pq->PQresultErrorField(r, PG_DIAG_SQLSTATE);
	const char *why = pq->PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);

	if (p->session.silent_ms || pq->PQstatus(p->session.connection) != CONNECTION_OK)
		return lost(p, e);
	return err_set(e, state ? code_of(state) : -EPROTO, "%.200s refuses: %.200s",
		       p->place.shown, why ? why : "it does not say why");
}

/* Whether it is the server that says no, and not that there is none. */
static int refused(struct postgres *p, struct err *e)
{
	const char *text = p->session.pq.PQerrorMessage(p->session.connection);
	const char *fatal = strstr(text, "FATAL:");
	const char *why = fatal ? fatal + strspn(fatal, "FATL: ") : text;
	int n = (int)strcspn(why, "\n");

	n = n < SAID ? n : SAID;
	if (fatal && session_ping(&p->session) == PQPING_OK)
		return err_set(e, -EACCES,
			       "%.200s refuses: %.*s; the password is taken from PGPASSWORD, "
			       "PGPASSFILE or ~/.pgpass",
			       p->place.shown, n, why);
	return err_set(e, -EHOSTUNREACH, "cannot reach %.200s: %.*s", p->place.shown, n, why);
}

static int check_address(struct postgres *p, const char *where, struct err *e)
{
	void *parsed = p->session.pq.PQconninfoParse(where, NULL);

	if (!parsed)
		return err_set(e, -EINVAL,
			       "the address of the database is malformed: it is "
			       "postgres://user@host:port/database");
	p->session.pq.PQconninfoFree(parsed);
	return 0;
}

static int run(struct postgres *p, const char *sql, struct err *e)
{
	struct pg_result *r = session_exec(&p->session, sql);
	int status = p->session.pq.PQresultStatus(r);
	int rc = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ? 0 : fail(p, r, e);

	p->session.pq.PQclear(r);
	return rc;
}

/* How long a server may say nothing. */
static int64_t silence_ms(void)
{
	const char *p = getenv(PATIENCE);
	int64_t seconds;

	return p && number_i64(&p, &seconds) && !*p && seconds > 0 && seconds <= PATIENCE_MAX_S
		       ? seconds * MS_PER_S
		       : PATIENCE_S * MS_PER_S;
}

static int open_server(void *state, const char *where, int64_t patience_ms, struct err *e)
{
	struct postgres *p = state;
	struct libpq *pq = &p->session.pq;
	char settings[128];
	int rc = libpq_load(pq, e);

	if (!rc)
		rc = place_parse(&p->place, where, e);
	if (!rc)
		rc = check_address(p, where, e);
	if (rc)
		return rc;
	if (session_open(&p->session, where, silence_ms()))
		return err_set(e, -ENOMEM, "out of memory");
	if (pq->PQstatus(p->session.connection) != CONNECTION_OK)
		return refused(p, e);
	pq->PQsetNoticeProcessor(p->session.connection, say_nothing, NULL);
	snprintf(
		settings, sizeof settings,
		"SET search_path TO sonde; SET lock_timeout TO %lld; SET statement_timeout TO %lld",
		(long long)patience_ms, (long long)session_statement_ms(&p->session));
	return run(p, settings, e);
}

/* As PostgreSQL reads it; a text is borrowed. */
static const char *text_of(const struct field *f, char number[NUMBER_SIZE])
{
	if (f->type == FIELD_NULL)
		return NULL;
	if (f->type == FIELD_TEXT)
		return f->s;
	if (f->type == FIELD_INT)
		snprintf(number, NUMBER_SIZE, "%lld", (long long)f->i);
	else if (isinf(f->d))
		snprintf(number, NUMBER_SIZE, "%sInfinity", f->d < 0 ? "-" : "");
	else
		snprintf(number, NUMBER_SIZE, "%.17g", f->d);
	return number;
}

static double real_of(const char *text)
{
	char *end;

	if (strstr(text, "Infinity"))
		return text[0] == '-' ? -INFINITY : INFINITY;
	return strcmp(text, "NaN") ? decimal_parse(text, &end) : NAN;
}

static struct field field_of(unsigned type, const char *text)
{
	const char *p = text;
	int64_t v;

	switch (type) {
	case BOOL:
		return field_int(text[0] == 't');
	case INT2:
	case INT4:
	case INT8:
		return number_i64(&p, &v) ? field_int(v) : (struct field){ 0 };
	case FLOAT4:
	case FLOAT8:
	case NUMERIC:
		return field_real(real_of(text));
	default:
		return field_text(text);
	}
}

static void take(const struct postgres *p, struct pg_result *r, struct answer *a)
{
	const struct libpq *pq = &p->session.pq;
	int rows = pq->PQntuples(r), columns = pq->PQnfields(r);

	for (int i = 0; i < rows && columns && !a->lost; i++) {
		answer_row(a, columns);
		for (int c = 0; c < columns; c++)
			answer_field(
				a, pq->PQgetisnull(r, i, c)
					   ? (struct field){ 0 }
					   : field_of(pq->PQftype(r, c), pq->PQgetvalue(r, i, c)));
	}
}

/* With fields it is one statement. */
static struct pg_result *ask(struct postgres *p, const char *sql, const struct field *v, uint32_t n)
{
	const char **text;
	char(*number)[NUMBER_SIZE];
	struct pg_result *r = NULL;

	if (!n)
		return session_exec(&p->session, sql);
	text = calloc(n, sizeof *text);
	number = calloc(n, sizeof *number);
	for (uint32_t i = 0; i < n && text && number; i++)
		text[i] = text_of(&v[i], number[i]);
	if (text && number)
		r = session_exec_params(&p->session, sql, (int)n, text);
	free(text);
	free(number);
	return r;
}

static int execute(void *state, const char *sql, const struct field *v, uint32_t n,
		   struct answer *a, struct err *e)
{
	struct postgres *p = state;
	struct pg_result *r = ask(p, sql, v, n);
	int status = p->session.pq.PQresultStatus(r), rc = 0;

	if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY)
		take(p, r, a);
	else
		rc = fail(p, r, e);
	p->session.pq.PQclear(r);
	return rc;
}

/* A statement that lasts as long as rows come has no limit but silence. */
static int copy(void *state, const char *sql, struct err *e)
{
	struct postgres *p = state;
	struct pg_result *r;
	int rc = run(p, "SET LOCAL statement_timeout TO 0", e);

	p->copy_failed = false;
	if (rc)
		return rc;
	r = session_exec(&p->session, sql);
	rc = p->session.pq.PQresultStatus(r) == PGRES_COPY_IN ? 0 : fail(p, r, e);
	p->session.pq.PQclear(r);
	return rc;
}

static void data(void *state, const uint8_t *rows, size_t n)
{
	struct postgres *p = state;

	if (n && !p->copy_failed)
		p->copy_failed = !session_copy(&p->session, (const char *)rows, n);
}

static int copied(void *state, struct err *e)
{
	struct postgres *p = state;
	struct pg_result *r;
	int rc = 0;

	p->copy_failed |= !session_copy_end(&p->session);
	while ((r = session_result(&p->session))) {
		int status = p->session.pq.PQresultStatus(r);

		if (status != PGRES_COMMAND_OK && !rc)
			rc = fail(p, r, e);
		p->session.pq.PQclear(r);
		if (status == PGRES_COPY_IN) /* it would say so for ever */
			break;
	}
	return !rc && (p->copy_failed || p->session.silent_ms) ? lost(p, e) : rc;
}

static void close_server(void *state)
{
	struct postgres *p = state;

	session_close(&p->session);
}

const struct driver driver_postgres = {
	.size = sizeof(struct postgres),
	.open = open_server,
	.exec = execute,
	.copy = copy,
	.data = data,
	.copied = copied,
	.close = close_server,
};

/* 0, or -ENOENT with a sentence when the library is not there or lacks a function. */
static int libpq_load(struct libpq *l, struct err *e)
{
	void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
	void *found;

	if (!library)
		return err_set(e, -ENOENT,
			       "PostgreSQL's library libpq.so.5 is missing: Debian's package is "
			       "libpq5");
#define FUNCTION(type, name, arguments)                                                            \
	found = dlsym(library, #name);                                                             \
	if (!found)                                                                                \
		return err_set(e, -ENOENT, "libpq.so.5 is too old: it has no " #name);             \
	memcpy(&l->name, &found, sizeof found);
	LIBPQ_FUNCTIONS(FUNCTION)
#undef FUNCTION
	return 0;
}

enum { CONNECT_S = 10 };

/* What comes later wins: an address may say otherwise. A server that is gone is noticed in a
 * minute, not in hours. */
static const char *const keys[SESSION_OPTIONS] = { "connect_timeout",           "keepalives_idle",
						   "keepalives_interval",       "keepalives_count",
						   "fallback_application_name", "dbname",
						   "client_encoding",           NULL };

/* A statement may take so long, in all. */
static int64_t session_statement_ms(const struct session *s)
{
	return s->patience_ms * SESSION_TIMES;
}

/* The address is borrowed. 0 when there is a connection, which may be a bad one: PQstatus; or
 * -ENOMEM. */
static int session_open(struct session *s, const char *where, int64_t patience_ms)
{
	const char *const value[SESSION_OPTIONS] = {
		s->connect_timeout, "30", "10", "3", "sonde", where, "UTF8", NULL
	};
	int64_t seconds = (patience_ms + 999) / 1000;

	s->patience_ms = patience_ms;
	snprintf(s->connect_timeout, sizeof s->connect_timeout, "%d",
		 seconds < CONNECT_S ? (int)seconds : CONNECT_S);
	for (size_t i = 0; i < SESSION_OPTIONS; i++)
		s->value[i] = value[i];
	s->connection = s->pq.PQconnectdbParams(keys, s->value, 1);
	if (!s->connection)
		return -ENOMEM;
	s->pq.PQsetnonblocking(s->connection, 1);
	return 0;
}

static void session_close(struct session *s)
{
	if (s->connection)
		s->pq.PQfinish(s->connection);
	s->connection = NULL;
}

/* Whether somebody answers there, on a connection of its own: PQPING_... */
static int session_ping(const struct session *s)
{
	return s->pq.PQpingParams(keys, s->value, 1);
}

/* Until the server gives something, or takes it. False: it is silent. */
static bool wait_for(struct session *s, short events)
{
	int64_t begun = clock_mono_ns(), silent_ms;
	struct pollfd fd = { s->pq.PQsocket(s->connection), events, 0 };

	for (;;) {
		int ready = poll(&fd, 1, (int)s->patience_ms);

		if (ready > 0 || (ready < 0 && errno != EINTR))
			return true; /* what is wrong with it is for libpq to find */
		silent_ms = (clock_mono_ns() - begun) / NS_PER_MS;
		if (silent_ms < s->patience_ms)
			continue;
		if (silent_ms >= session_statement_ms(s) + s->patience_ms ||
		    session_ping(s) == PQPING_NO_RESPONSE) {
			s->silent_ms = (clock_mono_ns() - begun) / NS_PER_MS;
			return false;
		}
	}
}

/* All that was put is sent. */
static bool flush(struct session *s)
{
	int left;

	while ((left = s->pq.PQflush(s->connection)) > 0)
		if (!wait_for(s, POLLIN | POLLOUT) || !s->pq.PQconsumeInput(s->connection))
			return false;
	return !left;
}

/* As PQgetResult. */
static struct pg_result *session_result(struct session *s)
{
	while (!s->silent_ms && s->pq.PQisBusy(s->connection))
		if (wait_for(s, POLLIN) && !s->pq.PQconsumeInput(s->connection))
			break;
	return s->silent_ms ? NULL : s->pq.PQgetResult(s->connection);
}

/* The last result of what was sent, or the one that something follows upon. */
static struct pg_result *last_result(struct session *s, int sent)
{
	struct pg_result *r = NULL, *next;

	if (sent)
		flush(s); /* when it fails, the result says so */
	while (!s->silent_ms && (next = session_result(s))) {
		s->pq.PQclear(r);
		r = next;
		if (s->pq.PQresultStatus(r) == PGRES_COPY_IN)
			break;
	}
	return r;
}

/* As PQexec and PQexecParams; NULL when nothing came. */
static struct pg_result *session_exec(struct session *s, const char *sql)
{
	if (s->silent_ms)
		return NULL;
	return last_result(s, s->pq.PQsendQuery(s->connection, sql));
}

static struct pg_result *session_exec_params(struct session *s, const char *sql, int n,
					     const char *const *text)
{
	if (s->silent_ms)
		return NULL;
	return last_result(
		s, s->pq.PQsendQueryParams(s->connection, sql, n, NULL, text, NULL, NULL, 0));
}

/* As PQputCopyData with all of it sent. */
static bool session_copy(struct session *s, const char *rows, size_t n)
{
	return !s->silent_ms && s->pq.PQputCopyData(s->connection, rows, (int)n) == 1 && flush(s);
}

static bool session_copy_end(struct session *s)
{
	return !s->silent_ms && s->pq.PQputCopyEnd(s->connection, NULL) == 1 && flush(s);
}
