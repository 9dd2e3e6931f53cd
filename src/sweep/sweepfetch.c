/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/sweepfetch.h"

#include "base/sha256.h"
#include "push/http.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { TIMEOUT_S = 60 };

static bool is_digest(const char *text)
{
	return strlen(text) == SHA256_HEX - 1 && !text[strspn(text, "0123456789abcdef")];
}

/* Its name's end stays, as it says which language it is in. */
static void place_of(const struct sweeping *x, const char *url, const char *sha256,
		     char path[PATH_MAX])
{
	const char *slash = strrchr(url, '/');
	char name[64];
	size_t n = 0;

	for (const char *p = slash ? slash + 1 : url; *p && *p != '?' && n < sizeof name - 1; p++)
		if (isalnum((unsigned char)*p) || strchr("._-", *p))
			name[n++] = *p;
	name[n] = '\0';
	snprintf(path, PATH_MAX, "%.4000s/script_%.16s_%s", x->cache, sha256, name);
}

static bool is_there(const char *path, const char *sha256)
{
	char digest[SHA256_HEX];

	return !access(path, X_OK) && trial_run_digest(path, digest) && !strcmp(digest, sha256);
}

static bool is_page(const char *text)
{
	text += strspn(text, " \t\r\n");
	return !strncasecmp(text, "<!doctype", 9) || !strncasecmp(text, "<html", 5);
}

static int judge(const struct address *server, const struct http_answer *a, struct err *e)
{
	if (!a->status)
		return err_set(e, -EHOSTUNREACH, "script: %.200s: %.200s", server->shown, a->text);
	if (a->status != 200)
		return err_set(e, -EBADMSG, "script: %.200s answers with status %u", server->shown,
			       a->status);
	if (!a->length || is_page(a->text) || strlen(a->text) != a->length)
		return err_set(e, -EBADMSG, "script: %.200s is no script%s", server->shown,
			       is_page(a->text) ? " but a page of HTML; the raw file has another "
						  "address"
						: "");
	return 0;
}

/* Whoever reads it there sees all of it or nothing. */
static int keep(const char *path, const struct http_answer *a, struct err *e)
{
	char part[PATH_MAX + 32];
	int fd, rc = 0;

	snprintf(part, sizeof part, "%s.part_%d", path, (int)getpid());
	fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	errno = fd < 0 ? errno : ENOSPC; /* of what is not written whole */
	if (fd < 0 || write(fd, a->text, a->length) != (ssize_t)a->length || fsync(fd) ||
	    rename(part, path))
		rc = err_set(e, -errno, "cannot write %.300s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	if (rc && fd >= 0)
		unlink(part);
	return rc;
}

static int take(struct sweeping *x, const struct address *server, const char *sha256,
		const struct http_answer *a, char path[PATH_MAX], struct err *e)
{
	char digest[SHA256_HEX];
	int rc = judge(server, a, e);

	if (rc)
		return rc;
	sha256_hex(digest, a->text, a->length);
	if (sha256 && strcmp(sha256, digest) != 0)
		return err_set(e, -EBADMSG,
			       "script: %.200s has changed: its SHA-256 is %s, not script_sha256",
			       server->shown, digest);
	place_of(x, server->shown, digest, path);
	rc = keep(path, a, e);
	if (!rc && !sha256)
		rc = err_set(e, -EBADMSG,
			     "script: it was put into %.200s; read it, and if it may run, add "
			     "script_sha256: %s",
			     path, digest);
	return rc;
}

int sweepfetch(struct sweeping *x, const char *url, const char *sha256, char path[PATH_MAX],
	       struct err *e)
{
	struct address server;
	struct http http = { 0 };
	struct http_answer a;
	const struct http_request q = { .method = "GET",
					.url = server.url,
					.timeout_s = TIMEOUT_S };
	int rc;

	if (sha256 && !is_digest(sha256))
		return err_set(e, -EBADMSG, "script_sha256: 64 digits 0-9 a-f are expected");
	rc = address_parse(&server, url, "script", e);
	if (!rc)
		rc = sweepstack_cache(x->o->stacks, x->cache, e);
	if (rc)
		return rc;
	if (sha256) {
		place_of(x, server.shown, sha256, path);
		if (is_there(path, sha256))
			return 0;
	}
	if (!x->o->fetch)
		return err_set(e, -EBADMSG, "script: it is not here yet; --fetch downloads it");
	rc = http_open(&http, &server, 0, e);
	if (!rc)
		rc = http_ask(&http, &q, NULL, &a, e);
	if (!rc)
		rc = take(x, &server, sha256, &a, path, e);
	http_close(&http);
	return rc;
}
