/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page_kinds.h"

#include "core/stacks/classes.h"
#include "report/lines.h"
#include "report/page/page_html.h"
#include "report/page/page_series.h"
#include "report/page/page_table.h"

#include <errno.h>
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

void page_kinds_chart_json(struct json *j, const struct page_kinds *k, struct page_chart *c)
{
	char key[PAGE_KINDS][32];
	uint32_t n = 0;

	if (!k->cells.buckets)
		return;
	c->id = k->id;
	c->height = CHART_HEIGHT;
	for (uint32_t i = 0; i < k->n; i++) {
		if (!(k->kind[i].seconds > 0))
			continue;
		kind_key(k, i, key[n]);
		c->lines[n] = (struct page_line){ key[n], k->kind[i].label, PAGE_STACK,
						  k->kind[i].colour };
		n++;
	}
	page_chart_json(j, c);
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
	char share[CELL];

	for (uint32_t i = 0; i < n; i++)
		sum += kind[i].seconds;
	/* By chance there may be more samples than time: shares are of the time, as elsewhere. */
	bar(b, kind, n, fmax(sum, whole_s));
	bytes_puts(b, "<ul class=\"account\">");
	for (uint32_t i = 0; i < n; i++) {
		if (!(kind[i].seconds > 0))
			continue;
		bytes_printf(
			b,
			"<li><svg viewBox=\"0 0 12 12\" aria-hidden=\"true\"><rect class=\"%s\" "
			"width=\"12\" height=\"12\" rx=\"3\"/></svg><b>%s</b> ",
			kind[i].colour, cell_share(share, kind[i].seconds / whole_s));
		html_text(b, kind[i].label);
		bytes_puts(b, " <small>");
		html_value(b, UNIT_SECONDS, kind[i].seconds);
		bytes_puts(b, "</small></li>\n");
	}
	bytes_puts(b, "</ul>");
}

/* ---- what threads waited for ---- */

_Static_assert((int)PAGE_KINDS < (int)PAGE_LINES, "a line for each kind");
enum { PLACES = 10, TEXT = 400, FIRST_WAIT = 2, OTHER_WAITS = 6 };
_Static_assert((int)PAGE_PLACES >= (int)WAITING_PARTS, "a place for each part");

/* ---- by kind ---- */

static const struct {
	const char *label, *colour;
	int part; /* below 0: of several */
} kinds[PAGE_KINDS] = {
	{ "", "blue", WAITING_ON_CPU },
	{ "", "red", WAITING_READY },
	[FIRST_WAIT] = { "", "orange", -1 },
	{ "", "green", -1 },
	{ "", "purple", -1 },
	{ "", "sky", -1 },
	[OTHER_WAITS] = { "waits for something else", "grey", -1 },
	{ "", "pale", WAITING_UNSEEN },
	{ "", "faint", WAITING_FORBIDDEN },
};

static uint32_t kind_of(enum waiting_part part, uint32_t *next)
{
	for (uint32_t i = 0; i < PAGE_KINDS; i++)
		if (kinds[i].part >= 0 && kinds[i].part == (int)part)
			return i;
	return *next < OTHER_WAITS ? (*next)++ : OTHER_WAITS;
}

static void waits_kinds(struct page_kinds *k, const struct waiting *w)
{
	struct waittime_part part[WAITING_PARTS];
	uint32_t n = waittime_parts(w, part), next = FIRST_WAIT;

	*k = (struct page_kinds){ .id = "waits", .n = PAGE_KINDS };
	for (uint32_t i = 0; i < PAGE_KINDS; i++)
		k->kind[i] = (struct page_kind){ kinds[i].label, kinds[i].colour, 0 };
	for (uint32_t i = 0; i < n; i++) {
		uint32_t kind = kind_of(part[i].part, &next);

		k->of[part[i].part] = kind;
		k->kind[kind].seconds += part[i].seconds;
		if (kind != OTHER_WAITS)
			k->kind[kind].label = part[i].label;
	}
}

