/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_pipelines.c - tasks of workflow tools on the first page of the report on paper. */
#include "chart/shape.h"
#include "chart/svg.h"
#include "report/lines.h"
#include "report/paper/pdf.h"
#include "report/summary/pipeline.h"

#include <stdio.h>

enum { ROWS = 5, TOOLS = 2, COLUMNS = 6, LINE = 11, SIZE = 8, TEXT = 160 };

/* Where each column ends, from the left margin; the name is left of them all. */
static const double ends[COLUMNS] = { 225, 285, 345, 385, 445, PDF_WIDTH - 2 * PDF_MARGIN };
static const char *const titles[COLUMNS] = { "tasks", "median", "longest",
					     "cores", "read",   "peak memory" };

static void cells(struct bytes *d, double y, uint32_t colour, const char *name,
		  const char *const cell[COLUMNS])
{
	const struct lettering left = { .size = SIZE, .colour = colour };
	const struct lettering right = { .size = SIZE, .colour = colour, .anchor = ANCHOR_END };
	char fit[TEXT];

	shape_text(d, &left, (struct point){ PDF_MARGIN, y },
		   text_fit(name, &left, ends[0] - 35, fit, sizeof fit));
	for (int i = 0; i < COLUMNS; i++)
		shape_text(d, &right, (struct point){ PDF_MARGIN + ends[i], y }, cell[i]);
}

static void rule_row(struct bytes *d, double y, const struct pipeline_rule *r)
{
	char tasks[CELL], median[CELL], most[CELL], cores[CELL], read[CELL], peak[CELL + 4],
		at[CELL];
	const char *const cell[COLUMNS] = { tasks, median, most, cores, read, peak };

	snprintf(tasks, sizeof tasks, "%u", r->tasks);
	cell_text(median, UNIT_SECONDS, r->wall_median_s);
	cell_text(most, UNIT_SECONDS, r->wall_max_s);
	cell_cores(cores, r->cores);
	cell_text(read, UNIT_BYTES, r->read_bytes);
	snprintf(peak, sizeof peak, "%s%s", r->peaks < r->tasks && r->peak_bytes > 0 ? ">= " : "",
		 cell_text(at, UNIT_BYTES, r->peak_bytes));
	cells(d, y, COLOUR_INK, r->name, cell);
}

static double table(struct bytes *d, const struct pipeline *of, double y)
{
	const struct lettering heading = { .size = 11, .colour = COLOUR_INK, .bold = true };
	const struct lettering soft = { .size = SIZE, .colour = COLOUR_SOFT };
	char text[TEXT];

	snprintf(text, sizeof text, "Tasks of %.80s", of->tool->label);
	shape_text(d, &heading, (struct point){ PDF_MARGIN, y + 11 }, text);
	y += 11 * 1.35 + LINE;
	cells(d, y, COLOUR_SOFT, "", titles);
	for (uint32_t i = 0; i < of->nrules && i < ROWS; i++)
		rule_row(d, y += LINE, &of->rule[i]);
	if (of->nrules > ROWS) {
		snprintf(text, sizeof text,
			 "and %u more names: sonde show --pipelines has them all",
			 of->nrules - ROWS);
		shape_text(d, &soft, (struct point){ PDF_MARGIN, y += LINE }, text);
	}
	return y + 10;
}

double pdf_pipelines(struct bytes *d, const struct plots *p, double y)
{
	struct pipelines all;
	struct err e;

	if (pipelines_make(&all, p->summary, p->run, NULL, &e))
		d->failed = true;
	for (uint32_t i = 0; i < all.n && i < TOOLS && !d->failed; i++)
		y = table(d, &all.of[i], y);
	pipelines_free(&all);
	return y;
}
