/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page_series.h"

#include "base/bytes.h"
#include "core/derive.h"
#include "report/page_charts.h"
#include "report/page_metric.h"

#include <errno.h>
#include <math.h>
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

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory while drawing the charts");
}

static void list_metric(struct page_data *d, const char *metric)
{
	for (const char **known = d->metrics; *known; known++)
		if (strcmp(*known, metric) == 0)
			return;
	d->metrics[d->nmetrics++] = metric;
}

static int list_metrics(struct page_data *d, const struct summary *s)
{
	d->metrics = calloc(npage_charts * PAGE_LINES + SUMMARY_VERDICTS + 1, sizeof *d->metrics);
	if (!d->metrics)
		return -ENOMEM;
	for (size_t c = 0; c < npage_charts; c++)
		for (size_t l = 0; l < PAGE_LINES && page_charts[c].lines[l].metric; l++)
			list_metric(d, page_charts[c].lines[l].metric);
	for (uint32_t i = 0; s && i < s->nverdicts; i++)
		if (s->verdicts[i].metric[0])
			list_metric(d, s->verdicts[i].metric);
	return 0;
}

/* ---- how many points ---- */

static uint32_t points_of_a_node(const struct page_data *d)
{
	uint32_t nodes = d->nnodes > 1 ? d->nnodes - 1 : 1;
	uint32_t limit = POINTS_OF_FEW_NODES / nodes;

	limit = limit > POINTS_MAX ? POINTS_MAX : limit < POINTS_ENOUGH ? POINTS_ENOUGH : limit;
	if (limit > POINTS_OF_ALL_NODES / nodes)
		limit = POINTS_OF_ALL_NODES / nodes;
	return limit < POINTS_MIN ? POINTS_MIN : limit;
}

static void focus_on(struct page_data *d, double from, double to)
{
	if (to > from && d->nfocuses < PAGE_FOCUSES)
		d->focus[d->nfocuses++] = (struct page_focus){ from, to };
}

/* Worth more than its share: where verdicts point to a part of the run, with what was around it,
 * and the ends. */
static void find_focuses(struct page_data *d, const struct summary *s)
{
	if (!s || !(s->wall_s > 0))
		return;
	for (uint32_t i = 0; i < s->nverdicts; i++) {
		double length = s->verdicts[i].to_s - s->verdicts[i].from_s;

		if (length < s->wall_s / 4)
			focus_on(d, s->verdicts[i].from_s - fmax(length / 4, 1),
				 s->verdicts[i].to_s + fmax(length / 4, 1));
	}
	focus_on(d, 0, fmin(FOCUS_SECONDS, s->wall_s / 8));
	focus_on(d, s->wall_s - fmin(FOCUS_SECONDS, s->wall_s / 8), s->wall_s);
}

/* Of the node's samples those that lie in a focus, as if they came evenly. */
static uint64_t rows_in_focus(const struct page_data *d, const struct run *r, uint32_t node)
{
	double begin = run_seconds(r, node, r->nodes[node].first_ns);
	double end = run_seconds(r, node, r->nodes[node].last_ns), seconds = 0;

	for (uint32_t i = 0; i < d->nfocuses; i++)
		seconds += fmax(0, fmin(d->focus[i].to_s, end) - fmax(d->focus[i].from_s, begin));
	return end > begin
		       ? (uint64_t)((double)r->nodes[node].rows * fmin(1, seconds / (end - begin)))
		       : 0;
}

static uint32_t rows_a_point(uint64_t rows, uint32_t points)
{
	uint64_t each = points ? (rows + points - 1) / points : 0;

	return each > UINT32_MAX ? UINT32_MAX : each ? (uint32_t)each : 1;
}

