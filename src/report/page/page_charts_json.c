/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page_charts_json.h"

#include "base/text/escape.h"
#include "report/page/page_charts.h"
#include "report/page/page_code.h"
#include "report/page/page_maps.h"
#include "report/page/page_metric.h"
#include "report/page/page_own.h"
#include "report/page/page_waits.h"

#include <stdio.h>
#include <string.h>

enum { PROOF_HEIGHT = 170 };

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

static bool has_values(const struct page_series *d, uint32_t drawn)
{
	uint32_t n;

	return traces_of(d->traces, d->drawn[drawn].metric, false, &n);
}

static bool is_shown(const struct page_series *d, const struct page_chart *c)
{
	for (uint32_t i = 0; c->optional && i < d->ndrawn; i++)
		for (size_t l = 0; l < PAGE_LINES && c->lines[l].metric; l++)
			if (!strcmp(c->lines[l].metric, d->drawn[i].metric) && has_values(d, i))
				return true;
	return !c->optional;
}

static bool is_charted(const char *metric)
{
	for (size_t c = 0; c < npage_charts; c++)
		for (size_t l = 0; l < PAGE_LINES && page_charts[c].lines[l].metric; l++)
			if (!strcmp(page_charts[c].lines[l].metric, metric))
				return true;
	return false;
}

static void proof_json(struct json *j, const struct page_series *d, const struct run *r, uint32_t i)
{
	const struct page_drawn *drawn = &d->drawn[i];
	const struct metric *row = page_metric(r, drawn->metric, NULL);
	char id[32], name[200], title[300], key[sizeof drawn->key];
	struct page_chart c = { .id = id,
				.title = title,
				.note = escape_terminal_into(key, sizeof key, drawn->key),
				.unit = page_unit(r, drawn->metric),
				.height = PROOF_HEIGHT,
				.lines = { { drawn->key, title, PAGE_AREA, "blue" } } };

	snprintf(id, sizeof id, "proof-%u", i);
	snprintf(name, sizeof name, *drawn->instance ? "%s of %s" : "%s",
		 row && row->label ? row->label : drawn->metric, drawn->instance);
	escape_terminal_into(title, sizeof title, name);
	chart_json(j, &c);
}

static void maps_json(struct json *j)
{
	json_key(j, "maps");
	json_array(j);
	for (size_t i = 0; i < PAGE_MAPS; i++) {
		json_object(j);
		json_key(j, "id");
		json_text(j, page_maps[i].id);
		json_key(j, "title");
		json_text(j, page_maps[i].title);
		json_key(j, "metric");
		json_text(j, page_maps[i].metric);
		json_object_end(j);
	}
	json_array_end(j);
}

void page_charts_json(struct json *j, const struct page_series *d, const struct own *own,
		      const struct page_kinds *waits, const struct page_kinds *code,
		      const struct run *r)
{
	json_key(j, "charts");
	json_array(j);
	page_own_charts_json(j, own);
	for (size_t c = 0; c < npage_charts; c++) {
		if (is_shown(d, &page_charts[c]))
			chart_json(j, &page_charts[c]);
		if (c)
			continue;
		page_waits_chart_json(j, waits); /* beside the cores */
		page_code_chart_json(j, code);   /* which are a part of them */
	}
	for (uint32_t i = 0; i < d->ndrawn; i++)
		if (!is_charted(d->drawn[i].key) && has_values(d, i))
			proof_json(j, d, r, i);
	json_array_end(j);
	maps_json(j);
}
