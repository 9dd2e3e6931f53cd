/* SPDX-License-Identifier: Apache-2.0 */
#include "report/comparison/comparison_page.h"
#include "base/array.h"
#include "base/random.h"
#include "core/frame/frame.h"
#include "report/page/page_html.h"
#include "report/summary/code.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- runs over time, and figures of runs, as SVG ---- */

enum { TRACKS_OF_A_GROUP = 20 };
enum { WIDTH = 560, HEIGHT = 180, LEFT = 70, RIGHT = 12, TOP = 10, BOTTOM = 26 };
enum { STRIP_WIDTH = 130, STRIP_HEIGHT = 30 };

static const struct comparison_chart {
	const char *metric, *title;
	enum unit unit;
} charts[COMPARISON_CHARTS] = {
	{ "job.cpu_cores", "Cores in use", UNIT_CORES },
	{ "job.resident_bytes", "Resident memory", UNIT_BYTES },
	{ "job.processes_live_count", "Processes", UNIT_COUNT },
	{ "job.read_bytes_per_second", "Read", UNIT_BYTES_PER_SECOND },
	{ "job.written_bytes_per_second", "Written", UNIT_BYTES_PER_SECOND },
	{ "node.pressure_cpu_some_ratio", "Time in which tasks waited for a CPU", UNIT_RATIO },
};

/* ---- reading ---- */

static unsigned chart_of(const char *metric)
{
	unsigned i = 0;

	while (i < COMPARISON_CHARTS && strcmp(charts[i].metric, metric) != 0)
		i++;
	return i;
}

/* What nodes add up to; a ratio is the largest of a node. */
static void add_value(struct comparison_track *t, unsigned chart, double seconds, double v)
{
	double at = floor(seconds / t->window_s + 1e-9), *cell;

	if (chart == COMPARISON_CHARTS || !(at >= 0) || !isfinite(v))
		return;
	cell = &t->value[chart][at < COMPARISON_POINTS ? (unsigned)at : COMPARISON_POINTS - 1];
	if (isnan(*cell))
		*cell = v;
	else if (charts[chart].unit == UNIT_RATIO)
		*cell = fmax(*cell, v);
	else if (at < COMPARISON_POINTS)
		*cell += v;
}

static void add_batch(struct comparison_track *t, const struct frame_schema *schema,
		      const struct batch *b)
{
	const struct cells *metric = NULL, *seconds = NULL, *value = NULL;

	for (uint32_t i = 0; i < schema->ncolumns; i++) {
		const char *name = schema->columns[i].name;

		metric = strcmp(name, "metric") == 0 ? &b->columns[i] : metric;
		seconds = strcmp(name, "seconds") == 0 ? &b->columns[i] : seconds;
		value = strcmp(name, "value") == 0 ? &b->columns[i] : value;
	}
	for (uint32_t i = 0; metric && seconds && value && i < b->nrows; i++)
		add_value(t, chart_of(metric->s[i]), seconds->d[i], value->d[i]);
}

static int read_track(struct comparison_track *t, struct run *r, struct err *e)
{
	struct bytes globs = { 0 };
	struct selection sel = { .table = FRAME_SERIES, .combine = true, .every_s = t->window_s };
	struct frame *f = NULL;
	struct batch b;
	int rc;

	for (unsigned i = 0; i < COMPARISON_CHARTS; i++)
		bytes_printf(&globs, "%s%s", i ? "," : "", charts[i].metric);
	bytes_u8(&globs, '\0');
	sel.metrics = (const char *)globs.data;
	rc = globs.failed ? err_set(e, -ENOMEM, "out of memory") : frame_open(&f, r, &sel, e);
	while (!rc && (rc = frame_next(f, &b, e)) > 0) {
		add_batch(t, frame_schema(f), &b);
		rc = 0;
	}
	frame_close(f);
	bytes_free(&globs);
	return rc;
}