/* Several rows a point when there are too many; half as many points again for the focuses. */
static int thin(struct page_data *d, const struct run *r)
{
	uint32_t limit = points_of_a_node(d);

	for (uint32_t i = 1; i < d->nnodes; i++) {
		struct page_node *n = &d->nodes[i];
		uint64_t rows = r->nodes[i].rows;
		uint64_t cap = limit + limit / 2 + 2 * PAGE_FOCUSES + 1;

		n->thinned = rows_a_point(rows, limit);
		n->fine = rows_a_point(rows_in_focus(d, r, i), limit / 2);
		n->cap = (uint32_t)(rows < cap ? rows : cap);
		n->at = calloc((size_t)n->cap + 1, sizeof *n->at);
		n->points = calloc((size_t)d->nmetrics + 1, sizeof(struct page_point *));
		if (!n->at || !n->points)
			return -ENOMEM;
	}
	return 0;
}

static bool is_focused(const struct page_data *d, double at)
{
	for (uint32_t i = 0; i < d->nfocuses; i++)
		if (at >= d->focus[i].from_s && at <= d->focus[i].to_s)
			return true;
	return false;
}

/* ---- values ---- */

/* The node's next row, in a point of its own or in the last one; false when there is room for none.
 */
static bool add_row(const struct page_data *d, struct page_node *n, double at)
{
	bool focused = n->thinned > 1 && is_focused(d, at);
	uint32_t most = focused && n->fine < n->thinned ? n->fine : n->thinned;

	if (!n->cap)
		return false;
	if (!n->npoints ||
	    ((n->in_point >= most || focused != n->focused) && n->npoints < n->cap)) {
		n->npoints++;
		n->in_point = 0;
	}
	n->focused = focused;
	n->stood = n->nrows ? at - n->last_at : 0;
	if (!(n->stood > 0))
		n->stood = 1e-9;
	n->last_at = n->at[n->npoints - 1] = at;
	n->in_point++;
	n->nrows++;
	return true;
}

/* In the row that was added last. */
static int add_value(struct page_node *n, uint32_t metric, double v)
{
	struct page_point *p;

	if (!n->points[metric])
		n->points[metric] = calloc(n->cap, sizeof **n->points);
	if (!n->points[metric])
		return -ENOMEM;
	p = &n->points[metric][n->npoints - 1];
	p->max = p->weight > 0 ? fmax(p->max, v) : v;
	p->sum += v * n->stood;
	p->weight += n->stood;
	return 0;
}

/* Of a run that has none of the metrics there are the times, and what the maps show. */
static int read_times(struct page_data *d, struct run *r, struct err *e)
{
	uint8_t *none = calloc(r->nseries + 1, 1);
	const uint8_t *wanted = d->maps.nrows ? d->maps.derive.plan.wanted : none;
	struct chunk c;
	int rc = none ? r->rewind(r) : no_memory(e);

	while (rc == 0 && (rc = r->next_chunk(r, wanted, &c, e)) > 0) {
		for (uint32_t i = 0; c.node < d->nnodes && i < c.nrows; i++)
			add_row(d, &d->nodes[c.node], run_seconds(r, c.node, c.mono_ns[i]));
		rc = page_maps_add(&d->maps, &c, e);
	}
	free(none);
	return rc;
}

/* Which of the page's metrics each quantity is: nmetrics for none. */
static void find_metrics(const struct page_data *d, const struct derive *v, uint32_t *metric)
{
	for (uint32_t q = 1; q < v->run->nmetrics; q++)
		while (d->metrics[metric[q]] &&
		       strcmp(d->metrics[metric[q]], v->plan.quantity[q].name) != 0)
			metric[q]++;
}

static int add_instant(struct page_data *d, const struct derive *v, const uint32_t *metric,
		       const struct instant *in)
{
	struct page_node *n = &d->nodes[in->node];

	if (!add_row(d, n, in->seconds))
		return 0;
	for (uint32_t i = 0; i < in->n; i++) {
		uint32_t m = metric[v->plan.cell[in->cell[i]].quantity];

		if (m < d->nmetrics && add_value(n, m, in->value[i]))
			return -ENOMEM;
	}
	return 0;
}