int page_waits_make(struct page_kinds *k, const struct waittime *t, double end_s, struct err *e)
{
	const struct waiting *w = t ? t->waiting : NULL;
	uint32_t *places, n = w ? w->stacks->run->nstacks : 0, function;
	int rc;

	*k = (struct page_kinds){ 0 };
	if (!w || !(end_s > 0))
		return 0;
	places = calloc(n + 1u, sizeof *places);
	if (!places)
		return err_set(e, -ENOMEM, "out of memory while writing the report");
	for (uint32_t i = 0; i < n; i++)
		places[i] = (uint32_t)waiting_part_of(w, i, &function);
	waits_kinds(k, w);
	rc = page_kinds_cells(k, w->stacks, places, end_s, e);
	free(places);
	return rc;
}

void page_waits_chart_json(struct json *j, const struct page_kinds *k)
{
	page_kinds_chart_json(j, k,
			      &(struct page_chart){ .title = "What threads waited for",
						    .note = "threads, on average",
						    .unit = UNIT_COUNT });
}

/* ---- the section ---- */

static void notes(struct bytes *b, const struct waittime *t)
{
	struct bytes text = { 0 };

	for (unsigned i = 0; waittime_say(t, i, &text); i++)
		html_soft(b, &text);
	bytes_free(&text);
}

static void place_row(struct bytes *b, const struct waiting *w, const struct waiting_row *row)
{
	double seconds = waiting_waited(&row->time);
	char object[TEXT];

	snprintf(object, sizeof object, "%.300s", row->object);
	html_name_cell(b, row->shown, NAN);
	html_number_cell(b, UNIT_SECONDS, seconds);
	bytes_printf(b, "<td data-v=\"%.9g\">%.3g %%</td>", seconds,
		     100 * waittime_ratio(w, seconds));
	html_text_cell(b, wait_kind_words(row->kind));
	html_text_cell(b, *object ? object : NULL);
	html_where_cell(b, row->file, row->line);
	bytes_puts(b, "</tr>\n");
}

static void places(struct bytes *b, const struct waiting *w)
{
	static const struct html_heading h[] = {
		{ "Function", true, false }, { "Time", false, true },   { "Share", false, false },
		{ "Wait", true, false },     { "Object", true, false }, { "Where", true, false },
	};
	const struct waiting_rows *rows = &w->rows[WAITING_BY_PLACE];

	if (!rows->n)
		return;
	html_table(b,
		   "Where threads waited most: the program&#39;s own function, and what it waited "
		   "for. Shares of the time of all threads",
		   h, sizeof h / sizeof h[0]);
	for (uint32_t i = 0; i < rows->n && i < PLACES; i++)
		place_row(b, w, &rows->row[i]);
	html_table_end(b);
}

static void account(struct bytes *b, const struct waittime *t)
{
	const struct waiting *w = t->waiting;
	uint32_t threads = w->rows[WAITING_BY_THREAD].n;
	struct page_kinds k;

	waits_kinds(&k, w);
	bytes_puts(b, "<div class=\"panel account\"><p class=\"soft\">");
	html_value(b, UNIT_SECONDS, waiting_wall(&w->time));
	bytes_printf(b, " of %u thread%s, waiting ", threads, threads == 1 ? "" : "s");
	html_value(b, UNIT_SECONDS, waiting_waited(&w->time));
	bytes_puts(b, "</p>");
	notes(b, t);
	html_kinds(b, k.kind, k.n, waiting_wall(&w->time));
	bytes_puts(b, "</div>\n");
}

void html_waits(struct bytes *b, const struct page_source *p)
{
	const struct waittime *t = p->summary->waits;

	if (!t)
		return;
	bytes_puts(b,
		   "<section aria-labelledby=\"h-waits\">\n<h2 id=\"h-waits\">What threads waited "
		   "for</h2>\n");
	if (t->waiting) {
		account(b, t);
		places(b, t->waiting);
	} else {
		bytes_puts(b, "<div class=\"panel empty\"><p>No waits.</p>");
		notes(b, t);
		bytes_puts(b, "</div>");
	}
	bytes_puts(b, "</section>");
}