int comparison_page_add(struct comparison_page *p, enum comparison_group group, struct run *r,
			const struct summary *s, struct err *e)
{
	struct comparison_track *t;
	uint32_t before = 0;
	void *grown;

	if (s->code && s->code->stacks && group != GROUP_HISTORY &&
	    flame_add(&p->flame, group == GROUP_B, s->code->stacks))
		return err_set(e, -ENOMEM, "out of memory for the flame graph");
	for (uint32_t i = 0; i < p->n; i++)
		before += p->track[i].group == group;
	if (before == TRACKS_OF_A_GROUP || !(s->wall_s > 0))
		return 0;
	grown = array_room(p->track, p->n, &p->cap, sizeof *p->track);
	if (!grown)
		return err_set(e, -ENOMEM, "out of memory for the charts");
	p->track = grown;
	t = &p->track[p->n++];
	t->group = group;
	t->window_s = fmax(s->wall_s, 0.001) / COMPARISON_POINTS;
	/* No finer than what was sampled, or lines have holes. */
	if (s->interval_s > 0)
		t->window_s = fmax(t->window_s, s->interval_s);
	for (unsigned i = 0; i < COMPARISON_CHARTS; i++)
		for (unsigned k = 0; k < COMPARISON_POINTS; k++)
			t->value[i][k] = NAN;
	return read_track(t, r, e);
}

void comparison_page_free(struct comparison_page *p)
{
	free(p->track);
	flame_free(&p->flame);
	*p = (struct comparison_page){ 0 };
}

/* ---- runs over time ---- */

struct scale {
	double end_s, most;
};

static struct scale scale_of(const struct comparison_page *p, unsigned chart)
{
	struct scale s = { 0, 0 };

	for (uint32_t i = 0; i < p->n; i++)
		for (unsigned k = 0; k < COMPARISON_POINTS; k++) {
			double v = p->track[i].value[chart][k];

			if (isnan(v))
				continue;
			s.end_s = fmax(s.end_s, (k + 1) * p->track[i].window_s);
			s.most = fmax(s.most, v);
		}
	return s;
}

static void line(struct bytes *b, const struct comparison_track *t, unsigned chart,
		 const struct scale *s)
{
	const char *pen = "M";

	bytes_printf(b, "<path class=\"%s\" d=\"", t->group == GROUP_A ? "a" : "b");
	for (unsigned k = 0; k < COMPARISON_POINTS; k++) {
		double v = t->value[chart][k];

		if (isnan(v))
			continue;
		bytes_printf(b, "%s%.1f %.1f", pen,
			     LEFT + (WIDTH - LEFT - RIGHT) * (k + 0.5) * t->window_s / s->end_s,
			     HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * fmax(v, 0) / s->most);
		pen = "L";
	}
	bytes_puts(b, *pen == 'L' ? "h.1\"/>" : "\"/>"); /* so that a single point is seen */
}

/* An SVG of all tracks; nothing when none has a value. */
static void chart_svg(struct bytes *b, const struct comparison_page *p, unsigned chart)
{
	const struct comparison_chart *c = &charts[chart];
	struct scale s = scale_of(p, chart);
	char most[64], end[64];

	if (!(s.end_s > 0) || !(s.most > 0))
		return;
	unit_format(c->unit, s.most, most, sizeof most);
	unit_format(UNIT_SECONDS, s.end_s, end, sizeof end);
	bytes_printf(
		b,
		"<figure><figcaption>%s</figcaption><svg class=\"chart\" viewBox=\"0 0 %d %d\" "
		"role=\"img\" aria-label=\"%s of the runs of A and B over time, at most %s\">"
		"<path class=\"axis\" d=\"M%d %dV%dH%d\"/>"
		"<text x=\"%d\" y=\"%d\" class=\"end\">%s</text>"
		"<text x=\"%d\" y=\"%d\" class=\"end\">0</text>"
		"<text x=\"%d\" y=\"%d\" class=\"end\">%s</text>",
		c->title, WIDTH, HEIGHT, c->title, most, LEFT, TOP, HEIGHT - BOTTOM, WIDTH - RIGHT,
		LEFT - 6, TOP + 5, most, LEFT - 6, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - 8, end);
	for (uint32_t i = 0; i < p->n; i++)
		line(b, &p->track[i], chart, &s);
	bytes_puts(b, "</svg></figure>\n");
}

