/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/metrics_json.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void put_stats(struct json *j, const struct stats *st)
{
	json_key(j, "n");
	json_int(j, (int64_t)st->n);
	json_put_real(j, "min", st->min);
	json_put_real(j, "mean", stats_mean(st));
	json_put_real(j, "max", st->max);
}

static void put_one(struct json *j, const struct summary_metric *m, const struct run *r)
{
	json_object(j);
	json_put_text(j, "name", m->name);
	json_put_text(j, "host", r->nodes[m->node].host);
	json_put_text(j, "unit", unit_name(m->unit));
	put_stats(j, &m->stats);
	json_object_end(j);
}

/* What nodes that are not told in detail have of a metric. */
struct together {
	const char *name;
	enum unit unit;
	uint32_t nodes;
	struct stats stats;
};

struct others {
	struct pool names;
	struct together *row;
	uint32_t n, cap;
	uint32_t *slot, nslots; /* a hash table of rows, from 1 */
};

static uint32_t *slot_of(const struct others *o, const char *name)
{
	uint32_t i = (uint32_t)hash_text(0, name) & (o->nslots - 1);

	while (o->slot[i] && strcmp(o->row[o->slot[i] - 1].name, name) != 0)
		i = (i + 1) & (o->nslots - 1);
	return &o->slot[i];
}

static int grow(struct others *o)
{
	uint32_t n = o->nslots ? o->nslots * 2 : 256, *slot = n ? calloc(n, sizeof *slot) : NULL;

	if (!slot)
		return -ENOMEM;
	free(o->slot);
	o->slot = slot;
	o->nslots = n;
	for (uint32_t i = 0; i < o->n; i++)
		*slot_of(o, o->row[i].name) = i + 1;
	return 0;
}

static int add_other(struct others *o, const struct summary_metric *m)
{
	struct together *moved;
	uint32_t *slot;

	if (o->n >= o->nslots / 2 && grow(o))
		return -ENOMEM;
	slot = slot_of(o, m->name);
	if (*slot) {
		o->row[*slot - 1].nodes++;
		stats_join(&o->row[*slot - 1].stats, &m->stats);
		return 0;
	}
	moved = array_room(o->row, o->n, &o->cap, sizeof *moved);
	if (!moved)
		return -ENOMEM;
	o->row = moved;
	o->row[o->n] = (struct together){ .name = pool_text(&o->names, m->name, strlen(m->name)),
					  .unit = m->unit,
					  .nodes = 1,
					  .stats = m->stats };
	if (!o->row[o->n].name)
		return -ENOMEM;
	*slot = ++o->n;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct together *)a)->name, ((const struct together *)b)->name);
}

static void put_together(struct json *j, const struct together *t)
{
	json_object(j);
	json_put_text(j, "name", t->name);
	json_put_text(j, "unit", unit_name(t->unit));
	json_key(j, "nodes");
	json_int(j, t->nodes);
	put_stats(j, &t->stats);
	json_object_end(j);
}

static void put_others(struct json *j, struct others *o)
{
	if (o->n)
		qsort(o->row, o->n, sizeof *o->row, by_name);
	json_key(j, "metrics_of_other_nodes");
	json_array(j);
	for (uint32_t i = 0; i < o->n; i++)
		put_together(j, &o->row[i]);
	json_array_end(j);
	free(o->row);
	free(o->slot);
	pool_free(&o->names);
}

struct putting {
	struct json *j;
	const struct run *run;
	const struct page_nodes *detail;
	struct others others;
};

static int put(void *ctx, const struct summary_metric *m)
{
	struct putting *p = ctx;

	if (!page_nodes_has(p->detail, m->node))
		return add_other(&p->others, m);
	put_one(p->j, m, p->run);
	return 0;
}

int metrics_json(struct json *j, const struct summary *s, struct run *r,
		 const struct page_nodes *detail)
{
	struct putting p = { .j = j, .run = r, .detail = detail };
	struct err e;
	int rc = 0;

	json_key(j, "metrics");
	json_array(j);
	if (json_needs_all(r))
		for (uint32_t i = 0; i < s->nmetrics; i++)
			put_one(j, &s->metrics[i], r);
	else
		rc = summary_metrics_each(r, put, &p, &e);
	json_array_end(j);
	put_others(j, &p.others);
	return rc;
}

bool json_needs_all(const struct run *r)
{
	return r->nnodes <= JSON_NODES_MAX + 1;
}
