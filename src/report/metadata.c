/* SPDX-License-Identifier: Apache-2.0 */
#include "report/metadata.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int order(const struct run_meta *a, uint32_t node, const char *key)
{
	if (a->node != node)
		return a->node < node ? -1 : 1;
	return strcmp(a->key, key);
}

static int by_key(const void *a, const void *b, void *run)
{
	const struct run *r = run;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int c = order(&r->metas[x], r->metas[y].node, r->metas[y].key);

	return c ? c : x < y ? -1 : 1;
}

int metadata_make(struct metadata *m, const struct run *r)
{
	uint32_t n = 0;

	*m = (struct metadata){ .run = r, .id = calloc(r->nmetas + 1, sizeof *m->id) };
	if (!m->id)
		return -ENOMEM;
	for (uint32_t i = 1; i < r->nmetas; i++)
		m->id[n++] = i;
	qsort_r(m->id, n, sizeof *m->id, by_key, (void *)(uintptr_t)r);
	for (uint32_t i = 0; i < n; i++) {
		const struct run_meta *said = &r->metas[m->id[i]];

		if (i + 1 == n ||
		    order(said, r->metas[m->id[i + 1]].node, r->metas[m->id[i + 1]].key) != 0)
			m->id[m->n++] = m->id[i];
	}
	return 0;
}

void metadata_free(struct metadata *m)
{
	free(m->id);
	*m = (struct metadata){ 0 };
}

/* The first that does not come before the key. */
static uint32_t lower_bound(const struct metadata *m, uint32_t node, const char *key)
{
	uint32_t low = 0, high = m->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (order(&m->run->metas[m->id[mid]], node, key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct run_meta *metadata_find(const struct metadata *m, uint32_t node, const char *key)
{
	uint32_t i = lower_bound(m, node, key);
	const struct run_meta *said = i < m->n ? &m->run->metas[m->id[i]] : NULL;

	return said && order(said, node, key) == 0 ? said : NULL;
}

const char *metadata_text(const struct metadata *m, uint32_t node, const char *key)
{
	const struct run_meta *said = metadata_find(m, node, key);

	return said && said->type == META_TEXT && said->text && *said->text ? said->text : NULL;
}

double metadata_number(const struct metadata *m, uint32_t node, const char *key)
{
	const struct run_meta *said = metadata_find(m, node, key);

	return said ? run_meta_number(said) : NAN;
}

static void put_value(struct json *j, const struct run_meta *said)
{
	switch (said->type) {
	case META_INT:
		json_int(j, said->value);
		break;
	case META_REAL:
		json_real(j, said->real);
		break;
	case META_BOOL:
		json_bool(j, said->value != 0);
		break;
	default:
		json_text(j, said->text);
		break;
	}
}

void metadata_json(struct json *j, const struct metadata *m, uint32_t node)
{
	json_object(j);
	for (uint32_t i = lower_bound(m, node, ""); i < m->n; i++) {
		const struct run_meta *said = &m->run->metas[m->id[i]];

		if (said->node != node)
			break;
		json_key(j, said->key);
		put_value(j, said);
	}
	json_object_end(j);
}
