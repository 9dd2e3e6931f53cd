/* SPDX-License-Identifier: Apache-2.0 */
#include "push/table.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/text/escape.h"
#include "base/text/jsontree.h"
#include "base/text/textfile.h"
#include "push/http.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define TABLE_SUFFIX "perf" /* of the prefix that entities have there */
#define PREFIX       "shipyard"

enum { FILES = 3, FILE_MAX = 4 << 20, KEYS_MAX = 4 };

/* False: it does not fit. */
static bool copy(char *out, size_t size, const char *text)
{
	size_t n = text ? strlen(text) : 0;

	if (n >= size)
		return false;
	memcpy(out, text ? text : "", n);
	out[n] = '\0';
	return true;
}

static int take_secrets(struct table_place *p, table_variable *variable, struct err *e)
{
	const char *sas = variable("AZURE_STORAGE_SAS_TOKEN"), *scheme;

	scheme = variable("SONDE_AZURE_AUTH");
	p->lite = scheme && !strcmp(scheme, "shared-key-lite");
	if (scheme && !p->lite && strcmp(scheme, "shared-key") != 0)
		return err_set(e, -EINVAL,
			       "SONDE_AZURE_AUTH is shared-key or shared-key-lite, not '%.50s'",
			       scheme);
	if (!copy(p->sas, sizeof p->sas, sas && *sas == '?' ? sas + 1 : sas))
		return err_set(e, -EINVAL, "AZURE_STORAGE_SAS_TOKEN is too long");
	if (!p->key[0] && !copy(p->key, sizeof p->key, variable("AZURE_STORAGE_KEY")))
		return err_set(e, -EINVAL, "AZURE_STORAGE_KEY is too long");
	if (!p->account[0] &&
	    !copy(p->account, sizeof p->account, variable("AZURE_STORAGE_ACCOUNT")))
		return err_set(e, -EINVAL, "AZURE_STORAGE_ACCOUNT is too long");
	return 0;
}

/* An address is in sentences and recordings, which nothing secret may be in. */
static int check_url(struct table_place *p, const char *url, struct err *e)
{
	struct address a;
	int rc = address_parse(&a, url, "the table's address", e);

	if (rc)
		return rc;
	if (a.user[0] || a.password[0] || strchr(a.url, '?'))
		return err_set(e, -EINVAL,
			       "the table's address is to be without user and query; "
			       "AZURE_STORAGE_SAS_TOKEN has the signature");
	copy(p->url, sizeof p->url, a.url);
	return 0;
}

/* An endpoint is the end of the server's name, or, of an emulator, a whole address. */
static bool make_url(struct table_place *p, const char *account, const char *endpoint,
		     const char *prefix)
{
	int n;

	if (strstr(endpoint, "://"))
		n = snprintf(p->url, sizeof p->url, "%s/%s" TABLE_SUFFIX, endpoint, prefix);
	else
		n = snprintf(p->url, sizeof p->url, "https://%s.table.%s/%s" TABLE_SUFFIX, account,
			     endpoint, prefix);
	return n < (int)sizeof p->url && copy(p->account, sizeof p->account, account);
}

/* "ACCOUNT:ENDPOINT:KEY": a key has no colon, an endpoint may. */
static bool read_shipyard(struct table_place *p, const char *text)
{
	const char *first = strchr(text, ':'), *last = strrchr(text, ':');
	char account[sizeof p->account], endpoint[512];

	if (!first || first == last || (size_t)(first - text) >= sizeof account ||
	    (size_t)(last - first) > sizeof endpoint)
		return false;
	snprintf(account, sizeof account, "%.*s", (int)(first - text), text);
	snprintf(endpoint, sizeof endpoint, "%.*s", (int)(last - first - 1), first + 1);
	return copy(p->key, sizeof p->key, last + 1) && make_url(p, account, endpoint, PREFIX);
}

int table_place_of_url(struct table_place *p, const char *url, table_variable *variable,
		       struct err *e)
{
	const char *shipyard = variable("SHIPYARD_STORAGE_ENV");
	int rc;

