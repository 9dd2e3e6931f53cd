/* SPDX-License-Identifier: Apache-2.0 */
/* page_steps.c - the steps of the job: how long each took, as a chart, and those that are not
 * plain. */
#include "base/text/base64.h"
#include "chart/charts.h"
#include "chart/svg.h"
#include "report/page/page_html.h"
#include "report/page/page_table.h"
#include "report/summary/steps.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 20, POINTS = 2000, WIDTH = 640, HEIGHT = 200 };

/* Of very many steps the first ones of equal groups. */
static void chart(struct bytes *b, const struct steps *x)
{
	static const struct box whole = { .w = WIDTH, .h = HEIGHT };
	uint32_t each = (x->n + POINTS - 1) / POINTS, n = 0;
	double *length = malloc((x->n + 1u) * sizeof *length);
	struct bytes drawing = { 0 }, svg = { 0 };
	struct level_chart c = { .title = "Length of each step",
				 .x_title = "step",
				 .unit = UNIT_SECONDS,
				 .value = length };
	struct err e;

	for (uint32_t i = 0; length && i < x->n; i += each)
		length[n++] = x->step[i].to_s - x->step[i].from_s;
	c.n = n;
	shape_page(&drawing, whole.w, whole.h);
	if (length)
		level_chart_draw(&drawing, &whole, &c);
	shape_end(&drawing);
	if (!length || svg_write(&svg, &drawing, c.title, &e)) {
		b->failed = true;
	} else {
		bytes_puts(b, "<figure class=\"panel plain\"><img alt=\"Length of each step\" "
			      "src=\"data:image/svg+xml;base64,");
		base64_encode(b, svg.data, svg.len);
		bytes_puts(b, "\"></figure>\n");
	}
	bytes_free(&drawing);
	bytes_free(&svg);
	free(length);
}

static void row(struct bytes *b, const struct step *p, uint32_t i)
{
	struct bytes words = { 0 };
	char name[32];

	snprintf(name, sizeof name, "%u", i + 1);
	step_words(p, &words);
	bytes_u8(&words, '\0');
	b->failed |= words.failed;
	html_name_cell(b, name, NAN);
	html_number_cell(b, UNIT_SECONDS, p->from_s);
	html_number_cell(b, UNIT_SECONDS, p->to_s - p->from_s);
	html_text_cell(b, step_kind_names[p->kind]);
	html_text_cell(b, words.failed ? NULL : (const char *)words.data);
	bytes_puts(b, "</tr>\n");
	bytes_free(&words);
}

static void table(struct bytes *b, const struct steps *x)
{
	static const struct html_heading h[] = {
		{ "Step", true, false },
		{ "At", false, false },
		{ "Took", false, false },
		{ "Kind", true, false },
		{ "What was different", true, false },
	};
	uint32_t shown = 0;

	if (x->count[STEP_PLAIN] == x->n)
		return;
	html_table(b, "Steps that are not plain", h, sizeof h / sizeof h[0]);
	for (uint32_t i = 0; i < x->n && shown < ROWS; i++)
		if (x->step[i].kind != STEP_PLAIN) {
			row(b, &x->step[i], i);
			shown++;
		}
	html_table_end(b);
}

void html_steps(struct bytes *b, const struct page_source *p)
{
	const struct steps *x = p->summary->iterations;
	struct bytes words = { 0 };

	if (!x || !x->n)
		return;
	bytes_puts(b, "<section aria-labelledby=\"h-steps\">\n<h2 id=\"h-steps\">Steps</h2>\n"
		      "<div class=\"panel account\">");
	steps_words(x, &words);
	html_soft(b, &words);
	if (*x->name)
		bytes_printf(&words, "%s: %s", x->of_marks ? "From mark to mark" : "Spans",
			     x->name);
	else
		bytes_printf(&words, "Found in %s", x->metric);
	html_soft(b, &words);
	bytes_free(&words);
	bytes_puts(b, "</div>\n");
	chart(b, x);
	table(b, x);
	bytes_puts(b, "</section>");
}
