/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - requests to a table of Azure Table storage (REST, version 2019-02-02), signed with a
 * key or carrying a shared access signature.
 *
 * {0} is closed and safe to close.
 */
#ifndef SONDE_PUSH_TABLE_H
#define SONDE_PUSH_TABLE_H

#include "base/err.h"
#include "push/http.h"

#include <stdbool.h>

/* Which table of Azure Table storage is meant, and what lets us in: by its address and variables,
 * or as Batch Shipyard says it in its configuration.
 *
 * Keys come from the environment and from files only, and are in no sentence. */

struct table_place {
	char url[1024];      /* of the table: https://ACCOUNT.table.core.windows.net/shipyardperf */
	char account[128];   /* "": as the address says */
	char key[512];       /* in base 64; "": none */
	char sas[2048];      /* a shared access signature, without its ?; "": none */
	char partition[512]; /* ACCOUNT$POOL; "": not said */
	bool lite;           /* SharedKeyLite and not SharedKey */
};

typedef const char *table_variable(const char *name); /* NULL: not set, or empty */

/* Variables: AZURE_STORAGE_ACCOUNT, AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN. url NULL: that of
 * SONDE_AZURE_TABLE_URL, or of SHIPYARD_STORAGE_ENV, "ACCOUNT:ENDPOINT:KEY". 0 or -errno with a
 * sentence. */
int table_place_of_url(struct table_place *p, const char *url, table_variable *variable,
		       struct err *e);

/* The three files are one document: what is in a later one is put into, or replaces, what is in an
 * earlier one. directory NULL: all three are named; else those that are not are credentials.json,
 * config.json and pool.json of it. 0 or -errno with a sentence. */
struct table_files {
	const char *directory, *credentials, *config, *pool;
};
int table_place_of_files(struct table_place *p, const struct table_files *f,
			 table_variable *variable, struct err *e);

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