	*p = (struct table_place){ .url = "" };
	url = url ? url : variable("SONDE_AZURE_TABLE_URL");
	if (!url && !shipyard)
		return err_set(e, -EINVAL,
			       "where is the table? SONDE_AZURE_TABLE_URL or --url says it: "
			       "https://ACCOUNT.table.core.windows.net/shipyardperf");
	if (!url && !read_shipyard(p, shipyard))
		return err_set(e, -EINVAL, "SHIPYARD_STORAGE_ENV is not ACCOUNT:ENDPOINT:KEY");
	rc = check_url(p, url ? url : p->url, e);
	return rc ? rc : take_secrets(p, variable, e);
}

/* ---- three files ---- */

struct config {
	const struct jsontree *file[FILES];
};

/* The text at a path of keys, of the last file that has it. An empty one is none. */
static const char *find(const struct config *c, const char *const key[KEYS_MAX])
{
	for (int i = FILES; i--;) {
		const struct jsontree *at = c->file[i];

		for (int k = 0; k < KEYS_MAX && key[k] && at; k++)
			at = jsontree_find(at, key[k]);
		if (at)
			return at->type == JSONDOC_STRING && *at->text ? at->text : NULL;
	}
	return NULL;
}

static int lacks(const char *what, struct err *e)
{
	return err_set(e, -EINVAL, "the configuration files do not say %s", what);
}

static int understand(struct table_place *p, const struct config *c, struct err *e)
{
#define FIND(...) find(c, (const char *const[KEYS_MAX]){ __VA_ARGS__ })
	const char *batch = FIND("credentials", "batch", "account");
	const char *pool = FIND("pool_specification", "id");
	const char *chosen = FIND("batch_shipyard", "storage_account_settings");
	const char *prefix = FIND("batch_shipyard", "storage_entity_prefix");
	const char *account, *key, *endpoint;

	if (!batch)
		return lacks("credentials.batch.account", e);
	if (!pool)
		return lacks("pool_specification.id", e);
	if (!chosen)
		return lacks("batch_shipyard.storage_account_settings", e);
	account = FIND("credentials", "storage", chosen, "account");
	key = FIND("credentials", "storage", chosen, "account_key");
	endpoint = FIND("credentials", "storage", chosen, "endpoint");
#undef FIND
	if (!account || !endpoint)
		return lacks("account and endpoint of the chosen credentials.storage", e);
	if (!copy(p->key, sizeof p->key, key) ||
	    !make_url(p, account, endpoint, prefix ? prefix : PREFIX) ||
	    snprintf(p->partition, sizeof p->partition, "%s$%s", batch, pool) >=
		    (int)sizeof p->partition)
		return err_set(e, -EINVAL, "a name in the configuration files is too long");
	return 0;
}

static int read_one(struct pool *pool, const char *path, const struct jsontree **out, struct err *e)
{
	struct bytes text = { 0 };
	struct err why = { "" };
	int rc = textfile_read(path, "configuration", FILE_MAX, &text, e);

	if (!rc)
		*out = jsontree_read(pool, text.data, text.len, &why);
	if (!rc && !*out)
		rc = err_set(e, -EINVAL, "%.300s: %.150s", path, why.text);
	if (!rc && *out && (*out)->type != JSONDOC_OBJECT)
		rc = err_set(e, -EINVAL, "%.300s holds no object", path);
	if (text.data)
		explicit_bzero(text.data, text.len);
	bytes_free(&text);
	return rc;
}

int table_place_of_files(struct table_place *p, const struct table_files *f,
			 table_variable *variable, struct err *e)
{
	static const char *const names[FILES] = { "credentials.json", "config.json", "pool.json" };
	const char *const named[FILES] = { f->credentials, f->config, f->pool };
	struct config c = { 0 };
	struct pool pool = { 0 };
	char path[PATH_MAX];
	int rc = 0;

	*p = (struct table_place){ .url = "" };
	for (int i = 0; i < FILES && !rc; i++) {
		if (!named[i] && !f->directory)
			rc = err_set(e, -EINVAL,
				     "--configdir, or --credentials, --config and --pool, say "
				     "where the configuration is; %s is not said",
				     names[i]);
		else if (named[i])
			snprintf(path, sizeof path, "%s", named[i]);
		else
			snprintf(path, sizeof path, "%s/%s", f->directory, names[i]);
		if (!rc)
			rc = read_one(&pool, path, &c.file[i], e);
	}
	if (!rc)
		rc = understand(p, &c, e);
	if (!rc)
		rc = check_url(p, p->url, e);
	pool_free(&pool);
	return rc ? rc : take_secrets(p, variable, e);
}

