/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome_names.h"

#include "base/hash.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct chrome_name *slot_of(struct chrome_name *at, uint32_t cap, uint64_t key)
{
	uint32_t i = (uint32_t)(key ^ key >> 32) & (cap - 1);

	while (at[i].key && at[i].key != key)
		i = (i + 1) & (cap - 1);
	return &at[i];
}

static bool grow(struct chrome_names *c)
{
	uint32_t cap = c->cap ? c->cap * 2 : 256;
	struct chrome_name *more = calloc(cap, sizeof *more);

	if (!more)
		return false;
	for (uint32_t i = 0; i < c->cap; i++)
		if (c->at[i].key)
			*slot_of(more, cap, c->at[i].key) = c->at[i];
	free(c->at);
	c->at = more;
	c->cap = cap;
	return true;
}

struct chrome_name *chrome_name_of(struct chrome_names *c, enum chrome_kind kind, const char *a,
				   const char *b)
{
	uint64_t key = hash_bytes((uint64_t)kind, a, strlen(a) + 1);
	struct chrome_name *n;

	key = hash_text(key, b);
	key += !key;
	if (c->n >= c->cap / 2 && !grow(c))
		return NULL;
	n = slot_of(c->at, c->cap, key);
	if (n->key)
		return n;
	if (c->n == CHROME_NAMES_MAX)
		return NULL;
	c->n++;
	c->nprocesses += kind == CHROME_PROCESS;
	n->key = key;
	return n;
}

void chrome_name_set(struct chrome_names *c, struct chrome_name *n, const char *text)
{
	if (n && *text && (!n->text || strcmp(n->text, text) != 0))
		n->text = pool_text(&c->text, text, strlen(text));
}

uint32_t chrome_lane_take(struct chrome_name *process)
{
	for (uint32_t i = 0; process && i < CHROME_LANES - 1; i++)
		if (!(process->lanes[i / 32] >> i % 32 & 1)) {
			process->lanes[i / 32] |= UINT32_C(1) << i % 32;
			return i + 1;
		}
	return CHROME_LANES;
}

void chrome_lane_free(struct chrome_name *process, uint32_t lane)
{
	if (process && lane && lane < CHROME_LANES)
		process->lanes[(lane - 1) / 32] &= ~(UINT32_C(1) << (lane - 1) % 32);
}

void chrome_names_free(struct chrome_names *c)
{
	free(c->at);
	pool_free(&c->text);
	*c = (struct chrome_names){ 0 };
}
