/* SPDX-License-Identifier: Apache-2.0 */
#include "database/session.h"

#include "base/clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

int libpq_load(struct libpq *l, struct err *e)
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

int64_t session_statement_ms(const struct session *s)
{
	return s->patience_ms * SESSION_TIMES;
}

int session_open(struct session *s, const char *where, int64_t patience_ms)
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

void session_close(struct session *s)
{
	if (s->connection)
		s->pq.PQfinish(s->connection);
	s->connection = NULL;
}

int session_ping(const struct session *s)
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

struct pg_result *session_result(struct session *s)
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

struct pg_result *session_exec(struct session *s, const char *sql)
{
	if (s->silent_ms)
		return NULL;
	return last_result(s, s->pq.PQsendQuery(s->connection, sql));
}

struct pg_result *session_exec_params(struct session *s, const char *sql, int n,
				      const char *const *text)
{
	if (s->silent_ms)
		return NULL;
	return last_result(
		s, s->pq.PQsendQueryParams(s->connection, sql, n, NULL, text, NULL, NULL, 0));
}

bool session_copy(struct session *s, const char *rows, size_t n)
{
	return !s->silent_ms && s->pq.PQputCopyData(s->connection, rows, (int)n) == 1 && flush(s);
}

bool session_copy_end(struct session *s)
{
	return !s->silent_ms && s->pq.PQputCopyEnd(s->connection, NULL) == 1 && flush(s);
}
