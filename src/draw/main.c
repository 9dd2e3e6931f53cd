/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sonde-draw - paints drawings as PNG, PDF and SVG: sonde report, and perfmon's plots.
 *
 * A document (chart/shape.h) comes on standard input, to its end; the file is descriptor 3.
 */
#include "base/helper.h"
#include "chart/shape.h"
#include "chart/svg.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <pango/pangocairo.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { POINTS_PER_INCH = 72, PIXELS_MAX = 64 << 20 };

struct painter {
	const struct document *document;
	FILE *out;
	cairo_surface_t *surface;
	cairo_t *cr;
	PangoLayout *layout;
	PangoFontDescription *font;
	uint32_t pages;
};

static cairo_status_t write_out(void *closure, const unsigned char *data, unsigned n)
{
	return fwrite(data, 1, n, closure) == n ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

static int status_of(cairo_status_t status, struct err *e)
{
	if (status == CAIRO_STATUS_SUCCESS)
		return 0;
	if (status == CAIRO_STATUS_WRITE_ERROR)
		return err_set(e, errno ? -errno : -EIO, "cannot write the drawing: %s",
			       cairo_status_to_string(status));
	return err_set(e, status == CAIRO_STATUS_NO_MEMORY ? -ENOMEM : -EIO, "cairo: %s",
		       cairo_status_to_string(status));
}

static void set_metadata(cairo_surface_t *pdf, const struct document *d)
{
	time_t at = (time_t)d->created_s;
	struct tm tm;
	char date[40];

	cairo_pdf_surface_set_metadata(pdf, CAIRO_PDF_METADATA_CREATOR, "Sonde " SONDE_VERSION);
	cairo_pdf_surface_set_metadata(pdf, CAIRO_PDF_METADATA_TITLE, d->title);
	cairo_pdf_surface_set_metadata(pdf, CAIRO_PDF_METADATA_AUTHOR, d->author);
	if (gmtime_r(&at, &tm) && strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &tm))
		cairo_pdf_surface_set_metadata(pdf, CAIRO_PDF_METADATA_CREATE_DATE, date);
}

/* Of the size of the first page. */
static int open_surface(struct painter *p, double w, double h, struct err *e)
{
	double scale = (double)p->document->dpi / POINTS_PER_INCH;

	switch (p->document->format) {
	case DOCUMENT_PDF:
		p->surface = cairo_pdf_surface_create_for_stream(write_out, p->out, w, h);
		set_metadata(p->surface, p->document);
		break;
	case DOCUMENT_SVG:
		p->surface = cairo_svg_surface_create_for_stream(write_out, p->out, w, h);
		break;
	default:
		if (w * scale * h * scale > PIXELS_MAX)
			return err_set(e, -E2BIG, "a picture of %.0f x %.0f pixels is too large",
				       w * scale, h * scale);
		p->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)lround(w * scale),
							(int)lround(h * scale));
	}
	p->cr = cairo_create(p->surface);
	if (p->document->format == DOCUMENT_PNG)
		cairo_scale(p->cr, scale, scale);
	return status_of(cairo_status(p->cr), e);
}

static int open_font(struct painter *p, struct err *e)
{
	PangoFontFamily **families = NULL;
	cairo_font_options_t *options;
	int n = 0;

	p->layout = pango_cairo_create_layout(p->cr);
	pango_font_map_list_families(pango_cairo_font_map_get_default(), &families, &n);
	g_free(families);
	if (!n)
		return err_set(
			e, -ENOENT,
			"there is no font to write with; Debian's fonts-dejavu-core has one");
	/* Widths that do not depend on the resolution, or a text would not end where it should. */
	options = cairo_font_options_create();
	cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
	cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
	cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
	pango_cairo_context_set_font_options(pango_layout_get_context(p->layout), options);
	/* Else small letters are as far apart as whole points, and lines leave the paper's margin.
	 */
	pango_context_set_round_glyph_positions(pango_layout_get_context(p->layout), FALSE);
	cairo_font_options_destroy(options);
	p->font = pango_font_description_from_string("DejaVu Sans, sans-serif");
	return 0;
}

