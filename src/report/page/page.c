/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page.h"

#include "base/err.h"
#include "base/packed.h"
#include "base/random.h"
#include "base/text/escape.h"
#include "base/text/json.h"
#include "chart/svg.h"
#include "report/assets.h"
#include "report/page/page_data.h"
#include "report/page/page_html.h"
#include "report/page/page_series.h"
#include "report/paper/plots.h"

#include <errno.h>
#include <string.h>

/* ---- charts of a page without uPlot ---- */

/* Whether this program was built so. */
static bool page_is_plain(void)
{
	/* What the Makefile puts there in its place. */
	return packed_length(asset_uplot_js, asset_uplot_js_end) == strlen(";\n");
}

/* An image of its own, so that the page's rules of what may be loaded hold for it, too. */
static int put_plot(struct bytes *b, const struct plots *plots, const struct plot *x, struct err *e)
{
	static const struct box whole = { .w = PLOT_WIDTH, .h = PLOT_HEIGHT };
	struct bytes drawing = { 0 }, svg = { 0 };
	int rc;

	shape_page(&drawing, whole.w, whole.h);
	plots_draw(plots, x, &drawing, &whole);
	shape_end(&drawing);
	rc = svg_write(&svg, &drawing, x->title, e);
	if (!rc) {
		bytes_puts(b, "<figure class=\"panel plain\"><img alt=\"");
		html_text(b, x->title);
		bytes_puts(b, "\" src=\"data:image/svg+xml;base64,");
		base64_encode(b, svg.data, svg.len);
		bytes_puts(b, "\"></figure>\n");
	}
	bytes_free(&drawing);
	bytes_free(&svg);
	return rc;
}

/* Nothing when it was not. 0, or -errno with a sentence. */
static int page_plain_charts(struct bytes *b, const struct page_source *p, struct err *e)
{
	struct plots plots;
	int rc = page_is_plain() ? plots_make(&plots, p->run, p->summary, &plots_of_sonde, NULL, e)
				 : -ENODATA;

	if (rc)
		return rc == -ENODATA ? 0 : rc;
	for (uint32_t i = 0; !rc && i < plots.n; i++)
		rc = put_plot(b, &plots, &plots.plot[i], e);
	plots_free(&plots);
	return rc;
}

static void page_licence_note(struct bytes *b, const struct page_source *p)
{
	(void)p;
	bytes_puts(b, page_is_plain() ? "It was built without npm: charts are plain images."
				      : "Charts are drawn with uPlot:");
}

/* ---- page ---- */

/* What stands for {{name}} in the template: a file of the page, or a part made from the run. */
struct part {
	const char *name;
	const char *text, *end;
	void (*make)(struct bytes *b, const struct page_source *p);
	bool live;  /* only in a page that is */
	bool grows; /* made anew for a live page */
};

static void version(struct bytes *b, const struct page_source *p)
{
	(void)p;
	bytes_puts(b, SONDE_VERSION);
}

static void live_mark(struct bytes *b, const struct page_source *p)
{
	(void)p;
	bytes_puts(b, " data-live");
}

static void live_source(struct bytes *b, const struct page_source *p)
{
	(void)p;
	bytes_puts(b, " connect-src 'self';");
}

static const struct part parts[] = {
	{ .name = "page.css", asset_page_css, asset_page_css_end },
	{ .name = "dark.css", asset_dark_css, asset_dark_css_end },
	{ .name = "uplot.css", asset_uplot_css, asset_uplot_css_end },
	{ .name = "uplot.js", asset_uplot_js, asset_uplot_js_end },
	{ .name = "uplot.licence", asset_uplot_licence, asset_uplot_licence_end },
	{ .name = "element.js", asset_element_js, asset_element_js_end },
	{ .name = "format.js", asset_format_js, asset_format_js_end },
	{ .name = "charts.js", asset_charts_js, asset_charts_js_end },
	{ .name = "lanes.js", asset_lanes_js, asset_lanes_js_end },
	{ .name = "heat.js", asset_heat_js, asset_heat_js_end },
	{ .name = "code.js", asset_code_js, asset_code_js_end },
	{ .name = "tables.js", asset_tables_js, asset_tables_js_end },
	{ .name = "page.js", asset_page_js, asset_page_js_end },
	{ .name = "live.js", asset_live_js, asset_live_js_end, .live = true },
	{ .name = "live", .make = live_mark, .live = true },
	{ .name = "connect", .make = live_source, .live = true },
	{ .name = "version", .make = version },
	{ .name = "licence.note", .make = page_licence_note },
	{ .name = "title", .make = html_title },
	{ .name = "header", .make = html_header, .grows = true },
	{ .name = "figures", .make = html_figures, .grows = true },
	{ .name = "counters", .make = html_counters, .grows = true },
	{ .name = "verdicts", .make = html_verdicts, .grows = true },
	{ .name = "account", .make = html_account, .grows = true },
	{ .name = "code", .make = html_code, .grows = true },
	{ .name = "waits", .make = html_waits, .grows = true },
	{ .name = "touched", .make = html_touched, .grows = true },
	{ .name = "steps", .make = html_steps, .grows = true },
	{ .name = "path", .make = html_path },
	{ .name = "pipelines", .make = html_pipelines },
	{ .name = "files", .make = html_files, .grows = true },
	{ .name = "peers", .make = html_peers, .grows = true },
	{ .name = "mpi", .make = html_mpi, .grows = true },
	{ .name = "nodes", .make = html_nodes, .grows = true },
	{ .name = "tasks", .make = html_tasks, .grows = true },
	{ .name = "events", .make = html_events, .grows = true },
	{ .name = "processes", .make = html_processes },
	{ .name = "commands", .make = html_commands, .grows = true },
	{ .name = "metrics", .make = html_metrics, .grows = true },
	{ .name = "footer", .make = html_footer, .grows = true },
};

