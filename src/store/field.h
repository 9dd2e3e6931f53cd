/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field.h - a value on its way to a database, as a statement's $1, $2, ..., or back, as a column of
 * a row.
 *
 * Not known is null, never 0: a NAN and a NULL text are.
 */
#ifndef SONDE_STORE_FIELD_H
#define SONDE_STORE_FIELD_H

#include "base/bytes.h"

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

#endif
