/* SPDX-License-Identifier: Apache-2.0 */
#include "output/reportfile.h"

#include "base/clock.h"
#include "base/folder.h"
#include "output/drawfile.h"
#include "report/page/page.h"
#include "report/paper/pdf.h"

#include <errno.h>
#include <string.h>

enum { PLOT_DPI = 200 };

static const struct {
	const char *name, *extension;
	enum document_format format; /* of what the helper paints */
} formats[] = {
	[PLOTS_SVG] = { "svg", "svg", DOCUMENT_SVG },
	[PLOTS_PNG] = { "png", "png", DOCUMENT_PNG },
	[PLOTS_PDF] = { "pdf", "pdf", DOCUMENT_PDF },
	[PLOTS_OUTLINED_SVG] = { "svg-outlines", "svg", DOCUMENT_SVG },
};
_Static_assert(sizeof formats / sizeof formats[0] == PLOTS_FORMAT_NUMBER_OF, "a row for each");

bool reportfile_format(const char *name, enum plots_format *out)
{
	for (unsigned i = 0; i < PLOTS_FORMAT_NUMBER_OF; i++)
		if (!strcmp(formats[i].name, name)) {
			*out = (enum plots_format)i;
			return true;
		}
	return false;
}

int reportfile_page(struct outfile *out, struct run *r, const struct summary *s,
		    const struct traces *t, const char *directory, struct err *e)
{
	struct bytes page = { 0 };
	int rc = page_make(&page, r, s, t, e);

	if (!rc)
		rc = drawfile_save(out, directory, "report.html", &page, e);
	bytes_free(&page);
	return rc;
}

static int write_plot(const struct plots *p, const struct plot *x, const struct plots_place *to,
		      struct outputs *w, struct err *e)
{
	static const struct box whole = { .w = PLOT_WIDTH, .h = PLOT_HEIGHT };
	struct document d = { .format = formats[to->format].format,
			      .dpi = PLOT_DPI,
			      .created_s = p->summary->start_utc_ns / NS_PER_S };
	struct bytes drawing = { 0 };
	char name[PLOT_NAME + 8];
	struct outfile out;
	int rc;

	shape_page(&drawing, whole.w, whole.h);
	plots_draw(p, x, &drawing, &whole);
	shape_end(&drawing);
	snprintf(name, sizeof name, "%s.%s", x->name, formats[to->format].extension);
	snprintf(d.title, sizeof d.title, "%s", x->title);
	if (to->format == PLOTS_SVG)
		rc = drawfile_svg(&out, to->path, name, x->title, &drawing, e);
	else
		rc = drawfile_paint(&out, to->path, name, &d, &drawing, e);
	if (!rc)
		outputs_add(w, out.path);
	bytes_free(&drawing);
	return rc;
}

int reportfile_plots(const struct plots *p, const char *directory, struct plots_place *to,
		     struct outputs *w, struct err *e)
{
	int rc;

	if (snprintf(to->path, sizeof to->path, "%s/plots", directory) >= (int)sizeof to->path)
		return err_set(e, -ENAMETOOLONG, "%.200s...: the name is too long", directory);
	rc = folder_make(directory, e);
	if (!rc && p->n)
		rc = folder_make_own(to->path, e);
	for (uint32_t i = 0; i < p->n && !rc; i++)
		rc = write_plot(p, &p->plot[i], to, w, e);
	return rc;
}

int reportfile_pdf(struct outfile *out, const struct plots *p, const char *job_id,
		   const char *directory, struct err *e)
{
	struct document d = { .format = DOCUMENT_PDF };
	struct bytes drawing = { 0 };
	char name[128];
	int rc = pdf_draw(&drawing, p, e);

	pdf_about(&d, p);
	if (!rc)
		rc = drawfile_paint(out, directory, pdf_name(job_id, name, sizeof name), &d,
				    &drawing, e);
	bytes_free(&drawing);
	return rc;
}