static int begin_page(struct painter *p, const struct shape *s, struct err *e)
{
	int rc = 0;

	if (p->pages++ == 0) {
		rc = open_surface(p, s->box.w, s->box.h, e);
		if (!rc)
			rc = open_font(p, e);
	} else if (p->document->format != DOCUMENT_PDF) {
		rc = err_set(e, -EPROTO, "only a PDF has several pages");
	} else {
		cairo_show_page(p->cr);
		cairo_pdf_surface_set_size(p->surface, s->box.w, s->box.h);
	}
	if (rc)
		return rc;
	cairo_set_source_rgb(p->cr, 1, 1, 1);
	cairo_paint(p->cr);
	return 0;
}

static void set_colour(cairo_t *cr, uint32_t colour)
{
	cairo_set_source_rgb(cr, (colour >> 16 & 255) / 255.0, (colour >> 8 & 255) / 255.0,
			     (colour & 255) / 255.0);
}

static void go_along(cairo_t *cr, const struct shape *s)
{
	cairo_new_path(cr);
	for (uint32_t i = 0; i < s->n; i++)
		cairo_line_to(cr, s->point[i].x, s->point[i].y);
}

static void paint_line(cairo_t *cr, const struct shape *s)
{
	static const double dashes[DASH_NUMBER_OF][2] = {
		[DASH_LONG] = { 6, 2 }, [DASH_SHORT] = { 3, 2 }, [DASH_DOTS] = { 1, 1.5 }
	};

	cairo_set_dash(cr, dashes[s->pen.dash], s->pen.dash ? 2 : 0, 0);
	cairo_set_line_width(cr, s->pen.width);
	cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
	set_colour(cr, s->pen.colour);
	go_along(cr, s);
	cairo_stroke(cr);
}

static void paint_text(struct painter *p, const struct shape *s)
{
	const struct lettering *l = &s->lettering;
	int width, height;
	double left;

	pango_font_description_set_absolute_size(p->font, l->size * PANGO_SCALE);
	pango_font_description_set_weight(p->font,
					  l->bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
	pango_layout_set_font_description(p->layout, p->font);
	pango_layout_set_text(p->layout, s->text, -1);
	pango_layout_get_size(p->layout, &width, &height);
	left = l->anchor == ANCHOR_START    ? 0
	       : l->anchor == ANCHOR_MIDDLE ? -(double)width / 2
					    : -(double)width;
	cairo_save(p->cr);
	set_colour(p->cr, l->colour);
	cairo_translate(p->cr, s->box.x, s->box.y);
	if (l->turned)
		cairo_rotate(p->cr, -G_PI / 2);
	cairo_move_to(p->cr, left / PANGO_SCALE,
		      -(double)pango_layout_get_baseline(p->layout) / PANGO_SCALE);
	pango_cairo_show_layout(p->cr, p->layout);
	cairo_restore(p->cr);
}

/* As a picture with a pixel a cell, which no painter blurs. */
static void paint_grid(cairo_t *cr, const struct shape *s)
{
	cairo_surface_t *cells =
		cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)s->columns, (int)s->rows);
	unsigned char *data = cairo_image_surface_get_data(cells);
	int stride = cairo_image_surface_get_stride(cells);

	for (uint32_t row = 0; data && row < s->rows; row++) {
		uint32_t *line = (uint32_t *)(void *)(data + (size_t)row * (size_t)stride);

		for (uint32_t c = 0; c < s->columns; c++)
			line[c] = colour_cell(s->cell[(size_t)row * s->columns + c]);
	}
	cairo_surface_mark_dirty(cells);
	cairo_save(cr);
	cairo_translate(cr, s->box.x, s->box.y);
	cairo_scale(cr, s->box.w / s->columns, s->box.h / s->rows);
	cairo_set_source_surface(cr, cells, 0, 0);
	cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
	cairo_paint(cr);
	cairo_restore(cr);
	cairo_surface_destroy(cells);
}

