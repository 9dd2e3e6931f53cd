/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsontree.h - a whole JSON document in memory, for what is small and is looked at in another order
 * than it comes in.
 *
 * Hostile bytes: what jsondoc.h bounds is bounded, and so is the number of values. The same key may
 * come twice; the first is found. Every text ends in NUL and lies in the pool.
 */
#ifndef SONDE_BASE_TEXT_JSONTREE_H
#define SONDE_BASE_TEXT_JSONTREE_H

#include "base/pool.h"
#include "base/text/json.h"
#include "base/text/jsondoc.h"

enum { JSONTREE_VALUES = 500000, JSONTREE_TEXT = 16 << 20 };

struct jsontree {
	enum jsondoc_token type; /* OBJECT, ARRAY, STRING, NUMBER, TRUE, FALSE or NULL */
	bool whole;              /* of a number: integer is it */
	bool no_number;          /* of a null: written as NaN or an infinity */
	const char *key;         /* in an object; else NULL */
	const char *text;        /* of a string; of YAML also of a number, as it was written */
	double number;
	int64_t integer;
	uint64_t line;
	uint32_t column;               /* in its line, from 1; 0: not known */
	struct jsontree *first, *next; /* what is in it; what follows it */
};

/* NULL with a sentence: no JSON, too large, out of memory. */
struct jsontree *jsontree_read(struct pool *pool, const void *text, size_t n, struct err *e);
/* In an object; NULL when it is none, or has no such key. */
const struct jsontree *jsontree_find(const struct jsontree *object, const char *key);
/* The text of a string in an object, or NULL. */
const char *jsontree_text(const struct jsontree *object, const char *key);
/* A number in an object; NAN when there is none. */
double jsontree_number(const struct jsontree *object, const char *key);
/* As it was read, without what a writer leaves out: spaces, repeats of digits. */
void jsontree_write(struct json *j, const struct jsontree *v);

/* "a text", "a number", ...: for sentences. */
const char *jsontree_kind(const struct jsontree *v);

#endif
