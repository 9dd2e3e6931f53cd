/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storetable.h - a table of the store, its columns typed as the database has them, a batch of rows
 * at a time: for sinks.
 *
 * Texts are hostile, as all in the store.
 */
#ifndef SONDE_CMD_STORETABLE_H
#define SONDE_CMD_STORETABLE_H

#include "base/pool.h"
#include "sink/sink.h"
#include "store/database.h"

struct storetable {
	struct database *database; /* borrowed */
	struct frame_schema schema;
	struct column *column;
	struct cells *cells;
	struct pool names, texts; /* texts: of a batch */
	struct bytes sql;
	bool asked, over;
};

/* name: of a table; only: a condition behind WHERE, or "". times: columns named _ns are times. 0,
 * or -errno. Close it in either case. */
int storetable_open(struct storetable *t, struct database *s, const char *name, const char *only,
		    bool times, struct err *e);
/* It begins anew with each call. */
struct table_source storetable_source(struct storetable *t);
void storetable_close(struct storetable *t);

#endif
