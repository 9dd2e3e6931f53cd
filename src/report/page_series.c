/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page_series.h"

#include "base/bytes.h"
#include "core/frame.h"
#include "report/page_charts.h"
#include "report/page_metric.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points of a series in the page: enough for the width of a screen; of many nodes fewer, so that
 * the file stays one that can be mailed. */
enum { POINTS_MAX = 1500, POINTS_MIN = 200, POINTS_OF_ALL_NODES = 6000 };

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

/* The times of a chunk's rows. */
static int add_rows(struct page_node *n, const struct run *r, const struct chunk *c)
{
	double *more = reallocarray(n->row_at, (size_t)n->nrows + c->nrows + 1, sizeof *more);

	if (!more)
		return -ENOMEM;
	n->row_at = more;
	for (uint32_t i = 0; i < c->nrows; i++)
		n->row_at[n->nrows++] = run_seconds(r, c->node, c->mono_ns[i]);
	return 0;
}

static int read_times(struct page_data *d, struct run *r, struct err *e)
{
	uint8_t *none = calloc(r->nseries + 1, 1);
	struct chunk c;
	int rc = none ? r->rewind(r) : no_memory(e);

	while (rc == 0 && (rc = r->next_chunk(r, none, &c, e)) > 0) {
		rc = c.node < d->nnodes ? add_rows(&d->nodes[c.node], r, &c) : 0;
		if (rc)
			no_memory(e);
	}
	free(none);
	return rc;
}

/* Several rows a point when there are too many. */
static int thin(struct page_data *d)
{
	uint32_t nodes = d->nnodes > 1 ? d->nnodes - 1 : 1;
	uint32_t limit = POINTS_OF_ALL_NODES / nodes;

	limit = limit > POINTS_MAX ? POINTS_MAX : limit < POINTS_MIN ? POINTS_MIN : limit;
	for (uint32_t i = 1; i < d->nnodes; i++) {
		struct page_node *n = &d->nodes[i];

		n->thinned = n->nrows ? (n->nrows + limit - 1) / limit : 1;
		n->npoints = (n->nrows + n->thinned - 1) / n->thinned;
		n->at = calloc((size_t)n->npoints + 1, sizeof *n->at);
		n->points = calloc((size_t)d->nmetrics + 1, sizeof(struct page_point *));
		if (!n->at || !n->points)
			return -ENOMEM;
		for (uint32_t row = 0; row < n->nrows; row++)
			n->at[row / n->thinned] = n->row_at[row];
	}
	return 0;
}

/* The row nearest to a time; rows are in order of time. */
static uint32_t row_near(const struct page_node *n, double at)
{
	uint32_t low = 0, high = n->nrows - 1;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (n->row_at[middle] <= at)
			low = middle;
		else
			high = middle;
	}
	return at - n->row_at[low] <= n->row_at[high] - at ? low : high;
}

static int add_value(struct page_data *d, uint32_t node, uint32_t metric, double at, double v)
{
	struct page_node *n = &d->nodes[node];
	struct page_point *p;
	uint32_t row;
	double stood;

	if (!n->nrows || !isfinite(v))
		return 0;
	if (!n->points[metric])
		n->points[metric] = calloc(n->npoints, sizeof **n->points);
	if (!n->points[metric])
		return -ENOMEM;
	row = row_near(n, at);
	stood = row ? n->row_at[row] - n->row_at[row - 1] : 0;
	if (!(stood > 0))
		stood = 1e-9;
	p = &n->points[metric][row / n->thinned];
	p->max = p->weight > 0 ? fmax(p->max, v) : v;
	p->sum += v * stood;
	p->weight += stood;
	return 0;
}

/* Where the tidy table has what. */
struct places {
	uint32_t node, metric, seconds, value;
};

static int find_places(struct places *p, const struct frame_schema *s, struct err *e)
{
	struct {
		const char *name;
		uint32_t *at;
	} wanted[] = { { "node", &p->node },
		       { "metric", &p->metric },
		       { "seconds", &p->seconds },
		       { "value", &p->value } };

	for (size_t w = 0; w < sizeof wanted / sizeof wanted[0]; w++) {
		uint32_t c = 0;

		while (c < s->ncolumns && strcmp(s->columns[c].name, wanted[w].name) != 0)
			c++;
		if (c == s->ncolumns)
			return err_set(e, -EINVAL, "the series table has no column '%s'",
				       wanted[w].name);
		*wanted[w].at = c;
	}
	return 0;
}

/* Cells borrow the run's own text, which tells two recordings of one host apart. */
static uint32_t node_of(const struct run *r, const char *host)
{
	for (uint32_t i = 1; i < r->nnodes; i++)
		if (r->nodes[i].host == host)
			return i;
	for (uint32_t i = 1; host && i < r->nnodes; i++)
		if (r->nodes[i].host && strcmp(r->nodes[i].host, host) == 0)
			return i;
	return 0;
}

static int add_batch(struct page_data *d, const struct run *r, const struct places *p,
		     const struct batch *b)
{
	for (uint32_t i = 0; i < b->nrows; i++) {
		uint32_t node, metric = 0;
		const char *name = b->columns[p->metric].s[i];

		if (b->columns[p->value].state[i] != STATE_PRESENT)
			continue;
		node = node_of(r, b->columns[p->node].s[i]);
		while (metric < d->nmetrics && strcmp(d->metrics[metric], name) != 0)
			metric++;
		if (!node || metric == d->nmetrics)
			continue;
		if (add_value(d, node, metric, b->columns[p->seconds].d[i],
			      b->columns[p->value].d[i]) != 0)
			return -ENOMEM;
	}
	return 0;
}

static int read_values(struct page_data *d, struct run *r, const char *metrics, struct err *e)
{
	struct selection sel = { .table = FRAME_SERIES, .combine = true, .metrics = metrics };
	struct frame *f = NULL;
	struct places p = { 0 };
	struct batch b;
	int rc = frame_open(&f, r, &sel, e);

	if (rc == 0)
		rc = find_places(&p, frame_schema(f), e);
	while (rc == 0 && (rc = frame_next(f, &b, e)) > 0) {
		rc = add_batch(d, r, &p, &b);
		if (rc)
			no_memory(e);
	}
	frame_close(f);
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
	rc = names.failed ? no_memory(e) : read_times(d, r, e);
	if (rc == 0 && thin(d) != 0)
		rc = no_memory(e);
	if (rc == 0 && known)
		rc = read_values(d, r, known, e);
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
		free(n->row_at);
	}
	free(d->nodes);
	free(d->metrics);
	*d = (struct page_data){ 0 };
}