enum {
	TIMEOUT_S = 60,
	PAGES_MAX = 1000000,
	SAME_MAX = 100,
	TOKEN_MAX = 2048,
	DATE_SIZE = 40,
	CODE = 64
};

/* A request, before it is signed. */
struct question {
	const char *method, *path; /* path: in the server, as it is signed */
	const char *query;         /* "" or what follows the ? */
	const void *body;
	size_t length;
};

/* ---- who asks ---- */

/* The first part of the server's name, or, where that is a number or local, of its path. */
static void find_account(struct table *t)
{
	const char *host = strstr(t->server.url, "://") + 3;
	size_t n = strcspn(host, ".:/");
	bool is_path = t->path[1] && strchr(t->path + 1, '/');

	if (t->place->account[0]) {
		snprintf(t->account, sizeof t->account, "%s", t->place->account);
		return;
	}
	if (is_path) {
		host = t->path + 1;
		n = strcspn(host, "/");
	}
	snprintf(t->account, sizeof t->account, "%.*s", (int)n, host);
}

int table_open(struct table *t, const struct table_place *place, int64_t patience_ns, struct err *e)
{
	int rc;

	*t = (struct table){ .place = place };
	rc = address_parse(&t->server, place->url, "the table's address", e);
	if (rc)
		return rc;
	t->path = strchr(strstr(t->server.url, "://") + 3, '/');
	if (!t->path || !t->path[1])
		return err_set(e, -EINVAL,
			       "%.200s names no table: https://ACCOUNT.table.core.windows.net/"
			       "shipyardperf",
			       t->server.shown);
	find_account(t);
	if (!place->sas[0] && !place->key[0])
		return err_set(e, -EINVAL,
			       "what lets us into %.200s? AZURE_STORAGE_KEY has the account's key, "
			       "or AZURE_STORAGE_SAS_TOKEN a signature",
			       t->server.shown);
	if (!place->sas[0] && (!base64_decode(&t->key, place->key) || !t->key.len))
		return err_set(e, -EINVAL, "the key of the account %.100s is not base64",
			       t->account);
	return http_open(&t->http, &t->server, patience_ns, e);
}

void table_close(struct table *t)
{
	if (t->place)
		http_close(&t->http);
	if (t->key.data)
		explicit_bzero(t->key.data, t->key.len);
	bytes_free(&t->key);
	bytes_free(&t->url);
	bytes_free(&t->header);
	*t = (struct table){ 0 };
}

/* ---- a request ---- */