/* ---- figures of runs ---- */

/* An SVG of a figure's values in each run, and the interval. */
static void strip_svg(struct bytes *b, const struct comparison *x,
		      const struct comparison_figure *f)
{
	double least = INFINITY, most = -INFINITY;

	for (uint32_t i = 0; i < x->nruns; i++)
		if (x->run[i].group != GROUP_HISTORY && !isnan(f->value[i])) {
			least = fmin(least, f->value[i]);
			most = fmax(most, f->value[i]);
		}
	if (!(most >= least))
		return;
	bytes_printf(b, "<svg class=\"strip\" viewBox=\"0 0 %d %d\" aria-hidden=\"true\">",
		     STRIP_WIDTH, STRIP_HEIGHT);
	for (uint32_t i = 0; i < x->nruns; i++) {
		double share = most > least ? (f->value[i] - least) / (most - least) : 0.5;
		double at = 8 + (STRIP_WIDTH - 16) * share;

		if (x->run[i].group == GROUP_HISTORY || isnan(f->value[i]))
			continue;
		if (x->run[i].group == GROUP_A)
			bytes_printf(b, "<circle class=\"a\" cx=\"%.1f\" cy=\"9\" r=\"4\"/>", at);
		else
			bytes_printf(b, "<path class=\"b\" d=\"M%.1f 18l4 8h-8z\"/>", at);
	}
	bytes_puts(b, "</svg>");
}

/* ---- the page ---- */

static const char style[] =
	":root{--page:#f4f6f9;--surface:#fff;--ink:#141c26;--soft:#4d5a69;--line:#dfe4ea;"
	"--a:#2f7fc9;--b:#c25a0a;--bad:#b42318;--good:#17744a;color-scheme:light dark}"
	"@media (prefers-color-scheme:dark){:root{--page:#11161d;--surface:#1a212b;--ink:#e8edf3;"
	"--soft:#a7b3c1;--line:#303a47;--a:#6db3f2;--b:#f2a65a;--bad:#ff8a80;--good:#6fd3a0}}"
	"*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--ink);"
	"font:15px/1.55 system-ui,sans-serif;font-variant-numeric:tabular-nums}"
	"main{max-width:1240px;margin:0 auto;padding:24px}h1{font-size:24px;margin:0 0 8px}"
	"h2{font-size:19px;margin:32px 0 10px}p{margin:6px 0}.soft{color:var(--soft)}"
	".panel{background:var(--surface);border:1px solid var(--line);border-radius:12px;"
	"padding:12px 16px;overflow-x:auto}table{border-collapse:collapse;width:100%}"
	"th,td{text-align:left;padding:5px 7px;border-bottom:1px solid var(--line);"
	"vertical-align:middle}th{color:var(--soft);font-weight:600}.n{text-align:right;"
	"white-space:nowrap}td.wide{overflow-wrap:anywhere;min-width:160px}"
	".worse{color:var(--bad);font-weight:700}.better{color:var(--good);font-weight:700}"
	"code{font-family:ui-monospace,monospace;font-size:.93em}"
	"td.name{overflow-wrap:anywhere;min-width:250px;font-size:.93em}"
	".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(380px,1fr));gap:14px}"
	"figure{margin:0}figcaption{font-weight:600}svg.chart{width:100%;height:auto}"
	"svg.strip{width:130px;height:30px}svg path{fill:none}"
	".chart path{stroke-width:1.6;stroke-opacity:.75;stroke-linecap:round}.chart .axis{stroke:var(--soft);"
	"stroke-width:1}.chart .a{stroke:var(--a)}.chart .b{stroke:var(--b);stroke-dasharray:5 3}"
	".strip .a{fill:none;stroke:var(--a);stroke-width:2}.strip .b{fill:var(--b)}"
	"text{fill:var(--soft);font-size:12px}.end{text-anchor:end}"
	".key svg{width:34px;height:12px;vertical-align:middle}.key path{stroke-width:2.5}"
	".key .a{stroke:var(--a)}.key .b{stroke:var(--b);stroke-dasharray:5 3}"
	"@media print{.panel{break-inside:avoid}}";

