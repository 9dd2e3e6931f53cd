/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page_kinds.h"

#include "core/stacks/classes.h"
#include "report/page/page_html.h"
#include "report/page/page_pack.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 1 << 20, CHART_HEIGHT = 200 };
_Static_assert((int)PAGE_PLACES >= (int)CLASSES_MAX, "a place for each class");

int page_kinds_cells(struct page_kinds *k, struct stacks *s, const uint32_t *places, double end_s,
		     struct err *e)
{
	return stacks_cells_make(&k->cells, s, NULL,
				 &(struct stacks_axis){ .to_s = end_s,
							.buckets = PAGE_BUCKETS,
							.group = STACKS_PER_NODE,
							.most_groups = PAGE_GROUPS,
							.most = CELLS,
							.by_class = !places,
							.places = places },
				 e);
}

void page_kinds_free(struct page_kinds *k)
{
	stacks_cells_free(&k->cells);
	*k = (struct page_kinds){ 0 };
}

/* ---- the chart ---- */

static void kind_key(const struct page_kinds *k, uint32_t kind, char out[32])
{
	snprintf(out, 32, "%s:%u", k->id, kind);
}

void page_kinds_chart_json(struct json *j, const struct page_kinds *k,
			   const struct page_kinds_words *words)
{
	char key[32];

	if (!k->cells.buckets)
		return;
	json_object(j);
	json_put_text(j, "id", k->id);
	json_put_text(j, "title", words->title);
	json_put_text(j, "note", words->note);
	json_put_text(j, "unit", words->unit);
	json_put_int(j, "height", CHART_HEIGHT);
	json_key(j, "lines");
	json_array(j);
	for (uint32_t i = 0; i < k->n; i++) {
		if (!(k->kind[i].seconds > 0))
			continue;
		kind_key(k, i, key);
		json_object(j);
		json_put_text(j, "metric", key);
		json_put_text(j, "label", k->kind[i].label);
		json_put_text(j, "role", "stack");
		json_put_text(j, "colour", k->kind[i].colour);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

uint32_t page_cells_first(const struct stacks_cells *x, uint32_t group)
{
	uint32_t low = 0, high = x->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (x->cell[middle].group < group)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The seconds of a kind up to the end of each bucket; sum[0] is 0. */
static void add_up(const struct page_kinds *k, uint32_t kind, uint32_t node, double *sum)
{
	const struct stacks_cells *x = &k->cells;

	memset(sum, 0, (x->buckets + 1u) * sizeof *sum);
	for (uint32_t g = 0; g < x->ngroups; g++) {
		if (node && (!g || x->groups[g].node != node))
			continue;
		for (uint32_t i = page_cells_first(x, g); i < x->n && x->cell[i].group == g; i++)
			if (k->of[x->cell[i].place] == kind)
				sum[x->cell[i].bucket + 1] += (double)x->cell[i].value;
	}
	for (uint32_t b = 0; b < x->buckets; b++)
		sum[b + 1] += sum[b];
}

/* Up to an instant, as if evenly spread within a bucket. */
static double until(const struct stacks_cells *x, const double *sum, double at_s)
{
	double b = fmin(fmax(at_s / x->width_s, 0), x->buckets);
	uint32_t whole = (uint32_t)b;

	return whole >= x->buckets ? sum[x->buckets]
				   : sum[whole] + (sum[whole + 1] - sum[whole]) * (b - whole);
}

void page_kinds_series_json(struct json *j, const struct page_kinds *k, uint32_t node,
			    const double *at_s, uint32_t n)
{
	double *sum, *v;
	char key[32];

	if (!k->cells.buckets)
		return;
	sum = calloc(k->cells.buckets + 1u, sizeof *sum);
	v = calloc(n + 1u, sizeof *v);
	j->out->failed |= !sum || !v;
	for (uint32_t i = 0; i < k->n && sum && v; i++) {
		double before = 0;

		if (!(k->kind[i].seconds > 0))
			continue;
		add_up(k, i, node, sum);
		for (uint32_t p = 0; p < n; before = at_s[p++])
			v[p] = at_s[p] > before ? (until(&k->cells, sum, at_s[p]) -
						   until(&k->cells, sum, before)) /
							  (at_s[p] - before)
						: NAN;
		kind_key(k, i, key);
		json_key(j, key);
		json_object(j);
		json_key(j, "mean");
		page_pack_numbers(j, v, n);
		json_object_end(j);
	}
	free(sum);
	free(v);
}

/* ---- the bar ---- */

static void bar(struct bytes *b, const struct page_kind *kind, uint32_t n, double whole_s)
{
	double at = 0;

	bytes_puts(b, "<svg class=\"account\" viewBox=\"0 0 1000 26\" preserveAspectRatio=\"none\" "
		      "aria-hidden=\"true\">");
	for (uint32_t i = 0; i < n; i++) {
		double width = 1000 * kind[i].seconds / whole_s;

		if (!(width > 0))
			continue;
		bytes_printf(b, "<rect class=\"%s\" x=\"%.1f\" width=\"%.1f\" height=\"26\"/>",
			     kind[i].colour, at, width);
		at += width;
	}
	bytes_puts(b, "</svg>\n");
}

void html_kinds(struct bytes *b, const struct page_kind *kind, uint32_t n, double whole_s)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += kind[i].seconds;
	sum = fmax(sum, whole_s); /* by chance there may be more samples than time */
	bar(b, kind, n, sum);
	bytes_puts(b, "<ul class=\"account\">");
	for (uint32_t i = 0; i < n; i++) {
		if (!(kind[i].seconds > 0))
			continue;
		bytes_printf(
			b,
			"<li><svg viewBox=\"0 0 12 12\" aria-hidden=\"true\"><rect class=\"%s\" "
			"width=\"12\" height=\"12\" rx=\"3\"/></svg><b>%.3g %%</b> ",
			kind[i].colour, 100 * kind[i].seconds / sum);
		html_text(b, kind[i].label);
		bytes_puts(b, " <small>");
		html_value(b, UNIT_SECONDS, kind[i].seconds);
		bytes_puts(b, "</small></li>\n");
	}
	bytes_puts(b, "</ul>");
}
