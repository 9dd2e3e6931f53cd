/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page_plain.h"

#include "base/text/base64.h"
#include "chart/svg.h"
#include "report/assets.h"
#include "report/paper/plots.h"

#include <errno.h>

bool page_is_plain(void)
{
	return *asset_uplot_js == ';'; /* what the Makefile puts there in its place */
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

int page_plain_charts(struct bytes *b, const struct page_source *p, struct err *e)
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

void page_licence_note(struct bytes *b, const struct page_source *p)
{
	(void)p;
	bytes_puts(b, page_is_plain() ? "It was built without npm: charts are plain images."
				      : "Charts are drawn with uPlot:");
}
