/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cascade_dump.h - entities of the table that Batch Shipyard's nodes write their start-up events
 * into, read from a dump of it: JSON or CSV.
 *
 * Every byte is hostile. One bad record costs itself only: it is told with its offset, and reading
 * goes on at the next one.
 */
#ifndef SONDE_IMPORT_CASCADE_DUMP_H
#define SONDE_IMPORT_CASCADE_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cascade_field {
	CASCADE_PARTITION = 0, /* PartitionKey: ACCOUNT$POOL */
	CASCADE_KEY,           /* RowKey: seconds since 1970 */
	CASCADE_EVENT,         /* SOURCE:EVENT */
	CASCADE_NODE,
	CASCADE_MESSAGE, /* may be missing */
	CASCADE_FIELDS
};

/* What the table calls them. */
extern const char *const cascade_names[CASCADE_FIELDS];

struct cascade_visitor {
	void *ctx;
	/* Fields that are not there are NULL; borrowed until it returns. 0, or -errno, which ends
	 * the reading. */
	int (*entity)(void *ctx, uint64_t offset, const char *const field[CASCADE_FIELDS]);
	/* Something at that place is no record. */
	void (*fault)(void *ctx, uint64_t offset, const char *what);
};

/* A document of objects, however they are wrapped: an array, a page of the service ({"value":
 * [...]}), one behind the other. Or, when its first line has a column RowKey, CSV: a record on each
 * line, between commas, semicolons or tabs. 0, or what entity() returned. */
int cascade_dump_read(const char *text, size_t n, const struct cascade_visitor *v);

#endif
