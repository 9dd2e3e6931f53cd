/* SPDX-License-Identifier: Apache-2.0 */
/* The verdicts, worst first, each with its proof. */
#include "report/page/page_html.h"
#include "report/page/page_series.h"
#include "report/summary/reason.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How a severity is shown: never by colour alone. */
static const struct {
	const char *class, *icon, *word;
} looks[] = {
	[SEVERITY_NOTE] = { "is-note", "i-note", "Note" },
	[SEVERITY_GOOD] = { "is-good", "i-good", "Good" },
	[SEVERITY_WARN] = { "is-warn", "i-warn", "Warning" },
	[SEVERITY_BAD] = { "is-bad", "i-bad", "Problem" },
	[SEVERITY_CANNOT_TELL] = { "is-cannot", "i-cannot", "Unknown" },
};
_Static_assert(sizeof looks / sizeof looks[0] == SEVERITY_NUMBER_OF, "a look for every severity");

static void metric_with_instance(struct bytes *b, const struct summary_verdict *v)
{
	html_text(b, v->metric);
	if (v->instance[0]) {
		bytes_puts(b, "[");
		html_text(b, v->instance);
		bytes_puts(b, "]");
	}
}

/* The metric, when, and the threshold; the page's script makes the button go there. */
static void proof(struct bytes *b, const struct page_source *p, const struct summary_verdict *v)
{
	bool is_part = isfinite(v->from_s) && isfinite(v->to_s) && v->to_s > v->from_s &&
		       v->to_s - v->from_s < 0.98 * p->summary->wall_s;

	if (!v->metric[0])
		return;
	bytes_puts(b, "<p class=\"proof\"><span>evidence: <code>");
	metric_with_instance(b, v);
	bytes_puts(b, "</code>");
	if (v->node && v->node < p->run->nnodes && p->run->nnodes > 2) {
		bytes_puts(b, " on ");
		html_text(b, p->run->nodes[v->node].host);
	}
	if (is_part) {
		bytes_puts(b, " from ");
		html_value(b, UNIT_SECONDS, v->from_s);
		bytes_puts(b, " to ");
		html_value(b, UNIT_SECONDS, v->to_s);
	}
	if (isfinite(v->threshold)) {
		bytes_puts(b, ", threshold ");
		html_value(b, page_unit(p->run, v->metric), v->threshold);
	}
	bytes_puts(b, "</span><button type=\"button\" hidden data-metric=\"");
	metric_with_instance(b, v);
	bytes_puts(b, "\"");
	if (is_part)
		bytes_printf(b, " data-from=\"%.3f\" data-to=\"%.3f\"", v->from_s, v->to_s);
	if (v->node)
		bytes_printf(b, " data-node=\"%u\"", v->node - 1);
	if (isfinite(v->threshold))
		bytes_printf(b, " data-threshold=\"%.9g\"", v->threshold);
	bytes_puts(b, ">Show the evidence</button></p>");
}

/* What to ask for next time. */
static void next_line(struct bytes *b, const struct summary_verdict *v)
{
	if (!v->next[0])
		return;
	bytes_puts(b, "<p class=\"next\">Next time: <code>");
	html_text(b, v->next);
	bytes_puts(b, "</code>");
	if (v->margin > 0) {
		bytes_puts(b, " <span class=\"soft\">(");
		html_value(b, UNIT_RATIO, v->margin);
		bytes_puts(b, " to spare)</span>");
	}
	bytes_puts(b, "</p>");
}

/* What the failed job printed last, folded. */
static void printed(struct bytes *b, const struct summary_reason *x)
{
	if (!x->text)
		return;
	bytes_printf(b, "<details class=\"panel printed\"><summary>%s</summary><pre>",
		     reason_title(x));
	for (const char *at = x->text; *at;) {
		size_t n = strcspn(at, "\n");
		char *line = strndup(at, n);

		html_text(b, line);
		b->failed |= !line;
		free(line);
		bytes_puts(b, "\n");
		at += n + (at[n] != '\0');
	}
	bytes_puts(b, "</pre></details>");
}

static void list(struct bytes *b, const struct page_source *p)
{
	const struct summary *s = p->summary;

	bytes_puts(b, "<ul class=\"verdicts panel\">\n");
	for (uint32_t i = 0; i < s->nverdicts; i++) {
		const struct summary_verdict *v = &s->verdicts[i];

		bytes_printf(b,
			     "<li class=\"verdict %s\"><svg aria-hidden=\"true\"><use "
			     "href=\"#%s\"/></svg><div><p class=\"sentence\"><span "
			     "class=\"word\">%s</span>",
			     looks[v->severity].class, looks[v->severity].icon,
			     looks[v->severity].word);
		html_text(b, v->sentence);
		bytes_puts(b, "</p>");
		next_line(b, v);
		proof(b, p, v);
		bytes_puts(b, "</div></li>\n");
	}
	bytes_puts(b, "</ul>");
}

void html_verdicts(struct bytes *b, const struct page_source *p)
{
	if (p->summary->nverdicts)
		list(b, p);
	else
		bytes_puts(b, "<p class=\"panel empty\">Nothing stands out.</p>");
	printed(b, &p->summary->reason);
}
