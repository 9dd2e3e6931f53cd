/* SPDX-License-Identifier: Apache-2.0 */
/* page_footer.c - the verdicts; and what a careful reader asks for: the cost of watching, how
 * things were counted, what is missing. */
#include "report/judging/findings.h"
#include "report/page/page_html.h"
#include "report/page/page_series.h"
#include "report/paper/plots.h"
#include "report/summary/reason.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DAMAGES_MAX = 20, REFUSALS_MAX = 40, FINDINGS_MAX = 200, NODES_MAX = 64 };

static void monitor(struct bytes *b, const struct summary *s)
{
	bytes_puts(b, "<div><h3>Sonde's overhead</h3><p>");
	html_value(b, UNIT_SECONDS, s->monitor_cpu_s);
	bytes_puts(b, " of CPU, ");
	html_value(b, UNIT_BYTES, s->monitor_rss_bytes);
	bytes_puts(b, " of memory at most, ");
	html_value(b, UNIT_BYTES, s->monitor_bytes);
	bytes_puts(b, " written; ");
	html_value(b, UNIT_COUNT, s->monitor_samples);
	bytes_puts(b, " samples, ");
	html_value(b, UNIT_COUNT, s->monitor_late);
	bytes_puts(b, " late, ");
	html_value(b, UNIT_COUNT, s->monitor_skipped);
	bytes_puts(b, " skipped.</p>");
	if (s->reduced) {
		bytes_puts(b, "<p>To stay within its limit: ");
		html_text(b, s->reduced);
		bytes_puts(b, ".</p>");
	}
	bytes_puts(b, "</div>\n");
}

static void losses(struct bytes *b, const struct losses *x)
{
	if (!x->n)
		return;
	bytes_puts(b, "<div><h3>Losses</h3><ul>");
	for (const struct loss *l = x->row; l < x->row + x->n; l++) {
		bytes_puts(b, "<li>");
		html_text(b, l->words);
		bytes_puts(b, ". ");
		html_text(b, l->why);
		bytes_puts(b, "</li>");
	}
	bytes_puts(b, "</ul></div>\n");
}

static bool is_same_mechanism(const struct summary_mechanism *a, const struct summary_mechanism *c)
{
	return strcmp(a->name, c->name) == 0 && strcmp(a->state, c->state) == 0 &&
	       strcmp(a->reason ? a->reason : "", c->reason ? c->reason : "") == 0;
}

static void unused(struct bytes *b, const struct summary_mechanism *m)
{
	bytes_puts(b, "<li>");
	html_text(b, m->name);
	bytes_puts(b, ": ");
	html_text(b, m->state);
	if (m->reason) {
		bytes_puts(b, ", ");
		html_text(b, m->reason);
	}
	bytes_puts(b, "</li>");
}

/* Those that were not used, and why; one line, however many nodes say the same. */
static void unused_mechanisms(struct bytes *b, const struct summary *s)
{
	const struct summary_mechanism *listed[REFUSALS_MAX];
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nmechanisms && n < REFUSALS_MAX; i++) {
		const struct summary_mechanism *m = &s->mechanism[i];
		uint32_t k = 0;

		if (strcmp(m->state, "used") == 0)
			continue;
		while (k < n && !is_same_mechanism(listed[k], m))
			k++;
		if (k < n)
			continue;
		bytes_puts(b, n ? "" : "<p>Not used:</p><ul>");
		listed[n++] = m;
		unused(b, m);
	}
	bytes_puts(b, n ? "</ul>" : "");
}

static void counted(struct bytes *b, const struct summary *s)
{
	bytes_puts(b, "<div><h3>How processes were counted</h3><p>");
	if (s->mechanisms)
		html_text(b, s->mechanisms);
	else
		bytes_puts(b, "Not recorded.");
	bytes_puts(b, "</p>");
	unused_mechanisms(b, s);
	if (s->survivors) {
		bytes_puts(b, "<p>Outlived the command: ");
		html_text(b, s->survivors);
		bytes_puts(b, "</p>");
	}
	bytes_puts(b, "</div>\n");
}

static void recordings(struct bytes *b, const struct page_source *p)
{
	const struct run *r = p->run;

	uint32_t listed = 0, left = 0;

	bytes_puts(b, "<div><h3>The recording</h3><ul>");
	for (uint32_t i = 0; i < p->summary->nnodes; i++) {
		const struct summary_node *n = &p->summary->nodes[i];

		/* Of many those that say something. */
		if ((p->summary->nnodes > NODES_MAX && n->complete) || listed == NODES_MAX) {
			left++;
			continue;
		}
		listed++;
		bytes_puts(b, "<li>");
		html_text(b, n->host);
		bytes_printf(b, ": %llu samples, %s</li>", (unsigned long long)n->samples,
			     n->complete ? "complete"
					 : "not closed: still running, killed or truncated");
	}
	if (left)
		bytes_printf(b, "<li>%s%u more node%s</li>", listed ? "and " : "", left,
			     left == 1 ? "" : "s");
	for (uint32_t i = 0; i < r->ndamages && i < DAMAGES_MAX; i++) {
		bytes_puts(b, "<li>damaged: ");
		html_text(b, r->damages[i].file);
		bytes_printf(
			b, " at byte %llu, %llu bytes: ", (unsigned long long)r->damages[i].offset,
			(unsigned long long)r->damages[i].length);
		html_text(b, r->damages[i].what);
		bytes_puts(b, "</li>");
	}
	if (r->ndamages > DAMAGES_MAX)
		bytes_printf(b, "<li>further damaged places: %u</li>", r->ndamages - DAMAGES_MAX);
	bytes_puts(b, "</ul></div>\n");
}

