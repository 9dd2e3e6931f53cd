/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - a connection to PostgreSQL on which nothing is waited for without end.
 *
 * libpq's own PQexec waits as long as the server's kernel acknowledges. Here a server that has said
 * nothing for `patience_ms` is asked on a second connection whether it is there; when that gets no
 * answer either, or one statement takes SESSION_TIMES as long, the session is over: silent_ms says
 * how long nothing came, and all that is asked later fails at once.
 */
#ifndef SONDE_DATABASE_SESSION_H
#define SONDE_DATABASE_SESSION_H

#include "database/libpq.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
