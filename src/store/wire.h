/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - what the store and its helper sonde-database say to each other.
 *
 * A message is its kind, its length, and that many bytes. Both sides check every byte. Passwords
 * travel here and in the environment only, never in a command line.
 */
#ifndef SONDE_STORE_WIRE_H
#define SONDE_STORE_WIRE_H

#include "base/bytes.h"

/* A value on its way to a database, as a statement's $1, $2, ..., or back, as a column of a row.
 *
 * Not known is null, never 0: a NAN and a NULL text are. */

enum field_type { FIELD_NULL = 0, FIELD_INT, FIELD_REAL, FIELD_TEXT, FIELD_TYPES };

struct field {
	enum field_type type;
	int64_t i;
	double d;
	const char *s; /* borrowed */
};

struct field field_int(int64_t v);
struct field field_real(double v);      /* NAN: null */
struct field field_text(const char *s); /* NULL: null */

/* What a column holds as a number: NAN when it is null or a text. */
double field_number(const struct field *f);

/* As bytes of a message; texts become valid UTF-8. */
void field_put(struct bytes *out, const struct field *f);
/* The text is borrowed from what is scanned. False when it is malformed. */
bool field_get(struct scan *s, struct field *f);

enum store_message {
	/* What is asked, and answered with DONE or FAILED. */
	STORE_OPEN = 0x31515353, /* fields: place; ms to wait for other writers */
	STORE_EXEC,              /* fields: statement, then its $1, $2, ... */
	STORE_COPY,              /* fields: COPY ... FROM STDIN; then DATA, then COPIED */
	STORE_DATA,              /* rows in PostgreSQL's text form; not answered */
	STORE_COPIED,
	STORE_CLOSE,
	/* The answers. */
	STORE_ROWS, /* varint: columns of a row; then the fields of whole rows */
	STORE_DONE,
	STORE_FAILED /* fields: negative errno, sentence */
};

/* Fields of a statement or a row: no table has more columns, in SQLite 2000, in PostgreSQL 1600. */
enum { STORE_HEAD = 8, STORE_MESSAGE_MAX = 64 << 20, STORE_FIELDS_MAX = 2000 };

/* Returns where it began, for store_message_end. */
size_t store_message_begin(struct bytes *out, enum store_message kind);
void store_message_end(struct bytes *out, size_t begun);
/* Of a head. False when it is none of ours. */
bool store_message_head(const uint8_t head[STORE_HEAD], uint32_t *kind, uint32_t *length);

#endif
