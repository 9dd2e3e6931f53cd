/* SPDX-License-Identifier: Apache-2.0 */
#include "store/place.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static bool begins(const char *text, const char *scheme)
{
	return !strncasecmp(text, scheme, strlen(scheme));
}

/* A password lies behind the last @ of all that may be host or user: one in it that was not written
 * as %40 is not shown either. */
static void hide(struct place *p)
{
	const char *rest = p->where + strcspn(p->where, "/") + 2, *query = strchr(rest, '?');
	size_t n = query ? (size_t)(query - rest) : strlen(rest), user;
	const char *at = memrchr(rest, '@', n), *colon;

	colon = at ? memchr(rest, ':', (size_t)(at - rest)) : NULL;
	user = colon ? (size_t)(colon - rest) : at ? (size_t)(at - rest) : 0;
	p->secret = colon || (query && strcasestr(query, "password="));
	if (at)
		snprintf(p->shown, sizeof p->shown, "%.*s%.*s%.*s", (int)(rest - p->where),
			 p->where, (int)user, rest, (int)(n - (size_t)(at - rest)), at);
	else
		snprintf(p->shown, sizeof p->shown, "%.*s%.*s", (int)(rest - p->where), p->where,
			 (int)n, rest);
}

int place_parse(struct place *p, const char *text, struct err *e)
{
	const char *scheme = strstr(text, "://");

	*p = (struct place){ .postgres =
				     begins(text, "postgres://") || begins(text, "postgresql://") };
	if (!*text || strlen(text) >= sizeof p->where)
		return err_set(e, -EINVAL, "a store is a file, or postgres://user@host/database");
	if (scheme && !p->postgres && !memchr(text, '/', (size_t)(scheme - text)))
		return err_set(e, -EINVAL,
			       "there is no such kind of store: it is a file, for SQLite, or "
			       "postgres://user@host/database");
	snprintf(p->where, sizeof p->where, "%s", text);
	if (p->postgres)
		hide(p);
	else
		snprintf(p->shown, sizeof p->shown, "%s", text);
	return 0;
}

/* Its parents, too, as the XDG base directory specification has it: mode 0700. The reason is that
 * of the first that is missing. */
static int make_directories(char *path)
{
	int why = ENOENT;

	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST && why == ENOENT)
			why = errno;
		*slash = '/';
	}
	if (!mkdir(path, 0700) || errno == EEXIST)
		return 0;
	return errno == ENOENT ? -why : -errno;
}

int place_data(const char *(*variable)(const char *), const char *name, char *out, size_t size,
	       struct err *e)
{
	const char *data = variable("XDG_DATA_HOME"), *home = variable("HOME");
	int n, rc;

	if (data && data[0] == '/')
		n = snprintf(out, size, "%s/sonde", data);
	else if (home && home[0] == '/')
		n = snprintf(out, size, "%s/.local/share/sonde", home);
	else
		return err_set(e, -ENOENT,
			       "there is no place for the history: set HOME or XDG_DATA_HOME");
	if (n < 0 || (size_t)n + strlen(name) + 2 > size)
		return err_set(e, -ENAMETOOLONG, "the path of the history is too long");
	rc = make_directories(out);
	if (rc)
		return err_set(e, rc, "cannot make %.300s: %s", out, strerror(-rc));
	if (*name)
		snprintf(out + n, size - (size_t)n, "/%s", name);
	return 0;
}

int place_default(struct place *p, const char *given, const char *(*variable)(const char *),
		  struct err *e)
{
	char path[PATH_MAX] = "";
	int rc;

	if (!given)
		given = variable("SONDE_STORE");
	if (given)
		return place_parse(p, given, e);
	rc = place_data(variable, "history.sqlite", path, sizeof path, e);
	return rc ? rc : place_parse(p, path, e);
}
