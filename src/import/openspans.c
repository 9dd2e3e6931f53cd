/* SPDX-License-Identifier: Apache-2.0 */
#include "import/openspans.h"

#include <stdlib.h>
#include <string.h>

enum { LOOKS_MAX = 64 };

static uint32_t *bucket_of(const struct openspans *o, uint64_t key)
{
	return &o->bucket[(key ^ key >> 32) & (OPENSPANS_BUCKETS - 1)];
}

/* A place for one more; 0: out of memory. */
static uint32_t place_take(struct openspans *o)
{
	uint32_t id = o->free;

	if (!o->bucket)
		o->bucket = calloc(OPENSPANS_BUCKETS, sizeof *o->bucket);
	if (!o->bucket)
		return 0;
	if (id) {
		o->free = o->at[id].next;
		return id;
	}
	if (o->n + 1 >= o->cap) {
		uint32_t cap = o->cap ? o->cap * 2 : 256;
		struct openspan *moved = reallocarray(o->at, cap, sizeof *moved);

		if (!moved)
			return 0;
		memset(moved + o->cap, 0, (cap - o->cap) * sizeof *moved);
		o->at = moved;
		o->cap = cap;
	}
	return ++o->n;
}

enum openspans_put openspans_put(struct openspans *o, const struct openspan *head, const char *name,
				 const char *detail)
{
	size_t n = strlen(name) + 1, more = strlen(detail) + 1;
	uint32_t id, *bucket;
	char *text;

	if ((o->n >= OPENSPANS_MAX && !o->free) || o->text + n + more > OPENSPANS_TEXT)
		return OPENSPANS_FULL;
	text = malloc(n + more);
	id = text ? place_take(o) : 0;
	if (!id) {
		free(text);
		return OPENSPANS_NO_MEMORY;
	}
	memcpy(text, name, n);
	memcpy(text + n, detail, more);
	o->text += n + more;
	bucket = bucket_of(o, head->key);
	o->at[id] = *head;
	o->at[id].name = text;
	o->at[id].next = *bucket;
	*bucket = id;
	return OPENSPANS_PUT;
}

const struct openspan *openspans_find(const struct openspans *o, uint64_t key, const char *name)
{
	const struct openspan *newest = NULL;
	unsigned looks = 0;

	for (uint32_t id = o->bucket ? *bucket_of(o, key) : 0; id; id = o->at[id].next) {
		const struct openspan *x = &o->at[id];

		if (x->key != key)
			continue;
		if (!name || !strcmp(x->name, name))
			return x;
		newest = newest ? newest : x;
		if (++looks == LOOKS_MAX)
			break;
	}
	return newest;
}

void openspans_drop(struct openspans *o, const struct openspan *x)
{
	uint32_t id = (uint32_t)(x - o->at), *from = bucket_of(o, x->key);

	while (*from != id)
		from = &o->at[*from].next;
	*from = o->at[id].next;
	o->text -= strlen(x->name) + strlen(openspan_detail(x)) + 2;
	free(o->at[id].name);
	o->at[id] = (struct openspan){ .next = o->free };
	o->free = id;
}

const char *openspan_detail(const struct openspan *x)
{
	return x->name + strlen(x->name) + 1;
}

const struct openspan *openspans_each(const struct openspans *o, const struct openspan *before)
{
	for (uint32_t id = before ? (uint32_t)(before - o->at) + 1 : 1; id <= o->n; id++)
		if (o->at[id].name)
			return &o->at[id];
	return NULL;
}

void openspans_free(struct openspans *o)
{
	for (uint32_t id = 1; id <= o->n; id++)
		free(o->at[id].name);
	free(o->at);
	free(o->bucket);
	*o = (struct openspans){ 0 };
}
