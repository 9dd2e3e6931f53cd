/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page_data.h"

#include "base/escape.h"
#include "base/json.h"
#include "report/page_charts.h"
#include "report/page_charts_json.h"
#include "report/page_events.h"
#include "report/page_lanes.h"
#include "report/page_maps_json.h"
#include "report/page_metric.h"
#include "report/page_pack.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Means or maxima of the node's points from `first` on. */
static void values_json(struct json *j, const struct page_node *n, const struct page_point *p,
			uint32_t first, bool max)
{
	double *v = malloc((n->npoints + 1u) * sizeof *v);

	for (uint32_t i = first; v && i < n->npoints; i++)
		v[i] = !(p[i].weight > 0) ? NAN : max ? p[i].max : p[i].sum / p[i].weight;
	if (v)
		page_pack_numbers(j, v + first, n->npoints - first);
	else
		j->out->failed = true;
	free(v);
}

/* Maxima are only drawn for lines. */
static bool wants_max(const char *metric)
{
	for (size_t c = 0; c < npage_charts; c++)
		for (size_t l = 0; l < PAGE_LINES && page_charts[c].lines[l].metric; l++)
			if (strcmp(page_charts[c].lines[l].metric, metric) == 0)
				return page_charts[c].lines[l].role != PAGE_STACK;
	return true;
}

static void series_json(struct json *j, const struct page_data *d, uint32_t node, uint32_t first)
{
	const struct page_node *n = &d->nodes[node];

	json_key(j, "series");
	json_object(j);
	for (uint32_t m = 0; m < d->nmetrics; m++) {
		if (!n->points[m])
			continue;
		json_key(j, d->metrics[m]);
		json_object(j);
		json_key(j, "mean");
		values_json(j, n, n->points[m], first, false);
		if (n->thinned > 1 && wants_max(d->metrics[m])) {
			json_key(j, "max");
			values_json(j, n, n->points[m], first, true);
		}
		json_object_end(j);
	}
	json_object_end(j);
}

static void missing_json(struct json *j, const struct page_data *d, const struct run *r,
			 const struct page_index *x, uint32_t node)
{
	char why[400], text[400];

	json_key(j, "missing");
	json_object(j);
	for (uint32_t m = 0; m < d->nmetrics; m++) {
		if (d->nodes[node].points[m])
			continue;
		json_key(j, d->metrics[m]);
		page_why_missing(r, x,
				 &(struct page_question){ node, d->metrics[m],
							  page_source_of(d->metrics[m]) },
				 why, sizeof why);
		json_text(j, escape_terminal_into(text, sizeof text, why));
	}
	json_object_end(j);
}

/* They are in order of node, from 1 on. */
static const struct summary_node *figures_of(const struct summary *s, uint32_t node)
{
	if (node <= s->nnodes && s->nodes[node - 1].node == node)
		return &s->nodes[node - 1];
	for (uint32_t i = 0; i < s->nnodes; i++)
		if (s->nodes[i].node == node)
			return &s->nodes[i];
	return NULL;
}

struct page_making {
	const struct page_data *data;
	struct page_index index;
	const struct run *run;
	const struct summary *summary;
};

static void node_json(struct json *j, const struct page_making *p, uint32_t node, uint32_t first)
{
	const struct page_data *d = p->data;
	const struct run *r = p->run;
	const struct summary *s = p->summary;
	const struct page_node *n = &d->nodes[node];
	const struct summary_node *f = figures_of(s, node);
	const char *name = r->nodes[node].host ? r->nodes[node].host : "";
	char host[256];

	json_object(j);
	json_key(j, "host");
	json_text(j, escape_terminal_into(host, sizeof host, name));
	json_key(j, "cores");
	json_real(j, f ? f->cores : NAN);
	json_key(j, "memory");
	json_real(j, f ? f->memory_bytes : NAN);
	json_key(j, "end");
	json_real(j, n->npoints ? n->at[n->npoints - 1] : 0);
	json_key(j, "samples_in_a_point");
	json_int(j, n->thinned);
	json_key(j, "x");
	page_pack_bytes(j, n->at + first, (n->npoints - first) * sizeof *n->at);
	series_json(j, d, node, first);
	missing_json(j, d, r, &p->index, node);
	page_maps_json(j, &d->maps, r, node);
	page_lanes_json(j, r, &p->index.instances, s, node);
	json_object_end(j);
}

static double last_second(const struct page_data *d, const struct summary *s)
{
	double end = s->wall_s > 0 ? s->wall_s : 0;

	for (uint32_t i = 1; i < d->nnodes; i++)
		if (d->nodes[i].npoints)
			end = fmax(end, d->nodes[i].at[d->nodes[i].npoints - 1]);
	return end;
}

static void all_json(struct json *j, const struct page_making *p)
{
	json_object(j);
	json_key(j, "schema");
	json_text(j, "sonde/report/2");
	json_key(j, "end");
	json_real(j, last_second(p->data, p->summary));
	page_charts_json(j, p->data, p->run);
	page_events_json(j, p->run);
	json_key(j, "nodes");
	json_array(j);
	for (uint32_t i = 1; i < p->run->nnodes; i++)
		node_json(j, p, i, 0);
	json_array_end(j);
	json_object_end(j);
}

int page_data_json(struct bytes *out, struct run *r, const struct summary *s, struct err *e)
{
	struct json j = { .out = out };
	struct page_data d;
	struct page_making p = { .data = &d, .run = r, .summary = s };
	int rc = page_data_read(&d, r, s, e);

	if (rc == 0 && page_index_make(&p.index, r) != 0)
		rc = err_set(e, -ENOMEM, "out of memory while writing the report");
	if (rc == 0)
		all_json(&j, &p);
	page_index_free(&p.index);
	page_data_free(&d);
	return rc;
}