static int add_chunk(struct page_data *d, struct derive *v, const uint32_t *metric,
		     const struct chunk *c, struct err *e)
{
	struct instant in;
	int rc = derive_chunk(v, c, e);

	while (!rc && derive_row(v, &in))
		if (add_instant(d, v, metric, &in))
			rc = no_memory(e);
	return rc ? rc : page_maps_add(&d->maps, c, e);
}

/* One pass for the charts and for the maps. */
static int read_chunks(struct page_data *d, struct derive *v, const uint32_t *metric, struct err *e)
{
	struct run *r = v->run;
	uint8_t *wanted = malloc(r->nseries + 1u);
	struct chunk c;
	int rc = wanted ? r->rewind(r) : no_memory(e);

	for (uint32_t i = 0; wanted && i < r->nseries; i++)
		wanted[i] = v->plan.wanted[i] || (d->maps.nrows && d->maps.derive.plan.wanted[i]);
	while (!rc && (rc = r->next_chunk(r, wanted, &c, e)) > 0)
		rc = add_chunk(d, v, metric, &c, e);
	free(wanted);
	return rc;
}

static int read_values(struct page_data *d, struct run *r, const char *metrics, struct err *e)
{
	struct selection sel = { .table = FRAME_SERIES, .combine = true, .metrics = metrics };
	uint32_t *metric = calloc(r->nmetrics + 1u, sizeof *metric);
	struct derive v;
	int rc;

	if (!metric)
		return no_memory(e);
	rc = derive_open(&v, r, &sel, e);
	if (rc == 0) {
		find_metrics(d, &v, metric);
		rc = read_chunks(d, &v, metric, e);
	}
	free(metric);
	derive_close(&v);
	return rc;
}

static double last_second(const struct run *r)
{
	double end = 0;

	for (uint32_t i = 1; i < r->nnodes; i++)
		if (r->nodes[i].rows)
			end = fmax(end, run_seconds(r, i, r->nodes[i].last_ns));
	return end;
}

/* The metrics that the run has, comma-separated; NULL when it has none of them. */
static const char *known_metrics(struct bytes *names, const struct page_data *d,
				 const struct run *r)
{
	for (uint32_t i = 0; i < d->nmetrics; i++)
		if (page_metric(r, d->metrics[i], NULL))
			bytes_printf(names, "%s%s", names->len ? "," : "", d->metrics[i]);
	if (!names->len)
		return NULL;
	bytes_u8(names, 0);
	return (const char *)names->data;
}

int page_data_read(struct page_data *d, struct run *r, const struct summary *s, struct err *e)
{
	struct bytes names = { 0 };
	const char *known;
	int rc;

	*d = (struct page_data){ .nnodes = r->nnodes };
	d->nodes = calloc((size_t)r->nnodes + 1, sizeof *d->nodes);
	if (!d->nodes || list_metrics(d, s) != 0)
		return no_memory(e);
	find_focuses(d, s);
	known = known_metrics(&names, d, r);
	rc = names.failed || thin(d, r) != 0 ? no_memory(e) : 0;
	if (rc == 0)
		rc = page_maps_open(&d->maps, r, last_second(r), e);
	if (rc == 0)
		rc = known ? read_values(d, r, known, e) : read_times(d, r, e);
	bytes_free(&names);
	return rc;
}

void page_data_free(struct page_data *d)
{
	for (uint32_t i = 0; d->nodes && i < d->nnodes; i++) {
		struct page_node *n = &d->nodes[i];

		for (uint32_t m = 0; n->points && m < d->nmetrics; m++)
			free(n->points[m]);
		free(n->points);
		free(n->at);
	}
	free(d->nodes);
	free(d->metrics);
	page_maps_free(&d->maps);
	*d = (struct page_data){ 0 };
}
