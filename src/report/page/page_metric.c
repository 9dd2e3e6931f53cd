/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page_metric.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const struct metric *page_metric(const struct run *r, const char *public_name, bool *is_rate)
{
	char rate[256];

	for (uint32_t i = 1; i < r->nmetrics; i++) {
		const struct metric *m = &r->metrics[i].row;
		bool own = strcmp(m->name, public_name) == 0;

		metric_rate_name(m, rate, sizeof rate);
		if (!own && strcmp(rate, public_name) != 0)
			continue;
		if (is_rate)
			*is_rate = !own;
		return m;
	}
	return NULL;
}

enum unit page_unit(const struct run *r, const char *public_name)
{
	bool is_rate = false;
	const struct metric *m = page_metric(r, public_name, &is_rate);

	if (!m)
		return UNIT_ONE;
	return is_rate ? unit_rate(m->unit) : m->unit;
}

int page_index_make(struct page_index *x, const struct run *r)
{
	*x = (struct page_index){ 0 };
	return run_index_series(&x->series, r) || run_index_metas(&x->metas, r) ||
			       run_index_instances(&x->instances, r)
		       ? -ENOMEM
		       : 0;
}

void page_index_free(struct page_index *x)
{
	run_index_free(&x->series);
	run_index_free(&x->metas);
	run_index_free(&x->instances);
}

/* The refusal of a series of the metric on a node; NULL when there is none. */
static const struct run_series *refusal_of(const struct run *r, const struct run_index *x,
					   uint32_t node, const struct metric *m)
{
	for (uint32_t i = x->first[node]; m && i < x->first[node + 1]; i++) {
		const struct run_series *s = &r->series[x->id[i]];

		if (&r->metrics[s->metric].row == m && s->state >= STATE_UNSUPPORTED)
			return s;
	}
	return NULL;
}

/* The last text of the node under a key; NULL when there is none. */
static const char *last_meta(const struct run *r, const struct run_index *x, uint32_t node,
			     const char *key)
{
	for (uint32_t i = x->first[node + 1]; i-- > x->first[node];)
		if (!strcmp(r->metas[x->id[i]].key, key))
			return r->metas[x->id[i]].text;
	return NULL;
}

const char *page_why_missing(const struct run *r, const struct page_index *x,
			     const struct page_question *q, char *out, size_t size)
{
	const struct metric *m = page_metric(r, q->public_name, NULL);
	const struct run_series *s = refusal_of(r, &x->series, q->node, m);
	const char *why = s ? run_refusal_of(r, s).reason : NULL, *text;
	char key[64];

	snprintf(key, sizeof key, "source.%s", q->source);
	text = last_meta(r, &x->metas, q->node, key);
	if (s)
		snprintf(out, size, "%s%s%s", state_name(s->state), why ? ": " : "",
			 why ? why : "");
	else if (text)
		snprintf(out, size, "%s", text);
	else
		snprintf(out, size, "%s", m ? "no value was read" : "not in this recording");
	return out;
}
