/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.h - what asks one kind of database: one const struct in its own file.
 */
#ifndef SONDE_DATABASE_DRIVER_H
#define SONDE_DATABASE_DRIVER_H

#include "base/err.h"
#include "store/database.h"

/* Where the rows of an answer go, a block of them at a time. */
struct answer {
	struct bytes block;
	struct bytes waiting; /* whole messages that are not sent yet */
	bool lost;            /* who asked is gone */
};

/* Begin a row of n columns; its fields are put behind it. */
void answer_row(struct answer *a, int n);
void answer_field(struct answer *a, struct field f);

struct driver {
	size_t size; /* of its private state, zeroed before open */
	int (*open)(void *state, const char *where, int64_t patience_ms, struct err *e);
	int (*exec)(void *state, const char *sql, const struct field *v, uint32_t n,
		    struct answer *a, struct err *e);
	/* NULL: it has no COPY. data's failures are told by copied. */
	int (*copy)(void *state, const char *sql, struct err *e);
	void (*data)(void *state, const uint8_t *rows, size_t n);
	int (*copied)(void *state, struct err *e);
	void (*close)(void *state);
};

extern const struct driver driver_sqlite, driver_postgres;

#endif
