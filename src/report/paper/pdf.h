/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pdf.h - the report on paper: A4 pages of a first one that can be read alone (what ran, where,
 * what was asked for and used, the verdicts, four figures) and the plots.
 *
 * Draws pages only; the helper sonde-draw makes the PDF of them.
 */
#ifndef SONDE_REPORT_PAPER_PDF_H
#define SONDE_REPORT_PAPER_PDF_H

#include "chart/shape.h"
#include "report/paper/plots.h"

/* Append all pages. 0 or -ENOMEM with a sentence. */
int pdf_draw(struct bytes *drawing, const struct plots *p, struct err *e);
/* What the file says of itself. */
void pdf_about(struct document *d, const struct plots *p);
/* "job-report-4711.pdf"; without a job's id (NULL or "") "report.pdf". Returns out. */
const char *pdf_name(const char *job_id, char *out, size_t size);

/* Private to pdf*.c: where a page has its text. */
enum { PDF_WIDTH = 595, PDF_HEIGHT = 842, PDF_MARGIN = 42, PDF_TOP = 66, PDF_BOTTOM = 800 };
/* Whether there is enough to print of a plot. */
bool pdf_has(const struct plots *p, uint32_t plot);
/* The first page, below its header. Which plots it has. */
struct pdf_shown {
	uint32_t plot[2], n;
};
struct pdf_shown pdf_first_page(struct bytes *drawing, const struct plots *p);
/* Tasks of workflow tools, most wall time first, at y; y below them. Nothing where there are none.
 */
double pdf_pipelines(struct bytes *drawing, const struct plots *p, double y);

#endif
