/* SPDX-License-Identifier: Apache-2.0 */
#include "live/request.h"

#include "base/root.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* In a time that does not tell how much of it was right. */
static bool same(const char *said, size_t n, const char *secret)
{
	size_t length = strlen(secret);
	unsigned different = n != length;

	for (size_t i = 0; i < length; i++)
		different |= (unsigned char)secret[i] ^ (unsigned char)(i < n ? said[i] : 0);
	return !different && length;
}

void request_guard_make(struct request_guard *g, const char *token, unsigned what)
{
	struct bytes text = { 0 };

	*g = (struct request_guard){ .token = token };
	bytes_printf(&text, "sonde session %s", token);
	if (!text.failed)
		sha256_hex(g->session, text.data, text.len);
	snprintf(g->cookie, sizeof g->cookie, "sonde-%u", what);
	bytes_free(&text);
}

static bool says_token(const struct request *r, const char *token)
{
	static const char scheme[] = "Bearer ";
	size_t n = sizeof scheme - 1;

	return r->authorization && !strncasecmp(r->authorization, scheme, n) &&
	       same(r->authorization + n, strlen(r->authorization + n), token);
}

/* "a=1; sonde-9477=HEX; b=2" */
static bool has_session(const struct request *r, const struct request_guard *g)
{
	size_t n = strlen(g->cookie);

	for (const char *at = r->cookie; at && *at;) {
		at += strspn(at, "; \t");
		if (!strncmp(at, g->cookie, n) && at[n] == '=' &&
		    same(at + n + 1, strcspn(at + n + 1, "; \t"), g->session))
			return true;
		at = strchr(at, ';');
	}
	return false;
}

/* This machine under any port: the end of a tunnel has its own. */
static bool is_here(const char *host)
{
	static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };

	for (size_t i = 0; host && i < sizeof names / sizeof names[0]; i++) {
		size_t n = strlen(names[i]);

		if (strncasecmp(host, names[i], n) != 0)
			continue;
		if (!host[n] || (host[n] == ':' && host[n + 1] &&
				 !host[n + 1 + strspn(host + n + 1, "0123456789")]))
			return true;
	}
	return false;
}

/* "/run/3/", "/run/3/data", "/run/3/events"; runs are counted from 1 on. */
static struct answer judge_run(const char *path, uint32_t runs)
{
	static const struct {
		const char *rest;
		enum route route;
	} parts[] = { { "/", ROUTE_PAGE }, { "/data", ROUTE_DATA }, { "/events", ROUTE_EVENTS } };
	char *end;
	unsigned long n = *path >= '1' && *path <= '9' ? strtoul(path, &end, 10) : 0;

	for (size_t i = 0; n && n <= runs && i < sizeof parts / sizeof parts[0]; i++)
		if (!strcmp(end, parts[i].rest))
			return (struct answer){ 200, parts[i].route, (uint32_t)n - 1 };
	return (struct answer){ .status = 404 };
}

static struct answer find(const char *path, const struct request_guard *g)
{
	static const struct {
		const char *path;
		bool metrics;
		enum route route;
	} places[] = { { "/metrics", true, ROUTE_METRICS },
		       { "/login", false, ROUTE_LOGIN },
		       { "/session", false, ROUTE_SESSION },
		       { "/", false, ROUTE_LIST } };

	for (size_t i = 0; path && i < sizeof places / sizeof places[0]; i++)
		if (places[i].metrics == g->metrics && !strcmp(path, places[i].path))
			return (struct answer){ .status = 200, .route = places[i].route };
	if (path && !g->metrics && !strncmp(path, "/run/", 5))
		return judge_run(path + 5, g->runs);
	return (struct answer){ .status = 404 };
}

static bool is_method(const struct request *r, enum route route)
{
	if (!r->method)
		return false;
	return route == ROUTE_SESSION ? !strcmp(r->method, "POST")
				      : !strcmp(r->method, "GET") || !strcmp(r->method, "HEAD");
}

/* The order tells who has no token nothing but that there is a server. */
struct answer request_judge(const struct request *r, const struct request_guard *g)
{
	struct answer a = find(r->path, g);
	bool may_ask = says_token(r, g->token) || (a.route != ROUTE_SESSION && has_session(r, g));