static bool is_name(const char *name, const char *text, size_t n)
{
	return strlen(name) == n && memcmp(name, text, n) == 0;
}

static void put_part(struct bytes *out, const char *name, size_t n, const struct page_source *p)
{
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		if (!is_name(parts[i].name, name, n) || (parts[i].live && !p->live))
			continue;
		if (parts[i].make)
			parts[i].make(out, p);
		else
			packed_put(out, parts[i].text, parts[i].end);
	}
}

static int fill_template(struct bytes *out, const struct page_source *p, const struct traces *t,
			 struct err *e)
{
	const char *at = asset_page_html, *end = asset_page_html_end;
	char nonce[NONCE_SIZE];
	int rc = nonce_make(nonce, e);

	while (rc == 0 && at < end) {
		const char *open = memmem(at, (size_t)(end - at), "{{", 2);
		const char *close = open ? memmem(open, (size_t)(end - open), "}}", 2) : NULL;
		const char *name = close ? open + 2 : end;

		bytes_put(out, at, (size_t)((close ? open : end) - at));
		if (close && is_name("data", name, (size_t)(close - name)))
			rc = page_data_json(out, p->run, p->summary, t, e);
		else if (close && is_name("plain", name, (size_t)(close - name)))
			rc = page_plain_charts(out, p, e);
		else if (close && is_name("nonce", name, (size_t)(close - name)))
			bytes_puts(out, nonce);
		else if (close)
			put_part(out, name, (size_t)(close - name), p);
		at = close ? close + 2 : end;
	}
	return rc;
}

static int finish(const struct bytes *out, int rc, struct err *e)
{
	return rc == 0 && out->failed
		       ? err_set(e, -ENOMEM, "out of memory while writing the report")
		       : rc;
}

static int put_update(struct bytes *out, const struct page_source *p, const struct traces *t,
		      struct err *e)
{
	struct json j = { .out = out };
	struct bytes html = { 0 };
	int rc;

	json_object(&j);
	json_key(&j, "parts");
	json_object(&j);
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		if (!parts[i].grows)
			continue;
		bytes_reset(&html);
		parts[i].make(&html, p);
		bytes_u8(&html, 0);
		json_key(&j, parts[i].name);
		json_text(&j, html.failed ? NULL : (const char *)html.data);
		out->failed |= html.failed;
	}
	json_object_end(&j);
	json_key(&j, "data");
	rc = page_data_json(out, p->run, p->summary, t, e);
	j.comma = true;
	j.after_key = false;
	json_object_end(&j);
	bytes_free(&html);
	return rc;
}

/* What is put, a page or what is new in it, from a run that was not read for it before. */
static int read_and_put(struct bytes *out, struct run *r, const struct page_source *p,
			int (*put)(struct bytes *, const struct page_source *,
				   const struct traces *, struct err *),
			struct err *e)
{
	struct traces t = { 0 };
	int rc;

	page_series_wish(&t, r, p->summary);
	rc = traces_read(&t, r, e);
	if (!rc)
		rc = put(out, p, &t, e);
	traces_free(&t);
	return finish(out, rc, e);
}

int page_make(struct bytes *out, struct run *r, const struct summary *s, const struct traces *t,
	      struct err *e)
{
	const struct page_source p = { .run = r, .summary = s };

	return t ? finish(out, fill_template(out, &p, t, e), e)
		 : read_and_put(out, r, &p, fill_template, e);
}

int page_make_live(struct bytes *out, struct run *r, const struct summary *s, struct err *e)
{
	const struct page_source p = { .run = r, .summary = s, .live = true };

	return read_and_put(out, r, &p, fill_template, e);
}

int page_update_json(struct bytes *out, struct run *r, const struct summary *s, struct err *e)
{
	const struct page_source p = { .run = r, .summary = s, .live = true };

	return read_and_put(out, r, &p, put_update, e);
}
