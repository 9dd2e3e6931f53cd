/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sonde-serve FD metrics|pages DIR...: answers HTTP requests for these recordings on a listening
 * socket: for their newest samples, or with their pages. The token is in SONDE_TOKEN.
 *
 * Requests are parsed by libmicrohttpd, which is held to few connections, little memory and little
 * time for each (crowd.h). One thread answers all of them; what takes long is made by another
 * (pages.h).
 */
#include "base/clock.h"
#include "base/hash.h"
#include "base/packed.h"
#include "base/random.h"
#include "live/exposition.h"
#include "live/request.h"
#include "report/assets.h"
#include "report/page/page_html.h"
#include "serve/crowd.h"
#include "serve/pages.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* ---- the list of runs, and where the token is asked for ---- */

/* The response has the bytes, or nobody has. */
static enum MHD_Result answer_with(struct MHD_Connection *c, struct bytes *b, const char *nonce)
{
	struct MHD_Response *r;
	enum MHD_Result rc;
	char policy[300];

	r = b->failed ? NULL
		      : MHD_create_response_from_buffer(b->len, b->data, MHD_RESPMEM_MUST_FREE);
	if (!r) {
		bytes_free(b);
		return MHD_NO;
	}
	pages_headers(r, "text/html; charset=utf-8");
	snprintf(
		policy, sizeof policy,
		"default-src 'none'; script-src 'nonce-%s'; style-src 'nonce-%s'; connect-src "
		"'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		nonce, nonce);
	MHD_add_response_header(r, "Content-Security-Policy", policy);
	rc = MHD_queue_response(c, MHD_HTTP_OK, r);
	MHD_destroy_response(r);
	return rc;
}

static enum MHD_Result html_login(struct MHD_Connection *c)
{
	static const char mark[] = "{{nonce}}";
	const char *at = asset_login_html, *end = asset_login_html_end, *next;
	struct bytes b = { 0 };
	char nonce[NONCE_SIZE];
	struct err e = { "" };

