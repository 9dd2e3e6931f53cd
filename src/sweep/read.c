/* SPDX-License-Identifier: Apache-2.0 */
/* read.c - a sweep's specification with all that it names put into it. */
#include "sweep/sweeping.h"

#include "base/hash.h"
#include "base/text/jsontree.h"
#include "base/text/textfile.h"
#include "bench/sweep/sweepspec.h"
#include "job/secret/secret.h"
#include "push/http.h"
#include "session/sitesecrets.h"
#include "trial/scripted.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
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

/* A script that a specification names by its address, sha256 as it says, or NULL. Nothing is run
 * that nobody vouched for: without a digest it is only reported where the script was put, and
 * nothing runs. What was fetched is kept beside the stacks by its digest, and not fetched again. 0
 * and path; or -errno with a sentence. */
static int sweepfetch(struct sweeping *x, const char *url, const char *sha256, char path[PATH_MAX],
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

enum { SPEC_BYTES = YAMLTREE_BYTES, REQUIREMENTS_BYTES = 1 << 20 };

struct inlining {
	struct sweeping *x;
	struct spec_reading read;
	struct err *e;
};

static int fault(const struct inlining *r, const struct jsontree *at, const char *text)
{
	return spec_fault(&r->read, at, "%s", text);
}

/* A name in the specification is one beside it. */
static bool beside(const struct inlining *r, const char *name, char out[PATH_MAX])
{
	if (*name == '/')
		return (size_t)snprintf(out, PATH_MAX, "%s", name) < PATH_MAX;
	return (size_t)snprintf(out, PATH_MAX, "%s/%s", r->x->folder, name) < PATH_MAX;
}

/* A text that is the name of a file becomes what the file holds. */
static int take_file(const struct inlining *r, struct jsontree *v)
{
	char path[PATH_MAX];
	struct bytes b = { 0 };
	struct stat st;
	int rc;

	if (!v || v->type != JSONDOC_STRING || strchr(v->text, '\n') || strpbrk(v->text, "=<>~ ") ||
	    !beside(r, v->text, path) || stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	rc = textfile_read(path, "requirements", REQUIREMENTS_BYTES, &b, r->e);
	if (!rc && b.len && memchr(b.data, 0, b.len))
		rc = fault(r, v, "the file of requirements holds a NUL");
	if (!rc)
		v->text = pool_text(&r->x->pool, b.len ? (const char *)b.data : "", b.len);
	bytes_free(&b);
	return rc || v->text ? rc : -ENOMEM;
}

/* A word for pip, "--find-links=wheels" or "wheels", that names what is there, gets its whole path.
 */
static int take_word(const struct inlining *r, struct jsontree *v)
{
	const char *is = v->type == JSONDOC_STRING && *v->text == '-' ? strchr(v->text, '=') : NULL,
		   *name = is ? is + 1 : v->text;
	char path[PATH_MAX], absolute[PATH_MAX], word[PATH_MAX + 64];

	if (v->type != JSONDOC_STRING || !*name || *name == '-' || name - v->text > 60 ||
	    !beside(r, name, path) || !realpath(path, absolute))
		return 0;
	snprintf(word, sizeof word, "%.*s%s", (int)(name - v->text), v->text, absolute);
	v->text = pool_text(&r->x->pool, word, strlen(word));
	return v->text ? 0 : -ENOMEM;
}

static int take_python(const struct inlining *r, const struct jsontree *of)
{
	const struct jsontree *python = jsontree_find(of, "python"),
			      *pip = jsontree_find(python, "pip");
	int rc = take_file(r, (struct jsontree *)jsontree_find(python, "requirements"));

	if (!rc)
		rc = take_file(r, (struct jsontree *)jsontree_find(python, "requirements_locked"));
	for (struct jsontree *v = pip && pip->type == JSONDOC_ARRAY ? pip->first : NULL; v && !rc;
	     v = v->next)
		rc = take_word(r, v);
	return rc;
}

/* Behind the script stands its digest, so that a changed one is another sweep. */
static int put_digest(const struct inlining *r, struct jsontree *document, struct jsontree *script)
{
	const char *said = jsontree_text(document, "script_sha256");
	struct jsontree *v;

	if (said)
		return strcmp(said, r->x->sha256)
			       ? fault(r, script, "the script has changed since this was written")
			       : 0;
	v = pool_take(&r->x->pool, sizeof *v);
	if (!v)
		return -ENOMEM;
	*v = (struct jsontree){ .type = JSONDOC_STRING,
				.key = "script_sha256",
				.text = r->x->sha256,
				.line = script->line,
				.column = script->column,
				.next = script->next };
	script->next = v;
	return 0;
}

/* A built-in one keeps its name: a release's helper is a link to what starts helpers by their
 * names. */
static bool whole_path(const char *path, bool builtin, char out[PATH_MAX])
{
	char folder[PATH_MAX];
	const char *name = builtin ? strrchr(path, '/') : NULL;
	size_t n;

	if (!name)
		return realpath(path, out);
	snprintf(folder, sizeof folder, "%.*s", (int)(name - path), path);
	if (!realpath(folder, out))
		return false;
	n = strlen(out);
	return (size_t)snprintf(out + n, PATH_MAX - n, "%s", name) < PATH_MAX - n;
}

/* A file beside the specification, else as `sonde bench run` finds it. */
static int find_script(const struct inlining *r, const struct jsontree *v)
{
	struct sweeping *x = r->x;
	char path[PATH_MAX], *words[] = { (char *)v->text, NULL };
	struct chosen_script found = { 0 };
	struct err why = { "script: there is no such file" };
	struct stat st;
	int rc = -ENOENT;

	if (beside(r, v->text, path) && !stat(path, &st) && S_ISREG(st.st_mode)) {
		rc = 0;
	} else if (!strchr(v->text, '/')) {
		rc = chosen_script_find(&found, words, &why);
		x->builtin = found.builtin;
		snprintf(path, sizeof path, "%s", found.path);
		chosen_script_free(&found);
	}
	if (rc)
		return fault(r, v, why.text);
	if (!whole_path(path, x->builtin, x->script) || access(x->script, X_OK))
		return fault(r, v, "script: it is not executable; chmod +x makes it so");
	return trial_run_digest(x->script, x->sha256) ? 0
						      : fault(r, v, "script: it cannot be read");
}

/* Without a word of --fetch or a digest it stays an address, which is a fault of its own. */
static int take_address(const struct inlining *r, struct jsontree *document, struct jsontree *v)
{
	const char *sha256 = jsontree_text(document, "script_sha256");
	struct err why = { "" };
	int rc;

	if (!sha256 && !r->x->o->fetch)
		return 0;
	rc = sweepfetch(r->x, v->text, sha256, r->x->script, &why);
	if (!rc && !trial_run_digest(r->x->script, r->x->sha256))
		rc = err_set(&why, -EBADMSG, "script: it cannot be read");
	v->text = pool_text(&r->x->pool, rc ? "script" : r->x->script,
			    strlen(rc ? "script" : r->x->script));
	if (!v->text)
		return -ENOMEM;
	return rc ? fault(r, v, why.text) : put_digest(r, document, v);
}

static int take_script(const struct inlining *r, struct jsontree *document)
{
	struct jsontree *v = (struct jsontree *)jsontree_find(document, "script");
	int rc;

	if (!v || v->type != JSONDOC_STRING)
		return 0;
	if (strchr(v->text, '\n') || !strncmp(v->text, "#!", 2)) {
		sha256_hex(r->x->sha256, v->text, strlen(v->text));
		return 0;
	}
	if (strstr(v->text, "://"))
		return take_address(r, document, v);
	rc = find_script(r, v);
	/* A built-in one keeps its name: on another node its helper may lie elsewhere. */
	if (!rc && !r->x->builtin)
		v->text = pool_text(&r->x->pool, r->x->script, strlen(r->x->script));
	if (!rc && !v->text)
		rc = -ENOMEM;
	return rc ? rc : put_digest(r, document, v);
}

static int take_files(const struct inlining *r, struct jsontree *document)
{
	const struct jsontree *stacks = jsontree_find(jsontree_find(document, "matrix"), "stacks");
	int rc = 0;

	spec_stops(&rc, take_script(r, document));
	spec_stops(&rc, take_python(r, document));
	for (const struct jsontree *v = stacks && stacks->type == JSONDOC_ARRAY ? stacks->first
										: NULL;
	     v; v = v->next)
		spec_stops(&rc, take_python(r, v));
	return rc;
}

static int find_folder(struct sweeping *x, const char *path, struct err *e)
{
	char absolute[PATH_MAX], *slash;

	if (!realpath(path, absolute))
		return err_set(e, -errno, "cannot read %.300s: %s", path, strerror(errno));
	slash = strrchr(absolute, '/');
	snprintf(x->folder, sizeof x->folder, "%.*s",
		 slash == absolute ? 1 : (int)(slash - absolute), absolute);
	return 0;
}

/* The same specification has the same name, whatever its spaces and comments. */
static int name_it(struct sweeping *x, struct jsontree *document, struct err *e)
{
	struct json j = { .out = &x->text };
	char digest[SHA256_HEX];

	jsontree_write(&j, document);
	bytes_u8(&x->text, '\n');
	bytes_u8(&x->text, 0);
	if (x->text.failed || !sweepknown_common(document, x->common))
		return err_set(e, -ENOMEM, "out of memory for the specification");
	sha256_hex(digest, x->text.data, x->text.len - 1);
	snprintf(x->uid, sizeof x->uid, "%.16s", digest);
	return 0;
}

/* ---- what the store keeps of it ---- */

static int mask(const struct secret_list *l, struct pool *pool, struct jsontree *v, bool secret)
{
	struct bytes b = { 0 };

	if (v->type != JSONDOC_STRING)
		return 0;
	if (secret)
		bytes_puts(&b, SECRET_MASK);
	else
		secret_text(l, &b, v->text);
	v->text = b.failed ? NULL : pool_text(pool, b.len ? (const char *)b.data : "", b.len);
	bytes_free(&b);
	return v->text ? 0 : -ENOMEM;
}

/* As a list of name and value, or an object. */
static int mask_variables(const struct secret_list *l, struct pool *pool, struct jsontree *v)
{
	int rc = mask(l, pool, v, false);

	for (struct jsontree *i = v->first; i && !rc; i = i->next) {
		struct jsontree *value = (struct jsontree *)jsontree_find(i, "value");
		const char *name = value ? jsontree_text(i, "name") : i->key;

		value = value ? value : i;
		rc = mask(l, pool, value,
			  name && value->type == JSONDOC_STRING &&
				  secret_variable(l, name, strlen(name), value->text));
	}
	return rc;
}

/* As recordings have it. Parameters stay: they are what is compared. */
static int mask_all(const struct secret_list *l, struct pool *pool, struct jsontree *v)
{
	int rc = mask(l, pool, v, false);
	const char *flag = NULL; /* the word before, which may take a secret */

	for (struct jsontree *i = v->first; i && !rc; i = i->next) {
		const char *key = i->key ? i->key : "";
		const char *word = !*key && i->type == JSONDOC_STRING ? i->text : "";
		bool is_secret =
			flag && *word && *word != '-' && secret_flag(l, flag, strlen(flag), word);

		flag = *word == '-' && !strchr(word, '=') ? word : NULL;
		if (is_secret)
			rc = mask(l, pool, i, true);
		else if (!strcmp(key, "environment"))
			rc = mask_variables(l, pool, i);
		else if (strcmp(key, "parameters") != 0)
			rc = mask_all(l, pool, i);
	}
	return rc;
}

static int keep_it(struct sweeping *x, struct err *e)
{
	struct json j = { .out = &x->kept };
	struct jsontree *copy = jsontree_read(&x->pool, x->text.data, x->text.len - 1, e);

	if (!copy)
		return -EBADMSG;
	x->secrets = sitesecrets_read(false);
	if (mask_all(x->secrets, &x->pool, copy))
		return -ENOMEM;
	jsontree_write(&j, copy);
	bytes_u8(&x->kept, '\n');
	bytes_u8(&x->kept, 0);
	return x->kept.failed ? -ENOMEM : 0;
}

/* Each looks, whatever the one before found, so that all that is wrong is told at once. */
static int take_all(const struct inlining *r, struct jsontree *document)
{
	int rc = 0;

	if (spec_stops(&rc, take_files(r, document)) ||
	    spec_stops(&rc, sweepexpand(r->x, document, r->read.name, r->e)))
		return rc;
	spec_stops(&rc, sweepspec_read(&r->x->spec, document, &r->read));
	return rc;
}

int sweeping_read(struct sweeping *x, const char *path, struct err *e)
{
	const struct inlining r = { x, { &x->pool, path, e, &x->faults }, e };
	struct jsontree *document = NULL;
	struct bytes b = { 0 };
	int rc = find_folder(x, path, e);

	if (!rc)
		rc = textfile_read(path, "specification", SPEC_BYTES, &b, e);
	if (!rc) {
		document =
			yamltree_read(&x->pool, path, b.len ? (const void *)b.data : "", b.len, e);
		rc = document ? 0 : -EBADMSG;
	}
	if (!rc)
		rc = take_all(&r, document);
	if (!rc)
		rc = name_it(x, document, e);
	if (!rc)
		rc = keep_it(x, e);
	bytes_free(&b);
	if (rc == -ENOMEM)
		return err_set(e, rc, "out of memory for the specification");
	return rc ? -EINVAL : 0;
}