/* Takes the text. */
static void said(struct bytes *b, struct bytes *text)
{
	bytes_u8(text, '\0');
	if (!text->failed)
		html_text(b, (const char *)text->data);
	b->failed |= text->failed;
	bytes_free(text);
}

static void sentence(struct bytes *b, void (*make)(struct bytes *b, const struct comparison *x),
		     const struct comparison *x)
{
	struct bytes text = { 0 };

	make(&text, x);
	said(b, &text);
}

static void blame(struct bytes *b, const struct blame *x)
{
	struct bytes sentence = { 0 };

	if (blame_is_empty(x))
		return;
	blame_sentence(&sentence, x);
	bytes_puts(b, "</p>\n<p>");
	said(b, &sentence);
}

static void head(struct bytes *b, const struct comparison *x, const char *nonce)
{
	bytes_printf(b,
		     "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		     "style-src 'nonce-%s'; img-src data:; base-uri 'none'; form-action 'none'\">"
		     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
		     "<meta name=\"generator\" content=\"Sonde %s\"><title>%s · Sonde</title>"
		     "<link rel=\"icon\" href=\"data:,\"><style nonce=\"%s\">%s%s</style></head>\n"
		     "<body><main><h1 class=\"%s\">",
		     nonce, SONDE_VERSION, comparison_verdict(x->verdict), nonce, style,
		     flame_style, x->verdict == GATE_FAILED ? "worse" : "");
	bytes_printf(b, "Sonde: %s</h1>\n<p>", comparison_verdict(x->verdict));
	sentence(b, comparison_sentence, x);
	for (int i = 0; i < BLAME_SUBJECTS; i++)
		blame(b, &x->blame[i]);
	bytes_puts(b, "</p>\n<p class=\"soft\">");
	sentence(b, comparison_advice, x);
	bytes_puts(b, "</p>\n");
}

static void runs(struct bytes *b, const struct comparison *x)
{
	static const char *const names[] = { "A", "B" };

	for (enum comparison_group g = GROUP_A; g <= GROUP_B; g++) {
		bool first = true;

		bytes_printf(b,
			     "<p class=\"key\"><svg viewBox=\"0 0 34 12\" aria-hidden=\"true\">"
			     "<path class=\"%s\" d=\"M0 6H34\"/></svg> <b>%s</b>, %u run%s: ",
			     g == GROUP_A ? "a" : "b", names[g], x->n[g], x->n[g] == 1 ? "" : "s");
		for (uint32_t i = 0; i < x->nruns; i++) {
			if (x->run[i].group != g)
				continue;
			bytes_puts(b, first ? "<code>" : ", <code>");
			html_text(b, x->run[i].path);
			bytes_puts(b, "</code>");
			first = false;
		}
		bytes_puts(b, "</p>\n");
	}
}

static void facts(struct bytes *b, const struct comparison *x)
{
	bytes_puts(b, "<h2>Machines, software and settings that differ</h2><div class=\"panel\">");
	if (!x->nfacts)
		bytes_puts(b, "<p>No known difference.</p>");
	else
		bytes_puts(b, "<table><thead><tr><th>Of<th>What<th>A<th>B</thead><tbody>\n");
	for (uint32_t i = 0; i < x->nfacts; i++) {
		const struct comparison_fact *f = &x->fact[i];

		bytes_printf(b, "<tr><td>%s<td><code>", f->what);
		html_text(b, f->key);
		bytes_puts(b, "</code><td class=\"wide\">");
		html_text(b, f->a ? f->a : "–");
		bytes_puts(b, "<td class=\"wide\">");
		html_text(b, f->b ? f->b : "–");
		bytes_puts(b, "\n");
	}
	bytes_puts(b, x->nfacts ? "</tbody></table></div>\n" : "</div>\n");
}