	if (nonce_make(nonce, &e))
		return MHD_NO;
	while ((next = memmem(at, (size_t)(end - at), mark, sizeof mark - 1))) {
		bytes_put(&b, at, (size_t)(next - at));
		bytes_puts(&b, nonce);
		at = next + sizeof mark - 1;
	}
	bytes_put(&b, at, (size_t)(end - at));
	return answer_with(c, &b, nonce);
}

/* ---- the list ---- */

static const char *meta_of(const struct exposition_run *run, const char *key)
{
	for (uint32_t i = 0; i < follow_count(run->follow); i++) {
		const struct follow_meta *m = follow_meta(follow_node(run->follow, i), key);

		if (m && m->text && *m->text)
			return m->text;
	}
	return NULL;
}

/* Running while a sample of an open recording is young. */
static const char *state_in_words(const struct exposition_run *run)
{
	uint32_t open = 0, ended = 0, stale = 0;

	for (uint32_t i = 0; i < follow_count(run->follow); i++) {
		const struct follow_node *n = follow_node(run->follow, i);

		if (n->state == FOLLOW_ENDED)
			ended++;
		else if (n->state == FOLLOW_OPEN &&
			 clock_utc_ns() - n->utc_ns < EXPOSITION_STALE_S * NS_PER_S)
			open++;
		else
			stale++;
	}
	return open ? "running" : stale ? "not closed" : ended ? "ended" : "no recording yet";
}

/* When the first of its recordings was begun: "2026-11-22 21:02:17"; "–" when none says. */
static const char *started(const struct exposition_run *run, char *out, size_t size)
{
	int64_t first = 0;
	char iso[48];

	for (uint32_t i = 0; i < follow_count(run->follow); i++) {
		int64_t made = follow_node(run->follow, i)->made_utc_ns;

		if (made && (!first || made < first))
			first = made;
	}
	if (!first)
		return "–";
	clock_iso(first / NS_PER_S * NS_PER_S, iso, sizeof iso);
	snprintf(out, size, "%.10s %.8s", iso, strlen(iso) > 11 ? iso + 11 : "");
	return out;
}

static void row(struct bytes *b, const struct exposition_run *run, size_t i)
{
	const char *slash = strrchr(run->path, '/'), *command = meta_of(run, "job.command");
	const char *name = slash && slash[1] ? slash + 1 : run->path, *id = meta_of(run, "job.id");
	char when[32];

	bytes_printf(b, "<tr><th scope=\"row\"><a href=\"run/%zu/\">", i + 1);
	html_text(b, name);
	bytes_printf(b, "</a></th><td class=\"text\">%s</td><td>%s</td><td class=\"text\">",
		     state_in_words(run), started(run, when, sizeof when));
	html_text(b, id ? id : "–");
	bytes_printf(b, "</td><td>%u</td><td class=\"text\"><code>", follow_count(run->follow));
	html_text(b, command ? command : "–");
	bytes_puts(b, "</code></td></tr>\n");
}

static enum MHD_Result html_list(struct MHD_Connection *c, const struct exposition_run *run,
				 size_t runs)
{
	struct bytes b = { 0 };
	char nonce[NONCE_SIZE];
	struct err e = { "" };

	if (nonce_make(nonce, &e))
		return MHD_NO;
	bytes_printf(&b,
		     "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
		     "name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta "
		     "http-equiv=\"refresh\" content=\"10\"><title>Sonde: runs</title><link "
		     "rel=\"icon\" href=\"data:,\"><style nonce=\"%s\">",
		     nonce);
	packed_put(&b, asset_page_css, asset_page_css_end);
	bytes_printf(&b, "</style><style nonce=\"%s\" media=\"(prefers-color-scheme: dark)\">",
		     nonce);
	packed_put(&b, asset_dark_css, asset_dark_css_end);
	bytes_puts(&b, "a { color: var(--accent); }</style></head><body><main><section>\n"
		       "<h1>Runs</h1>\n<div class=\"panel scroll\" tabindex=\"0\" role=\"group\" "
		       "aria-label=\"Runs\"><table><thead><tr><th scope=\"col\">Run</th><th "
		       "scope=\"col\" data-text>State</th><th scope=\"col\">Started (UTC)</th><th "
		       "scope=\"col\" data-text>Job</th><th scope=\"col\">Recordings</th><th "
		       "scope=\"col\" data-text>Command</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < runs; i++)
		row(&b, &run[i], i);
	bytes_puts(&b, "</tbody></table></div></section></main></body></html>\n");
	return answer_with(c, &b, nonce);
}

/* ---- requests ---- */

enum { MEMORY = 32 << 10, TIMEOUT_S = 10, FRESH_MS = 500, FILES = 2 * CROWD_MAX };

struct server {
	struct request_guard guard;
	struct exposition_run *run;
	struct follow **follow;
	char **path;
	size_t n;
	int64_t polled_ns;
	struct bytes text;
	struct crowd crowd;
	struct pages *pages; /* NULL: metrics are served */
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

static enum MHD_Result metrics(struct server *s, struct MHD_Connection *c, const struct request *r)
{
	static const char *const types[] = {
		[EXPOSITION_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
		[EXPOSITION_OPENMETRICS] =
			"application/openmetrics-text; version=1.0.0; charset=utf-8",
	};
	enum exposition_format format = request_format(r);

	look(s);
	if (exposition_put(&s->text, s->run, s->n, clock_utc_ns(), format))
		return answer(c, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, NULL);
	return answer(c, MHD_HTTP_OK, &s->text, types[format]);
}

static enum MHD_Result list(struct server *s, struct MHD_Connection *c)
{
	look(s);
	return html_list(c, s->run, s->n);
}

/* No script reads the cookie, no other site's page sends it. */
static enum MHD_Result session(struct server *s, struct MHD_Connection *c)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	char cookie[REQUEST_COOKIE + SHA256_HEX + 64];
	enum MHD_Result rc;

	if (!r)
		return MHD_NO;
	snprintf(cookie, sizeof cookie, "%s=%s; Path=/; HttpOnly; SameSite=Strict", s->guard.cookie,
		 s->guard.session);
	MHD_add_response_header(r, MHD_HTTP_HEADER_SET_COOKIE, cookie);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	rc = MHD_queue_response(c, MHD_HTTP_NO_CONTENT, r);
	MHD_destroy_response(r);
	return rc;
}

static const char *header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static enum MHD_Result serve(void *ctx, struct MHD_Connection *c, const char *path,
			     const char *method, const char *version, const char *data,
			     size_t *size, void **seen)
{
	const struct request r = {
		.method = method,
		.path = path,
		.host = header(c, MHD_HTTP_HEADER_HOST),
		.authorization = header(c, MHD_HTTP_HEADER_AUTHORIZATION),
		.cookie = header(c, MHD_HTTP_HEADER_COOKIE),
		.accept = header(c, MHD_HTTP_HEADER_ACCEPT),
	};
	struct server *s = ctx;
	struct answer a = request_judge(&r, &s->guard);

	(void)version;
	(void)data;
	(void)size; /* answered at once: a body is not waited for */
	crowd_asked(&s->crowd, c);
	if (a.status != MHD_HTTP_OK)
		return answer(c, a.status, NULL, NULL);
	switch (a.route) {
	case ROUTE_METRICS:
		return metrics(s, c, &r);
	case ROUTE_LOGIN:
		return html_login(c);
	case ROUTE_SESSION:
		return session(s, c);
	case ROUTE_LIST:
		return list(s, c);
	case ROUTE_PAGE:
	case ROUTE_DATA:
		return pages_answer(s->pages, c, a.run, a.route == ROUTE_DATA, seen);
	case ROUTE_EVENTS:
		crowd_stays(&s->crowd, c);
		return pages_stream(s->pages, c, a.run, header(c, "Last-Event-ID"));
	default:
		return MHD_NO;
	}
}

static void completed(void *ctx, struct MHD_Connection *c, void **seen,
		      enum MHD_RequestTerminationCode how)
{
	struct server *s = ctx;

	(void)seen;
	(void)how;
	crowd_done(&s->crowd, c);
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

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un un;
};

/* What is listened on; AF_UNSPEC when it is not known. The path of a socket ends with a NUL. */
static union address address_of(int listener)
{
	union address a = { 0 };
	socklen_t n = sizeof a.un - 1;

	if (getsockname(listener, &a.any, &n))
		a.any.sa_family = AF_UNSPEC;
	return a;
}

/* The Unix socket of that address, as it lies there; false: it is another kind, or gone. */
static bool find_socket(const union address *a, struct stat *st)
{
	return a->any.sa_family == AF_UNIX && a->un.sun_path[0] && !lstat(a->un.sun_path, st) &&
	       S_ISSOCK(st->st_mode);
}

/* While it is listened on: nobody finds it refused, and another's that took its place stays. */
static void remove_socket(const union address *a, const struct stat *ours)
{
	struct stat now;

	if (find_socket(a, &now) && now.st_ino == ours->st_ino && now.st_dev == ours->st_dev)
		unlink(a->un.sun_path);
}

static int listener_of(const char *word)
{
	char *end;
	long fd = strtol(word, &end, 10);

	return *word && !*end && fd > STDERR_FILENO && fd < INT_MAX ? (int)fd : -1;
}

/* What tells it from other servers of this host, whose cookies a browser sends, too. */
static unsigned number_of(const union address *a)
{
	if (a->any.sa_family == AF_INET)
		return ntohs(a->v4.sin_port);
	if (a->any.sa_family == AF_INET6)
		return ntohs(a->v6.sin6_port);
	return a->any.sa_family == AF_UNIX
		       ? crc32c(0, a->un.sun_path, strnlen(a->un.sun_path, sizeof a->un.sun_path))
		       : 0;
}

/* A connection is a file; what is left of the limit is for recordings. */
static void allow_files(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) || l.rlim_cur >= FILES)
		return;
	l.rlim_cur = l.rlim_max < FILES ? l.rlim_max : FILES;
	setrlimit(RLIMIT_NOFILE, &l);
}

static struct MHD_Daemon *start(struct server *s, int listener, const union address *address)
{
	struct MHD_Daemon *d;
	struct rlimit l;
	unsigned connections = CROWD_MAX;

