/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/text/escape.h"
#include "report/lines.h"
#include "report/machine.h"
#include "report/page/page_html.h"
#include "report/summary/ending.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void html_text(struct bytes *b, const char *hostile)
{
	struct bytes visible = { 0 };

	if (!hostile)
		return;
	escape_terminal(&visible, hostile);
	bytes_u8(&visible, 0);
	if (visible.failed)
		b->failed = true;
	else
		escape_html(b, (const char *)visible.data);
	bytes_free(&visible);
}

void html_soft(struct bytes *b, struct bytes *hostile)
{
	if (hostile->len) {
		bytes_u8(hostile, 0);
		bytes_puts(b, "<p class=\"soft\">");
		html_text(b, hostile->failed ? "" : (const char *)hostile->data);
		bytes_puts(b, "</p>");
	}
	bytes_reset(hostile);
}

void html_value(struct bytes *b, enum unit u, double v)
{
	char text[64];

	if (isfinite(v))
		escape_html(b, unit_format(u, v, text, sizeof text));
	else
		bytes_puts(b, "<span class=\"none\" title=\"not known\">–</span>");
}

void html_title(struct bytes *b, const struct page_source *p)
{
	html_text(b, p->summary->command ? p->summary->command : "A recorded job");
}

/* A class and an icon of the page. */
static const char *const badges[] = {
	[SEVERITY_NOTE] = "note", [SEVERITY_GOOD] = "good",          [SEVERITY_WARN] = "warn",
	[SEVERITY_BAD] = "bad",   [SEVERITY_CANNOT_TELL] = "cannot",
};
_Static_assert(sizeof badges / sizeof badges[0] == SEVERITY_NUMBER_OF, "a badge for each");

static void hosts(struct bytes *b, const struct summary *s)
{
	uint32_t named = 0;

	bytes_printf(b, "<li>%s <b>", s->nhosts > 1 ? "nodes" : "on");
	for (uint32_t i = 0; i < s->nnodes && named < SUMMARY_HOSTS_NAMED; i++) {
		if (s->nodes[i].again)
			continue;
		bytes_puts(b, named++ ? ", " : "");
		html_text(b, s->nodes[i].host);
	}
	bytes_puts(b, "</b>");
	if (s->nhosts > SUMMARY_HOSTS_NAMED)
		bytes_printf(b, " and %u more", s->nhosts - SUMMARY_HOSTS_NAMED);
	if (s->nnodes > s->nhosts)
		bytes_printf(b, " in %u recordings", s->nnodes);
	bytes_puts(b, "</li>");
}

static void machines(struct bytes *b, const struct run *r)
{
	struct machines x;

	if (machines_make(&x, r)) {
		b->failed = true;
		return;
	}
	bytes_puts(b, x.n ? "<ul class=\"facts machines\">" : "");
	for (uint32_t i = 0; i < x.n; i++) {
		bytes_puts(b, "<li>");
		if (x.row[i].nodes > 1)
			bytes_printf(b, "%u nodes: ", x.row[i].nodes);
		html_text(b, x.row[i].words);
		bytes_puts(b, "</li>");
	}
	bytes_puts(b, x.n ? "</ul>" : "");
	machines_free(&x);
}

static void losses(struct bytes *b, const struct summary *s)
{
	struct bytes words = { 0 };

	losses_words(&s->losses, false, &words);
	bytes_u8(&words, '\0');
	if (words.len > 1 && !words.failed) {
		bytes_puts(b, "<ul class=\"facts losses\"><li><b>Losses</b> ");
		html_text(b, (const char *)words.data);
		bytes_puts(b, "</li></ul>");
	}
	b->failed |= words.failed;
	bytes_free(&words);
}

static void job(struct bytes *b, const struct page_source *p)
{
	const char *id = p->summary->job_id, *name = run_find_text(p->run, 0, "job.name");

	if (!id && !name)
		return;
	bytes_puts(b, "<li>job <b>");
	html_text(b, id ? id : name);
	bytes_puts(b, "</b>");
	if (id && name) {
		bytes_puts(b, ", ");
		html_text(b, name);
	}
	bytes_puts(b, "</li>");
}

