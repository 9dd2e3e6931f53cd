/* SPDX-License-Identifier: Apache-2.0 */
/* page_pipeline.c - the tasks of workflow tools, by rule, with lines to paste. */
#include "report/page/page_html.h"
#include "report/page/page_table.h"
#include "report/summary/pipeline.h"

#include <math.h>

enum { RULES = 50 };

static void rule_row(struct bytes *b, const struct pipeline_rule *r, const struct summary *s)
{
	html_name_cell(b, r->name, NAN);
	html_number_cell(b, UNIT_SECONDS, r->wall_s);
	html_number_cell(b, UNIT_COUNT, r->tasks);
	html_number_cell(b, UNIT_SECONDS, r->wall_median_s);
	html_number_cell(b, UNIT_SECONDS, r->wall_max_s);
	html_number_cell(b, UNIT_BYTES, r->peak_bytes);
	html_number_cell(b, UNIT_COUNT, r->peaks);
	html_number_cell(b, UNIT_CORES, r->cores);
	html_number_cell(b, UNIT_BYTES, r->read_bytes);
	html_number_cell(b, UNIT_BYTES, r->written_bytes);
	html_number_cell(b, UNIT_BYTES, r->gpu_bytes);
	html_text_cell(b, r->longest == UINT32_MAX ? NULL : s->processes[r->longest].command_line);
	bytes_puts(b, "</tr>\n");
}

static void lines(struct bytes *b, const struct pipeline *of)
{
	struct bytes text = { 0 };

	pipeline_paste(&text, of, NULL);
	for (uint32_t i = 0; i < of->nrules && i < RULES; i++)
		pipeline_paste(&text, of, &of->rule[i]);
	b->failed |= text.failed;
	if (text.len) {
		bytes_puts(b, "<details><summary>Lines to paste</summary>\n<pre>");
		bytes_put(b, text.data, text.len);
		bytes_puts(b, "</pre></details>\n");
	}
	bytes_free(&text);
}

static void one(struct bytes *b, const struct pipeline *of, const struct summary *s)
{
	static const struct html_heading h[] = {
		{ "Name", true, false },        { "Wall time of all", false, true },
		{ "Tasks", false, false },      { "Median", false, false },
		{ "Longest", false, false },    { "Peak memory", false, false },
		{ "Known of", false, false },   { "Cores", false, false },
		{ "Read", false, false },       { "Written", false, false },
		{ "GPU memory", false, false }, { "The longest", true, false },
	};
	char caption[200];

	snprintf(caption, sizeof caption,
		 "%.60s: tasks by name. Known of: tasks whose memory a sample saw; the peak is "
		 "theirs",
		 of->tool->label);
	html_table(b, caption, h, sizeof h / sizeof h[0]);
	for (uint32_t i = 0; i < of->nrules && i < RULES; i++)
		rule_row(b, &of->rule[i], s);
	html_table_end(b);
	lines(b, of);
}

void html_pipelines(struct bytes *b, const struct page_source *p)
{
	struct pipelines all;
	struct err e;

	if (pipelines_make(&all, p->summary, p->run, NULL, &e))
		b->failed = true;
	if (all.n)
		bytes_puts(b, "<section aria-labelledby=\"h-pipelines\">\n"
			      "<h2 id=\"h-pipelines\">Pipelines</h2>\n");
	for (uint32_t i = 0; i < all.n && !b->failed; i++)
		one(b, &all.of[i], p->summary);
	if (all.n)
		bytes_puts(b, "</section>");
	pipelines_free(&all);
}