	if (!is_here(r->host))
		return (struct answer){ .status = 421 };
	if (!may_ask && a.route != ROUTE_LOGIN)
		return (struct answer){ .status = 401 };
	if (a.status == 200 && !is_method(r, a.route))
		a.status = 405;
	return a;
}

enum exposition_format request_format(const struct request *r)
{
	return r->accept && strstr(r->accept, "application/openmetrics-text")
		       ? EXPOSITION_OPENMETRICS
		       : EXPOSITION_TEXT;
}

/* Names of functions begin or go on so, or hold the word; the first row that fits. */
static const struct {
	const char *in, *words;
} functions[] = {
	{ "futex", "a lock or thread" },
	{ "hrtimer_nanosleep", "a timer" },
	{ "nanosleep", "a timer" },
	{ "do_wait", "a child" },
	{ "kernel_wait4", "a child" },
	{ "pipe", "a pipe" },
	{ "fifo", "a pipe" },
	{ "wait_for_partner", "a pipe's other end" },
	{ "poll", "events" },
	{ "do_select", "events" },
	{ "sigsuspend", "a signal" },
	{ "sigtimedwait", "a signal" },
	{ "do_sigtimedwait", "a signal" },
	{ "pause", "a signal" },
	{ "unix_", "a local socket" },
	{ "skb_wait_for_more", "a socket" },
	{ "csk_accept", "a connection" },
	{ "tcp_", "the network" },
	{ "sk_wait", "the network" },
	{ "sk_stream", "the network" },
	{ "rpc_wait", "a file server" },
	{ "nfs", "a file server" },
	{ "cl_sync", "a file server" },
	{ "ptlrpc", "a file server" },
	{ "n_tty_read", "the terminal" },
	{ "do_signal_stop", "to go on" },
	{ "folio_wait", "storage" },
	{ "io_schedule", "storage" },
	{ "wait_on_page", "storage" },
	{ "jbd2", "storage" },
	{ "xlog", "storage" },
	{ "blk_", "storage" },
	{ "submit_bio_wait", "storage" },
	{ "balance_dirty_pages", "storage: writes back" },
	{ "throttle_direct_reclaim", "memory" },
	{ "mem_cgroup", "memory: its limit" },
	{ "flock", "a file's lock" },
	{ "fcntl_setlk", "a file's lock" },
	{ "do_msgrcv", "a message" },
	{ "do_semtimedop", "a semaphore" },
	{ "vfork", "its child to begin" },
};

const char *wait_words_of(char *out, size_t size, char state, const char *function)
{
	const char *words = NULL;

	if (!function || !*function || !strcmp(function, "0"))
		function = NULL;
	for (size_t i = 0; function && !words && i < sizeof functions / sizeof functions[0]; i++)
		words = strstr(function, functions[i].in) ? functions[i].words : NULL;
	switch (state) {
	case 'R':
		snprintf(out, size, "runs");
		break;
	case 'T':
	case 't':
		snprintf(out, size, "stopped");
		break;
	case 'Z':
		snprintf(out, size, "ended, not waited for");
		break;
	case 'D':
		snprintf(out, size, "%s", words ? words : function ? function : "storage, mostly");
		break;
	case 'S':
	case 'I':
		snprintf(out, size, "%s", words ? words : function ? function : "sleeps");
		break;
	default:
		snprintf(out, size, "-");
	}
	return out;
}

const char *wait_words(char *out, size_t size, int64_t pid)
{
	char path[48], stat[512], function[64] = "", *state;
	struct root proc;

	snprintf(out, size, "-");
	if (pid <= 0 || root_open(&proc, "/proc"))
		return out;
	snprintf(path, sizeof path, "%lld/stat", (long long)pid);
	if (root_read(&proc, path, stat, sizeof stat) > 0 && (state = strrchr(stat, ')')) &&
	    state[1] == ' ') {
		snprintf(path, sizeof path, "%lld/wchan", (long long)pid);
		if (state[2] != 'R' && root_read(&proc, path, function, sizeof function) < 0)
			function[0] = '\0';
		wait_words_of(out, size, state[2], function);
	}
	root_close(&proc);
	return out;
}