	allow_files();
	if (!getrlimit(RLIMIT_NOFILE, &l) && l.rlim_cur / 2 < connections)
		connections = (unsigned)(l.rlim_cur / 2);
	crowd_open(&s->crowd, &address->any, connections);
	d = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0,
			     crowd_admits, &s->crowd, serve, s, MHD_OPTION_LISTEN_SOCKET, listener,
			     MHD_OPTION_CONNECTION_LIMIT, connections,
			     MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY,
			     MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S,
			     MHD_OPTION_NOTIFY_CONNECTION, crowd_notify, &s->crowd,
			     MHD_OPTION_NOTIFY_COMPLETED, completed, s, MHD_OPTION_END);
	if (!d)
		dprintf(STDERR_FILENO, "sonde-serve: cannot serve: %s\n", strerror(errno));
	return d;
}

/* Until it is asked to end. Who takes too long is put out meanwhile. */
static void run_until_asked(struct server *s, const sigset_t *ends)
{
	const struct timespec second = { .tv_sec = 1 };
	uint64_t refused;

	while (sigtimedwait(ends, NULL, &second) < 0) {
		crowd_expel(&s->crowd);
		refused = crowd_report(&s->crowd);
		if (refused)
			dprintf(STDERR_FILENO,
				"sonde-serve: refused %" PRIu64
				" connections of other users of this machine, who had as many as "
				"they may have or were gone already\n",
				refused);
	}
}