static void row(struct bytes *b, const struct comparison *x, const struct comparison_figure *f,
		const char *name, const char *word)
{
	char change[64], low[64], high[64];
	const char *class = strncmp(word, "not ", 4) == 0 ? "" : word;

	bytes_puts(b, "<tr><td class=\"name\"><code>");
	html_text(b, name);
	bytes_puts(b, "</code><td class=\"n\">");
	html_value(b, f->unit, f->result.a);
	bytes_puts(b, "<td class=\"n\">");
	html_value(b, f->unit, f->result.b);
	bytes_printf(b, "<td class=\"n\">%s<td class=\"n\">",
		     comparison_change(f, f->result.difference, change, sizeof change));
	if (!isnan(f->result.low))
		bytes_printf(b, "%s to %s", comparison_change(f, f->result.low, low, sizeof low),
			     comparison_change(f, f->result.high, high, sizeof high));
	bytes_puts(b, "<td class=\"n\">");
	if (comparison_has_effect(f))
		bytes_printf(b, "%+.2f", f->result.effect);
	bytes_printf(b, "<td class=\"%s\">%s<td>", class, word);
	strip_svg(b, x, f);
	bytes_puts(b, "\n");
}

/* Unless blame refuses to hold the sides against each other. */
static int code(struct bytes *b, const struct comparison_page *p, const struct blame *x)
{
	struct bytes drawn = { 0 };
	int rc = x->judged ? flame_svg(&drawn, &p->flame, x->whole.a) : 0;

	if (!rc && drawn.len) {
		bytes_puts(
			b,
			"<h2>CPU time by function and caller</h2><div class=\"panel\" tabindex=\"0\">"
			"<p class=\"soft\">Each function is below its caller, as wide as A and B "
			"together used there. Orange: B used more, blue: less; the darker, the "
			"more (from 0.2, 1 and 5 points).</p>\n");
		bytes_put(b, drawn.data, drawn.len);
		bytes_puts(b, "</div>\n");
	}
	bytes_free(&drawn);
	return rc;
}

static void table(struct bytes *b, const char *title)
{
	bytes_printf(
		b,
		"<h2>%s</h2><div class=\"panel\" tabindex=\"0\"><table><thead><tr><th>Figure<th class=\"n\">A"
		"<th class=\"n\">B<th class=\"n\">B − A<th class=\"n\">95 %% interval"
		"<th class=\"n\" title=\"Cliff's delta: the share of pairs in which B is more, "
		"less the share in which A is\">Effect<th><th>Runs: ○ A, ▲ B"
		"</thead><tbody>\n",
		title);
}

static void gate(struct bytes *b, const struct comparison *x)
{
	table(b, "The gate");
	for (uint32_t i = 0; i < x->nconditions; i++)
		row(b, x, &x->condition[i].figure, x->condition[i].text,
		    comparison_verdict(x->condition[i].verdict));
	bytes_puts(b, "</tbody></table></div>\n");
}

static void figures(struct bytes *b, const struct comparison *x)
{
	table(b, "Every figure");
	for (uint32_t i = 0; i < x->nfigures; i++) {
		const struct comparison_figure *f = &x->figure[i];

		if (f->result.finding != COMPARE_UNKNOWN)
			row(b, x, f, f->name, isnan(f->result.low) ? "" : comparison_word(f));
	}
	bytes_puts(b, "</tbody></table></div>\n");
}

int comparison_page_make(struct bytes *b, const struct comparison_page *p,
			 const struct comparison *x, struct err *e)
{
	char nonce[NONCE_SIZE];
	int rc = nonce_make(nonce, e);

	if (rc)
		return rc;
	head(b, x, nonce);
	runs(b, x);
	facts(b, x);
	gate(b, x);
	rc = code(b, p, &x->blame[BLAME_CPU]);
	for (int i = 0; i < BLAME_SUBJECTS; i++)
		blame_html(b, &x->blame[i]);
	bytes_puts(b, "<h2>Over time</h2><div class=\"panel charts\">");
	for (unsigned i = 0; i < COMPARISON_CHARTS; i++)
		chart_svg(b, p, i);
	bytes_puts(b, "</div>\n");
	figures(b, x);
	bytes_printf(b, "<p class=\"soft\">Sonde %s</p></main></body></html>\n", SONDE_VERSION);
	return b->failed || rc ? err_set(e, -ENOMEM, "out of memory while writing the page") : 0;
}
