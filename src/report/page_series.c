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

static int list_metrics(struct page_data *d)
{
	d->metrics = calloc(npage_charts * PAGE_LINES + 1, sizeof *d->metrics);
	if (!d->metrics)
		return -ENOMEM;
	for (size_t c = 0; c < npage_charts; c++)
		for (size_t l = 0; l < PAGE_LINES && page_charts[c].lines[l].metric; l++)
			list_metric(d, page_charts[c].lines[l].metric);
	return 0;
}

/* Several rows a point when there are too many. */
static int thin(struct page_data *d, const struct run *r)
{
	uint32_t nodes = d->nnodes > 1 ? d->nnodes - 1 : 1;
	uint32_t limit = POINTS_OF_FEW_NODES / nodes;

	limit = limit > POINTS_MAX ? POINTS_MAX : limit < POINTS_ENOUGH ? POINTS_ENOUGH : limit;
	if (limit > POINTS_OF_ALL_NODES / nodes)
		limit = POINTS_OF_ALL_NODES / nodes;
	if (limit < POINTS_MIN)
		limit = POINTS_MIN;
	for (uint32_t i = 1; i < d->nnodes; i++) {
		struct page_node *n = &d->nodes[i];
		uint64_t rows = r->nodes[i].rows;

		n->thinned = rows ? (uint32_t)((rows + limit - 1) / limit) : 1;
		n->at = calloc(rows / n->thinned + 1, sizeof *n->at);
		n->points = calloc((size_t)d->nmetrics + 1, sizeof(struct page_point *));
		n->cap = (uint32_t)((rows + n->thinned - 1) / n->thinned);
		if (!n->at || !n->points)
			return -ENOMEM;
	}
	return 0;
}

/* The node's next row; false when it has more than it had when the run was opened. */
static bool add_row(struct page_node *n, double at)
{
	uint32_t point = n->thinned ? n->nrows / n->thinned : 0;

	if (point >= n->cap)
		return false;
	n->stood = n->nrows ? at - n->last_at : 0;
	if (!(n->stood > 0))
		n->stood = 1e-9;
	n->last_at = n->at[point] = at;
	n->npoints = point + 1;
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

/* Of a run that has none of the metrics there are the times. */
static int read_times(struct page_data *d, struct run *r, struct err *e)
{
	uint8_t *none = calloc(r->nseries + 1, 1);
	struct chunk c;
	int rc = none ? r->rewind(r) : no_memory(e);

	while (rc == 0 && (rc = r->next_chunk(r, none, &c, e)) > 0) {
		for (uint32_t i = 0; c.node < d->nnodes && i < c.nrows; i++)
			add_row(&d->nodes[c.node], run_seconds(r, c.node, c.mono_ns[i]));
		rc = 0;
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

	if (!add_row(n, in->seconds))
		return 0;
	for (uint32_t i = 0; i < in->n; i++) {
		uint32_t m = metric[v->plan.cell[in->reading[i].cell].quantity];

		if (m < d->nmetrics && add_value(n, m, in->reading[i].value))
			return -ENOMEM;
	}
	return 0;
}

static int read_values(struct page_data *d, struct run *r, const char *metrics, struct err *e)
{
	struct selection sel = { .table = FRAME_SERIES, .combine = true, .metrics = metrics };
	uint32_t *metric = calloc(r->nmetrics + 1u, sizeof *metric);
	struct derive v;
	struct instant in;
	int rc;

	if (!metric)
		return no_memory(e);
	rc = derive_open(&v, r, &sel, e);
	if (rc == 0)
		find_metrics(d, &v, metric);
	while (rc == 0 && (rc = derive_next(&v, &in, e)) > 0) {
		rc = add_instant(d, &v, metric, &in);
		if (rc)
			no_memory(e);
	}
	free(metric);
	derive_close(&v);
	return rc;
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

int page_data_read(struct page_data *d, struct run *r, struct err *e)
{
	struct bytes names = { 0 };
	const char *known;
	int rc;

	*d = (struct page_data){ .nnodes = r->nnodes };
	d->nodes = calloc((size_t)r->nnodes + 1, sizeof *d->nodes);
	if (!d->nodes || list_metrics(d) != 0)
		return no_memory(e);
	known = known_metrics(&names, d, r);
	rc = names.failed || thin(d, r) != 0 ? no_memory(e) : 0;
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
	*d = (struct page_data){ 0 };
}
