/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_place.h - which table of Azure Table storage is meant, and what lets us in: by its address
 * and variables, or as Batch Shipyard says it in its configuration.
 *
 * Keys come from the environment and from files only, and are in no sentence.
 */
#ifndef SONDE_PUSH_TABLE_PLACE_H
#define SONDE_PUSH_TABLE_PLACE_H

#include "base/err.h"

#include <stdbool.h>

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

#endif
