/* SPDX-License-Identifier: Apache-2.0 */
#include "push/table_place.h"

#include "base/text/jsontree.h"
#include "base/text/textfile.h"
#include "push/address.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

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
