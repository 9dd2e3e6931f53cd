/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/cascadetable.h"

#include <stdio.h>
#include <string.h>

struct passing {
	const struct table *table;
	int (*take)(void *ctx, const char *name, const char *text, size_t n);
	void *ctx;
};

static int pass(void *ctx, unsigned page, const char *text, size_t n)
{
	const struct passing *p = ctx;
	char name[ADDRESS_MAX + 32];

	snprintf(name, sizeof name, "%s, page %u,", p->table->server.shown, page);
	return p->take(p->ctx, name, text, n);
}

/* A pool alone is found among all: the account is a part of the key. */
int cascade_table_pages(void *table,
			int (*take)(void *ctx, const char *name, const char *text, size_t n),
			void *ctx, struct err *e)
{
	const struct cascade_table *c = table;
	const char *partition = c->place.partition;
	struct table t;
	struct passing p = { &t, take, ctx };
	int rc = table_open(&t, &c->place, c->patience_ns, e);

	if (!*partition && c->pool && strchr(c->pool, '$'))
		partition = c->pool;
	if (!rc)
		rc = table_pages(&t, partition, pass, &p, e);
	table_close(&t);
	return rc;
}
