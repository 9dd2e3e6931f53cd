/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page.h"

#include "report/assets.h"
#include "report/nonce.h"
#include "report/page_data.h"
#include "report/page_html.h"

#include <errno.h>
#include <string.h>

/* What stands for {{name}} in the template: a file of the page, or a part made from the run. */
struct part {
	const char *name;
	const char *text, *end;
	void (*make)(struct bytes *b, const struct page_source *p);
};

static void version(struct bytes *b, const struct page_source *p)
{
	(void)p;
	bytes_puts(b, SONDE_VERSION);
}

static const struct part parts[] = {
	{ .name = "page.css", asset_page_css, asset_page_css_end },
	{ .name = "dark.css", asset_dark_css, asset_dark_css_end },
	{ .name = "uplot.css", asset_uplot_css, asset_uplot_css_end },
	{ .name = "uplot.js", asset_uplot_js, asset_uplot_js_end },
	{ .name = "uplot.licence", asset_uplot_licence, asset_uplot_licence_end },
	{ .name = "format.js", asset_format_js, asset_format_js_end },
	{ .name = "charts.js", asset_charts_js, asset_charts_js_end },
	{ .name = "lanes.js", asset_lanes_js, asset_lanes_js_end },
	{ .name = "page.js", asset_page_js, asset_page_js_end },
	{ .name = "version", .make = version },
	{ .name = "title", .make = html_title },
	{ .name = "header", .make = html_header },
	{ .name = "figures", .make = html_figures },
	{ .name = "counters", .make = html_counters },
	{ .name = "verdicts", .make = html_verdicts },
	{ .name = "nodes", .make = html_nodes },
	{ .name = "processes", .make = html_processes },
	{ .name = "commands", .make = html_commands },
	{ .name = "metrics", .make = html_metrics },
	{ .name = "footer", .make = html_footer },
};

static bool is_name(const char *name, const char *text, size_t n)
{
	return strlen(name) == n && memcmp(name, text, n) == 0;
}

static void put_part(struct bytes *out, const char *name, size_t n, const struct page_source *p)
{
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		if (!is_name(parts[i].name, name, n))
			continue;
		if (parts[i].make)
			parts[i].make(out, p);
		else
			bytes_put(out, parts[i].text, (size_t)(parts[i].end - parts[i].text));
	}
}

int page_make(struct bytes *out, struct run *r, const struct summary *s, struct err *e)
{
	const struct page_source source = { .run = r, .summary = s };
	const char *at = asset_page_html, *end = asset_page_html_end;
	char nonce[NONCE_SIZE];
	int rc = nonce_make(nonce, e);

	while (rc == 0 && at < end) {
		const char *open = memmem(at, (size_t)(end - at), "{{", 2);
		const char *close = open ? memmem(open, (size_t)(end - open), "}}", 2) : NULL;
		const char *name = close ? open + 2 : end;

		bytes_put(out, at, (size_t)((close ? open : end) - at));
		if (close && is_name("data", name, (size_t)(close - name)))
			rc = page_data_json(out, r, s, e);
		else if (close && is_name("nonce", name, (size_t)(close - name)))
			bytes_puts(out, nonce);
		else if (close)
			put_part(out, name, (size_t)(close - name), &source);
		at = close ? close + 2 : end;
	}
	if (rc == 0 && out->failed)
		rc = err_set(e, -ENOMEM, "out of memory while writing the report");
	return rc;
}