static bool is_same_reason(const struct run_finding *a, const struct run_finding *c)
{
	return strcmp(a->state, c->state) == 0 &&
	       strcmp(a->reason ? a->reason : "", c->reason ? c->reason : "") == 0;
}

static bool is_same_finding(const struct run_finding *a, const struct run_finding *c)
{
	return strcmp(a->name, c->name) == 0 && is_same_reason(a, c);
}

static void finding_reason(struct bytes *b, const struct run_finding *f)
{
	bytes_puts(b, ": ");
	html_text(b, f->state);
	if (f->reason) {
		bytes_puts(b, ", ");
		html_text(b, f->reason);
	}
	if (f->fix_user) {
		bytes_puts(b, "<br>You can: ");
		html_text(b, f->fix_user);
	}
	if (f->fix_admin) {
		bytes_puts(b, "<br>An administrator can: ");
		html_text(b, f->fix_admin);
	}
}

/* One of each source or metric and reason, however many nodes have the same. Their number. */
static uint32_t different_findings(const struct findings *f,
				   const struct run_finding *found[FINDINGS_MAX])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n && n < FINDINGS_MAX; i++) {
		uint32_t k = 0;

		while (k < n && !is_same_finding(found[k], &f->row[i]))
			k++;
		if (k == n)
			found[n++] = &f->row[i];
	}
	return n;
}

/* One line for each reason, with the names of what has it. Their number. */
static uint32_t all_findings(struct bytes *b, const struct findings *f)
{
	const struct run_finding *found[FINDINGS_MAX];
	uint32_t n = different_findings(f, found);

	if (n)
		bytes_printf(b,
			     "<details class=\"absent\"><summary>%u source%s or metric%s, "
			     "with the reasons</summary><ul>",
			     n, n == 1 ? "" : "s", n == 1 ? "" : "s");
	for (uint32_t i = 0; i < n; i++) {
		const struct run_finding *first = found[i];

		if (!first)
			continue;
		bytes_puts(b, "<li>");
		html_text(b, first->name);
		for (uint32_t k = i + 1; k < n; k++) {
			if (!found[k] || !is_same_reason(first, found[k]))
				continue;
			bytes_puts(b, ", ");
			html_text(b, found[k]->name);
			found[k] = NULL;
		}
		finding_reason(b, first);
		bytes_puts(b, "</li>");
	}
	bytes_puts(b, n ? "</ul></details>" : "");
	return n;
}

/* It is drawn for paper; here is where to find it, or what it would take. */
static void roofline(struct bytes *b, const struct page_source *p)
{
	const char *why = p->summary->counters_refused;
	bool counted = false;

	for (int i = 0; i < PLOT_TRAFFICS && !why; i++)
		counted |= page_metric(p->run, plot_traffics[i].metric, NULL) != NULL;
	bytes_puts(b, "<div><h3>Roofline</h3><p>");
	if (why) {
		bytes_puts(b, "Not drawn because perf events are unavailable: ");
		html_text(b, why);
	} else {
		html_text(b, counted ? "sonde report draws it: plots/roofline.svg, and in the PDF."
				     : plot_roofline_missing);
	}
	bytes_puts(b, "</p></div>\n");
}

static void refusals(struct bytes *b, const struct run *r)
{
	struct metadata m = { 0 };
	struct findings f = { 0 };
	uint32_t n = 0;

	bytes_puts(b, "<div><h3>What could not be measured</h3>");
	if (metadata_make(&m, r) || findings_make(&f, r, &m))
		b->failed = true;
	else
		n = all_findings(b, &f);
	if (!n)
		bytes_puts(b, r->nseries > 1 ? "<p>Every requested metric has values.</p>"
					     : "<p>Not recorded.</p>");
	bytes_puts(b, "</div>\n");
	findings_free(&f);
	metadata_free(&m);
}

void html_footer(struct bytes *b, const struct page_source *p)
{
	bytes_puts(b, "<div class=\"columns\">\n");
	monitor(b, p->summary);
	losses(b, &p->summary->losses);
	counted(b, p->summary);
	recordings(b, p);
	refusals(b, p->run);
	roofline(b, p);
	bytes_puts(b, "</div>");
}

/* The verdicts, worst first, each with its proof. */

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
