/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openspans.h - spans that have begun, in stacks by a key: of a thread, or of an id.
 *
 * How many are open, and how much their texts are, is bounded. {0} is empty.
 */
#ifndef SONDE_IMPORT_OPENSPANS_H
#define SONDE_IMPORT_OPENSPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OPENSPANS_MAX = 1 << 20, OPENSPANS_TEXT = 256 << 20, OPENSPANS_BUCKETS = 1 << 16 };

struct openspan {
	uint64_t key;
	int64_t begin_ns;
	uint32_t track;
	uint32_t lane; /* of what it is the outermost of; 0: none */
	uint32_t next; /* of its bucket: the newest first */
	char *name;    /* its detail is behind its NUL */
};

struct openspans {
	struct openspan *at; /* from 1 */
	uint32_t n, cap, free;
	uint32_t *bucket;
	size_t text;
};

enum openspans_put { OPENSPANS_PUT, OPENSPANS_FULL, OPENSPANS_NO_MEMORY };

enum openspans_put openspans_put(struct openspans *o, const struct openspan *head, const char *name,
				 const char *detail);
/* The newest of that key; with a name, one of the newest that is so called, if there is. NULL:
 * none. */
const struct openspan *openspans_find(const struct openspans *o, uint64_t key, const char *name);
/* It is over: not valid afterwards. */
void openspans_drop(struct openspans *o, const struct openspan *x);
const char *openspan_detail(const struct openspan *x);
/* Each of them, in no order: start with NULL; NULL: no more. */
const struct openspan *openspans_each(const struct openspans *o, const struct openspan *before);
void openspans_free(struct openspans *o);

#endif
