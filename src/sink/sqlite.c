/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite.c - a table of an SQLite database; src/sqlite/ writes it. */
#include "sink/foreign.h"

static const struct helper_program program = { "sqlite", "libsqlite3-dev", "libsqlite3-0" };

static int sqlite_begin(void *state, const struct frame_schema *schema, FILE *out, struct err *e)
{
	return foreign_begin(state, &program, schema, out, e);
}

const struct sink sink_sqlite = {
	.name = "sqlite",
	.what = "a table of an SQLite database",
	.collects = true,
	.size = sizeof(struct foreign),
	.begin = sqlite_begin,
	.batch = foreign_batch,
	.end = foreign_end,
	.free = foreign_free,
};
