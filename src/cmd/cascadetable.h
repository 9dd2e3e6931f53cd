/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cascadetable.h - the table of Batch Shipyard's start-up events, page by page, for `import`.
 */
#ifndef SONDE_CMD_CASCADETABLE_H
#define SONDE_CMD_CASCADETABLE_H

#include "push/table.h"

struct cascade_table {
	struct table_place place;
	const char *
		pool; /* POOL or ACCOUNT$POOL, which the place's partition goes before; NULL: all */
	int64_t patience_ns;
};

/* What import/importer.h wants of pages. */
int cascade_table_pages(void *table,
			int (*take)(void *ctx, const char *name, const char *text, size_t n),
			void *ctx, struct err *e);

#endif
