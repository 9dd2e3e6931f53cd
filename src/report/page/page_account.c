/* SPDX-License-Identifier: Apache-2.0 */
/* Where the time went: one bar of the wall time x the cores, each part with its words and numbers.
 */
#include "report/page/page_account.h"

#include "report/page/page_html.h"

#include <math.h>

const char *const account_colours[ACCOUNT_PARTS] = {
	[ACCOUNT_USER] = "blue",      [ACCOUNT_KERNEL] = "sky",    [ACCOUNT_COMPUTING] = "blue",
	[ACCOUNT_THROTTLED] = "red",  [ACCOUNT_OTHERS] = "orange", [ACCOUNT_OWN] = "ink",
	[ACCOUNT_WAITING] = "orange", [ACCOUNT_MEMORY] = "purple", [ACCOUNT_STORAGE] = "green",
	[ACCOUNT_IDLE] = "pale",      [ACCOUNT_UNKNOWN] = "grey",
};

static void bar(struct bytes *b, const struct account *a)
{
	double at = 0;

	bytes_puts(b, "<svg class=\"account\" viewBox=\"0 0 1000 26\" preserveAspectRatio=\"none\" "
		      "aria-hidden=\"true\">");
	for (int i = 0; i < ACCOUNT_PARTS; i++) {
		double width = 1000 * a->part_s[i] / a->whole_s;

		if (!(width > 0))
			continue;
		bytes_printf(b, "<rect class=\"%s\" x=\"%.1f\" width=\"%.1f\" height=\"26\"/>",
			     account_colours[i], at, width);
		at += width;
	}
	bytes_puts(b, "</svg>\n");
}

static void legend(struct bytes *b, const struct account *a)
{
	int percent[ACCOUNT_PARTS];

	account_percent(a, percent);
	bytes_puts(b, "<ul class=\"account\">");
	for (int i = 0; i < ACCOUNT_PARTS; i++) {
		if (!(a->part_s[i] > 0))
			continue;
		bytes_printf(b,
			     "<li><svg viewBox=\"0 0 12 12\" aria-hidden=\"true\"><rect "
			     "class=\"%s\" width=\"12\" height=\"12\" rx=\"3\"/></svg><b>%s%d "
			     "%%</b> %s <small>",
			     account_colours[i], percent[i] ? "" : "under ",
			     percent[i] ? percent[i] : 1, account_rows[i].label);
		html_value(b, UNIT_SECONDS, a->part_s[i]);
		bytes_puts(b, "</small></li>\n");
	}
	bytes_puts(b, "</ul>");
}

void html_account(struct bytes *b, const struct page_source *p)
{
	const struct account *a = &p->summary->account;

	if (!(a->whole_s > 0))
		return;
	bytes_puts(b, "<section aria-labelledby=\"h-account\">\n<h2 id=\"h-account\">Where the "
		      "time went</h2>\n<div class=\"panel account\"><p class=\"soft\">");
	html_value(b, UNIT_SECONDS, a->wall_s);
	bytes_printf(b, " on %.4g core%s: ", a->cores, a->cores == 1 ? "" : "s");
	html_value(b, UNIT_SECONDS, a->whole_s);
	bytes_puts(b, " of core time</p>");
	bar(b, a);
	legend(b, a);
	if (a->crowded_s > a->whole_s / 100) {
		bytes_puts(b, "<p class=\"soft\">While the job used all of its cores, further "
			      "threads waited ");
		html_value(b, UNIT_SECONDS, a->crowded_s);
		bytes_puts(b, " for one.</p>");
	}
	bytes_puts(b, "</div></section>");
}