void html_header(struct bytes *b, const struct page_source *p)
{
	const struct summary *s = p->summary;
	const struct ending_heading h = ending_heading_of(s);
	const char *badge = badges[h.severity];
	char iso[48];

	bytes_puts(b, "<h1><code>");
	html_title(b, p);
	bytes_printf(b,
		     "</code></h1>\n<ul class=\"facts\"><li class=\"badge is-%s\"><svg "
		     "aria-hidden=\"true\"><use href=\"#i-%s\"/></svg>",
		     badge, badge);
	html_text(b, h.words);
	bytes_puts(b, "</li>");
	bytes_printf(b, "<li>%s <b>", h.time);
	html_value(b, UNIT_SECONDS, s->wall_s);
	bytes_puts(b, "</b></li>");
	hosts(b, s);
	if (s->start_utc_ns > 0) {
		clock_iso(s->start_utc_ns / NS_PER_S * NS_PER_S, iso, sizeof iso);
		bytes_printf(b,
			     "<li>started <time datetime=\"%s\"><b>%.10s %.8s</b> UTC</time></li>",
			     iso, iso, strlen(iso) > 11 ? iso + 11 : "");
	}
	job(b, p);
	bytes_puts(b, "</ul>");
	losses(b, s);
	machines(b, p->run);
}

/* A figure: <dt> and the start of the value; the caller writes it and closes with figure_more. */
static void figure(struct bytes *b, const char *title)
{
	bytes_printf(b, "<div class=\"figure panel\"><dt>%s</dt><dd><div class=\"value\">", title);
}

/* A bar for a share of the whole; nothing when it is not known. */
static void figure_bar(struct bytes *b, double share)
{
	bytes_puts(b, "</div>");
	if (isfinite(share))
		bytes_printf(
			b,
			"<svg viewBox=\"0 0 100 6\" preserveAspectRatio=\"none\" "
			"aria-hidden=\"true\"><rect class=\"track\" width=\"100\" "
			"height=\"6\"/><rect class=\"fill\" width=\"%.1f\" height=\"6\"/></svg>",
			100 * fmin(fmax(share, 0), 1));
	bytes_puts(b, "<div class=\"more\">");
}

static void figure_end(struct bytes *b)
{
	bytes_puts(b, "</div></dd></div>\n");
}

static void cores_figure(struct bytes *b, const struct summary *s)
{
	struct summary_whole whole = summary_cores(s);
	double share = s->cores_used_mean / whole.v;
	char text[CELL];

	figure(b, "Cores used, on average");
	if (isfinite(s->cores_used_mean))
		bytes_puts(b, cell_cores(text, s->cores_used_mean));
	else
		html_value(b, UNIT_ONE, NAN);
	if (isfinite(whole.v))
		bytes_printf(b, " <small>of %.4g</small>", whole.v);
	figure_bar(b, share);
	if (isfinite(share))
		bytes_printf(b, "%s of the cores %s", cell_share(text, share), whole.words);
	if (isfinite(s->cores_used_peak))
		bytes_printf(b, "; %s at most", cell_cores(text, s->cores_used_peak));
	figure_end(b);
}

static void add_kinds(struct bytes *b, const struct summary *s)
{
	struct bytes words = { 0 };

	summary_memory_words(s, &words);
	bytes_u8(&words, '\0');
	if (words.len > 1 && !words.failed) {
		bytes_puts(b, "; ");
		html_text(b, (const char *)words.data);
	}
	bytes_free(&words);
}

