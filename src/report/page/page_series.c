/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page_series.h"

#include "report/page/page_charts.h"
#include "report/page/page_charts_json.h"
#include "report/summary/own.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Points of a series in the page: enough for the width of a screen; of many nodes fewer, so that
 * the file stays one that can be mailed; of very many hardly any, so that it still opens. */
enum {
	POINTS_MAX = 1500,
	FOCUS_SECONDS = 30, /* at the beginning and at the end */
	POINTS_OF_FEW_NODES = 6000,
	POINTS_ENOUGH = 200,
	POINTS_OF_ALL_NODES = 60000,
	POINTS_MIN = 10
};

static void list(struct page_series *p, const char *metric, const char *instance)
{
	struct page_drawn *d = &p->drawn[p->ndrawn];

	for (uint32_t i = 0; i < p->ndrawn; i++)
		if (!strcmp(p->drawn[i].metric, metric) && !strcmp(p->drawn[i].instance, instance))
			return;
	d->metric = metric;
	d->instance = instance;
	snprintf(d->key, sizeof d->key, *instance ? "%s[%s]" : "%s", metric, instance);
	p->ndrawn++;
}

int page_series_make(struct page_series *p, const struct run *r, const struct traces *t,
		     const struct summary *s)
{
	*p = (struct page_series){ .run = r, .traces = t };
	p->drawn = calloc(npage_charts * PAGE_LINES + SUMMARY_VERDICTS, sizeof *p->drawn);
	if (!p->drawn)
		return -ENOMEM;
	for (size_t c = 0; c < npage_charts; c++)
		for (size_t l = 0; l < PAGE_LINES && page_charts[c].lines[l].metric; l++)
			list(p, page_charts[c].lines[l].metric, "");
	for (uint32_t i = 0; s && i < s->nverdicts; i++)
		if (s->verdicts[i].metric[0])
			list(p, s->verdicts[i].metric, s->verdicts[i].instance);
	return 0;
}

void page_series_free(struct page_series *p)
{
	free(p->drawn);
	*p = (struct page_series){ 0 };
}

/* A verdict has a name no longer than it has room for. */
static bool is_named(const struct run *r, const struct trace *x, const char *name)
{
	const char *own = r->instances[x->instance].name;

	return own && !strncmp(own, name, VERDICT_NAME - 1);
}

const struct trace *page_series_of(const struct page_series *p, uint32_t drawn, uint32_t node,
				   uint32_t *n)
{
	const struct page_drawn *d = &p->drawn[drawn];
	const struct trace *x = traces_of_node(p->traces, d->metric, false, node, n);

	if (!*d->instance)
		return x;
	for (; *n && !is_named(p->run, x, d->instance); --*n)
		x++;
	*n = *n ? 1 : 0;
	return *n ? x : NULL;
}

/* ---- how finely ---- */

static uint32_t points_of_a_node(const struct run *r)
{
	uint32_t nodes = r->nnodes > 1 ? r->nnodes - 1 : 1;
	uint32_t limit = POINTS_OF_FEW_NODES / nodes;

	limit = limit > POINTS_MAX ? POINTS_MAX : limit < POINTS_ENOUGH ? POINTS_ENOUGH : limit;
	if (limit > POINTS_OF_ALL_NODES / nodes)
		limit = POINTS_OF_ALL_NODES / nodes;
	return limit < POINTS_MIN ? POINTS_MIN : limit;
}

/* Worth more than its share: where verdicts point to a part of the run, with what was around it,
 * and the ends. */
static void focus(struct traces *t, const struct summary *s)
{
	if (!s || !(s->wall_s > 0))
		return;
	for (uint32_t i = 0; i < s->nverdicts; i++) {
		double length = s->verdicts[i].to_s - s->verdicts[i].from_s;

		if (length < s->wall_s / 4)
			traces_focus(t, s->verdicts[i].from_s - fmax(length / 4, 1),
				     s->verdicts[i].to_s + fmax(length / 4, 1));
	}
	traces_focus(t, 0, fmin(FOCUS_SECONDS, s->wall_s / 8));
	traces_focus(t, s->wall_s - fmin(FOCUS_SECONDS, s->wall_s / 8), s->wall_s);
}

void page_series_wish(struct traces *t, const struct run *r, const struct summary *s)
{
	struct page_series p;

	if (page_series_make(&p, r, NULL, s))
		t->failed = true;
	for (uint32_t i = 0; i < p.ndrawn; i++)
		traces_wish(t, p.drawn[i].metric, false);
	if (run_find_metric(r, own_counter))
		traces_wish(t, own_counter, true);
	for (size_t i = 0; i < PAGE_MAPS; i++)
		traces_wish(t, page_maps[i].metric, true);
	t->points = points_of_a_node(r);
	focus(t, s);
	page_series_free(&p);
}
