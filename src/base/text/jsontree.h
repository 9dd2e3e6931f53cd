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

/*
 * A YAML document in memory, as the JSON values it stands for, each with its line and
 * column. JSON is YAML, too.
 *
 * The helper sonde-yaml reads it, with libyaml: scalars without quotes are null, true, false or
 * numbers as in JSON (and .inf, .nan are texts, as are yes and no), everything else is a text;
 * anchors and aliases are followed, tags are not looked at. What it answers is checked as hostile.
 */
enum { YAMLTREE_BYTES = 4 << 20, YAMLTREE_VALUES = 200000, YAMLTREE_DEPTH = 60 };

/* name: what errors call it: "sweep.yaml:3:7: ...". NULL with a sentence: no YAML, too large, no
 * helper. */
struct jsontree *yamltree_read(struct pool *pool, const char *name, const void *text, size_t n,
			       struct err *e);

/* The helper's answer: a byte, 1: a fault, its line and column (varints, from 1) and a text; 0: the
 * values in the order of the text, each a byte (enum jsondoc_token), line and column, the text of a
 * KEY, STRING or NUMBER. */
struct jsontree *yamltree_take(struct pool *pool, const char *name, const void *answer, size_t n,
			       struct err *e);

#endif
