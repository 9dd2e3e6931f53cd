/* SPDX-License-Identifier: Apache-2.0 */
#include "report/paper/pdf.h"

#include "base/clock.h"
#include "chart/shape.h"
#include "chart/svg.h"
#include "report/lines.h"
#include "report/summary/pipeline.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { HEADER_TEXT = 400, POINTS_MIN = 3 };

const char *pdf_name(const char *job_id, char *out, size_t size)
{
	if (!job_id || !job_id[0]) {
		snprintf(out, size, "report.pdf");
		return out;
	}
	snprintf(out, size, "job-report-%.100s.pdf", job_id);
	for (char *c = out; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr(".-_", *c))
			*c = '_';
	return out;
}

void pdf_about(struct document *d, const struct plots *p)
{
	const struct summary *s = p->summary;
	const char *user = run_find_user(p->run);

	d->format = DOCUMENT_PDF;
	d->dpi = 72;
	d->created_s = s->start_utc_ns / NS_PER_S;
	if (s->job_id && s->job_id[0])
		snprintf(d->title, sizeof d->title, "Job %s", s->job_id);
	else
		snprintf(d->title, sizeof d->title, "%s", s->command ? s->command : "A job");
	snprintf(d->author, sizeof d->author, "%s", user ? user : "");
}

/* Job, user, nodes, date: on every page. */
static void header(struct bytes *drawing, const struct plots *p)
{
	const struct lettering l = { .size = 8, .colour = COLOUR_SOFT };
	const struct lettering right = { .size = 8, .colour = COLOUR_SOFT, .anchor = ANCHOR_END };
	const struct pen rule = { .colour = COLOUR_AXIS, .width = 0.5 };
	const struct summary *s = p->summary;
	const char *user = run_find_user(p->run), *job = s->job_id;
	char text[HEADER_TEXT], fit[HEADER_TEXT], iso[48];
	double date_width = 0, right_end = PDF_WIDTH - PDF_MARGIN;

	if (s->start_utc_ns > 0) {
		clock_iso(s->start_utc_ns / NS_PER_S * NS_PER_S, iso, sizeof iso);
		snprintf(text, sizeof text, "%.10s %.5s UTC", iso,
			 strlen(iso) > 11 ? iso + 11 : "");
		date_width = text_width(text, 8, false) + 12;
		shape_text(drawing, &right, (struct point){ right_end, 40 }, text);
	}
	snprintf(text, sizeof text, "%s%.80s   %s%.80s%s%u node%s",
		 job ? "Job "
		     : "Not a batch "
		       "job",
		 job ? job : "", user ? "User " : "", user ? user : "", user ? "   " : "",
		 s->nhosts, s->nhosts == 1 ? "" : "s");
	shape_text(drawing, &l, (struct point){ PDF_MARGIN, 40 },
		   text_fit(text, &l, right_end - PDF_MARGIN - date_width, fit, sizeof fit));
	shape_line(drawing, &rule, (const struct point[]){ { PDF_MARGIN, 46 }, { right_end, 46 } },
		   2);
}

static void begin_page(struct bytes *drawing, const struct plots *p, uint32_t page, uint32_t pages)
{
	const struct lettering l = { .size = 8, .colour = COLOUR_SOFT };
	const struct lettering right = { .size = 8, .colour = COLOUR_SOFT, .anchor = ANCHOR_END };
	char text[64];

	shape_page(drawing, PDF_WIDTH, PDF_HEIGHT);
	header(drawing, p);
	shape_text(drawing, &l, (struct point){ PDF_MARGIN, PDF_HEIGHT - 24 },
		   "Sonde " SONDE_VERSION);
	snprintf(text, sizeof text, "page %u of %u", page, pages);
	shape_text(drawing, &right, (struct point){ PDF_WIDTH - PDF_MARGIN, PDF_HEIGHT - 24 },
		   text);
}

/* What has no plot, in a line at the foot of the last page; the page says why. */
static void draw_missing(struct bytes *drawing, const struct plots *p)
{
	const struct lettering l = { .size = 7, .colour = COLOUR_SOFT };
	char text[512] = "Not in this recording: ", fit[512];
	size_t n = strlen(text);

	for (uint32_t i = 0; i < p->nmissing && n < sizeof text - 1; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i ? ", " : "",
				      p->missing[i].title);
	if (p->nmissing && p->set->charts)
		shape_text(drawing, &l, (struct point){ PDF_MARGIN, PDF_HEIGHT - 36 },
			   text_fit(text, &l, PDF_WIDTH - 2 * PDF_MARGIN, fit, sizeof fit));
}

/* A line needs samples, a roofline its counters. */
bool pdf_has(const struct plots *p, uint32_t plot)
{
	bool roofline = p->plot[plot].row->kind == PLOT_ROOFLINE;
	uint32_t points = 0, traffic = 0, n;

	for (uint32_t i = 1; i < p->traces->nnodes; i++)
		points = p->traces->node[i].npoints > points ? p->traces->node[i].npoints : points;
	for (size_t i = 0; i < PLOT_TRAFFICS; i++) {
		traces_of(p->traces, plot_traffics[i].metric, false, &n);
		traffic += n;
	}
	return points >= POINTS_MIN && (!roofline || traffic);
}

/* Which page each plot is on and where: those of a group together, no more than a page takes. What
 * the first page has is not printed again. */
struct place {
	uint32_t page, slot;
	uint32_t plot; /* the next one, and where the last one was */
};

static bool is_shown(const struct pdf_shown *first, uint32_t plot)
{
	for (uint32_t i = 0; i < first->n; i++)
		if (first->plot[i] == plot)
			return true;
	return false;
}

/* The place of the next plot that is printed; false: there is none. */
static bool next_place(const struct plots *p, const struct pdf_shown *first, struct place *at)
{
	uint32_t i = at->page > 1 ? at->plot + 1 : 0;
	bool other;

	while (i < p->n && (is_shown(first, i) || !pdf_has(p, i)))
		i++;
	if (i >= p->n)
		return false;
	other = at->page > 1 && p->plot[i].row->group != p->plot[at->plot].row->group;
	at->plot = i;
	if (at->page == 1 || other || at->slot + 1 == p->set->a_page) {
		at->page++;
		at->slot = 0;
	} else {
		at->slot++;
	}
	return true;
}

int pdf_draw(struct bytes *drawing, const struct plots *p, struct err *e)
{
	const double height = (double)(PDF_BOTTOM - PDF_TOP) / p->set->a_page;
	struct bytes page = { 0 };
	struct pdf_shown first = pdf_first_page(&page, p);
	struct place at = { 1, 0, 0 };
	uint32_t pages;

	while (next_place(p, &first, &at))
		;
	pages = at.page;
	begin_page(drawing, p, 1, pages);
	bytes_put(drawing, page.data, page.len);
	drawing->failed |= page.failed;
	bytes_free(&page);
	for (at = (struct place){ 1, 0, 0 }; next_place(p, &first, &at);) {
		struct box box = { PDF_MARGIN, PDF_TOP + at.slot * height,
				   PDF_WIDTH - 2 * PDF_MARGIN, height - 8 };

		if (at.slot == 0)
			begin_page(drawing, p, at.page, pages);
		plots_draw(p, &p->plot[at.plot], drawing, &box);
	}
	draw_missing(drawing, p);
	shape_end(drawing);
	return drawing->failed ? err_set(e, -ENOMEM, "out of memory while drawing the report") : 0;
}

/* Tasks of workflow tools on the first page of the report on paper. */

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
