/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sonde-serve FD DIR...: answers HTTP requests for the newest samples of these recordings on a
 * listening socket. The token is in SONDE_TOKEN.
 *
 * Requests are parsed by libmicrohttpd, which is held to few connections, little memory and little
 * time for each; one thread answers all of them.
 */
#include "base/clock.h"
#include "live/exposition.h"
#include "live/request.h"

#include <errno.h>
#include <limits.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { CONNECTIONS = 64, MEMORY = 32 << 10, TIMEOUT_S = 10, FRESH_MS = 500 };

struct server {
	struct exposition_run *run;
	struct follow **follow;
	char **path;
	size_t n;
	const char *token;
	int64_t polled_ns;
	struct bytes text;
};

/* What was read a moment ago is new enough: askers cannot make it read all the time. */
static void look(struct server *s)
{
	int64_t now = clock_mono_ns();

	if (s->polled_ns && now - s->polled_ns < FRESH_MS * NS_PER_MS)
		return;
	s->polled_ns = now;
	for (size_t i = 0; i < s->n; i++)
		follow_poll(s->follow[i], NULL); /* a directory that is gone says nothing new */
}

static enum MHD_Result answer(struct MHD_Connection *c, unsigned status, struct bytes *text,
			      const char *type)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(
		text ? text->len : 0, text ? text->data : NULL, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result rc;

	if (!r)
		return MHD_NO;
	if (type)
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	if (status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	rc = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return rc;
}

static enum MHD_Result serve(void *ctx, struct MHD_Connection *c, const char *path,
			     const char *method, const char *version, const char *data,
			     size_t *size, void **seen)
{
	static const char *const types[] = {
		[EXPOSITION_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
		[EXPOSITION_OPENMETRICS] =
			"application/openmetrics-text; version=1.0.0; charset=utf-8",
	};
	const struct request r = {
		.method = method,
		.path = path,
		.authorization = MHD_lookup_connection_value(c, MHD_HEADER_KIND,
							     MHD_HTTP_HEADER_AUTHORIZATION),
		.accept = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT),
	};
	struct server *s = ctx;
	unsigned status = request_judge(&r, s->token);
	enum exposition_format format = request_format(&r);

	(void)version;
	(void)data;
	(void)size;
	(void)seen; /* answered at once: a body is not waited for */
	if (status != MHD_HTTP_OK)
		return answer(c, status, NULL, NULL);
	look(s);
	if (exposition_put(&s->text, s->run, s->n, clock_utc_ns(), format))
		return answer(c, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, NULL);
	return answer(c, status, &s->text, types[format]);
}

static bool runs_open(struct server *s, char **paths, size_t n)
{
	s->run = calloc(n + 1, sizeof *s->run);
	s->follow = calloc(n + 1, sizeof(struct follow *));
	s->path = calloc(n + 1, sizeof(char *));
	for (size_t i = 0; s->run && s->follow && s->path && i < n; i++, s->n++) {
		struct err e = { "" };

		s->path[i] = realpath(paths[i], NULL);
		if (follow_open(&s->follow[i], paths[i], &e) || !s->path[i]) {
			dprintf(STDERR_FILENO, "sonde-serve: %s\n",
				e.text[0] ? e.text : strerror(errno));
			return false;
		}
		s->run[i] = (struct exposition_run){ s->follow[i], s->path[i], NULL };
	}
	return s->n == n;
}

static void runs_close(struct server *s)
{
	for (size_t i = 0; s->follow && s->path && i <= s->n; i++) {
		follow_close(s->follow[i]);
		free(s->path[i]);
	}
	free(s->run);
	free(s->follow);
	free(s->path);
	bytes_free(&s->text);
}

/* The Unix socket that is listened on, as it lies there; false: it is another kind, or gone. */
static bool find_socket(int listener, struct sockaddr_un *a, struct stat *st)
{
	socklen_t n = sizeof *a - 1;

	*a = (struct sockaddr_un){ .sun_family = AF_UNSPEC };
	return !getsockname(listener, (struct sockaddr *)a, &n) && a->sun_family == AF_UNIX &&
	       a->sun_path[0] && !lstat(a->sun_path, st) && S_ISSOCK(st->st_mode);
}

/* While it is listened on: nobody finds it refused, and another's that took its place stays. */
static void remove_socket(int listener, const struct stat *ours)
{
	struct sockaddr_un a;
	struct stat now;

	if (find_socket(listener, &a, &now) && now.st_ino == ours->st_ino &&
	    now.st_dev == ours->st_dev)
		unlink(a.sun_path);
}

static int listener_of(const char *word)
{
	char *end;
	long fd = strtol(word, &end, 10);

	return *word && !*end && fd > STDERR_FILENO && fd < INT_MAX ? (int)fd : -1;
}

int main(int argc, char **argv)
{
	struct server s = { .token = getenv("SONDE_TOKEN") };
	int listener = argc > 2 ? listener_of(argv[1]) : -1, signal_number, status = 1;
	struct MHD_Daemon *d = NULL;
	struct sockaddr_un address;
	struct stat ours;
	sigset_t ends;
	bool has_file;

	if (listener < 0 || !s.token || !*s.token) {
		dprintf(STDERR_FILENO, "sonde-serve: it is started by `sonde serve`\n");
		return 2;
	}
	has_file = find_socket(listener, &address, &ours);
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	signal(SIGPIPE, SIG_IGN);
	if (runs_open(&s, argv + 2, (size_t)(argc - 2))) {
		d = MHD_start_daemon(
			MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, serve, &s,
			MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_CONNECTION_LIMIT,
			(unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY,
			MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S, MHD_OPTION_END);
		if (!d)
			dprintf(STDERR_FILENO, "sonde-serve: cannot serve: %s\n", strerror(errno));
	}
	if (d) {
		sigwait(&ends, &signal_number);
		status = 0;
	}
	if (has_file)
		remove_socket(listener, &ours);
	if (d)
		MHD_stop_daemon(d);
	runs_close(&s);
	return status;
}
