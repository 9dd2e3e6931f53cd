/* SPDX-License-Identifier: Apache-2.0 */
/* Which code used the CPU: one bar of the exact CPU time by kind of code, and the functions of the
 * most time. */
#include "core/symbol.h"
#include "report/page_code.h"
#include "report/page_html.h"
#include "report/page_table.h"

#include <math.h>
#include <string.h>

enum { FUNCTIONS = 10, PARTS = PAGE_KINDS + 3 };

struct part {
	const char *label, *colour;
	double seconds;
};

/* Kinds of code, then what no sample is of. Their number. */
static uint32_t parts_of(struct part out[PARTS], const struct code *code)
{
	const struct code_account *a = &code->account;
	struct page_kinds k;
	uint32_t n = 0;

	page_kinds_make(&k, code->stacks);
	for (uint32_t i = 0; i < PAGE_KINDS; i++)
		if (page_has_kind(&k, i))
			out[n++] = (struct part){ page_kind_label(&k, i), page_kind_colours[i],
						  k.self[i] };
	if (a->short_s > 0)
		out[n++] =
			(struct part){ "in processes too short to be sampled", "pale", a->short_s };
	if (a->rest_s > 0)
		out[n++] = (struct part){ "not sampled otherwise", "pale", a->rest_s };
	if (a->system_s > 0)
		out[n++] = (struct part){ "kernel", "ink", a->system_s };
	return n;
}

static void bar(struct bytes *b, const struct part *p, uint32_t n, double whole_s)
{
	double at = 0, sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += p[i].seconds;
	sum = fmax(sum, whole_s); /* by chance there may be more samples than time */
	bytes_puts(b, "<svg class=\"account\" viewBox=\"0 0 1000 26\" preserveAspectRatio=\"none\" "
		      "aria-hidden=\"true\">");
	for (uint32_t i = 0; i < n; i++) {
		double width = 1000 * p[i].seconds / sum;

		bytes_printf(b, "<rect class=\"%s\" x=\"%.1f\" width=\"%.1f\" height=\"26\"/>",
			     p[i].colour, at, width);
		at += width;
	}
	bytes_puts(b, "</svg>\n<ul class=\"account\">");
	for (uint32_t i = 0; i < n; i++) {
		bytes_printf(
			b,
			"<li><svg viewBox=\"0 0 12 12\" aria-hidden=\"true\"><rect class=\"%s\" "
			"width=\"12\" height=\"12\" rx=\"3\"/></svg><b>%.3g %%</b> ",
			p[i].colour, 100 * p[i].seconds / sum);
		html_text(b, p[i].label);
		bytes_puts(b, " <small>");
		html_value(b, UNIT_SECONDS, p[i].seconds);
		bytes_puts(b, "</small></li>\n");
	}
	bytes_puts(b, "</ul>");
}

/* "31 % ± 2" */
static void share_cell(struct bytes *b, const struct stacks *s, double part, bool error)
{
	double share = stacks_share(s, part), points = 100 * stacks_error(s, share);

	bytes_printf(b, "<td data-v=\"%.9g\">%.3g %%", part, 100 * share);
	if (error)
		bytes_printf(b, points < 0.95 ? " ± %.1g" : " ± %.0f", points);
	bytes_puts(b, "</td>");
}

static void function_row(struct bytes *b, const struct stacks *s, const struct stacks_row *row)
{
	const struct stacks_function *f = &s->functions[row->function];
	char where[400] = "";

	if (row->file)
		snprintf(where, sizeof where, row->line ? "%.300s:%u" : "%.300s",
			 symbol_base(row->file), row->line);
	html_name_cell(b, f->shown, NAN);
	share_cell(b, s, row->self, true);
	share_cell(b, s, row->total, false);
	html_text_cell(b, *where ? where : NULL);
	html_text_cell(b, *f->module ? symbol_base(f->module) : NULL);
	html_text_cell(b, row->command);
	bytes_puts(b, "</tr>\n");
}

static void functions(struct bytes *b, const struct stacks *s)
{
	static const struct html_heading h[] = {
		{ "Function", true, false },
		{ "Self", false, true },
		{ "Total", false, false },
		{ "Where", true, false },
		{ "Program or library", true, false },
		{ "Process", true, false },
	};
	const struct stacks_rows *rows = &s->rows[STACKS_BY_FUNCTION];

	html_table(b,
		   "Functions that used the most CPU time. Self: in the function; total: with what "
		   "it calls. Shares of the sampled time, with the 95 % interval",
		   h, sizeof h / sizeof h[0]);
	for (uint32_t i = 0; i < rows->n && i < FUNCTIONS && rows->row[i].self > 0; i++)
		function_row(b, s, &rows->row[i]);
	html_table_end(b);
}

static void gaps(struct bytes *b, const struct code_gaps *g)
{
	struct bytes text = { 0 };

	for (unsigned i = 0; code_gaps_say(g, i, &text); i++) {
		if (text.len) {
			bytes_u8(&text, 0);
			bytes_puts(b, "<p class=\"soft\">");
			html_text(b, text.failed ? "" : (const char *)text.data);
			bytes_puts(b, "</p>");
		}
		bytes_reset(&text);
	}
	bytes_free(&text);
}

static void samples(struct bytes *b, const struct code *code)
{
	const struct stacks *s = code->stacks;

	bytes_puts(b, "<p class=\"soft\">");
	html_value(b, UNIT_SECONDS, code->account.whole_s);
	bytes_printf(b, " of CPU time; %.0f samples of stacks", s->samples);
	if (s->cut > s->total / 100)
		bytes_printf(b, ", %.2g %% of them cut", 100 * s->cut / s->total);
	bytes_puts(b, "</p>");
}

void html_code(struct bytes *b, const struct page_source *p)
{
	const struct code *code = p->summary->code;
	struct part part[PARTS];

	if (!code)
		return;
	bytes_puts(b, "<section aria-labelledby=\"h-code\">\n<h2 id=\"h-code\">Which code used the "
		      "CPU</h2>\n");
	if (!code->stacks || !(code->account.whole_s > 0)) {
		bytes_puts(b, "<div class=\"panel empty\"><p>No samples of code.</p>");
		gaps(b, &code->gaps);
		bytes_puts(b, "</div></section>");
		return;
	}
	bytes_puts(b, "<div class=\"panel account\">");
	samples(b, code);
	gaps(b, &code->gaps);
	bar(b, part, parts_of(part, code), code->account.whole_s);
	bytes_puts(b, "</div>\n");
	if (code->stacks->total > 0)
		functions(b, code->stacks);
	bytes_puts(b, "</section>");
}
