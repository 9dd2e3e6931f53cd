/* SPDX-License-Identifier: Apache-2.0 */
/* page_touched.c - which code touched memory first: functions, and their callers as a drawing. */
#include "core/stacks/symbol.h"
#include "report/comparison/flame.h"
#include "report/page/page_html.h"
#include "report/page/page_table.h"
#include "report/summary/touched.h"

#include <math.h>

enum { FUNCTIONS = 20 };

static void owner_row(struct bytes *b, const struct owners *o, const struct owner *row)
{
	html_name_cell(b, row->function->shown, NAN);
	html_number_cell(b, UNIT_BYTES, row->resident[OWNERS_PEAK]);
	bytes_printf(b, "<td data-v=\"%.9g\">%.3g %%</td>", row->resident[OWNERS_PEAK],
		     100 * row->resident[OWNERS_PEAK] / o->resident[OWNERS_PEAK]);
	html_number_cell(b, UNIT_BYTES, row->touched);
	html_number_cell(b, UNIT_BYTES,
			 row->resident[OWNERS_MOMENTS - 1] - row->resident[OWNERS_FIRST]);
	html_where_cell(b, row->file, row->line);
	html_text_cell(b, *row->function->module ? symbol_base(row->function->module) : NULL);
	bytes_puts(b, "</tr>\n");
}

static void owners(struct bytes *b, const struct owners *o)
{
	static const struct html_heading h[] = {
		{ "Function", true, false },
		{ "At the peak", false, true },
		{ "Share", false, false },
		{ "Touched in all", false, false },
		{ "Growth", false, false },
		{ "Where", true, false },
		{ "Program or library", true, false },
	};

	html_table(b,
		   "Functions that touched memory first: what was resident at the peak, all that "
		   "they touched, and by how much their resident memory grew between the first "
		   "fifth of the run and its end",
		   h, sizeof h / sizeof h[0]);
	for (uint32_t i = 0; i < o->n && i < FUNCTIONS; i++)
		owner_row(b, o, &o->row[i]);
	html_table_end(b);
}

static void missing(struct bytes *b, const struct touched_memory *t)
{
	struct bytes text = { 0 };

	for (unsigned i = 0; touched_say(t, i, &text); i++)
		html_soft(b, &text);
	bytes_free(&text);
}

static void drawing(struct bytes *b, const struct stacks *s)
{
	struct flame f = { 0 };

	bytes_puts(b, "<div class=\"panel scroll\">");
	if (flame_add(&f, 0, s) || flame_svg_of_memory(b, &f))
		b->failed = true;
	bytes_puts(b, "</div>\n");
	flame_free(&f);
}

void html_touched(struct bytes *b, const struct page_source *p)
{
	const struct touched_memory *t = p->summary->touched;

	if (!t)
		return;
	bytes_puts(b, "<section aria-labelledby=\"h-touched\">\n<h2 id=\"h-touched\">Which code "
		      "touched memory first</h2>\n");
	if (!t->peak || !(t->peak->total > 0)) {
		bytes_puts(b, "<div class=\"panel empty\"><p>No samples of page faults.</p>");
		missing(b, t);
		bytes_puts(b, "</div></section>");
		return;
	}
	bytes_puts(b, "<div class=\"panel account\"><p class=\"soft\">");
	html_value(b, UNIT_BYTES, t->owners.resident[OWNERS_PEAK]);
	bytes_puts(b, " were resident at the peak, ");
	html_value(b, UNIT_SECONDS, t->owners.moment_s[OWNERS_PEAK]);
	bytes_printf(b, " after the start; %.0f samples of page faults</p>", t->samples);
	missing(b, t);
	bytes_puts(b, "</div>\n");
	owners(b, &t->owners);
	drawing(b, t->peak);
	bytes_puts(b, "</section>");
}
