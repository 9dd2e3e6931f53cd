/* SPDX-License-Identifier: Apache-2.0 */
/* page_path.c - the critical path: the processes that were the job's time, by name. */
#include "report/page/page_html.h"
#include "report/page/page_table.h"
#include "report/summary/path.h"

#include <math.h>

enum { NAMES = 10 };

static void name_row(struct bytes *b, const struct path *p, const struct path_name *n,
		     const struct summary *s)
{
	html_name_cell(b, n->name, NAN);
	html_number_cell(b, UNIT_SECONDS, n->on_path_s);
	html_number_cell(b, UNIT_RATIO, n->on_path_s / p->wall_s);
	html_number_cell(b, UNIT_COUNT, n->processes);
	html_number_cell(b, UNIT_RATIO, path_computing_ratio(n));
	html_number_cell(b, UNIT_SECONDS, n->shorter_s);
	html_text_cell(b, s->processes[n->longest].command_line);
	bytes_puts(b, "</tr>\n");
}

static void unknown_row(struct bytes *b, const struct path *p)
{
	html_name_cell(b, "(unknown wait)", NAN);
	html_number_cell(b, UNIT_SECONDS, p->unknown_s);
	html_number_cell(b, UNIT_RATIO, p->unknown_s / p->wall_s);
	for (int i = 0; i < 3; i++) /* nobody has counted or asked them */
		html_number_cell(b, UNIT_COUNT, NAN);
	html_text_cell(b, "children that are too short and too many to be known by themselves");
	bytes_puts(b, "</tr>\n");
}

void html_path(struct bytes *b, const struct page_source *p)
{
	static const struct html_heading h[] = {
		{ "Name", true, false },        { "On the path", false, true },
		{ "Share", false, false },      { "Processes", false, false },
		{ "Computing", false, false },  { "Job, if half as long", false, false },
		{ "The longest", true, false },
	};
	struct path path;
	struct err e;

	if (p->summary->nhosts > 1)
		return;
	if (path_make(&path, p->summary, p->run, &e))
		b->failed = true;
	else if (path_tells(&path, p->summary)) {
		bytes_puts(b, "<section aria-labelledby=\"h-path\">\n<h2 id=\"h-path\">Critical "
			      "path</h2>\n");
		html_table(b,
			   "The chain of processes that made up the job's time, by name, and the "
			   "job's time if those of a name took half as long",
			   h, sizeof h / sizeof h[0]);
		for (uint32_t i = 0; i < path.nnames && i < NAMES; i++)
			name_row(b, &path, &path.name[i], p->summary);
		if (path.unknown_s > 0)
			unknown_row(b, &path);
		html_table_end(b);
		bytes_puts(b, "</section>");
	}
	path_free(&path);
}