bool table_sign(struct bytes *out, const struct table *t, const char *method, const char *type,
		const char *date, const char *path)
{
	struct bytes text = { 0 };
	uint8_t sum[SHA256_BYTES];
	bool signs;

	if (!t->place->lite)
		bytes_printf(&text, "%s\n\n%s\n", method, type ? type : "");
	bytes_printf(&text, "%s\n/%s%s", date, t->account, path);
	signs = !text.failed && sha256_hmac(sum, t->key.data, t->key.len, text.data, text.len);
	if (signs)
		base64_encode(out, sum, sizeof sum);
	bytes_free(&text);
	return signs;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT", whatever the locale. */
static void write_date(char out[DATE_SIZE])
{
	static const char days[] = "SunMonTueWedThuFriSat",
			  months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	time_t now = (time_t)(clock_utc_ns() / NS_PER_S);
	struct tm tm = { 0 };

	gmtime_r(&now, &tm);
	snprintf(out, DATE_SIZE, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT", days + 3 * tm.tm_wday,
		 tm.tm_mday, months + 3 * tm.tm_mon, tm.tm_year + 1900, tm.tm_hour, tm.tm_min,
		 tm.tm_sec);
}

static bool write_headers(struct table *t, const struct question *q, const char *type)
{
	char date[DATE_SIZE];
	bool signs = true;

	write_date(date);
	bytes_reset(&t->header);
	bytes_printf(&t->header,
		     "x-ms-date: %s\nx-ms-version: 2019-02-02\n"
		     "Accept: application/json;odata=nometadata\nDataServiceVersion: 3.0;NetFx\n"
		     "Prefer: return-no-content",
		     date);
	if (!t->place->sas[0]) {
		bytes_printf(&t->header, "\nAuthorization: %s %s:",
			     t->place->lite ? "SharedKeyLite" : "SharedKey", t->account);
		signs = table_sign(&t->header, t, q->method, type, date, q->path);
	}
	bytes_u8(&t->header, 0);
	return signs && !t->header.failed;
}

static void write_url(struct table *t, const struct question *q)
{
	size_t server = (size_t)(t->path - t->server.url);
	const char *sas = t->place->sas;

	bytes_reset(&t->url);
	bytes_put(&t->url, t->server.url, server);
	bytes_printf(&t->url, "%s%s%s%s%s", q->path, *q->query || *sas ? "?" : "", q->query,
		     *q->query && *sas ? "&" : "", sas);
	bytes_u8(&t->url, 0);
}

/* The value of a header; "" when it is not there. False: it does not fit. */
static bool find_header(const char *lines, const char *name, char *out, size_t size)
{
	size_t n = strlen(name);

	out[0] = '\0';
	for (size_t length; lines && *lines; lines += length + (lines[length] == '\n')) {
		const char *value = lines + n + 1;

		length = strcspn(lines, "\n");
		if (length <= n || strncasecmp(lines, name, n) != 0 || lines[n] != ':')
			continue;
		value += strspn(value, " \t");
		return snprintf(out, size, "%.*s", (int)(lines + length - value), value) <
		       (int)size;
	}
	return true;
}

static int refusal(const struct table *t, const struct http_answer *a, struct err *e)
{
	char code[CODE] = "";
	const char *hint = "";

	if (!find_header(a->header, "x-ms-error-code", code, sizeof code))
		code[0] = '\0';
	if (a->status == 401 || a->status == 403)
		hint = "; does the key, or the signature, belong to that account, and is this "
		       "machine's clock right?";
	else if (a->status == 404)
		hint = "; is that the table, and has the pool written its times into it?";
	return err_set(e, -EPROTO, "%.200s refuses with status %u%s%s%s", t->server.shown,
		       a->status, *code ? " " : "", code, hint);
}

static int ask(struct table *t, const struct question *q, struct http_answer *a, struct err *e)
{
	static const char json[] = "application/json";
	const struct http_body body = { q->body, -1, q->length };
	struct http_request r = { .method = q->method,
				  .content_type = q->body ? json : NULL,
				  .wanted = "x-ms-",
				  .timeout_s = TIMEOUT_S };

	write_url(t, q);
	if (!write_headers(t, q, r.content_type) || t->url.failed)
		return err_set(e, -ENOMEM, "out of memory for a request");
	r.url = (const char *)t->url.data;
	r.header = (const char *)t->header.data;
	return http_ask_patiently(&t->http, &r, q->body ? &body : NULL, a, e);
}

/* As a part of an address. */
static void put_escaped(struct bytes *b, const char *text)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    "-._~";

	for (; *text; text++)
		if (strchr(plain, *text))
			bytes_u8(b, (uint8_t)*text);
		else
			bytes_printf(b, "%%%02X", (unsigned char)*text);
}

/* 'a''b', escaped. */
static void put_literal(struct bytes *b, const char *text)
{
	char one[2] = "";

	bytes_puts(b, "%27");
	for (; *text; text++) {
		one[0] = *text;
		put_escaped(b, one);
		if (*text == '\'')
			put_escaped(b, one);
	}
	bytes_puts(b, "%27");
}

/* ---- pages ---- */

struct token {
	char partition[TOKEN_MAX], row[TOKEN_MAX];
};

static bool next_page(const struct http_answer *a, struct token *t)
{
	return find_header(a->header, "x-ms-continuation-NextPartitionKey", t->partition,
			   sizeof t->partition) &&
	       find_header(a->header, "x-ms-continuation-NextRowKey", t->row, sizeof t->row);
}

