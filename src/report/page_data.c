/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page_data.h"

#include "base/escape.h"
#include "base/json.h"
#include "report/page_charts.h"
#include "report/page_lanes.h"
#include "report/page_metric.h"
#include "report/page_series.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static void json_base64(struct json *j, const void *data, size_t n)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *in = data;
	struct bytes text = { 0 };

	for (size_t i = 0; i < n; i += 3) {
		uint32_t left = (uint32_t)(n - i);
		uint32_t v = (uint32_t)in[i] << 16 | (left > 1 ? (uint32_t)in[i + 1] << 8 : 0) |
			     (left > 2 ? in[i + 2] : 0U);

		bytes_u8(&text, (uint8_t)digit[v >> 18]);
		bytes_u8(&text, (uint8_t)digit[v >> 12 & 63]);
		bytes_u8(&text, left > 1 ? (uint8_t)digit[v >> 6 & 63] : '=');
		bytes_u8(&text, left > 2 ? (uint8_t)digit[v & 63] : '=');
	}
	bytes_u8(&text, 0);
	if (text.failed)
		j->out->failed = true;
	else
		json_text(j, (const char *)text.data);
	bytes_free(&text);
}

/* Little-endian floats of the means or the maxima, or one number when all are the same. */
static void values_json(struct json *j, const struct page_node *n, const struct page_point *p,
			bool max)
{
	struct bytes raw = { 0 };
	bool constant = true;
	float first = NAN;

	for (uint32_t i = 0; i < n->npoints; i++) {
		double mean = p[i].weight > 0 ? p[i].sum / p[i].weight : NAN;
		float v = (float)(max && p[i].weight > 0 ? p[i].max : mean);
		uint32_t bits;

		memcpy(&bits, &v, sizeof bits);
		bytes_u32(&raw, bits);
		if (i == 0)
			first = v;
		constant = constant && v == first;
	}
	if (raw.failed)
		j->out->failed = true;
	else if (constant)
		json_real(j, (double)first);
	else
		json_base64(j, raw.data, raw.len);
	bytes_free(&raw);
}

/* Maxima are only drawn for lines. */
static bool wants_max(const char *metric)
{
	for (size_t c = 0; c < npage_charts; c++)
		for (size_t l = 0; l < PAGE_LINES && page_charts[c].lines[l].metric; l++)
			if (strcmp(page_charts[c].lines[l].metric, metric) == 0)
				return page_charts[c].lines[l].role != PAGE_STACK;
	return false;
}

static void series_json(struct json *j, const struct page_data *d, uint32_t node)
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
		values_json(j, n, n->points[m], false);
		if (n->thinned > 1 && wants_max(d->metrics[m])) {
			json_key(j, "max");
			values_json(j, n, n->points[m], true);
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
	struct run *run;
	const struct summary *summary;
};

static int node_json(struct json *j, const struct page_making *p, uint32_t node)
{
	const struct page_data *d = p->data;
	const struct run *r = p->run;
	const struct summary *s = p->summary;
	const struct page_node *n = &d->nodes[node];
	const struct summary_node *f = figures_of(s, node);
	const char *name = r->nodes[node].host ? r->nodes[node].host : "";
	char host[256];
	int rc;

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
	json_base64(j, n->at, n->npoints * sizeof *n->at);
	series_json(j, d, node);
	missing_json(j, d, r, &p->index, node);
	rc = page_lanes_json(j, r, &p->index.instances, s, node);
	json_object_end(j);
	return rc;
}

static void line_json(struct json *j, const struct page_line *l)
{
	static const char *const role[] = {
		[PAGE_STACK] = "stack", [PAGE_LINE] = "line", [PAGE_AREA] = "area"
	};

	json_object(j);
	json_key(j, "metric");
	json_text(j, l->metric);
	json_key(j, "label");
	json_text(j, l->label);
	json_key(j, "role");
	json_text(j, role[l->role]);
	json_key(j, "colour");
	json_text(j, l->colour);
	json_object_end(j);
}

static void chart_json(struct json *j, const struct page_chart *c)
{
	json_object(j);
	json_key(j, "id");
	json_text(j, c->id);
	json_key(j, "title");
	json_text(j, c->title);
	json_key(j, "note");
	json_text(j, c->note);
	json_key(j, "unit");
	json_text(j, unit_name(c->unit));
	json_key(j, "height");
	json_int(j, c->height);
	if (c->limit_of) {
		json_key(j, "limit");
		json_object(j);
		json_key(j, "of");
		json_text(j, c->limit_of);
		json_key(j, "label");
		json_text(j, c->limit_label);
		json_object_end(j);
	}
	json_key(j, "lines");
	json_array(j);
	for (size_t l = 0; l < PAGE_LINES && c->lines[l].metric; l++)
		line_json(j, &c->lines[l]);
	json_array_end(j);
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

static int all_json(struct json *j, const struct page_making *p)
{
	int rc = 0;

	json_object(j);
	json_key(j, "schema");
	json_text(j, "sonde/report/1");
	json_key(j, "end");
	json_real(j, last_second(p->data, p->summary));
	json_key(j, "charts");
	json_array(j);
	for (size_t c = 0; c < npage_charts; c++)
		chart_json(j, &page_charts[c]);
	json_array_end(j);
	json_key(j, "nodes");
	json_array(j);
	for (uint32_t i = 1; i < p->run->nnodes && rc == 0; i++)
		rc = node_json(j, p, i);
	json_array_end(j);
	json_object_end(j);
	return rc;
}

int page_data_json(struct bytes *out, struct run *r, const struct summary *s, struct err *e)
{
	struct json j = { .out = out };
	struct page_data d;
	struct page_making p = { .data = &d, .run = r, .summary = s };
	int rc = page_data_read(&d, r, e);

	if (rc == 0 && (page_index_make(&p.index, r) != 0 || all_json(&j, &p) != 0))
		rc = err_set(e, -ENOMEM, "out of memory while writing the report");
	page_index_free(&p.index);
	page_data_free(&d);
	return rc;
}
