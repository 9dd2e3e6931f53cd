/* SPDX-License-Identifier: Apache-2.0 */
#include "base/idmap.h"

#include <errno.h>
#include <stdlib.h>

struct idmap_pair {
	uint32_t key, id;
};

/* Multiplicative hashing of 2^32 / golden ratio: ids are mostly consecutive. */
static uint32_t start(const struct idmap *m, uint32_t key)
{
	uint32_t h = key * UINT32_C(2654435769);

	return (h ^ h >> 16) & (m->cap - 1);
}

static struct idmap_pair *find(const struct idmap *m, uint32_t key)
{
	uint32_t i = start(m, key);

	while (m->pair[i].key && m->pair[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->pair[i];
}

static int grow(struct idmap *m)
{
	struct idmap bigger = { .n = m->n, .cap = m->cap ? m->cap * 2 : 64 };

	if (!bigger.cap)
		return -ENOMEM;
	bigger.pair = calloc(bigger.cap, sizeof *bigger.pair);
	if (!bigger.pair)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->cap; i++) {
		if (m->pair[i].key)
			*find(&bigger, m->pair[i].key) = m->pair[i];
	}
	free(m->pair);
	*m = bigger;
	return 0;
}

int idmap_put(struct idmap *m, uint32_t key, uint32_t id)
{
	struct idmap_pair *pair;

	if (m->n >= m->cap / 2) {
		int rc = grow(m);

		if (rc)
			return rc;
	}
	pair = find(m, key);
	m->n += !pair->key;
	*pair = (struct idmap_pair){ key, id };
	return 0;
}

uint32_t idmap_get(const struct idmap *m, uint32_t key)
{
	return m->cap && key ? find(m, key)->id : 0;
}

void idmap_free(struct idmap *m)
{
	free(m->pair);
	*m = (struct idmap){ 0 };
}
