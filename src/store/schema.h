/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h - the store's tables, version by version. docs/push.md tells of them.
 *
 * A version is a list of statements that make it of the one before; what was released is never
 * changed. In PostgreSQL all is in the schema sonde of the database.
 */
#ifndef SONDE_STORE_SCHEMA_H
#define SONDE_STORE_SCHEMA_H

#include "store/database.h"

extern const uint32_t schema_latest;

/* Make the tables, or bring them to a version. 0; -EPROTO when they are of a newer one; -errno. */
int schema_bring(struct database *s, uint32_t version, struct err *e);
/* The statements that make all of them of nothing. */
void schema_text(struct bytes *b, bool postgres);

#endif
