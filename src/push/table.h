/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - requests to a table of Azure Table storage (REST, version 2019-02-02), signed with a
 * key or carrying a shared access signature.
 *
 * {0} is closed and safe to close.
 */
#ifndef SONDE_PUSH_TABLE_H
#define SONDE_PUSH_TABLE_H

#include "push/http.h"
#include "push/table_place.h"

struct table {
	const struct table_place *place; /* borrowed */
	struct address server;           /* of the table */
	char account[128];
	const char *path; /* of the table, in server.url: "/devstoreaccount1/shipyardperf" */
	struct bytes key; /* decoded */
	struct http http;
	struct bytes url, header;
};

/* 0 or -errno with a sentence. Close in either case. */
int table_open(struct table *t, const struct table_place *place, int64_t patience_ns,
	       struct err *e);
void table_close(struct table *t);

/* Every page of the entities of a partition ("": of all), as JSON: {"value": [...]}. 0, what take
 * returned, or -errno with a sentence. */
int table_pages(struct table *t, const char *partition,
		int (*take)(void *ctx, unsigned page, const char *text, size_t n), void *ctx,
		struct err *e);
/* Put an entity, an object, into it; *there: there is one of its keys already, and it stays. */
int table_insert(struct table *t, const void *entity, size_t n, bool *there, struct err *e);
/* The entity of these keys, as JSON, borrowed until the next request; *text NULL: there is none. */
int table_entity(struct table *t, const char *partition, const char *key, const char **text,
		 size_t *n, struct err *e);

/* The value of the header Authorization, without the scheme's name. Of tests and table.c. */
bool table_sign(struct bytes *out, const struct table *t, const char *method, const char *type,
		const char *date, const char *path);

#endif
