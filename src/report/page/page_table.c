/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page_table.h"

#include "core/stacks/symbol.h"
#include "report/page/page_html.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void html_table(struct bytes *b, const char *caption, const struct html_heading *h, size_t n)
{
	bytes_printf(b,
		     "<div class=\"panel scroll\" tabindex=\"0\" role=\"group\" "
		     "aria-label=\"%s\"><table class=\"sortable\"><caption>%s</caption><thead><tr>",
		     caption, caption);
	for (size_t i = 0; i < n; i++)
		bytes_printf(b, "<th scope=\"col\"%s%s>%s</th>", h[i].is_text ? " data-text" : "",
			     h[i].is_sorted ? " aria-sort=\"descending\"" : "", h[i].title);
	bytes_puts(b, "</tr></thead><tbody>\n");
}

void html_table_end(struct bytes *b)
{
	bytes_puts(b, "</tbody></table></div>");
}

void html_number_cell(struct bytes *b, enum unit u, double v)
{
	char exact[32], shown[64];

	snprintf(exact, sizeof exact, "%.6g", v);
	if (isfinite(v) && strcmp(exact, unit_format(u, v, shown, sizeof shown)) != 0)
		bytes_printf(b, "<td data-v=\"%s\">", exact);
	else
		bytes_puts(b, "<td>");
	html_value(b, u, v);
	bytes_puts(b, "</td>");
}

void html_name_cell(struct bytes *b, const char *name, double pid)
{
	bytes_puts(b, "<tr><th scope=\"row\" class=\"name\" title=\"");
	html_text(b, name);
	bytes_puts(b, "\">");
	html_text(b, name);
	if (isfinite(pid))
		bytes_printf(b, "<span class=\"soft\">[%.0f]</span>", pid);
	bytes_puts(b, "</th>");
}

void html_text_cell(struct bytes *b, const char *text)
{
	bytes_puts(b, "<td class=\"text\">");
	html_text(b, text);
	bytes_puts(b, "</td>");
}

void html_where_cell(struct bytes *b, const char *file, uint32_t line)
{
	char where[400];

	if (file)
		snprintf(where, sizeof where, line ? "%.300s:%u" : "%.300s", symbol_base(file),
			 line);
	html_text_cell(b, file ? where : NULL);
}
