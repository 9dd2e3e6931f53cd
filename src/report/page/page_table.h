/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_table.h - tables of the report page. The page's script sorts them by data-v of their cells,
 * and by what these say where there is none: texts, and numbers that are shown as they are.
 *
 * Every text is escaped here. A row: html_name_cell, which begins it, further cells, "</tr>".
 */
#ifndef SONDE_REPORT_PAGE_PAGE_TABLE_H
#define SONDE_REPORT_PAGE_PAGE_TABLE_H

#include "base/bytes.h"
#include "core/metric.h"

struct html_heading {
	const char *title;
	bool is_text, is_sorted; /* sorted: descending */
};

void html_table(struct bytes *b, const char *caption, const struct html_heading *h, size_t n);
void html_table_end(struct bytes *b);

/* A name, with its pid when it has one (else NAN). */
void html_name_cell(struct bytes *b, const char *name, double pid);
void html_number_cell(struct bytes *b, enum unit u, double v); /* NAN: not known */
void html_text_cell(struct bytes *b, const char *text);        /* NULL: none */

/* "solve.c:44", of a path or NULL; line 0: not known. */
void html_where_cell(struct bytes *b, const char *file, uint32_t line);

#endif
