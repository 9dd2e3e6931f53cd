/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page_waits.h"

#include "report/page/page_html.h"
#include "report/page/page_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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
		if (kinds[i].part == (int)part)
			return i;
	return *next < OTHER_WAITS ? (*next)++ : OTHER_WAITS;
}

void page_waits_kinds(struct page_kinds *k, const struct waiting *w)
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
	uint32_t *places, n = w ? w->stacks->run->nstacks : 0;
	int rc;

	*k = (struct page_kinds){ 0 };
	if (!w || !(end_s > 0))
		return 0;
	places = calloc(n + 1u, sizeof *places);
	if (!places)
		return err_set(e, -ENOMEM, "out of memory while writing the report");
	for (uint32_t i = 0; i < n; i++)
		places[i] = (uint32_t)waiting_part_of(w, i);
	page_waits_kinds(k, w);
	rc = page_kinds_cells(k, w->stacks, places, end_s, e);
	free(places);
	return rc;
}

void page_waits_chart_json(struct json *j, const struct page_kinds *k)
{
	page_kinds_chart_json(j, k,
			      &(struct page_kinds_words){ .title = "What threads waited for",
							  .note = "threads, on average",
							  .unit = "count" });
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

	page_waits_kinds(&k, w);
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
