/* SPDX-License-Identifier: Apache-2.0 */
/* page_files.c - the files that the job used most. */
#include "report/page/page_html.h"
#include "report/page/page_table.h"
#include "report/summary/filesused.h"

#include <math.h>

enum { FILES = 10 };

static void cell(struct bytes *b, const struct files_used *u, enum used_counter which,
		 enum unit unit, double value)
{
	html_number_cell(b, unit, u->known >> which & 1 ? value : (double)NAN);
}

static void file_row(struct bytes *b, const struct files_used *u, const struct used_sum *s)
{
	const double *v = s->value;

	html_name_cell(b, s->name, NAN);
	cell(b, u, USED_READ, UNIT_BYTES, v[USED_READ]);
	cell(b, u, USED_WRITTEN, UNIT_BYTES, v[USED_WRITTEN]);
	cell(b, u, USED_MAPPED, UNIT_BYTES, v[USED_MAPPED]);
	cell(b, u, USED_READS, UNIT_COUNT, v[USED_READS]);
	cell(b, u, USED_WRITES, UNIT_COUNT, v[USED_WRITES]);
	cell(b, u, USED_OPENS, UNIT_COUNT, v[USED_OPENS]);
	cell(b, u, USED_STATS, UNIT_COUNT, v[USED_STATS]);
	cell(b, u, USED_READ_SECONDS, UNIT_SECONDS,
	     v[USED_READ_SECONDS] + v[USED_WRITE_SECONDS] + v[USED_OTHER_SECONDS]);
	bytes_puts(b, "</tr>\n");
}

static void table(struct bytes *b, const struct files_used *u, const struct used_sum *s, size_t n)
{
	static const struct html_heading h[] = {
		{ "File", true, false },    { "Read", false, false },  { "Written", false, false },
		{ "Mapped", false, false }, { "Reads", false, false }, { "Writes", false, false },
		{ "Opens", false, false },  { "Stats", false, false }, { "Time", false, false },
	};

	html_table(b, "Files that the job used most", h, sizeof h / sizeof h[0]);
	for (size_t i = 0; i < n && i < FILES; i++)
		file_row(b, u, &s[i]);
	html_table_end(b);
}

void html_files(struct bytes *b, const struct page_source *p)
{
	const struct files_used *u = p->summary->files_used;
	struct used_sum *s = NULL;
	struct bytes note = { 0 };
	size_t n = 0;

	if (!u || used_sums(&s, &n, u, p->run, USED_BY_FILE, NULL))
		return;
	bytes_puts(b, "<section aria-labelledby=\"h-files\">\n<h2 id=\"h-files\">Files that the "
		      "job used</h2>\n<div class=\"panel account\">");
	bytes_printf(b, "<p class=\"soft\">%zu files%s</p>", n,
		     u->by_positions ? ", by positions of descriptors: lower limits" : "");
	if (u->lost > 0)
		bytes_printf(&note, "%.0f records of system calls were lost: counts are too low.",
			     u->lost);
	html_soft(b, &note);
	if (u->refused)
		bytes_printf(&note, "Not recorded: %.900s.", u->refused);
	html_soft(b, &note);
	bytes_puts(b, "</div>\n");
	if (n)
		table(b, u, s, n);
	bytes_puts(b, "</section>");
	bytes_free(&note);
	used_sums_free(s, n);
}
