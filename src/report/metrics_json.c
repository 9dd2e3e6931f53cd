/* SPDX-License-Identifier: Apache-2.0 */
#include "report/metrics_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b, void *summary)
{
	const struct summary *s = summary;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int c = strcmp(s->metrics[x].name, s->metrics[y].name);

	return c ? c : (x > y) - (x < y);
}

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

static void put_together(struct json *j, const struct summary_metric *first, uint32_t nodes,
			 const struct stats *all)
{
	json_object(j);
	json_put_text(j, "name", first->name);
	json_put_text(j, "unit", unit_name(first->unit));
	json_key(j, "nodes");
	json_int(j, nodes);
	put_stats(j, all);
	json_object_end(j);
}

/* other: [n] indices of metrics, by name. */
static void put_others(struct json *j, const struct summary *s, const uint32_t *other, uint32_t n)
{
	json_key(j, "metrics_of_other_nodes");
	json_array(j);
	for (uint32_t i = 0, end; i < n; i = end) {
		const struct summary_metric *first = &s->metrics[other[i]];
		struct stats all = first->stats;

		for (end = i + 1; end < n && !strcmp(s->metrics[other[end]].name, first->name);
		     end++)
			stats_join(&all, &s->metrics[other[end]].stats);
		put_together(j, first, end - i, &all);
	}
	json_array_end(j);
}

int metrics_json(struct json *j, const struct summary *s, const struct run *r,
		 const struct page_nodes *detail)
{
	uint32_t *other = calloc(s->nmetrics + 1u, sizeof *other), n = 0;

	if (!other)
		return -ENOMEM;
	json_key(j, "metrics");
	json_array(j);
	for (uint32_t i = 0; i < s->nmetrics; i++)
		if (page_nodes_has(detail, s->metrics[i].node))
			put_one(j, &s->metrics[i], r);
		else
			other[n++] = i;
	json_array_end(j);
	qsort_r(other, n, sizeof *other, by_name, (void *)(uintptr_t)s);
	put_others(j, s, other, n);
	free(other);
	return 0;
}