static int paint(struct painter *p, const struct shape *s, struct err *e)
{
	switch (s->kind) {
	case SHAPE_PAGE:
		return begin_page(p, s, e);
	case SHAPE_BOX:
		set_colour(p->cr, s->colour);
		cairo_rectangle(p->cr, s->box.x, s->box.y, s->box.w, s->box.h);
		cairo_fill(p->cr);
		break;
	case SHAPE_LINE:
		paint_line(p->cr, s);
		break;
	case SHAPE_AREA:
		set_colour(p->cr, s->colour);
		go_along(p->cr, s);
		cairo_fill(p->cr);
		break;
	case SHAPE_TEXT:
		paint_text(p, s);
		break;
	case SHAPE_GRID:
		if (s->box.w > 0 && s->box.h > 0)
			paint_grid(p->cr, s);
		break;
	case SHAPE_END:
	case SHAPE_KIND_NUMBER_OF:
		break;
	}
	return status_of(cairo_status(p->cr), e);
}

static int finish(struct painter *p, struct err *e)
{
	cairo_status_t status = CAIRO_STATUS_SUCCESS;

	errno = 0;
	if (!p->pages)
		return err_set(e, -EPROTO, "a drawing without a page");
	if (p->document->format == DOCUMENT_PNG)
		status = cairo_surface_write_to_png_stream(p->surface, write_out, p->out);
	cairo_surface_finish(p->surface);
	if (status == CAIRO_STATUS_SUCCESS)
		status = cairo_surface_status(p->surface);
	if (status == CAIRO_STATUS_SUCCESS && fflush(p->out))
		status = CAIRO_STATUS_WRITE_ERROR;
	return status_of(status, e);
}

/* The drawing that is left in `in`, whole, into out. 0, or -errno with a sentence. */
static int paint_document(const struct document *d, struct scan in, FILE *out, struct err *e)
{
	struct painter p = { .document = d, .out = out };
	struct shape_reader r = { .in = in };
	int rc;

	while ((rc = shape_next(&r, e)) > 0) {
		rc = paint(&p, &r.shape, e);
		if (rc)
			break;
	}
	if (!rc)
		rc = finish(&p, e);
	shape_reader_free(&r);
	if (p.font)
		pango_font_description_free(p.font);
	if (p.layout)
		g_object_unref(p.layout);
	if (p.cr)
		cairo_destroy(p.cr);
	if (p.surface)
		cairo_surface_destroy(p.surface);
	return rc;
}

enum { PIECE = 64 << 10, MOST = 512 << 20 };

static int read_all(struct bytes *in, struct err *e)
{
	for (;;) {
		ssize_t n;

		if (in->len > MOST || !bytes_room(in, PIECE))
			return err_set(e, -ENOMEM, "the drawing is too large");
		n = read(0, in->data + in->len, PIECE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(e, -errno, "the drawing is truncated");
		if (n == 0)
			return 0;
		in->len += (size_t)n;
	}
}

int main(void)
{
	FILE *out = fdopen(HELPER_FILE, "r+");
	struct bytes in = { 0 };
	struct document d;
	struct err e = { "" };
	struct scan scan;
	int rc;

	prctl(PR_SET_NAME, "sonde-draw");
	/* A second arena, of a library's thread, reserves 128 MiB: too much where address space is
	 * limited. */
#ifdef M_ARENA_MAX /* glibc has arenas */
	mallopt(M_ARENA_MAX, 1);
#endif
	if (!out)
		rc = err_set(&e, -EBADF, "sonde report runs this helper; it takes no file");
	else
		rc = read_all(&in, &e);
	scan = (struct scan){ in.data, in.data + in.len, false };
	if (!rc)
		rc = document_decode(&scan, &d, &e);
	if (!rc)
		rc = paint_document(&d, scan, out, &e);
	bytes_free(&in);
	/* The libraries keep much to the end of the process, which this is. */
	_exit(helper_answer(rc, &e));
}