static void memory_figure(struct bytes *b, const struct summary *s)
{
	struct summary_memory_kind kind = summary_memory_kind(s);
	struct summary_whole whole = summary_memory(s);
	double share = s->peak_memory_bytes / whole.v;
	struct bytes words = { 0 };
	char text[CELL];

	figure(b, s->peak_memory_is_bound                          ? "Peak memory, at least"
		  : s->peak_memory_at_most <= s->peak_memory_bytes ? "Peak memory, at most"
								   : "Peak memory");
	html_value(b, UNIT_BYTES, s->peak_memory_bytes);
	if (isfinite(whole.v)) {
		bytes_puts(b, " <small>of ");
		html_value(b, UNIT_BYTES, whole.v);
		bytes_puts(b, "</small>");
	}
	figure_bar(b, share);
	if (isfinite(share))
		bytes_printf(b, "%s of the memory %s; ", cell_share(text, share), whole.words);
	if (kind.words)
		bytes_puts(b, kind.words);
	if (s->peak_memory_at_most > s->peak_memory_bytes) {
		bytes_puts(b, "; at most ");
		html_value(b, UNIT_BYTES, s->peak_memory_at_most);
	}
	add_kinds(b, s);
	summary_tightest_words(s, &words);
	bytes_u8(&words, '\0');
	if (words.len > 1 && !words.failed) {
		bytes_puts(b, "; nearest to a limit: ");
		html_text(b, (const char *)words.data);
	}
	bytes_free(&words);
	figure_end(b);
}

static void cpu_figure(struct bytes *b, const struct summary *s)
{
	figure(b, s->cpu_is_bound ? "CPU time, at least" : "CPU time");
	html_value(b, UNIT_SECONDS, s->cpu_s);
	figure_bar(b, NAN);
	if (s->cpu_is_bound)
		bytes_puts(b, "children that were never waited for are counted in part");
	if (isfinite(s->cpu_at_most_s)) {
		bytes_puts(b, "; at most ");
		html_value(b, UNIT_SECONDS, s->cpu_at_most_s);
		bytes_puts(b, ", the total of the nodes");
	}
	if (isfinite(s->cpu_user_s) && isfinite(s->cpu_system_s)) {
		html_value(b, UNIT_SECONDS, s->cpu_user_s);
		bytes_puts(b, " user, ");
		html_value(b, UNIT_SECONDS, s->cpu_system_s);
		bytes_puts(b, " system");
	}
	if (isfinite(s->attributed_ratio))
		bytes_printf(b, "%s%.*f %% of it attributed to named processes",
			     isfinite(s->cpu_user_s) && isfinite(s->cpu_system_s) ? "; " : "",
			     s->attributed_ratio >= 0.9995 ? 0 : 1, 100 * s->attributed_ratio);
	figure_end(b);
}

static void wall_figure(struct bytes *b, const struct summary *s)
{
	figure(b, "Wall time");
	html_value(b, UNIT_SECONDS, s->wall_s);
	figure_bar(b, NAN);
	if (isfinite(s->monitor_samples))
		bytes_printf(b, "%.0f samples", s->monitor_samples);
	if (isfinite(s->monitor_samples) && isfinite(s->interval_s)) {
		bytes_puts(b, ", ");
		html_value(b, UNIT_SECONDS, s->interval_s);
		bytes_puts(b, " apart or less");
	}
	figure_end(b);
}

static void process_figure(struct bytes *b, const struct summary *s)
{
	figure(b, "Processes started");
	html_value(b, UNIT_COUNT, s->processes_started);
	if (s->processes_at_most > s->processes_started) {
		bytes_puts(b, " seen");
		if (isfinite(s->processes_at_most)) {
			bytes_puts(b, ", at most ");
			html_value(b, UNIT_COUNT, s->processes_at_most);
		}
	}
	figure_bar(b, NAN);
	if (isfinite(s->processes_peak)) {
		bytes_puts(b, s->processes_peak_is_bound ? "at least " : "at most ");
		html_value(b, UNIT_COUNT, s->processes_peak);
		bytes_puts(b, " at a time");
	}
	figure_end(b);
}

static void bytes_figure(struct bytes *b, const char *title, double v, double wall_s)
{
	figure(b, title);
	html_value(b, UNIT_BYTES, v);
	figure_bar(b, NAN);
	if (isfinite(v) && wall_s > 0) {
		html_value(b, UNIT_BYTES_PER_SECOND, v / wall_s);
		bytes_puts(b, " on average, by the job's system calls");
	}
	figure_end(b);
}

