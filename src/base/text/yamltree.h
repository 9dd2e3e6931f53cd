/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yamltree.h - a YAML document in memory, as the JSON values it stands for, each with its line and
 * column. JSON is YAML, too.
 *
 * The helper sonde-yaml reads it, with libyaml: scalars without quotes are null, true, false or
 * numbers as in JSON (and .inf, .nan are texts, as are yes and no), everything else is a text;
 * anchors and aliases are followed, tags are not looked at. What it answers is checked as hostile.
 */
#ifndef SONDE_BASE_TEXT_YAMLTREE_H
#define SONDE_BASE_TEXT_YAMLTREE_H

#include "base/text/jsontree.h"

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