static bool is_asked_well(struct server *s, int argc, char **argv, int *listener,
			  union address *address)
{
	const char *token = getenv("SONDE_TOKEN");

	*listener = argc > 3 ? listener_of(argv[1]) : -1;
	if (*listener < 0 || !token || !*token ||
	    (strcmp(argv[2], "metrics") != 0 && strcmp(argv[2], "pages") != 0))
		return false;
	*address = address_of(*listener);
	request_guard_make(&s->guard, token, number_of(address));
	s->guard.metrics = !strcmp(argv[2], "metrics");
	s->guard.runs = (uint32_t)(argc - 3);
	return true;
}

int main(int argc, char **argv)
{
	static struct server s;
	struct MHD_Daemon *d = NULL;
	union address address;
	struct stat ours;
	sigset_t ends;
	bool has_file;
	int listener;

	prctl(PR_SET_NAME, "sonde-serve");
	if (!is_asked_well(&s, argc, argv, &listener, &address)) {
		dprintf(STDERR_FILENO, "sonde-serve: it is started by `sonde serve`\n");
		return 2;
	}
	has_file = find_socket(&address, &ours);
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	signal(SIGPIPE, SIG_IGN);
	if (runs_open(&s, argv + 3, (size_t)(argc - 3))) {
		if (!s.guard.metrics)
			s.pages = pages_start(s.path, s.n);
		d = s.guard.metrics || s.pages ? start(&s, listener, &address) : NULL;
	}
	if (d)
		run_until_asked(&s, &ends);
	if (has_file)
		remove_socket(&address, &ours);
	if (s.pages)
		pages_stop(s.pages);
	if (d) {
		MHD_stop_daemon(d);
		crowd_close(&s.crowd);
	}
	if (s.pages)
		pages_free(s.pages);
	runs_close(&s);
	return d ? 0 : 1;
}
