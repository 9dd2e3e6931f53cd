/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { POOL_BLOCK = 32 * 1024 };

struct pool_block {
	struct pool_block *next;
	uint64_t data[];
};

void *pool_take(struct pool *p, size_t size)
{
	uint8_t *at;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + 7) & ~(size_t)7;
	if (!p->block || size > p->cap - p->used) {
		size_t cap = size > POOL_BLOCK ? size : POOL_BLOCK;
		struct pool_block *block = malloc(sizeof *block + cap);

		if (!block)
			return NULL;
		block->next = p->block;
		p->block = block;
		p->used = 0;
		p->cap = cap;
	}
	at = (uint8_t *)p->block->data + p->used;
	p->used += size;
	return at;
}

char *pool_text(struct pool *p, const char *text, size_t n)
{
	char *copy = n == SIZE_MAX ? NULL : pool_take(p, n + 1);

	if (!copy)
		return NULL;
	if (n)
		memcpy(copy, text, n);
	copy[n] = '\0';
	return copy;
}

static void blocks_free(struct pool_block *block)
{
	while (block) {
		struct pool_block *next = block->next;

		free(block);
		block = next;
	}
}

void pool_empty(struct pool *p)
{
	if (p->block) {
		blocks_free(p->block->next);
		p->block->next = NULL;
	}
	p->used = 0;
}

void pool_free(struct pool *p)
{
	blocks_free(p->block);
	*p = (struct pool){ 0 };
}
