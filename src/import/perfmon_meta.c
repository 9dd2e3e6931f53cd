/* SPDX-License-Identifier: Apache-2.0 */
/* perfmon_meta.c - meta_data.json: what a host is. */
#include "import/perfmon_keys.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 200 };

/* Keys that Sonde's own recordings have stay what they are, others get a scope. */
static bool is_own(const char *key)
{
	static const char *const scopes[] = { "host.", "node.", "job." };

	for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++)
		if (!strncmp(key, scopes[i], strlen(scopes[i])))
			return true;
	return false;
}

static void key_name(const char *group, const char *key, char *out, size_t size)
{
	char *c = out;

	if (!*group && is_own(key))
		snprintf(out, size, "%s", key);
	else
		snprintf(out, size, "perfmon.%.80s%s%.80s", group, *group ? "_" : "", key);
	while ((c = strpbrk(c, " \t()/:-"))) /* CPU(s), Socket(s), L1d cache */
		*c = '_';
	for (c = out; *c; c++)
		*c = (char)tolower((unsigned char)*c);
}

/* Said by the import itself. */
static bool is_taken(const char *key)
{
	return !strcmp(key, "node.host") || !strncmp(key, "run.", 4);
}

static void keep(const struct jsondoc *j, enum jsondoc_token t, const char *key, struct store *s,
		 uint32_t node)
{
	switch (t) {
	case JSONDOC_STRING:
		store_meta_text(s, node, key, j->text);
		break;
	case JSONDOC_NUMBER:
		store_meta_number(s, node, key, j->number, j->whole);
		break;
	case JSONDOC_TRUE:
	case JSONDOC_FALSE:
		store_meta_text(s, node, key, t == JSONDOC_TRUE ? "true" : "false");
		break;
	default:
		break;
	}
}

struct taking {
	struct jsondoc *json;
	const struct import *x;
	uint32_t node;
	bool *by_sonde;
	struct err *e;
};

/* The members of the host, or of one group of it. */
static int take_members(struct taking *k, const char *group)
{
	enum jsondoc_token t;
	int rc = 0;

	while (!rc && (t = jsondoc_next(k->json, k->e)) != JSONDOC_OBJECT_END) {
		char name[NAME_SIZE], plain[NAME_SIZE];

		if (t != JSONDOC_KEY)
			return -EINVAL;
		snprintf(plain, sizeof plain, "%s", k->json->text);
		key_name(group, plain, name, sizeof name);
		t = jsondoc_next(k->json, k->e);
		*k->by_sonde |= !strcmp(plain, "sonde.version") && t == JSONDOC_STRING;
		if (t == JSONDOC_OBJECT && !*group)
			rc = take_members(k, plain);
		else if (t == JSONDOC_OBJECT || t == JSONDOC_ARRAY)
			rc = jsondoc_skip(k->json, t, k->e) ? 0 : -EINVAL;
		else if (t == JSONDOC_BAD)
			rc = -EINVAL;
		else if (!is_taken(plain))
			keep(k->json, t, name, k->x->store, k->node);
	}
	return rc;
}

int perfmon_meta_take(struct jsondoc *j, const struct import *x, const char *host, bool *by_sonde,
		      struct err *e)
{
	int64_t node = store_node(x->store, host);
	struct taking k = { j, x, (uint32_t)node, by_sonde, e };

	if (node < 0) {
		store_leave_out(x->store, "%.100s is one host too many", host);
		return jsondoc_skip(j, JSONDOC_OBJECT, e) ? 0 : -EINVAL;
	}
	return take_members(&k, "");
}
