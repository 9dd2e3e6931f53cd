/* SPDX-License-Identifier: Apache-2.0 */
/* Which code used the CPU: one bar of the exact CPU time by kind of code, and the functions of the
 * most time. */
#include "core/stacks/symbol.h"
#include "report/page/page_code.h"
#include "report/page/page_html.h"
#include "report/page/page_table.h"

#include <math.h>
#include <string.h>

enum { FUNCTIONS = 10, PARTS = PAGE_CODE_KINDS + 3 };

/* Kinds of code, then what no sample is of. Their number. */
static uint32_t parts_of(struct page_kind out[PARTS], const struct code *code)
{
	const struct code_account *a = &code->account;
	struct page_kinds k;
	uint32_t n = 0;

	page_code_kinds(&k, code->stacks);
	while (n < k.n) {
		out[n] = k.kind[n];
		n++;
	}
	out[n++] = (struct page_kind){ "in processes too short to be sampled", "pale",
				       fmax(a->short_s, 0) };
	out[n++] = (struct page_kind){ "not sampled otherwise", "pale", fmax(a->rest_s, 0) };
	out[n++] = (struct page_kind){ "kernel", "ink", fmax(a->system_s, 0) };
	return n;
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

	html_name_cell(b, f->shown, NAN);
	share_cell(b, s, row->self, true);
	share_cell(b, s, row->total, false);
	html_where_cell(b, row->file, row->line);
	html_text_cell(b, *f->module ? symbol_base(f->module) : NULL);
	html_text_cell(b, row->command);
	bytes_puts(b, "</tr>\n");
}

static void functions(struct bytes *b, const struct stacks *s, const char *caption)
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

	html_table(b, caption, h, sizeof h / sizeof h[0]);
	for (uint32_t i = 0; i < rows->n && i < FUNCTIONS && rows->row[i].self > 0; i++)
		function_row(b, s, &rows->row[i]);
	html_table_end(b);
}

static void gaps(struct bytes *b, const struct code_gaps *g)
{
	struct bytes text = { 0 };

	for (unsigned i = 0; code_gaps_say(g, i, &text); i++)
		html_soft(b, &text);
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
	struct page_kind part[PARTS];

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
	html_kinds(b, part, parts_of(part, code), code->account.whole_s);
	bytes_puts(b, "</div>\n");
	if (code->stacks->total > 0)
		functions(b, code->stacks,
			  "Functions that used the most CPU time. Self: in the function; total: "
			  "with what it calls. Shares of the sampled time, with the 95 % interval");
	if (code->python)
		functions(b, code->python,
			  "Functions of Python that used the most CPU time, with what they call in "
			  "libraries. Shares of Python's sampled time, with the 95 % interval");
	bytes_puts(b, "</section>");
}
