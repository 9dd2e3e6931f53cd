/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page_series.h"

#include "base/text/escape.h"
#include "report/page/page_charts.h"
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

enum { FRACTION_BITS = 11, EXPONENT_MAX = 30, ABSENT = 0xffff };

void page_pack_bytes(struct json *j, const void *data, size_t n)
{
	struct bytes text = { 0 };

	base64_encode(&text, data, n);
	bytes_u8(&text, 0);
	if (text.failed)
		j->out->failed = true;
	else
		json_text(j, (const char *)text.data);
	bytes_free(&text);
}

/* The power of two of which the largest number is a little less than 2^(FRACTION_BITS +
 * EXPONENT_MAX). */
static int scale_for(double largest)
{
	int exponent;

	frexp(largest, &exponent);
	return exponent - (FRACTION_BITS + EXPONENT_MAX);
}

/* v >= 0, in units of 2^scale. What is below 2^FRACTION_BITS of them has exponent 0; else the bit
 * above the fraction is always there and adds one to the exponent before it. */
static uint16_t pack(double v, int scale)
{
	double units = ldexp(v, -scale);
	int exponent;

	frexp(units, &exponent);
	exponent = exponent > FRACTION_BITS ? exponent - FRACTION_BITS - 1 : 0;
	return (uint16_t)((exponent << FRACTION_BITS) + (int)nearbyint(ldexp(units, -exponent)));
}

static void put_floats(struct json *j, const double *v, size_t n)
{
	struct bytes raw = { 0 };

	for (size_t i = 0; i < n; i++) {
		float f = (float)v[i];
		uint32_t bits;

		memcpy(&bits, &f, sizeof bits);
		bytes_u32(&raw, bits);
	}
	if (raw.failed)
		j->out->failed = true;
	else
		page_pack_bytes(j, raw.data, raw.len);
	bytes_free(&raw);
}

static void put_packed(struct json *j, const double *v, size_t n, double largest)
{
	int scale = scale_for(largest);
	struct bytes raw = { 0 };

	for (size_t i = 0; i < n; i++) {
		uint16_t bits = isnan(v[i]) ? ABSENT : pack(v[i], scale);

		bytes_u8(&raw, (uint8_t)(bits & 255));
		bytes_u8(&raw, (uint8_t)(bits >> 8));
	}
	json_object(j);
	json_key(j, "scale");
	json_int(j, scale);
	json_key(j, "values");
	if (raw.failed)
		j->out->failed = true;
	else
		page_pack_bytes(j, raw.data, raw.len);
	json_object_end(j);
	bytes_free(&raw);
}

void page_pack_numbers(struct json *j, const double *v, size_t n)
{
	double least = INFINITY, largest = -INFINITY;
	bool constant = true;

	for (size_t i = 0; i < n; i++) {
		least = fmin(least, v[i]);
		largest = fmax(largest, v[i]);
		constant = constant && (v[i] == v[0] || (isnan(v[i]) && isnan(v[0])));
	}
	if (!n || !(least <= largest))
		json_null(j);
	else if (constant)
		json_real(j, v[0]);
	else if (least < 0 || isinf(largest))
		put_floats(j, v, n);
	else
		put_packed(j, v, n, largest);
}
