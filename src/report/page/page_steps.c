/* SPDX-License-Identifier: Apache-2.0 */
/* page_steps.c - the steps of the job: how long each took, as a chart, and those that are not
 * plain. */
#include "report/page/page_html.h"
#include "report/page/page_table.h"
#include "report/steps/steps.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 20, BARS = 600 };

static const char *const colours[STEP_KINDS] = {
	[STEP_PLAIN] = "blue", [STEP_WARM_UP] = "grey", [STEP_CHECKPOINT] = "purple",
	[STEP_SLOW] = "red",   [STEP_SHORT] = "sky",
};

static double length_of(const struct step *p)
{
	return p->to_s - p->from_s;
}

/* The longest of so many from there on. */
static const struct step *longest(const struct steps *x, uint32_t from, uint32_t n)
{
	const struct step *most = &x->step[from];

	for (uint32_t i = from; i < x->n && i < from + n; i++)
		most = length_of(&x->step[i]) > length_of(most) ? &x->step[i] : most;
	return most;
}

static void legend(struct bytes *b, const struct steps *x)
{
	bytes_puts(b, "<ul class=\"account\">");
	for (int k = 0; k < STEP_KINDS; k++)
		if (x->count[k])
			bytes_printf(b,
				     "<li><svg viewBox=\"0 0 12 12\" aria-hidden=\"true\"><rect "
				     "class=\"%s\" width=\"12\" height=\"12\" "
				     "rx=\"3\"/></svg><b>%u</b> %s</li>\n",
				     colours[k], x->count[k], step_kind_names[k]);
	bytes_puts(b, "</ul>");
}

/* A bar for each step; of very many steps for the longest of equal groups. */
static void chart(struct bytes *b, const struct steps *x)
{
	uint32_t each = (x->n + BARS - 1) / BARS, n = (x->n + each - 1) / each;
	double most = length_of(longest(x, 0, x->n));

	bytes_puts(b, "<p class=\"soft\">Length of each step, in order of time; the longest took ");
	html_value(b, UNIT_SECONDS, most);
	bytes_printf(b,
		     "</p>\n<svg class=\"account tall\" viewBox=\"0 0 %u 100\" "
		     "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Length of each "
		     "step\">",
		     n);
	for (uint32_t i = 0; i < n; i++) {
		const struct step *p = longest(x, i * each, each);
		double height = most > 0 ? 100 * length_of(p) / most : 0;

		bytes_printf(b,
			     "<rect class=\"%s\" x=\"%u\" y=\"%.1f\" width=\".85\" "
			     "height=\"%.1f\"/>",
			     colours[p->kind], i, 100 - height, height);
	}
	bytes_puts(b, "</svg>\n");
	legend(b, x);
}

static void growths(struct bytes *b, const struct steps *x)
{
	static const struct html_heading h[] = {
		{ "Steps", true, false },
		{ "What grew", true, false },
		{ "A step", false, false },
		{ "Usually", false, false },
	};

	if (!x->ngrew)
		return;
	html_table(b, "Code and waits that took longer than in plain steps", h,
		   sizeof h / sizeof h[0]);
	for (uint32_t i = 0; i < x->ngrew; i++) {
		const struct step_growth *g = &x->grew[i];
		struct bytes words = { 0 };

		step_growth_words(g, &words);
		bytes_u8(&words, '\0');
		b->failed |= words.failed;
		html_name_cell(b, step_kind_names[g->of], NAN);
		html_text_cell(b, words.failed ? NULL : (const char *)words.data);
		html_number_cell(b, UNIT_SECONDS, g->here_s);
		html_number_cell(b, UNIT_SECONDS, g->usual_s);
		bytes_puts(b, "</tr>\n");
		bytes_free(&words);
	}
	html_table_end(b);
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
	html_number_cell(b, UNIT_SECONDS, length_of(p));
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
		bytes_printf(&words, "%s: %s", steps_source_words[x->source], x->name);
	else
		bytes_printf(&words, "Found in %s", x->metric);
	html_soft(b, &words);
	bytes_free(&words);
	chart(b, x);
	bytes_puts(b, "</div>\n");
	growths(b, x);
	table(b, x);
	bytes_puts(b, "</section>");
}