static void write_query(struct bytes *b, const char *partition, const struct token *from)
{
	bytes_reset(b);
	if (*partition) {
		bytes_puts(b, "$filter=PartitionKey%20eq%20");
		put_literal(b, partition);
	}
	if (from->partition[0]) {
		bytes_printf(b, "%sNextPartitionKey=", b->len ? "&" : "");
		put_escaped(b, from->partition);
	}
	if (from->row[0]) {
		bytes_printf(b, "%sNextRowKey=", b->len ? "&" : "");
		put_escaped(b, from->row);
	}
	bytes_u8(b, 0);
}

static int ask_page(struct table *t, const char *path, struct bytes *query, struct http_answer *a,
		    struct err *e)
{
	const struct question q = { .method = "GET",
				    .path = path,
				    .query = query->failed ? "" : (const char *)query->data };
	int rc = query->failed ? err_set(e, -ENOMEM, "out of memory for a request")
			       : ask(t, &q, a, e);

	return rc || a->status == 200 ? rc : refusal(t, a, e);
}

/* From page to page. */
struct walk {
	struct token at, next, seen; /* seen: one of those before */
	unsigned page, same;
};

static bool same_token(const struct token *a, const struct token *b)
{
	return !strcmp(a->partition, b->partition) && !strcmp(a->row, b->row);
}

/* A server that had no time says the same again, but does not come back to where it was. By Brent's
 * algorithm one token finds a ring of any length. */
static bool walk_on(struct walk *w)
{
	w->same = same_token(&w->at, &w->next) ? w->same + 1 : 0;
	if (w->same > SAME_MAX || (!w->same && same_token(&w->seen, &w->next)))
		return false;
	if (!(w->page & (w->page - 1)))
		w->seen = w->next;
	w->at = w->next;
	return true;
}

/* A page may be empty and not be the last one. */
int table_pages(struct table *t, const char *partition,
		int (*take)(void *ctx, unsigned page, const char *text, size_t n), void *ctx,
		struct err *e)
{
	struct walk w = { .same = 0 };
	struct bytes query = { 0 };
	char path[ADDRESS_MAX + 8];
	struct http_answer a;
	int rc = 0;

	snprintf(path, sizeof path, "%s()", t->path);
	for (w.page = 1; !rc; w.page++) {
		write_query(&query, partition, &w.at);
		rc = ask_page(t, path, &query, &a, e);
		if (!rc && (!next_page(&a, &w.next) || w.page == PAGES_MAX))
			rc = err_set(e, -EPROTO, "%.200s does not end", t->server.shown);
		rc = rc ? rc : take(ctx, w.page, a.text, a.length);
		if (rc || (!w.next.partition[0] && !w.next.row[0]))
			break;
		if (!walk_on(&w))
			rc = err_set(e, -EPROTO, "%.200s gives the same pages again and again",
				     t->server.shown);
	}
	bytes_free(&query);
	return rc;
}

/* ---- entities ---- */

int table_insert(struct table *t, const void *entity, size_t n, bool *there, struct err *e)
{
	const struct question q = {
		.method = "POST", .path = t->path, .query = "", .body = entity, .length = n
	};
	struct http_answer a;
	int rc = ask(t, &q, &a, e);

	*there = !rc && a.status == 409;
	return rc || *there || a.status == 201 || a.status == 204 ? rc : refusal(t, &a, e);
}

int table_entity(struct table *t, const char *partition, const char *key, const char **text,
		 size_t *n, struct err *e)
{
	struct bytes path = { 0 };
	struct http_answer a = { 0 };
	struct question q = { .method = "GET", .query = "" };
	int rc;

	bytes_printf(&path, "%s(PartitionKey=", t->path);
	put_literal(&path, partition);
	bytes_puts(&path, ",RowKey=");
	put_literal(&path, key);
	bytes_puts(&path, ")");
	bytes_u8(&path, 0);
	q.path = (const char *)path.data;
	rc = path.failed ? err_set(e, -ENOMEM, "out of memory for a request") : ask(t, &q, &a, e);
	bytes_free(&path);
	*text = !rc && a.status == 200 ? a.text : NULL;
	*n = a.length;
	return rc || a.status == 200 || a.status == 404 ? rc : refusal(t, &a, e);
}