static void energy_figure(struct bytes *b, const struct summary *s)
{
	if (!s->energy_of)
		return;
	figure(b, "Energy");
	html_value(b, UNIT_JOULES, s->energy_j);
	figure_bar(b, NAN);
	bytes_printf(b, "measured: %s, by all users", s->energy_of);
	if (isfinite(s->energy_job_j)) {
		bytes_puts(b, "; ");
		html_value(b, UNIT_JOULES, s->energy_job_j);
		bytes_puts(b, " apportioned to the job by its share of the CPU time used");
	}
	figure_end(b);
}

static void counter_item(struct bytes *b, const struct summary_counter *c)
{
	char text[64];

	bytes_puts(b, "<li><b>");
	html_text(b, summary_counter_format(c, text, sizeof text));
	bytes_printf(b, "</b> %s", c->words);
	if (c->share < 0.995)
		bytes_printf(b, " <small>(counted in %.0f %% of the CPU time, scaled)</small>",
			     100 * c->share);
	bytes_puts(b, "</li>");
}

void html_counters(struct bytes *b, const struct page_source *p)
{
	const struct summary *s = p->summary;

	if (!s->ncounters && !s->counters_refused && !(s->tasks_not_counted > 0))
		return;
	bytes_puts(b, "<ul class=\"facts counters\">");
	for (uint32_t i = 0; i < s->ncounters; i++)
		counter_item(b, &s->counters[i]);
	if (s->counters_refused) {
		bytes_puts(b, "<li>");
		html_text(b, s->counters_missing);
		bytes_puts(b,
			   *s->counters_missing ? " unavailable: " : "Perf events unavailable: ");
		html_text(b, s->counters_refused);
		bytes_puts(b, "</li>");
	}
	if (s->tasks_not_counted > 0)
		bytes_printf(b, "<li><b>%.0f</b> task%s not counted</li>", s->tasks_not_counted,
			     s->tasks_not_counted > 1 ? "s" : "");
	bytes_puts(b, "</ul>");
}

static void monitor_figure(struct bytes *b, const struct summary *s)
{
	double share = 100 * s->monitor_cpu_s / s->wall_s;

	figure(b, "Sonde's overhead");
	if (isfinite(share))
		bytes_printf(b, "%.*f %% <small>of one core</small>", share < 0.1 ? 3 : 2, share);
	else
		html_value(b, UNIT_RATIO, NAN);
	figure_bar(b, NAN);
	if (isfinite(s->monitor_rss_bytes)) {
		html_value(b, UNIT_BYTES, s->monitor_rss_bytes);
		bytes_puts(b, " of memory");
	}
	if (isfinite(s->monitor_bytes)) {
		bytes_puts(b, isfinite(s->monitor_rss_bytes) ? ", " : "");
		html_value(b, UNIT_BYTES, s->monitor_bytes);
		bytes_puts(b, " recorded");
	}
	figure_end(b);
}

void html_figures(struct bytes *b, const struct page_source *p)
{
	const struct summary *s = p->summary;

	bytes_puts(b, "<dl class=\"figures\">\n");
	cores_figure(b, s);
	memory_figure(b, s);
	cpu_figure(b, s);
	wall_figure(b, s);
	process_figure(b, s);
	bytes_figure(b, s->io_is_bound ? "Read, at least" : "Read", s->read_bytes, s->wall_s);
	bytes_figure(b, s->io_is_bound ? "Written, at least" : "Written", s->written_bytes,
		     s->wall_s);
	energy_figure(b, s);
	monitor_figure(b, s);
	bytes_puts(b, "</dl>");
}

/* ---- where the time went: one bar of the wall time x the cores ---- */

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
		bytes_puts(b, "<p class=\"soft\">While there was work for all of its cores, "
			      "further threads of the job waited ");
		html_value(b, UNIT_SECONDS, a->crowded_s);
		bytes_puts(b, " for one.</p>");
	}
	bytes_puts(b, "</div></section>");
}
